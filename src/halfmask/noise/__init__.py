"""Exact random noise: uniform words in, samples of exactly the stated law out.

words        the source of chance: `secure_words`, and `seeded_words` for tests and simulations
laplace      `discrete_laplace`, `rounded_laplace`, `geometric`
gaussian     `discrete_gaussian`, `rounded_gaussian`
bernoulli    coins: `bernoulli_exp` with probability exp(-x), `bernoulli_enclosed` with any
choice       `categorical` by exponential weights, `permutation`, `below` (uniform integers)
weighted     `weighted`: `categorical` where each index stands for many equal candidates
whole        `below_whole` (uniform, of any magnitude) and `weighted_huge` (huge counts, on demand)
sphere       `ShellPoint`, uniform in a spherical shell, as many digits as are asked
ramps        `Ramps`, ranges on which the exponent rises in equal steps

lanes        how floats filter and integers decide: the floor of an exponential variable
split        scales above 1024, by high and low binary digits
survival     where the cells of the inverse transform end, exactly
enclosure    exp(-x), and pi, between two integers, as close as asked
arguments    checks of scales and sizes

Floating point only speeds up decisions that a written error bound makes certain; so the same words
give the same samples on every platform, and each docstring says how words are read.
"""

from halfmask.noise.bernoulli import bernoulli_enclosed, bernoulli_exp
from halfmask.noise.choice import below, categorical, permutation
from halfmask.noise.enclosure import exp_minus, pi_between
from halfmask.noise.gaussian import discrete_gaussian, rounded_gaussian
from halfmask.noise.laplace import discrete_laplace, geometric, rounded_laplace
from halfmask.noise.ramps import Ramps
from halfmask.noise.sphere import ShellPoint
from halfmask.noise.weighted import Groups, weighted
from halfmask.noise.whole import below_whole, read_bits, weighted_huge
from halfmask.noise.words import Words, secure_words, seeded_words

__all__ = [
    "Groups",
    "Ramps",
    "ShellPoint",
    "Words",
    "below",
    "below_whole",
    "bernoulli_enclosed",
    "bernoulli_exp",
    "categorical",
    "discrete_gaussian",
    "discrete_laplace",
    "exp_minus",
    "geometric",
    "permutation",
    "pi_between",
    "read_bits",
    "rounded_gaussian",
    "rounded_laplace",
    "secure_words",
    "seeded_words",
    "weighted",
    "weighted_huge",
]

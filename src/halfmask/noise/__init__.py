"""Exact random noise: uniform words in, samples of a stated law out.

words                      the source of chance: secure words, seeded words for tests
discrete_laplace, geometric, rounded_laplace, discrete_gaussian, rounded_gaussian, bernoulli_exp,
categorical, permutation, below
"""

from halfmask.noise.bernoulli import bernoulli_exp
from halfmask.noise.choice import below, categorical, permutation
from halfmask.noise.gaussian import discrete_gaussian, rounded_gaussian
from halfmask.noise.laplace import discrete_laplace, geometric, rounded_laplace
from halfmask.noise.words import Words, secure_words, seeded_words

__all__ = [
    "Words",
    "below",
    "bernoulli_exp",
    "categorical",
    "discrete_gaussian",
    "discrete_laplace",
    "geometric",
    "permutation",
    "rounded_gaussian",
    "rounded_laplace",
    "secure_words",
    "seeded_words",
]

"""The permute-and-flip mechanism."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.quadrature import nodes_and_weights
from halfmask.mechanisms.selection import Selection
from halfmask.noise import Words, below, bernoulli_exp


@final
@dataclass(frozen=True, init=False)
class PermuteAndFlip(Selection):
    """Go through the candidates in random order; take one with P = exp(-gap/scale), else go on.

    The gap of a candidate is how far its score is below the best. The expected score is never
    below that of the exponential mechanism. [McKenna & Sheldon 2020, Thm 2]

    Privacy: epsilon-DP with scale = 2 sensitivity/epsilon. [McKenna & Sheldon 2020, Thm 1]
    Privacy: if monotonic, epsilon-DP with scale = sensitivity/epsilon. Adding exponential noise
    of this scale and taking the largest sum is the same law [Ding et al. 2021], and sums that
    move one way by at most `sensitivity` shift one exponential tail by at most that.

    Attributes:
        sensitivity: the most by which one unit can change any single score.
        epsilon: the price; 0.1 means one tenth.
        monotonic: True only where one unit moves all scores the same way (all up or all down).

    >>> import numpy as np
    >>> choice = PermuteAndFlip(sensitivity=1, epsilon=2)
    >>> choice.law, np.exp(choice.log_mass([10, 9, 4])).round(3).tolist()
    ('permute-and-flip, scale 1', [0.815, 0.184, 0.001])

    """

    @property
    def _name(self) -> str:
        return "permute-and-flip"

    def _choose(self, gaps: list[int], words: Words | None) -> int:
        # Coins do not depend on the order: the first head of a random order is a uniform head.
        # exp(-gap/scale) is a product over the binary digits of the gap, so that one vector of
        # coins serves all candidates with the same leading digit. The best candidate stays.
        heads = np.arange(len(gaps))
        rest = np.array(gaps, dtype=np.int64 if max(gaps) < 2**63 else object)
        while (most := int(rest.max())) > 0:
            digit = 1 << (most.bit_length() - 1)
            keep = rest < digit
            tossed = ~keep
            rest[tossed] -= digit
            keep[tossed] = bernoulli_exp(digit / self.scale, int(tossed.sum()), words)
            heads, rest = heads[keep], rest[keep]
        return int(heads[below(len(heads), 1, words)[0]])

    def _log_mass(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        # Give each candidate a uniform time in place of an order: with p = exp(-loss),
        # P(i) = p_i · ∫ Π_{j≠i} (1 - p_j t) dt over [0, 1]. The integrand is positive and below
        # exp(-St) with S the sum of the other p_j: nothing cancels, and beyond 45/S it is 0 to
        # 1e-19. Up to there 48 nodes are exact to 1e-20, whatever the number of candidates.
        p = np.exp(-losses)
        upper = min(1.0, 45 / max(p.sum() - 1, 1.0))
        integral = np.zeros_like(losses)
        for node, weight in nodes_and_weights():
            missed = np.log1p(-p * (upper * node))
            integral += weight * np.exp(missed.sum() - missed)
        result: NDArray[np.float64] = np.log(upper * integral) - losses
        return result

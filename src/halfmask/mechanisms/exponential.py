"""The exponential mechanism."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from halfmask.mechanisms.selection import Selection
from halfmask.noise import Words, categorical
from halfmask.privacy import ZCDP


@final
@dataclass(frozen=True, init=False)
class Exponential(Selection):
    """Choose candidate i with P(i) ∝ exp(scores[i]/scale).

    Privacy: epsilon-DP with scale = 2 sensitivity/epsilon. [McSherry & Talwar 2007, Thm 6]
    Privacy: if monotonic, epsilon-DP with scale = sensitivity/epsilon. [Dwork & Roth 2014, §3.4]

    Attributes:
        sensitivity: the most by which one unit can change any single score.
        epsilon: the price; 0.1 means one tenth.
        monotonic: True only where one unit moves all scores the same way (all up or all down).

    >>> import numpy as np
    >>> choice = Exponential(sensitivity=1, epsilon=2)
    >>> choice.law, np.exp(choice.log_mass([10, 9, 4])).round(3).tolist()
    ('exponential mechanism, scale 1', [0.73, 0.268, 0.002])

    """

    @property
    def zcdp(self) -> ZCDP:
        """The same choice priced in zCDP.

        Privacy: epsilon-bounded range, hence epsilon²/8-zCDP. [Cesar & Rogers 2021, Lemma 3.4]
        """
        return ZCDP.from_amounts(self.epsilon**2 / 8, Fraction(0), up=True)

    @property
    def _name(self) -> str:
        return "exponential mechanism"

    def _choose(self, gaps: list[int], words: Words | None) -> int:
        return int(categorical([-gap for gap in gaps], 1 / self.scale, 1, words)[0])

    def _log_mass(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = -losses - np.log(np.exp(-losses).sum())
        return result

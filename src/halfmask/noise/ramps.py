"""Exact choice among ranges on which the exponent rises in equal steps."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from halfmask.noise.bernoulli import WORD_BITS, falls_below
from halfmask.noise.choice import below
from halfmask.noise.weighted import weighted
from halfmask.noise.words import Words, secure_words

__all__ = ["Ramps"]

BATCH: Final = 8
"""Proposals at a time: each is accepted with a probability of about a third at least."""


@dataclass(frozen=True)
class Ramps:
    """Choices (i, p), 0 <= p < lengths[i], with P ∝ counts[i] exp(-rate (gaps[i] + p rises[i])).

    All are arrays of integers, at least 0 (counts, lengths at least 1); rate is at least 0. Sums
    and products must fit 63 bits, or be Python integers in arrays of objects.
    """

    lengths: NDArray[Any]
    counts: NDArray[Any]
    gaps: NDArray[Any]
    rises: NDArray[Any]
    rate: Fraction

    def draw(self, words: Words | None = None) -> tuple[int, int]:
        """Draw one (i, p), exactly.

        A range is cut into blocks over which the weight falls by e about. Block 0 and all further
        blocks together are proposed as often as block 0 would be at the weight of its start; then
        further block k with probability 2^-k; p is uniform in a block, and is accepted if a uniform
        V < 2^k exp(-rate p rise). As a block's exponent rises by more than ln 2, 2^k exp(...) <= 1.

        Words: those of `weighted` for eight proposals; then, one proposal after the other until
        one is accepted, those of `below`, one for k, and those that decide V.

        >>> import numpy as np
        >>> one = np.ones(1, np.int64)
        >>> Ramps(one * 5, one, one * 0, one, Fraction(1000)).draw()
        (0, 0)
        """
        source = secure_words() if words is None else words
        blocks = self._blocks()
        long = blocks < self.lengths
        counts = np.where(long, 2 * blocks, self.lengths) * self.counts
        while True:
            for i in weighted(counts, -self.gaps, self.rate, BATCH, source).tolist():
                p = self._position(i, int(blocks[i]), bool(long[i]), source)
                if p is not None:
                    return i, p

    def _blocks(self) -> NDArray[Any]:
        """The lengths of blocks: 1/(rate rise) rounded up, by float operations IEEE 754 fixes."""
        with np.errstate(divide="ignore"):
            natural = 1 / (float(self.rate) * self.rises.astype(np.float64))
        most = self.lengths.astype(np.float64)
        whole = np.ceil(np.minimum(natural, most)).astype(np.int64)
        blocks: NDArray[Any] = np.minimum(self.lengths, whole)
        return blocks

    def _position(self, i: int, block: int, long: bool, words: Words) -> int | None:
        """Return a position of range i, or None where the proposal is rejected."""
        place = int(below(2 * block if long else block, (), words))
        further = 0
        if place >= block:
            further, place = 1 + _halvings(words), place - block
        p = further * block + place
        if p >= int(self.lengths[i]):
            return None
        exponent = self.rate * p * int(self.rises[i])
        if exponent == 0:
            return p
        first = int(words.words(1)[0])
        factor = Fraction(1 << further)
        return p if falls_below(first, WORD_BITS, exponent, words, factor) else None


def _halvings(words: Words) -> int:
    """Draw k with probability 2^-(k+1)."""
    k = 0
    while (word := int(words.words(1)[0])) == 0:
        k += WORD_BITS
    return k + WORD_BITS - word.bit_length()

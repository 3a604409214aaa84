"""Random subspaces in which clients send their updates: less traffic, at a price in noise."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery, shown
from halfmask.noise import seeded_words

__all__ = ["Subspace"]

Matrix = NDArray[np.float64]

_MOST = 2**26
_ENTRIES = 1 << 20
"""Numbers that are turned at a time."""


@dataclass(frozen=True)
class Subspace:
    """A public random subspace of the parameters, another one in each round.

    Parameters get random signs, are turned by a Hadamard matrix, and `size` of the turned
    coordinates are sent: a client sends `down(round, update)` in place of its update. `lift` is the
    way back. Over the choice of the subspace, `lift(down(x))` is x in the mean; it lies further off
    by the root of parameters / size, and so does the noise of what was sent.

    parameters: d, of the model.
    size: how many numbers a client sends.
    seed: public, known to all clients.

    Privacy: the subspace is public and drawn without the updates; what a client sends is cut like
    any update, so nothing changes. Lifting is post-processing. [Dwork & Roth 2014, Prop. 2.1]

    >>> plane = Subspace(1000, 250, seed=1)
    >>> update = np.ones(1000)
    >>> plane.down(0, update).shape, plane.lift(0, plane.down(0, update)).shape
    ((250,), (1000,))
    """

    parameters: int
    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("parameters", "size", "seed"):
            given = getattr(self, name)
            least = 0 if name == "seed" else 1
            if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= _MOST:
                raise InvalidQuery(
                    f"{name}: {shown(given)} is no whole number from {least} to 2^26; give one"
                )
        if self.size > self.parameters:
            raise InvalidQuery(
                f"size: {self.size} numbers of {self.parameters} parameters save nothing; send "
                "the updates themselves, without a subspace"
            )

    @property
    def turned(self) -> int:
        """The number of turned coordinates: the next power of two."""
        return 1 << (self.parameters - 1).bit_length()

    def down(self, round: int, updates: NDArray[np.floating]) -> Matrix:
        """Return what is sent of updates (..., d): their coordinates in the round's subspace."""
        signs, kept = self._drawn(round)
        given = np.asarray(updates)
        if given.ndim == 0 or given.shape[-1] != self.parameters:
            raise InvalidQuery(
                f"updates: shape {given.shape} does not end in {self.parameters} parameters"
            )
        flat = given.reshape(-1, self.parameters)
        sent = np.empty((len(flat), self.size))
        step = max(1, _ENTRIES // self.turned)
        for start in range(0, len(flat), step):
            part = flat[start : start + step]
            block = np.zeros((len(part), self.turned))
            with np.errstate(all="ignore"):  # a client may send anything
                block[:, : self.parameters] = part * signs[: self.parameters]
                sent[start : start + step] = _hadamard(block)[:, kept]
        return sent.reshape(*given.shape[:-1], self.size)

    def lift(self, round: int, vector: Matrix) -> Matrix:
        """Return the parameters (d,) that a vector (size,) of the round's subspace stands for."""
        signs, kept = self._drawn(round)
        whole = np.zeros((1, self.turned))
        whole[0, kept] = vector * (self.turned / self.size)
        lifted: Matrix = (_hadamard(whole)[0] * signs)[: self.parameters]
        return lifted

    def _drawn(self, round: int) -> tuple[Matrix, NDArray[np.int64]]:
        """Return a sign for each coordinate, and which turned ones are sent."""
        words = seeded_words((self.seed << 32) + round)
        signs = 1.0 - 2.0 * (words.words(self.turned) & np.uint64(1)).astype(np.float64)
        order = np.argsort(words.words(self.turned), kind="stable")
        return signs, order[: self.size]


def _hadamard(block: Matrix) -> Matrix:
    """Turn rows, of a power of two of numbers, by an orthonormal Hadamard matrix; in place."""
    rows, size = block.shape
    half = 1
    while half < size:
        pairs = block.reshape(rows, size // (2 * half), 2, half)
        first = pairs[:, :, 0].copy()
        pairs[:, :, 0] += pairs[:, :, 1]
        pairs[:, :, 1] = first - pairs[:, :, 1]
        half *= 2
    block /= size**0.5
    return block

"""Fingerprints of outputs: exact values, values that recur, and the pattern that they make."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.events import Keys
from halfmask.audit.samples import Matrix

__all__ = ["atoms", "fingerprints"]

Flags = NDArray[np.bool_]

LOOKED_AT = 40_000  # entries that are searched for values which recur
OFTEN = 0.01  # the part of all entries that makes a value an atom
MOST_ATOMS = 6
CELLS = 16
RECURRING = 8  # rows that recur before whole rows are worth comparing
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd word: 2^64 over the golden ratio
NAN = 1.7976931348623157e308  # stands for NaN, whose bits vary


def fingerprints(pooled: Matrix) -> Iterator[Keys]:
    """Yield what is worth fingerprinting in outputs like these."""
    recurring = atoms(pooled)
    if _recurs(pooled):
        yield Keys("the output", _hash)
    if recurring.size or not np.isfinite(pooled).all():
        for name, part in _blocks(pooled.shape[1]):
            yield _pattern(name, part, recurring)
        if not (is_atom(pooled, recurring) | ~np.isfinite(pooled)).all():
            yield _cells(pooled, recurring)


def atoms(pooled: Matrix) -> NDArray[np.float64]:
    """Return the finite values that make up a hundredth or more of all entries, at most six."""
    entries = pooled[:: max(1, pooled.size // LOOKED_AT)].ravel()
    values, counts = np.unique(entries[np.isfinite(entries)], return_counts=True)
    often = counts >= max(OFTEN * entries.size, 3)
    order = np.argsort(-counts[often], kind="stable")
    return values[often][order[:MOST_ATOMS]]


def is_atom(outputs: Matrix, recurring: NDArray[np.float64]) -> Flags:
    """Whether each entry is one of the recurring values."""
    found = np.zeros(outputs.shape, np.bool_)
    for value in recurring:
        found |= outputs == value
    return found


def _pattern(name: str, part: slice, recurring: NDArray[np.float64]) -> Keys:
    return Keys(f"the pattern{name}", lambda y: _hash(_masked(y[:, part], recurring)))


def _cells(pooled: Matrix, recurring: NDArray[np.float64]) -> Keys:
    """The pattern, together with the place of the sum of what is not in the pattern."""
    sums = np.sort(_free_sum(pooled, recurring))
    edges = np.unique(sums[(np.arange(1, CELLS) * sums.size) // CELLS])

    def of(outputs: Matrix) -> NDArray[np.uint64]:
        place = np.searchsorted(edges, _free_sum(outputs, recurring), "right")
        return (_hash(_masked(outputs, recurring)) ^ place.astype(np.uint64)) * SPREAD

    return Keys("the pattern with its sum's place", of)


def _blocks(width: int) -> Iterator[tuple[str, slice]]:
    yield "", slice(None)
    if width >= 4:
        yield f" of x0 to x{width // 2 - 1}", slice(width // 2)
        yield f" of x{width // 2} to x{width - 1}", slice(width // 2, None)


def _masked(outputs: Matrix, recurring: NDArray[np.float64]) -> Matrix:
    """Return what is an atom or not finite as it is, and the rest as one value."""
    kept = is_atom(outputs, recurring) | ~np.isfinite(outputs)
    return np.where(kept, outputs, 0.123)


def _free_sum(outputs: Matrix, recurring: NDArray[np.float64]) -> NDArray[np.float64]:
    free = np.isfinite(outputs) & ~is_atom(outputs, recurring)
    with np.errstate(over="ignore"):
        total: NDArray[np.float64] = np.where(free, outputs, 0.0).sum(axis=1)
    return total


def _hash(outputs: Matrix) -> NDArray[np.uint64]:
    """Return a 64-bit word a row; a collision only makes an event coarser."""
    named = np.where(np.isnan(outputs), NAN, outputs)
    bits = named.view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(29))) * SPREAD
    word = np.zeros(outputs.shape[0], np.uint64)
    for j in range(outputs.shape[1]):
        word = (word ^ bits[:, j]) * SPREAD
        word ^= word >> np.uint64(32)
    return word


def _recurs(pooled: Matrix) -> bool:
    words = np.sort(_hash(pooled))
    return int(np.count_nonzero(words[1:] == words[:-1])) >= RECURRING

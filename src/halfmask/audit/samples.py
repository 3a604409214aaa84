"""Outputs of a mechanism under audit: drawn in batches, checked, as a matrix of floats."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery

__all__ = ["Matrix", "Mechanism", "Repeated", "draw", "filled", "repeated", "stacked"]

Matrix = NDArray[np.float64]
Mechanism = Callable[[Any, int], Any]

BATCH = 1 << 15  # outputs asked for in one call: they stay in the processor's cache


def draw(mechanism: Mechanism, data: object, size: int) -> Matrix:
    """Return `size` independent outputs, shape (size, k).

    Raises:
        InvalidQuery: the mechanism raised, or returned something of another shape or kind.

    """
    starts = range(0, size, BATCH)
    parts = [_outputs(mechanism, data, min(BATCH, size - start)) for start in starts]
    return stacked(parts, max(part.shape[1] for part in parts))


def stacked(parts: Sequence[Matrix], width: int) -> Matrix:
    """Put outputs below each other, shorter ones filled up with NaN: length is an output, too."""
    filled = [
        part
        if part.shape[1] == width
        else np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan)
        for part in parts
    ]
    return filled[0] if len(filled) == 1 else np.concatenate(filled)


def _outputs(mechanism: Mechanism, data: object, size: int) -> Matrix:
    try:
        outputs = np.asarray(mechanism(data, size))
    except Exception as error:
        raise InvalidQuery(
            f"mechanism: raised {type(error).__name__} on {data!r}; a failure that depends on rows "
            f"tells of them: see halfmask.audit.repeated, which counts it as an output"
        ) from error
    if outputs.dtype.kind not in "biuf":
        raise InvalidQuery(f"mechanism: returned {outputs.dtype}; return numbers, NaN for none")
    if outputs.ndim not in (1, 2) or outputs.shape[0] != size:
        raise InvalidQuery(
            f"mechanism: returned shape {outputs.shape} for size {size}; return ({size},) or "
            f"({size}, k), one independent output a row"
        )
    return np.asfortranarray(outputs.reshape(size, -1), dtype=np.float64)  # column by column


def filled(answers: Sequence[Sequence[float]]) -> Matrix:
    """Put answers below each other, shorter ones filled up with NaN."""
    rows = np.full((len(answers), max(1, *map(len, answers))), np.nan)
    for row, answer in zip(rows, answers, strict=True):
        row[: len(answer)] = answer
    return rows


class Repeated:
    """A mechanism that answers once a call, as one that answers many times."""

    def __init__(self, once: Callable[[Any], Any]) -> None:
        self._once = once

    def __call__(self, data: object, size: int) -> Matrix:
        """Return `size` answers; an answer that raised is a row of NaN."""
        return filled([self._answer(data).tolist() for _ in range(size)])

    def _answer(self, data: object) -> Matrix:
        try:
            return np.ravel(np.asarray(self._once(data), dtype=np.float64))
        except Exception:  # whether it fails is an output like any other
            return np.full(1, np.nan)


def repeated(once: Callable[[Any], Any]) -> Repeated:
    """Adapt a mechanism `once(data) -> number or vector` to the auditor's `(data, size)`.

    An exception counts as an output, NaN, so that a failure which depends on rows is found.

    >>> repeated(lambda rows: sum(rows))([1, 2], 3).tolist()
    [[3.0], [3.0], [3.0]]
    """
    return Repeated(once)

"""The spatial (geometric) median: the point with the least sum of distances to the rows."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from halfmask.depth.arguments import Matrix, anchor, read_data, size
from halfmask.errors import HalfmaskError

__all__ = ["spatial_median"]

ENOUGH = 1e-11  # length of the mean unit vector at the answer, beyond what rows there may hold
STEPS = 1000
FLAT = 1e-13  # part of the spread that rows may lie off a line and still count as on it


def spatial_median(data: ArrayLike) -> Matrix:
    """Return the point (d,) with the least sum of distances to the rows; unique off a line.

    The answer is certified: the unit vectors from it to the rows sum to a length of at most w +
    1e-11 n, where w rows lie at the answer itself, and since the sum of distances is convex it is
    then within a relative 1e-11 n of the least. So ``spatial_depth`` there is at least
    1 - w/n - 1e-11 (before the answer is rounded to doubles). Rows on one line have the middle of
    their median interval. `HalfmaskError`, never a wrong answer, where rounding keeps the
    certificate out of reach.

    Source: Vardi & Zhang (2000) for steps that never increase the sum, Newton's in between.

    >>> spatial_median([[0, 0], [2, 0], [2, 2], [0, 2]]).round(9)
    array([1., 1.])
    >>> spatial_median([[0, 0], [0, 0], [7, 1], [3, 9]])   # held by two rows at one place
    array([0., 0.])
    """
    rows = read_data(data)
    centre = anchor(rows)
    x = rows - centre
    scale = float(np.median(np.linalg.norm(x, axis=1))) or size(x) or 1.0
    x = x / scale
    at = _on_a_line(x) if _is_flat(x) else _search(x)
    held = np.flatnonzero((x == at).all(axis=1))
    median: Matrix = rows[held[0]].copy() if len(held) else centre + scale * at
    return median


def _is_flat(x: Matrix) -> bool:
    from_first = x - x[0]
    far = from_first[np.argmax(np.abs(from_first).max(axis=1))]
    length = np.linalg.norm(far)
    if length == 0 or x.shape[1] == 1:
        return True
    u = far / length
    return bool(np.abs(from_first - np.outer(from_first @ u, u)).max() <= FLAT * length)


def _on_a_line(x: Matrix) -> Matrix:
    from_first = x - x[0]
    order = np.argsort(from_first @ from_first[np.argmax(np.abs(from_first).max(axis=1))])
    low, high = x[order[(len(x) - 1) // 2]], x[order[len(x) // 2]]
    middle: Matrix = low + (high - low) / 2
    return middle


def _search(x: Matrix) -> Matrix:
    at = np.median(x, axis=0)
    last = np.inf
    tried: set[int] = set()
    for _ in range(STEPS):
        gaps = x - at
        lengths = np.linalg.norm(gaps, axis=1)
        nearest = int(np.argmin(lengths))
        if nearest not in tried:  # a row may be the median: the gradient then jumps over 0 at it
            tried.add(nearest)
            if _excess(x, x[nearest]) <= ENOUGH:
                row: Matrix = x[nearest]
                return row
        excess = _excess(x, at)
        if excess <= ENOUGH:
            return at
        steps = [_weiszfeld(gaps, lengths)]
        if excess > last / 4 and lengths[nearest] > 0:  # slow: look at the curvature too
            steps += _newton(gaps, lengths)
        at, last = at + min(steps, key=partial(_change, gaps, lengths)), excess
    raise HalfmaskError("spatial_median: rounding hides the minimum; merge rows that nearly agree")


def _excess(x: Matrix, at: Matrix) -> float:
    """The certificate: how much the mean unit vector is longer than rows at the point can hold."""
    gaps = x - at
    lengths = np.linalg.norm(gaps, axis=1)
    held = lengths == 0
    pull = (gaps / np.where(held, 1, lengths)[:, None]).sum(axis=0)
    return float(max(0.0, np.linalg.norm(pull) - held.sum())) / len(x)


def _change(gaps: Matrix, lengths: Matrix, step: Matrix) -> float:
    """The change of the sum of distances, term by term, so that it keeps its digits."""
    sums = np.linalg.norm(gaps - step, axis=1) + lengths
    return float(((step @ step - 2 * gaps @ step) / np.where(sums == 0, 1, sums)).sum())


def _weiszfeld(gaps: Matrix, lengths: Matrix) -> Matrix:
    """A step to the mean weighted by 1/distance; from a row it is shortened by what that holds."""
    away = lengths > 0
    weights = 1 / lengths[away]
    pull = weights @ gaps[away]
    strength = np.linalg.norm(pull)
    part = max(0.0, 1 - np.count_nonzero(~away) / strength) if strength else 0.0
    step: Matrix = pull / weights.sum() * part
    return step


def _newton(gaps: Matrix, lengths: Matrix) -> list[Matrix]:
    """Newton's step and its halves; none where the curvature is singular."""
    weights = 1 / lengths
    units = gaps * weights[:, None]
    curvature = np.diag(np.full(gaps.shape[1], weights.sum())) - (units.T * weights) @ units
    try:
        step = np.linalg.solve(curvature, units.sum(axis=0))
    except np.linalg.LinAlgError:
        return []
    return [step / 2**i for i in range(12)] if np.isfinite(step).all() else []

"""The Tukey median in one and two dimensions: the centroid of the deepest region."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, read_data
from halfmask.depth.planar import Lines, lines_through
from halfmask.depth.tukey import least_side, tukey_depth
from halfmask.errors import InvalidQuery

__all__ = ["tukey_median"]

NOTHING = 1e-14  # of the area of the data's box: a region below it counts as having none
CUTS = 400


def tukey_median(data: ArrayLike) -> Matrix:
    """Return the Tukey median (d,) for d of 1 or 2.

    On a line it is the middle of the median interval. In the plane, the depth of a region with an
    inside is found by cutting off, through the centroid of what is left, a halfplane that is too
    shallow: each cut takes at least 4/9 of the area. The answer is the centroid of the deepest
    such region, or the mean of the deepest rows if one of them is deeper still. (A deepest region
    that is a segment or a point and holds no row has no inside, and in general no double either.)

    Source: Tukey (1975); Donoho & Gasko (1992); Gruenbaum (1960) for the 4/9.

    >>> tukey_median([[0, 0], [4, 0], [0, 4], [1, 1], [5, 5]]).round(6)
    array([1., 1.])
    """
    rows = read_data(data)
    if rows.shape[1] > 2:
        raise InvalidQuery(f"data: {rows.shape[1]} columns; the Tukey median is for one or two")
    low, high = rows.min(axis=0), rows.max(axis=0)
    if rows.shape[1] == 1 or (low == high).any():
        median: Matrix = np.median(rows, axis=0)
        return median
    span = high - low
    x = (rows - low) / span
    return _deepest(x, rows) if len(rows) < 4 else _bisect(x, rows, low, span)


def _bisect(x: Matrix, rows: Matrix, low: Matrix, span: Matrix) -> Matrix:
    region = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    shallow, deep = 0, (len(x) + 2) // 2
    while deep - shallow > 1:
        k = (shallow + deep) // 2
        found = _region(x, region, k)
        if found is None:
            deep = k
        else:
            shallow, region = k, found
    # A row deeper than all regions with an inside lies in the deepest of them, or at its edge.
    slack = 1e-9
    inside = ((x >= region.min(axis=0) - slack) & (x <= region.max(axis=0) + slack)).all(axis=1)
    if inside.any():
        depths = tukey_depth(rows[inside], rows)
        if depths.max() > shallow:
            best: Matrix = rows[inside][depths == depths.max()].mean(axis=0)
            return best
    if shallow == 0:
        return _deepest(rows, rows)
    centre: Matrix = low + span * _centroid(region)
    return centre


def _deepest(x: Matrix, rows: Matrix) -> Matrix:
    depths = tukey_depth(x, x)
    best: Matrix = rows[depths == depths.max()].mean(axis=0)
    return best


def _region(x: Matrix, region: Matrix, k: int) -> Matrix | None:
    """Cut `region`, which holds all points of depth k, down to them; None if no area is left."""
    corners: list[Matrix] = []
    for _ in range(CUTS):
        if _area(region) <= NOTHING:
            return None
        centre = _centroid(region)
        lines = next(lines_through(centre[None], x))
        if least_side(lines)[0] + lines.at >= k:
            break
        region = _cut(region, x, _normal(lines, x - centre), k)
    else:
        return None
    for _ in range(CUTS):  # then the corners that are too shallow, until none moves
        fresh = [c for c in region if not any(np.array_equal(c, old) for old in corners)]
        if not fresh:
            break
        corner = fresh[0]
        corners.append(corner)
        lines = next(lines_through(corner[None], x))
        if least_side(lines)[0] + lines.at < k:
            smaller = _cut(region, x, _normal(lines, x - corner), k)
            region = smaller if _area(smaller) > NOTHING else region
    return region


def _normal(lines: Lines, gaps: Matrix) -> Matrix:
    """The inner normal of the halfplane that holds the fewest rows."""
    least = least_side(lines)[1]
    count = len(lines.ahead)
    k = least % count
    unit = gaps[lines.towards] / np.linalg.norm(gaps[lines.towards], axis=1)[:, None]
    upper = (unit[:, 1] > 0) | ((unit[:, 1] == 0) & (unit[:, 0] > 0))
    unit = np.where(upper[:, None], unit, -unit)
    before = unit[k - 1] if k else -unit[-1]
    edge = before + unit[k] if count > 1 else np.array([unit[0, 1], -unit[0, 0]])
    normal: Matrix = np.array([-edge[1], edge[0]])
    return normal if least < count else -normal


def _cut(region: Matrix, x: Matrix, normal: Matrix, k: int) -> Matrix:
    """Keep what has k rows at or beyond it along the normal."""
    seen = x @ normal
    limit = np.partition(seen, len(seen) - k)[len(seen) - k]
    heights = limit - region @ normal
    kept: list[NDArray[np.float64]] = []
    for i, height in enumerate(heights):
        before = heights[i - 1]
        if (height < 0) != (before < 0):
            part = before / (before - height)
            kept.append(region[i - 1] + part * (region[i] - region[i - 1]))
        if height >= 0:
            kept.append(region[i])
    return np.array(kept).reshape(-1, 2)


def _area(region: Matrix) -> float:
    if len(region) < 3:
        return 0.0
    x, y = (region - region[0]).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _centroid(region: Matrix) -> Matrix:
    gaps = region - region[0]
    a, b = gaps[1:-1], gaps[2:]
    weights = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    centre: Matrix = region[0] + weights @ (a + b) / (3 * weights.sum())
    return centre

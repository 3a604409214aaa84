"""The Tukey median in one and two dimensions: the centroid of the deepest region."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from halfmask.depth.arguments import Matrix, read_data
from halfmask.depth.medians import deepest
from halfmask.depth.planar import Lines, lines_through
from halfmask.depth.tukey import least_side, tukey_depth
from halfmask.errors import InvalidQuery

__all__ = ["tukey_median"]

NOTHING = 1e-14  # an area below this part of the data's box, whose area is 1/4 to 1, is none
FINE = 1e-9  # a cut that takes a smaller part of the area is rounding
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
    exponents = np.frexp(high - low)[1]  # powers of two: no tie is lost, and the box is near 1
    x = np.ldexp(rows, -exponents)
    centre: Matrix = np.ldexp(_deepest(x) if len(x) < 4 else _bisect(x), exponents)
    return centre


def _bisect(x: Matrix) -> Matrix:
    (left, bottom), (right, top) = x.min(axis=0), x.max(axis=0)
    region = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    shallow, deep = 0, len(x) + 1
    while deep - shallow > 1:
        k = (shallow + deep) // 2
        found = _region(x, region, k)
        if found is None:
            deep = k
        else:
            shallow, region = k, found
    # A row deeper than all regions with an inside lies in the deepest of them, or at its edge.
    slack = FINE * np.ptp(x, axis=0)
    inside = ((x >= region.min(axis=0) - slack) & (x <= region.max(axis=0) + slack)).all(axis=1)
    if inside.any() and tukey_depth(x[inside], x).max() > shallow:
        return _deepest(x[inside], x)
    if not shallow:
        return _deepest(x)
    centres = np.array([_centroid(_trim(x, region, shallow)), _centroid(region)])
    depths = tukey_depth(centres, x)
    # A region without inside cannot be cut to its shape; the point that was found in it stays.
    return np.asarray(centres[0 if depths[0] >= shallow else 1])


def _deepest(points: Matrix, x: Matrix | None = None) -> Matrix:
    return deepest(points, tukey_depth(points, points if x is None else x))


def _region(x: Matrix, region: Matrix, k: int) -> Matrix | None:
    """Cut `region`, which holds all of depth k, until its centroid is; None if no area is left."""
    for _ in range(CUTS):
        if _area(region) <= NOTHING:
            return None
        centre = _centroid(region)
        lines = next(lines_through(centre[None], x))
        if least_side(lines)[0] + lines.at >= k:
            return region
        for normal in _normals(lines, x, centre):
            region = _cut(region, x, normal, k)
    return None


def _trim(x: Matrix, region: Matrix, k: int) -> Matrix:
    """Cut off corners less deep than k until no cut takes area: what is left is the region of k."""
    corners: list[Matrix] = []
    for _ in range(CUTS):
        fresh = [c for c in region if not any(np.array_equal(c, old) for old in corners)]
        if not fresh:
            break
        corners.append(fresh[0])
        # A little inwards: at the corner itself rounding would show its own two edges as too far.
        corner = fresh[0] + FINE * (_centroid(region) - fresh[0])
        lines = next(lines_through(corner[None], x))
        if least_side(lines)[0] + lines.at < k:
            for normal in reversed(_normals(lines, x, corner)):
                smaller = _cut(region, x, normal, k)
                if NOTHING < _area(smaller) < (1 - FINE) * _area(region):
                    region = smaller
                    break
    return region


def _normals(lines: Lines, x: Matrix, at: Matrix) -> list[Matrix]:
    """Inner normals of the emptiest halfplane, and of that through the two rows where it ends.

    Any normal makes a true cut; the first one certainly takes the point off, the second is that of
    the deepest region's own edge.
    """
    count = len(lines.ahead)
    k, lower = least_side(lines)[1] % count, least_side(lines)[1] >= count
    rows = x[lines.towards]
    unit = (rows - at) / np.linalg.norm(rows - at, axis=1)[:, None]
    upper = (unit[:, 1] > 0) | ((unit[:, 1] == 0) & (unit[:, 0] > 0))
    unit = np.where(upper[:, None], unit, -unit)
    before = unit[k - 1] if k else -unit[-1]
    edge = before + unit[k] if count > 1 else np.array([unit[0, 1], -unit[0, 0]])
    normal = np.array([-edge[1], edge[0]]) * (-1 if lower else 1)
    along = rows[k] - rows[k - 1]
    other = np.array([-along[1], along[0]])
    return [normal, other if other @ normal >= 0 else -other]


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

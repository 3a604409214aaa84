"""What depths take as public: points, directions, and the counts along these."""

from math import frexp, ldexp
from typing import Any

import numpy as np

from halfmask.errors import InvalidQuery, shown
from halfmask.queries.location import Halfspaces, Region, public_directions

__all__ = ["Vectors", "along", "read_points", "read_rays"]

Vectors = tuple[tuple[float, ...], ...]


def read_points(given: Any, name: str, example: str) -> Vectors:
    """Read an array of points, all finite and of one length."""
    try:
        points = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 2 or not points.size or not np.isfinite(points).all():
        raise InvalidQuery(
            f"{name}: {shown(given)} is no table of finite numbers; give a row for each, as in "
            f"{example}"
        )
    return tuple(map(tuple, points.tolist()))


def read_rays(given: Any) -> Vectors | None:
    """Read directions, none zero, each scaled by a power of two to at most 1; None stays None."""
    if given is None:
        return None
    rays = read_points(given, "directions", "[[1, 0], [0, 1], [1, 1]]")
    if not all(map(any, rays)):
        raise InvalidQuery("directions: one of them is zero; give directions with a length")
    shifts = (-frexp(max(map(abs, ray)))[1] for ray in rays)
    return tuple(
        tuple(ldexp(x, shift) for x in ray) for ray, shift in zip(rays, shifts, strict=True)
    )


def along(region: Region, rays: Vectors | None, summed: bool = False) -> Halfspaces:
    """Count along the rays, or along those that everyone knows."""
    rays = rays or public_directions(region.size)
    if len(rays[0]) != region.size:
        raise InvalidQuery(
            f"directions: {len(rays[0])} coordinates for {region.size} columns; give one for each"
        )
    return Halfspaces(region.frame, rays, summed)

"""Private centres of an array in one call: what is asked through the door, for arrays at hand."""

from os import PathLike
from typing import Any

import numpy as np

from halfmask.curator import open as open_table
from halfmask.errors import InvalidQuery
from halfmask.privacy import Cost, Ledger
from halfmask.procedures import BoxMedian, CoordinateMedian, RobustLocation, SpatialMedian
from halfmask.queries import Query, price_of
from halfmask.release import Release

__all__ = ["box_median", "coordinatewise_median", "robust_location", "spatial_median"]


def robust_location(  # noqa: PLR0913
    X: Any,
    *,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    center: Any = 0.0,
    radius: Any,
    columns: Any = None,
    rows: int | None = None,
    whiten: bool = False,
    relation: str = "add_remove",
    ledger: str | PathLike[str] | Ledger | None = None,
) -> Release:
    """Return a private centre of points, little moved by a quarter of outliers or heavy tails.

    X: an (n, d) array, a list of rows, or anything that `halfmask.open` takes; one row is one
      privacy unit.
    epsilon, delta, rho: the price.
    center, radius: the public box that is sure to hold the centre; see `RobustLocation`.
    rows: how many there are, where that is known or supposed in public; see there.
    whiten: for correlated columns; see there.
    ledger: where the price is charged; None charges a ledger of this one call.

    Privacy: that of `RobustLocation`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 3)) + 4
    >>> found = robust_location(X, epsilon=1, delta=1e-6, radius=100)
    >>> len(found.value), max(abs(x - 4) for x in found.value) < 0.3
    (3, True)
    """
    query = RobustLocation(center, radius, columns, rows=rows, whiten=whiten)
    return _ask(X, query, price_of(epsilon, delta, rho), relation, ledger)


def coordinatewise_median(  # noqa: PLR0913
    X: Any,
    *,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    center: Any = 0.0,
    radius: Any,
    columns: Any = None,
    relation: str = "add_remove",
    ledger: str | PathLike[str] | Ledger | None = None,
) -> Release:
    """Return a private median of each column; the arguments are those of `robust_location`.

    Privacy: that of `CoordinateMedian`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 2)) + 4
    >>> found = coordinatewise_median(X, epsilon=1, radius=100)
    >>> max(abs(x - 4) for x in found.value) < 0.3
    True
    """
    return _ask(
        X,
        CoordinateMedian(center, radius, columns),
        price_of(epsilon, delta, rho),
        relation,
        ledger,
    )


def box_median(  # noqa: PLR0913
    X: Any,
    *,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    center: Any = 0.0,
    radius: Any,
    columns: Any = None,
    relation: str = "add_remove",
    ledger: str | PathLike[str] | Ledger | None = None,
) -> Release:
    """Return a private point deep in every column; the arguments are those of `robust_location`.

    Privacy: that of `BoxMedian`: pure epsilon in any dimension.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 2)) + 4
    >>> found = box_median(X, epsilon=1, radius=100)
    >>> max(abs(x - 4) for x in found.value) < 0.3
    True
    """
    return _ask(
        X, BoxMedian(center, radius, columns), price_of(epsilon, delta, rho), relation, ledger
    )


def spatial_median(  # noqa: PLR0913
    X: Any,
    *,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    center: Any = 0.0,
    radius: Any,
    columns: Any = None,
    relation: str = "add_remove",
    ledger: str | PathLike[str] | Ledger | None = None,
) -> Release:
    """Return a private point nearest to all others; the arguments are those of `robust_location`.

    From five columns on, some arrays take very long: see `SpatialMedian`.
    Privacy: that of `SpatialMedian`: pure epsilon in any dimension.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 10)) + 4
    >>> found = spatial_median(X, epsilon=1, radius=100)
    >>> max(abs(x - 4) for x in found.value) < 0.3
    True
    """
    query = SpatialMedian(center, radius, columns)
    return _ask(X, query, price_of(epsilon, delta, rho), relation, ledger)


def _ask(
    X: Any,
    query: Query,
    price: Cost,
    relation: str,
    ledger: str | PathLike[str] | Ledger | None,
) -> Release:
    given = price.to_dict()
    names: dict[str, Any] = {
        name: given[name] for name in ("epsilon", "delta", "rho", "mu") if name in given
    }
    with open_table(
        _table(X), relation=relation, budget=price if ledger is None else None, ledger=ledger
    ) as table:
        release: Release = table.ask(query, **names)
    return release


def _table(X: Any) -> Any:
    """Return what `open` takes: lists of rows, and whatever else NumPy can read, as an array."""
    named = hasattr(X, "columns") or hasattr(X, "column_names")
    other = hasattr(X, "__array__") and not isinstance(X, np.ndarray) and not named
    if not other and not isinstance(X, list | tuple):
        return X
    if not other:  # NumPy alone would drop the masks of rows
        X = [row.tolist() if isinstance(row, np.ma.MaskedArray) else row for row in X]
    try:
        array = np.asarray(X)
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (TypeError, ValueError, OverflowError):
        array = np.array("")
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        raise InvalidQuery(
            "X: it is no table of numbers; give a row for each point, all of one length, as in "
            "[[1.0, 2.5], [3.0, 4.0]]"
        )
    return array

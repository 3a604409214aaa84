"""Private centres of an array in one call: what is asked through the door, for arrays at hand."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.curator import open as open_table
from halfmask.errors import InvalidQuery
from halfmask.plan import Kind
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
    points, kinds = _table(X)
    book = price if ledger is None else None
    with open_table(points, schema=kinds, relation=relation, budget=book, ledger=ledger) as table:
        release: Release = table.ask(query, **names)
    return release


def _table(X: Any) -> tuple[Any, dict[str, Kind] | None]:
    """Return what `open` takes: lists of rows, and whatever else NumPy can read, as an array.

    Whether it is a table is told by its shape alone: a cell that holds no number is missing, in a
    list as in a file, so that nobody's cell decides whether an answer is given.
    """
    named = hasattr(X, "columns") or hasattr(X, "column_names")
    other = hasattr(X, "__array__") and not isinstance(X, np.ndarray) and not named
    if not other and not isinstance(X, list | tuple):
        return X, None
    try:
        array = _array(X)
    except (TypeError, ValueError, OverflowError):
        array = np.array("")
    if array.ndim not in (1, 2):
        raise InvalidQuery(
            "X: it is no table of numbers; give a row for each point, all of one length, as in "
            "[[1.0, 2.5], [3.0, 4.0]]"
        )
    width = 1 if array.ndim == 1 else array.shape[1]
    return array, {f"x{i}": "real" for i in range(width)}


def _array(X: Any) -> NDArray[Any]:
    """An array of numbers, or of cells where some are none; NumPy alone would drop rows' masks."""
    if isinstance(X, list | tuple):
        X = [row.tolist() if isinstance(row, np.ma.MaskedArray) else row for row in X]
    array = np.asarray(X)
    return array.astype(np.float64) if array.dtype.kind in "iuf" else np.array(X, dtype=object)

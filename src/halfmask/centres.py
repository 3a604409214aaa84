"""Private centres of an array in one call: what is asked through the door, for arrays at hand."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Protocol

from halfmask.curator import open as open_table
from halfmask.privacy import Ledger
from halfmask.procedures import BoxMedian, CoordinateMedian, RobustLocation, SpatialMedian
from halfmask.queries import Query, price_of
from halfmask.release import Release

__all__ = ["box_median", "coordinatewise_median", "robust_location", "spatial_median"]


class _OfArray(Protocol):
    """The signature that all centres of arrays share."""

    def __call__(  # noqa: PLR0913
        self,
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
    ) -> Release: ...


def _asks(kind: Callable[..., Query]) -> Callable[[Callable[[], None]], _OfArray]:
    """Make a function of its name and docstring: it asks a query of this kind of an array."""

    def described(words: Callable[[], None]) -> _OfArray:
        def ask(  # noqa: PLR0913
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
            query, price = kind(center, radius, columns), price_of(epsilon, delta, rho)
            given = price.to_dict()
            named: dict[str, Any] = {
                name: given[name] for name in ("epsilon", "delta", "rho") if name in given
            }
            budget = price if ledger is None else None
            with open_table(X, relation=relation, budget=budget, ledger=ledger) as table:
                release: Release = table.ask(query, **named)
            return release

        ask.__name__, ask.__qualname__, ask.__doc__ = words.__name__, words.__name__, words.__doc__
        return ask

    return described


@_asks(RobustLocation)
def robust_location() -> None:
    """Return a private centre of points, little moved by a quarter of outliers or heavy tails.

    X: an (n, d) array, or anything that `halfmask.open` takes; one row is one privacy unit.
    epsilon, delta, rho: the price.
    center, radius: the public box that is sure to hold the centre; see `RobustLocation`.
    ledger: where the price is charged; None charges a ledger of this one call.

    Privacy: that of `RobustLocation`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 3)) + 4
    >>> found = robust_location(X, epsilon=1, delta=1e-6, radius=100)
    >>> len(found.value), max(abs(x - 4) for x in found.value) < 0.3
    (3, True)
    """


@_asks(CoordinateMedian)
def coordinatewise_median() -> None:
    """Return a private median of each column; the arguments are those of `robust_location`.

    Privacy: that of `CoordinateMedian`.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 2)) + 4
    >>> found = coordinatewise_median(X, epsilon=1, radius=100)
    >>> max(abs(x - 4) for x in found.value) < 0.3
    True
    """


@_asks(BoxMedian)
def box_median() -> None:
    """Return a private point deep in every column; the arguments are those of `robust_location`.

    Privacy: that of `BoxMedian`: pure epsilon in any dimension.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 2)) + 4
    >>> found = box_median(X, epsilon=1, radius=100)
    >>> max(abs(x - 4) for x in found.value) < 0.3
    True
    """


@_asks(SpatialMedian)
def spatial_median() -> None:
    """Return a private point nearest to all others; the arguments are those of `robust_location`.

    From five columns on, some arrays take very long: see `SpatialMedian`.
    Privacy: that of `SpatialMedian`: pure epsilon in any dimension.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(5000, 10)) + 4
    >>> found = spatial_median(X, epsilon=1, radius=100)
    >>> max(abs(x - 4) for x in found.value) < 0.3
    True
    """

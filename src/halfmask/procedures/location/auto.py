"""The best centre for a price: predicted from public facts, refused up front where none is."""

from dataclasses import dataclass
from typing import Any, ClassVar

from halfmask.errors import InvalidQuery
from halfmask.privacy import Cost
from halfmask.procedures.location.asked import Centre, counted_rows
from halfmask.procedures.location.coordinates import BoxMedian, CoordinateMedian
from halfmask.procedures.location.feasible import enough
from halfmask.procedures.location.robust import RobustLocation
from halfmask.procedures.location.spatial import SpatialMedian
from halfmask.queries import Expected, Measurement, Setting

__all__ = ["Location"]

SURE = 3
"""Columns up to which a spatial median is drawn in little time, whatever the rows."""


@dataclass(frozen=True)
class Location(Centre):
    """The centre of points by whichever estimator is predicted to err least.

    Chosen among `BoxMedian`, `CoordinateMedian`, up to three columns `SpatialMedian` (with more,
    some rows make its draw too long) and, where there is a delta, `RobustLocation`, by their errors
    for so many normal points: public facts alone, so the choice costs nothing. All of them estimate
    the centre of symmetric data.

    center, radius, columns: see `RobustLocation`.
    rows: how many points there are, known or supposed in public.
    outliers: whether many gross outliers are expected: then a robust location is taken wherever
      it is feasible.

    Privacy: that of the estimator that is chosen.

    >>> Location(center=0, radius=100, rows=1000).title
    'centre of all numeric columns'
    """

    rows: int | None = None
    outliers: bool = False

    what: ClassVar[str] = "centre of"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rows", counted_rows(self.rows))

    def chosen(self, setting: Setting, price: Cost) -> Centre:
        """Return the estimator that is taken; InvalidQuery where none is feasible."""
        assert self.rows is not None  # noqa: S101
        found = self._best(setting, price, self.rows)
        if found is None:
            would = enough(lambda rows: self._best(setting, price, rows) is not None)
            raise InvalidQuery(
                f"rows: {self.rows} points are too few for {price} within these bounds, whatever "
                f"the estimator; {would}, or ask with a larger price, a smaller radius or fewer "
                "columns. Nothing was charged."
            )
        return found

    def _best(self, setting: Setting, price: Cost, rows: int) -> Centre | None:
        place: dict[str, Any] = {
            "center": self.center,
            "radius": self.radius,
            "columns": self.columns,
            "deviation": self.deviation,
        }
        kinds: list[Centre] = [BoxMedian(**place), CoordinateMedian(**place)]
        if self.box.region(setting).size <= SURE:
            kinds.append(SpatialMedian(**place, rows=rows))
        robust = RobustLocation(**place, rows=rows)
        errors = {}
        for kind in [*kinds, robust]:
            try:
                expected = kind.expected(setting, price, rows)
                kind.prepare(setting, price)
            except InvalidQuery:
                continue
            if "too few" not in expected.assuming:
                errors[kind] = expected.rmse
        if self.outliers and robust in errors:
            return robust
        return min(errors, key=lambda kind: errors[kind]) if errors else None

    def prepare(self, setting: Setting, price: Cost) -> Measurement[Any]:
        """Fix the estimator, the points and the noise."""
        return self.chosen(setting, price).prepare(setting, price)

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error of the estimator that is taken for so many rows."""
        best = self._best(setting, price, rows) or BoxMedian(self.center, self.radius, self.columns)
        return best.expected(setting, price, rows)

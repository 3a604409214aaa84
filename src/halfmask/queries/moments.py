"""Two-sided sums: count, sum, mean and variance of one column from one price, unsplit.

With a = (x - lower) / (upper - lower) in [0, 1], a row is cut into parts from 0 to 1 that sum to 1:
(1-a, a) for degree 1, ((1-a)^2, 2a(1-a), a^2) for degree 2 (Bernstein's polynomials). So one row
moves the vector of sums by exactly 1 in L1, and the whole price buys noise for all of them.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from halfmask.mechanisms import Additive, DiscreteLaplace
from halfmask.plan import Features, OnGrid, Tally
from halfmask.privacy import Cost, Relation
from halfmask.queries.grid import Range, cells_against_noise, lay_grid, to_float
from halfmask.queries.prepared import Output, Prepared
from halfmask.queries.pricing import mechanism_for, strength
from halfmask.queries.ratio import Linear, Ratio, Term
from halfmask.queries.setting import Reach, Setting
from halfmask.queries.spread import Spread

__all__ = ["MomentSums", "Moments", "term"]


@dataclass(frozen=True)
class Moments:
    """The body of one row's contributions to the moments of a bounded column.

    missing: add a part for rows without a value, so that all rows can be counted too.
    Privacy: epsilon-DP with noise of scale rows_per_unit / epsilon on each part (in rows), since a
    row moves the parts by exactly 1 in L1; twice that when replaced. [Dwork, McSherry, Nissim &
    Smith 2006, Prop. 1; the K-norm view: Hardt & Talwar 2010]
    """

    column: str
    bounds: Range
    degree: int = 1
    missing: bool = False

    def lay(self, setting: Setting, price: Cost) -> OnGrid:
        """Lay the column's grid with its origin at the lower bound, against the whole price."""
        cells = cells_against_noise(strength(price), setting.rows, self.degree)
        grid = lay_grid(self.column, self.bounds, cells)
        return OnGrid(self.column, grid.lower, grid.upper, grid.log2_step, origin=grid.lower)

    def features(self, width: int) -> Features:
        """Each part over (1, p, v, v^2), in integers; the parts of a row sum to W^degree."""
        parts: Features = ((0, width, -1, 0), (0, 0, 1, 0))
        if self.degree == 2:
            parts = ((0, width**2, -2 * width, 1), (0, 0, 2 * width, -2), (0, 0, 0, 1))
        whole = width**self.degree
        return (*parts, (whole, -whole, 0, 0)) if self.missing else parts

    def prepare(
        self, setting: Setting, price: Cost, grid: OnGrid | None = None
    ) -> Prepared["MomentSums"]:
        """Fix the tally and the noise; the answer is read as `MomentSums`.

        grid: that of an earlier measurement, so that one pass over the rows serves both.
        """
        grid = grid or self.lay(setting, price)
        width = grid.upper - grid.lower
        one = width**self.degree
        rotated = self._rotates(setting)
        # Rotated to (A - B, A + B): a replaced row moves the first by 2W, or the first by W and
        # the second by W where a value turns missing; so 2W in L1 where (A, B) would need as much
        # for each side alone, and the noise of the mean falls by the square root of two.
        far = 2 * setting.rows * one
        reach = Reach(far, far * far) if rotated else setting.reach(one)
        mechanism = mechanism_for(reach, price)
        features = self.features(width)
        tally = Tally(
            features,
            value=grid,
            groups=setting.groups,
            where=setting.where,
            unit=setting.bound(one),
        )
        step = Fraction(2) ** grid.log2_step
        snapped = Range(grid.lower * step, grid.upper * step)
        output = Output(
            mechanism,
            lambda noisy: MomentSums(noisy, mechanism, snapped, self.degree, one, rotated),
            Fraction(1, one),
            combine=((-1, 1), (1, 1)) if rotated else None,
        )
        return Prepared(tally, (output,))

    def as_if(self, setting: Setting, price: Cost, rows: int) -> "MomentSums":
        """The sums as they would be without noise for `rows` values spread evenly: for previews.

        Evenly spread values have equal Bernstein parts.
        """
        (output,) = self.prepare(setting, price).outputs
        grid = self.lay(setting, price)
        one = (grid.upper - grid.lower) ** self.degree
        parts = [one * rows // (self.degree + 1)] * (self.degree + 1) + [0] * self.missing
        return output.read(output.combined(parts))

    def _rotates(self, setting: Setting) -> bool:
        replaced = setting.unit.relation is Relation.REPLACE
        return replaced and setting.by is None and self.degree == 1 and not self.missing


def term(noisy: float, mechanism: Additive, unit: int, top: float, bottom: float) -> Term:
    """One noisy integer, in units of `unit`, as a term of a ratio."""
    laplace = isinstance(mechanism, DiscreteLaplace)
    spread = mechanism.standard_deviation / unit
    return Term(noisy / unit, top, bottom, spread / 2**0.5 if laplace else spread, not laplace)


@dataclass(frozen=True)
class MomentSums:
    """Noisy sums of the parts: every moment is read off them, free of charge."""

    noisy: tuple[int, ...]
    mechanism: Additive
    bounds: Range
    degree: int
    one: int
    rotated: bool = False

    post_processing: ClassVar[tuple[str, ...]] = ()

    def _terms(self, tops: list[float], bottoms: list[float]) -> tuple[Term, ...]:
        return tuple(
            term(noisy, self.mechanism, self.one, top, bottom)
            for noisy, top, bottom in zip(self.noisy, tops, bottoms, strict=False)
        )

    @property
    def value(self) -> float:
        """The mean: what a bare pair of sums is asked for."""
        return self.mean().value

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Bracket the mean."""
        return self.mean().interval(confidence)

    @property
    def part_variance(self) -> float:
        """The variance of the noise of one part, in squared rows."""
        return (self.mechanism.standard_deviation / self.one) ** 2

    def lone_term(self) -> Term:
        """The one noisy number there is, where parts were combined into one before noise."""
        (noisy,) = self.noisy
        return term(noisy, self.mechanism, self.one, 1.0, 0.0)

    def mean(self) -> Ratio:
        """The mean of the bounded values: the share of the upper parts."""
        if self.rotated:
            return Ratio(self._terms([0.5, 0.5], [0.0, 1.0]), self.bounds)
        tops = [i / self.degree for i in range(self.degree + 1)]
        return Ratio(self._terms(tops, [1.0] * (self.degree + 1)), self.bounds)

    def count(self) -> Linear:
        """The number of rows (of those with a value, where missing ones have no part)."""
        return Linear(self._terms([0.0, 1.0] if self.rotated else [1.0] * 4, [0.0] * 4))

    def present(self) -> Linear:
        """The number of rows that have a value."""
        return Linear(self.count().terms[: self.degree + 1])

    def sum(self) -> Linear:
        """The sum of the bounded values."""
        lower, width = to_float(self.bounds.lower), to_float(self.bounds.width)
        if self.rotated:
            return Linear(self._terms([width / 2, lower + width / 2], [0.0] * 2))
        tops = [lower + width * i / self.degree for i in range(self.degree + 1)]
        return Linear(self._terms(tops, [0.0] * 3))

    def spread(self, *, root: bool = False) -> Spread:
        """The variance of the bounded values (their standard deviation, with `root`)."""
        assert self.degree == 2, "only sums of degree 2 know the variance"  # noqa: S101
        return Spread(self._terms([0.0] * 3, [0.0] * 3), self.bounds, root)

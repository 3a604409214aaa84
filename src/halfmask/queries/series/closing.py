"""A question asked anew whenever a period closes, at one price for all periods together."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.mechanisms import Additive
from halfmask.noise import Words
from halfmask.plan import Arrivals, Everything, Periods, Tallies, Tally
from halfmask.privacy import Cost, Relation
from halfmask.queries.count import Count, CountDistinct
from halfmask.queries.measurement import Record
from halfmask.queries.series.strategy import Causal, Moved, causal, choose
from halfmask.queries.series.totals import Totals, joined
from halfmask.queries.setting import Setting
from halfmask.queries.sum import Sum

__all__ = ["Closing", "Running"]


@dataclass(frozen=True)
class Running:
    """Running totals of a `Count`, `CountDistinct` or `Sum` over public periods of a time column.

    The number of period t is the answer of `of` on the rows of periods 1 to t; with a unit column
    each unit is held to its bound over all periods together, so its first rows count. By arrival it
    is held to it in each period on its own, and the noise is as if it were in all of them.
    single: whether the periods' own numbers are read off, and not the totals.
    time: the column; empty where periods are by arrival.

    >>> Running(Count(), "at", Periods("2026-01-01", "month", 12)).title
    'running number of rows, by at (one price for all 12 periods, if rows are only added)'
    """

    of: Count | CountDistinct | Sum
    time: str
    periods: Periods | Arrivals
    single: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.of, Count | CountDistinct | Sum):
            raise InvalidQuery(
                f"series: {shown(self.of)} has no running total; ask Count(), CountDistinct() or "
                "Sum(...)"
            )

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        what = self.of.title if self.single else f"running {self.of.title}"
        rule = f"one price for all {self.periods.number} periods, if rows are only added"
        return f"{what}, by {self.time or 'arrival'} ({rule})"

    def check(self, setting: Setting) -> None:
        """Refuse columns that do not fit, and sums that a unit could move back and forth."""
        self.of.check(setting)
        self.periods.until(self.time, 1).check(setting.schema)
        apart, by_unit = self.periods.apart, setting.unit.column is not None
        if apart and by_unit and isinstance(self.of, CountDistinct):
            raise InvalidQuery(
                "series: units that come again with a later file would be counted again, since "
                "earlier ones are in no file and in no ledger; give time=, start= and every=, or "
                "ask Count(), in which a unit counts in each period"
            )
        groups = 1 if setting.by is None else setting.by.size
        if by_unit and groups > (setting.picked or 1):
            raise InvalidQuery(
                f"series: a unit may have rows in {groups} groups and counts in fewer, and later "
                "rows would change in which, or how much; open the table with "
                f"groups_per_unit={groups}, for so many times the noise, or without a unit"
            )
        if self._both_signs and by_unit and not apart:
            raise InvalidQuery(
                "series: a unit could move a sum with bounds of both signs back and forth; ask "
                "sums of values from 0 up and from 0 down, each in a series of its own"
            )

    def lay(self, setting: Setting, price: Cost, strategy: str | None = None) -> "Closings":
        """Fix the tally, the strategy (chosen, or the one of this text) and the noise."""
        prepared = self.of.prepare(setting, price)
        tally = prepared.tally
        groups = 1 if setting.by is None else setting.by.size
        moved = Moved(tally.reach)
        number = self.periods.number
        if tally.unit is not None:  # each of its groups is held to the norm on its own
            times = groups * number if self.periods.apart else groups
            moved = Moved(tally.unit.norm * times, parts=times)
        if setting.unit.relation is Relation.REPLACE:
            moved = replace(moved, l1=2, l2_squared=4 if self._both_signs else 2)
        if self.periods.apart:
            strategy = "each"
        chosen = causal(strategy, number) if strategy else choose(number, moved, price)
        mechanism = moved.noise(chosen, price)
        return Closings(self, tally, chosen, mechanism, prepared.outputs[0].step, price, groups)

    @property
    def _both_signs(self) -> bool:
        return isinstance(self.of, Sum) and self.of.lower < 0 < self.of.upper


@dataclass(frozen=True)
class Closings:
    """What all closings of one series share.

    Privacy: the noisy sums y_t = A_t x(t) + noise of all closings t together cost one price, where
    the table at each closing may be any, chosen after seeing earlier answers, and two histories of
    tables differ in one unit whose rows are only added (where a row is the unit: in one row that
    stays in its period, whenever it is there, whatever it holds then). Here x(t) are the periods'
    numbers in the table at t, A_t is row t of the strategy, and a unit is held to `far` over all
    periods together. [continual counting: Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song
    2011; any matrix: Denisov, McMahan, Rush, Smith & Thakurta 2022, Thm 2.1]
    Proof. Row as unit: its period p is fixed, its value is within far whenever it is there: y_t
    moves by at most far * A_tp, so y by at most far times a column of A. Unit of many rows, of
    values of one sign, say 0 or above: let z_s(t) be its total up to period s in the table at t,
    held to far. It rises in s, and in t as rows are only added, so c_s = z_s(s) rises, up to far.
    The unit adds to y_t
    A_tt z_t(t) - sum_(s<t) (A_t,s+1 - A_ts) z_s(t), where the brackets are not negative since the
    entries of A_t rise; by z_s(t) >= c_s that is at most sum_s A_ts (c_s - c_(s-1)), and it is at
    least 0. So y moves by at most A d, d >= 0 of sum at most far: in either norm at most far times
    the largest column of A. A replaced unit moves y by the difference of two such vectors: twice
    that in L1; of two without entries below 0 the squares add up, others are at most twice as long.
    Laplace noise: log-likelihoods differ by L1 over scale on every path of answers. Gaussian noise
    composes fully adaptively [Feldman & Zrnic 2021; Smith & Thakurta 2022].
    Periods by arrival are apart: closing t sees rows that no other closing sees, and A is the
    identity. A row that may be there or not lies in one of these tables, whatever the others are:
    y moves by far in one entry. A unit of many rows may be in each of T tables, whose closings
    compose: each is bounded on its own and moves by at most far, whatever is in the others, so y
    moves by T far in L1, and the squares add up to T far^2.
    In public groups, each of one number a period, a row lies in one group and moves that one's sums
    alone: y, of all groups together, moves as far as that of one (replaced, the two vectors may lie
    in two groups: twice as far in L1, and the squares add up). [parallel composition: McSherry
    2009, Thm 4] A row that changes its group is two rows. A unit of many rows is held to far in
    each of g groups, on its own: each group's sums move as above, whatever it has in others, so y
    by g times as far in L1, and the squares add up.
    Of a unit (of k rows at most) of which D rows of closed periods are taken away, changed, or
    moved to later ones, y moves 1 + D/k times as far: add to z_s(t), s > 0, the sum of all falls
    until t; that rises again, to far (1 + D/k) at most, and makes no y_t smaller.
    """

    question: Running
    tally: Tally
    strategy: Causal
    mechanism: Additive
    step: Fraction
    price: Cost
    groups: int = 1

    @property
    def law(self) -> str:
        """The strategy and the law of its noise, in words."""
        l1, _ = self.strategy.norms
        law = self.mechanism.law_in(self.step / l1)
        held = self.question.periods.apart and self.tally.unit is not None
        each = ", each unit held to its bound in each" if held else ""
        return f"{law} of what a row adds to sums of a series: {self.strategy.name}{each}"

    @property
    def fixed(self) -> str:
        """All that must stay the same from one closing to the next, exactly."""
        grid = self.tally.value and (self.tally.value.lower, self.tally.value.upper)
        noise = f"{self.mechanism!r}; {grid} in steps of {self.step}"
        return f"{self.strategy.text} {self.strategy.digest}; {noise}"

    def closing(self, first: int, last: int) -> "Closing":
        """Return the measurement of periods first to last, counted from 1."""
        return Closing(self, first, last)

    def totals(self, noisy: tuple[int, ...], periods: int, *, single: bool = False) -> Totals:
        """Read the noisy sums of the first periods, of one group."""
        labels = self.question.periods.labels[:periods]
        return Totals(noisy, self.strategy, self.mechanism, self.step, labels, single)

    def read(
        self, records: Sequence[Record], periods: int, *, single: bool = False
    ) -> tuple[Totals, ...]:
        """Read the records of the first periods: one estimate a group."""
        noisy = joined(records)
        return tuple(
            self.totals(noisy[group :: self.groups], periods, single=single)
            for group in range(self.groups)
        )

    def blank(self) -> Totals:
        """Answers about no rows without noise, for their expected error."""
        return self.totals((0,) * len(self.strategy.matrix), self.question.periods.number)


@dataclass(frozen=True)
class Closing:
    """The measurement of some periods that close together: one record each."""

    all: Closings
    first: int
    last: int
    coefficients: tuple[dict[int, int], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = self.all.strategy.rows(self.first, self.last)
        closes = self.all.strategy.closes
        matrix = self.all.strategy.matrix
        if self.all.question.periods.apart:  # the table holds the rows of the period alone
            found = tuple({int(closes[row]): int(matrix[row, closes[row] - 1])} for row in rows)
        else:
            found = tuple(_by_edge(matrix[row].tolist(), int(closes[row])) for row in rows)
        object.__setattr__(self, "coefficients", found)

    @property
    def edges(self) -> tuple[int, ...]:
        """Up to which periods totals are asked."""
        return tuple(sorted({edge for row in self.coefficients for edge in row}))

    @property
    def request(self) -> Tallies:
        """What is asked of the rows: exact totals up to some periods."""
        periods, time, tally = self.all.question.periods, self.all.question.time, self.all.tally
        if periods.apart:
            return Tallies((tally,) * len(self.edges))
        everything = isinstance(tally.where, Everything)
        times = (periods.until(time, edge) for edge in self.edges)
        return Tallies(
            tuple(
                replace(tally, where=until if everything else tally.where & until)
                for until in times
            )
        )

    @property
    def cost(self) -> Cost:
        """The price of the whole series, which pays for every closing."""
        return self.all.price

    @property
    def is_public(self) -> bool:
        """When rows came is never public."""
        return False

    @property
    def laws(self) -> tuple[str, ...]:
        """The law of the noise, in words."""
        return (self.all.law,)

    def exact(self, totals: Sequence[Any]) -> list[int]:
        """The strategy's exact answers, of totals ((n,), ...) of all groups at each edge.

        A sum of all groups follows the other, as the periods do that they close with.
        """
        known = dict(zip(self.edges, totals, strict=True))
        return [
            sum(c * known[edge][group][0] for edge, c in row.items())
            for row in self.coefficients
            for group in range(self.all.groups)
        ]

    def release(self, exact: Sequence[Any], words: Words | None) -> list[Record]:
        """Add fresh noise to each sum that closes: one record a period."""
        noisy, strategy = self.all.mechanism.release(self.exact(exact), words), self.all.strategy
        begin, groups = strategy.rows(self.first, self.last).start, self.all.groups
        each = (strategy.rows(t, t) for t in range(self.first, self.last + 1))
        return [
            noisy[(rows.start - begin) * groups : (rows.stop - begin) * groups] for rows in each
        ]

    def read(self, records: Sequence[Record]) -> tuple[Totals, ...]:
        """Read the records of all periods so far, oldest first: one estimate a group."""
        return self.all.read(records, self.last)


def _by_edge(row: Sequence[int], closes: int) -> dict[int, int]:
    """Write a sum over periods as one over totals up to edges, by parts; zeros are left out."""
    found = {closes: row[closes - 1]}
    found |= {s: row[s - 1] - row[s] for s in range(1, closes)}
    return {edge: c for edge, c in found.items() if c}

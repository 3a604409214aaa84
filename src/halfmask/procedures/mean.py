"""The mean of a bounded column: two-sided sums, then, for large counts, a centred sum."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import OnGrid
from halfmask.privacy import Cost, Relation, exact
from halfmask.procedures.bounds_bought import BoundsBought, Within
from halfmask.procedures.centring import DIVISIONS, LOOK, SHARES, Centring, VarianceAt, joined
from halfmask.procedures.procedure import Measure
from halfmask.procedures.public_count import OfPublicCount
from halfmask.queries import (
    CountDistinct,
    Expected,
    Moments,
    MomentSums,
    Output,
    Prepared,
    Range,
    Ratio,
    Setting,
    Supposed,
    mechanism_for,
    written,
)

__all__ = ["Mean"]


@dataclass(frozen=True, repr=False)
class Mean:
    """The mean of a column, each value clipped to [lower, upper]; missing values do not count.

    Where no bounds are public, bounds="private" buys them with `share` of the price: those with as
    many rows beyond as the noise of a sum spans, which minimise bias + noise.

    A unit with more than `rows_per_unit` rows counts as so many of its own average row.
    Privacy: epsilon-DP; two-sided sums (`Moments`) at shares of the price and, where the noisy
    count is large, the sum about a private centre c, whose reach is max(c - lower, upper - c);
    adaptive sequential composition; the ratio is post-processing.
    [Dwork, McSherry, Nissim & Smith 2006, Prop. 1 and Thm 3]

    >>> Mean("salary", 0, 100_000)
    Mean('salary', 0, 100000)
    >>> Mean("salary", bounds="private", share=0.1)
    Mean('salary', bounds='private', share=0.1)
    """

    column: str
    lower: float | None = None
    upper: float | None = None
    bounds: str | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if self.bounds is None:
            if self.lower is None or self.upper is None:
                raise InvalidQuery(
                    "bounds: lower and upper are missing; give both, known without the data, or "
                    'buy them with bounds="private"'
                )
            if self.share is not None:
                raise InvalidQuery('share: goes with bounds="private"; leave it out')
            Range(self.lower, self.upper)
            return
        if self.bounds != "private":
            raise InvalidQuery(f'bounds: {shown(self.bounds)} is unknown; give "private" or none')
        if self.lower is not None or self.upper is not None:
            raise InvalidQuery('bounds: "private" goes with no lower and upper; leave them out')
        exact(self._share, "share", largest=Fraction(99, 100))

    def __repr__(self) -> str:
        if self.bounds is not None:
            return f"Mean({self.column!r}, bounds='private', share={self._share!r})"
        return f"Mean({self.column!r}, {self.lower!r}, {self.upper!r})"

    @property
    def _share(self) -> float:
        return 0.2 if self.share is None else self.share

    @property
    def _range(self) -> Range:
        return Range(self.lower, self.upper)

    def _bought(self) -> BoundsBought | None:
        """The procedure that buys bounds first, where none are given."""
        if self.bounds is None:
            return None
        return BoundsBought(self.column, self._share, partial(Mean, self.column))

    @property
    def title(self) -> str:
        """What is asked, as a reader would say it."""
        if self.lower is None or self.upper is None:
            return f"mean of {self.column}, held to privately chosen bounds"
        return f"mean of {self.column}, held to {written(self.lower)} to {written(self.upper)}"

    @property
    def weight(self) -> float:
        """Relative to the width of the bounds, the error is that of a count."""
        return 1.0

    def body(self) -> Moments:
        """The two-sided sums that this is read off."""
        return Moments(self.column, self._range)

    def read(self, sums: MomentSums) -> Ratio:
        """Read the answer off the noisy sums."""
        return sums.mean()

    def check(self, setting: Setting) -> None:
        """Refuse a column that is not there or holds no numbers."""
        setting.schema.numeric(self.column)

    def rehearse(self, setting: Setting, price: Cost) -> None:
        """Prepare the finest and the farthest measurement that may come."""
        if bought := self._bought():
            bought.rehearse(setting, price)
            return
        grid = self.body().lay(setting, price)
        self.body().prepare(setting, price.share(LOOK), grid)
        self._last(setting, price.share(1 - SHARES[-1]), [DIVISIONS - 1], grid)

    def run(
        self, setting: Setting, price: Cost, measure: Measure
    ) -> tuple[Ratio | OfPublicCount | Within, ...]:
        """Look with a small part of the price, then spend the rest where it helps most."""
        if bought := self._bought():
            return bought.run(setting, price, measure)
        sums = self.body()
        if setting.unit.relation is Relation.REPLACE:  # a replaced row's sum is centred already
            ratios = tuple(answer.mean() for answer in measure(sums.prepare(setting, price)))
            return self._of_public_count(setting, price, ratios, measure)
        grid = sums.lay(setting, price)
        looks = [measure(sums.prepare(setting, price.share(LOOK), grid))]
        variance_at = self._variances(setting, price)
        plans = [Centring.choose(look, variance_at) for look in looks[0]]
        share = max((plan.share for plan in plans if plan), default=LOOK)
        if share > LOOK:
            looks.append(measure(sums.prepare(setting, price.share(share - LOOK), grid)))
        histories = list(zip(*looks, strict=True))
        centres = [
            Centring.centre(history) if plan else None
            for plan, history in zip(plans, histories, strict=True)
        ]
        last = measure(self._last(setting, price.share(1 - share), centres, grid))
        return tuple(
            joined((*history, answer)) if centre is None else joined(history, answer, centre)
            for history, centre, answer in zip(histories, centres, last, strict=True)
        )

    def _of_public_count(
        self, setting: Setting, price: Cost, ratios: tuple[Ratio, ...], measure: Measure
    ) -> tuple[Ratio | OfPublicCount, ...]:
        """Divide by the number of units where that is public, and each adds one row at most."""
        units = CountDistinct()
        if not units.is_public(setting) or setting.unit.rows > 1:
            return ratios
        (count,) = measure(units.prepare(setting, price))
        return tuple(OfPublicCount(ratio, int(count.value)) for ratio in ratios)

    def _last(
        self, setting: Setting, price: Cost, centres: Sequence[int | None], grid: OnGrid
    ) -> Prepared[MomentSums]:
        """Prepare the last sums: two-sided where there is no centre, else about the centre.

        Privacy: a row's parts (1-a, a) go to D(a - c) with c = centre/D, between -Dc and D(1-c);
        so a unit's share w of `rows` rows moves a group by w times that group's reach, and the
        shares of all groups sum to 1: each group's noise is scaled to its own reach.
        """
        prepared = self.body().prepare(setting, price, grid)
        (plain,) = prepared.outputs
        width = grid.upper - grid.lower

        def about(centre: int) -> Output[MomentSums]:
            farthest = max(centre, DIVISIONS - centre)
            mechanism = mechanism_for(setting.reach(width * farthest), price)
            blank = replace(plain.read((0, 0)), mechanism=mechanism, one=width * DIVISIONS)
            return Output(
                mechanism,
                lambda noisy: replace(blank, noisy=noisy),
                Fraction(1, width * DIVISIONS),
                combine=((-centre, DIVISIONS - centre),),
            )

        outputs = tuple(plain if centre is None else about(centre) for centre in centres)
        return Prepared(prepared.tally, outputs)

    def _variances(self, setting: Setting, price: Cost) -> VarianceAt:
        grid = self.body().lay(setting, price)

        @cache
        def variance_at(share: Fraction) -> float:
            (output,) = self.body().prepare(setting, price.share(share), grid).outputs
            return output.read((0, 0)).part_variance

        return variance_at

    def expected(self, setting: Setting, price: Cost, rows: int) -> Expected:
        """Predict the error for values whose mean is in the middle of the bounds."""
        if bought := self._bought():
            return bought.expected(setting, price, rows)
        ratio = self.body().as_if(setting, price, rows).mean()
        plain, gain = ratio.expected(), 1.0
        if setting.unit.relation is Relation.REPLACE:
            if CountDistinct().is_public(setting) and setting.unit.rows == 1:
                plain = OfPublicCount(ratio, rows).expected()
        else:
            look = self.body().as_if(setting, price.share(LOOK), rows)
            plan = Centring.choose(look, self._variances(setting, price))
            gain = plan.gain(rows) ** 0.5 if plan else 1.0
        return replace(plain, rmse=plain.rmse * gain, interval_width=plain.interval_width * gain)

    def supposed(self, setting: Setting) -> Supposed | None:
        """Return the rows of `expected`; see `Supposes`. Their spread does not matter."""
        if self.lower is None or self.upper is None:
            return None
        words = "values spread evenly over the bounds"
        return Supposed(words, even={self.column: (self.lower, self.upper)})

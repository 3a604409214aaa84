"""An odometer: what the charges of a ledger come to under every definition of privacy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from halfmask.errors import InvalidQuery
from halfmask.privacy.cost import Cost, Measure
from halfmask.privacy.currencies import GDP, ZCDP, Approximate, Pure
from halfmask.privacy.exact import SMALLEST_DELTA, Number, exact, plain

__all__ = ["Report"]

_ROUTES = {
    "adding epsilons": Measure.APPROXIMATE,
    "adding rhos": Measure.ZCDP,
    "adding squared mus": Measure.GDP,
}
_KINDS: Mapping[Measure, type[Cost]] = {
    kind.measure: kind for kind in (Pure, Approximate, ZCDP, GDP)
}


@dataclass(frozen=True)
class Report:
    """What was spent so far, in each currency and as an (epsilon, delta).

    The promise is the budget: it holds whatever was asked after seeing whatever answers, since the
    ledger stops before a sum of prices passes it. [a privacy filter: Rogers, Roth, Ullman & Vadhan
    2016; Feldman & Zrnic 2021; Smith & Thakurta 2022] The sums below say what was spent for prices
    that did not hang on answers; they change no budget.

    prices: every price as it was asked.
    delta: allowed by a conversion, beside the deltas of the prices themselves.

    >>> report = Report(Pure(3), (Pure(1), Pure("1/2")))
    >>> print(report.sum_in("zcdp"), "|", report.best)
    rho 0.584576488463 | epsilon 1.5, delta 0
    """

    budget: Cost
    prices: tuple[Cost, ...]
    delta: Fraction = Fraction(1, 10**6)

    def __init__(self, budget: Cost, prices: Sequence[Cost], delta: Number = "1e-6") -> None:
        allowed = exact(delta, "delta", smallest=SMALLEST_DELTA, largest=Fraction(1, 2))
        object.__setattr__(self, "budget", budget)
        object.__setattr__(self, "prices", tuple(prices))
        object.__setattr__(self, "delta", allowed)

    @property
    def asked_delta(self) -> Fraction:
        """The sum of the deltas of the prices themselves."""
        deltas = (price.delta for price in self.prices if isinstance(price, Approximate))
        return sum(deltas, Fraction(0))

    def sum_in(self, measure: str) -> Cost | None:
        """Return the sum of all prices in a currency, rounded up; None without a proved one."""
        parts = [self._in(price, Measure(measure)) for price in self.prices]
        if any(part is None for part in parts):
            return None
        return self._added([part for part in parts if part is not None], Measure(measure))

    @property
    def routes(self) -> dict[str, Approximate]:
        """The (epsilon, delta) of all charges together, by each way to add them up.

        Privacy: an (epsilon, delta)-DP answer is an epsilon-DP one but for an event of probability
        delta [Kairouz, Oh & Viswanath 2015]; so the epsilons of such prices are added in
        any currency, and their deltas in the end.
        """
        found = {}
        for name, measure in _ROUTES.items():
            worth = [self._but_for_delta(price, measure) for price in self.prices]
            if not worth or any(part is None for part in worth):
                continue
            total = self._added([part for part in worth if part is not None], measure)
            pair = total if isinstance(total, Approximate) else total.at_delta(self.delta)
            epsilon, delta = pair.amounts
            whole = min(delta + self.asked_delta, Fraction(1))
            found[name] = Approximate.from_amounts(epsilon, whole, up=True)
        return found

    @property
    def best(self) -> Approximate | None:
        """The least epsilon of all routes; None before the first charge."""
        return min(self.routes.values(), key=lambda pair: pair.epsilon, default=None)

    def _but_for_delta(self, price: Cost, measure: Measure) -> Cost | None:
        if isinstance(price, Approximate):
            price = Pure(price.epsilon)
        if measure is Measure.APPROXIMATE and isinstance(price, ZCDP | GDP):
            gaussian = sum(isinstance(one, ZCDP | GDP) for one in self.prices)
            return price.at_delta(max(self.delta / gaussian, SMALLEST_DELTA))
        return self._in(price, measure)

    @staticmethod
    def _in(price: Cost, measure: Measure) -> Cost | None:
        try:
            return price.in_measure(measure)
        except InvalidQuery:
            return None

    @staticmethod
    def _added(parts: Sequence[Cost], measure: Measure) -> Cost:
        mains, deltas = zip(*(part.amounts for part in parts), strict=True) if parts else ((), ())
        return _KINDS[measure].from_amounts(
            sum(mains, Fraction(0)), sum(deltas, Fraction(0)), up=True
        )

    def lines(self) -> list[str]:
        """Return the report in words."""
        count = "1 charge" if len(self.prices) == 1 else f"{len(self.prices)} charges"
        spent = self.sum_in(self.budget.measure)
        left = "" if spent is None else f", {self._left(spent)} left"
        lines = [
            f"Budget {self.budget}; {count}, {spent} spent{left}.",
            "The budget is the promise, whatever was asked after seeing whatever answers.",
            "What the charges come to, had their prices been fixed beforehand:",
        ]
        for measure in Measure:
            total = self.sum_in(measure)
            worth = "no proved price for all of them" if total is None else str(_short(total))
            lines.append(f"  in a ledger of {measure:<11}  {worth}")
        for name, pair in self.routes.items():
            least = "  (the least)" if pair == self.best else ""
            lines.append(f"  {name:<26}  {_short(pair)}{least}")
        return lines

    def _left(self, spent: Cost) -> Cost:
        pairs = zip(self.budget.amounts, spent.amounts, strict=True)
        main, delta = (max(whole - part, Fraction(0)) for whole, part in pairs)
        return self.budget.from_amounts(main, delta, up=False)

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _short(cost: Cost) -> str:
    """Write a price to six digits, rounded up."""
    named = zip(cost.to_dict(), cost.to_dict().values(), strict=True)
    return ", ".join(f"{name} {_up(Fraction(text))}" for name, text in named if name != "measure")


def _up(amount: Fraction) -> str:
    digits = 6 - len(str(int(amount))) if amount >= 1 else 6
    while amount and amount * 10**digits < 10**4:
        digits += 1
    rounded = Fraction(-(-amount * 10**digits // 1), 10**digits) if digits > 0 else amount
    return plain(rounded)

"""A plan meets its table: opened, checked against the schema, and paid for on paper first."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from halfmask.asking import setting_of, together
from halfmask.begun import is_begun
from halfmask.cli.planfile import Ask, Plan, Recurring, Table, Wanted
from halfmask.curator import Curator
from halfmask.curator import open as open_table
from halfmask.errors import BudgetExhausted, HalfmaskError, InvalidQuery, SourceError
from halfmask.foresight import least_price
from halfmask.plan import Schema
from halfmask.privacy import Cost, Entry, Ledger, Measure, PrivacyUnit
from halfmask.queries import price_of
from halfmask.series import Series

__all__ = [
    "due",
    "fitting",
    "foresee",
    "going_on",
    "last_period",
    "open_plan",
    "pay_on_paper",
    "priced",
    "take_ledger",
    "total",
]


def open_plan(plan: Plan) -> Curator:
    """Open the table beside a ledger that is only read: one in memory where no file is yet."""
    budget, document = plan.budget, plan.document
    with document.naming(("budget",), {"ledger": budget.ledger}):
        if budget.has_ledger:
            book = Ledger(budget.ledger, budget=budget.cost)
        elif budget.cost is not None:
            book = Ledger(budget=budget.cost)
        else:
            raise InvalidQuery(
                f"ledger: there is none yet at {budget.place!r}; add the budget that it "
                "shall hold, such as `epsilon = 1`"
            )
    table = plan.table
    try:
        return open_table(table.opened, ledger=book, **table.options)
    except (InvalidQuery, SourceError) as problem:
        with document.naming(*_named(table, problem)):
            raise


def _named(table: Table, problem: HalfmaskError) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Where it stands what a message is about, and the keys that it may name."""
    join = table.join or {}
    if str(problem).split(":")[0] in (*join, "join"):
        return ("table", "join"), dict(join)
    if join and join["right"].name in str(problem) and table.name not in str(problem):
        return ("table", "join"), {"source": join["right"]}
    return ("table",), {**table.options, "source": table.source}


def take_ledger(plan: Plan) -> Ledger:
    """Open the ledger that is charged; a file that is not there is made, with the budget."""
    return Ledger(plan.budget.ledger, budget=plan.budget.cost)


def foresee(plan: Plan, curator: Curator) -> list[tuple[Ask, dict[str, Any]]]:
    """Check each release against schema and currency, and predict its errors: reads no row.

    A preview is made of each query of a release, by name, as if for one row where the plan makes
    no guess.
    """
    foreseen = []
    for ask in plan.asks:
        with plan.document.naming(ask.place, ask.values):
            ask.price.in_measure(curator.ledger.measure)
            previews = curator.preview(ask.questions, rows=ask.rows or 1, **ask.options)
        foreseen.append((ask, previews))
    return foreseen


def going_on(
    plan: Plan, curator: Curator, actor: str | None = None
) -> list[tuple[Recurring, Series]]:
    """Declare the series of a plan: as begun in the ledger, or new ones; reads no row."""
    found = []
    for one in plan.series:
        with plan.document.naming(one.place, one.values):
            one.price.in_measure(curator.ledger.measure)
            series = curator.series(one.name, one.query, actor=actor, **one.options)
            if one.through is not None:
                series.question.periods.find(one.through)
            series.check_begun()
            series.preview()
        found.append((one, series))
    return found


def last_period(plan: Plan, one: Recurring, series: Series) -> Any:
    """Return through which period a series is released: as the plan says, or all that are over."""
    if one.through is not None:
        return one.through
    ready = series.ready
    if not ready:
        arrived = series.arriving is not None
        reason = "no file has arrived" if arrived else "no period is known to be over"
        raise plan.document.refusal(
            one.place, f"{reason}; run it later, or name the last period, as `through = ...`"
        )
    return ready[-1]


def due(plan: Plan, ledger: Ledger) -> list[Ask | Recurring]:
    """What is still to be paid: each release, and the series that were not begun."""
    return [*plan.asks, *(one for one in plan.series if not is_begun(one.name, ledger))]


def priced(plan: Plan, schema: Schema, unit: PrivacyUnit, measure: Measure) -> Plan:
    """Find the least price of each release that names an error: in the ledger's currency."""
    asks = (
        ask if ask.wanted is None else replace(ask, paid=_found(plan, ask, schema, unit, measure))
        for ask in plan.asks
    )
    return replace(plan, asks=tuple(asks))


def _found(plan: Plan, ask: Ask, schema: Schema, unit: PrivacyUnit, measure: Measure) -> Cost:
    wanted = ask.wanted or Wanted({}, None)
    name = {Measure.ZCDP: "rho", Measure.GDP: "mu"}.get(measure, "epsilon")
    most = Fraction(1000 if name == "mu" else 10**6)  # the largest prices there are
    beside = {} if wanted.delta is None else {"delta": wanted.delta}
    with plan.document.naming(ask.place, ask.values):
        if ask.rows is None:
            raise InvalidQuery(
                "error: its price hangs on how many rows there are; add your guess, `rows = 1000`"
            )
        setting = setting_of(schema, unit, ask.by, ask.where)
        asked = together(ask.questions, ask.shares, ask.by)
        asked.check(setting)
        return least_price(
            asked,
            setting,
            ask.rows,
            wanted.errors,
            lambda part: price_of(**{name: min(part, most)}, **beside),
        )


def fitting(plan: Plan, ledger: Ledger) -> list[Ask | Recurring]:
    """What is due and fits in what is left, if each is bought in turn where it fits."""
    left = ledger.remaining
    if left.amounts[0] <= 0:
        return []
    paper, bought = Ledger(budget=left), list[Ask | Recurring]()
    for ask in due(plan, ledger):
        with suppress(BudgetExhausted):
            paper.charge(ask.price, query=ask.name)
            bought.append(ask)
    return bought


def pay_on_paper(plan: Plan, ledger: Ledger) -> list[Entry]:
    """Charge the whole plan to a copy of what is left; BudgetExhausted if it does not fit."""
    left, asked = ledger.remaining, due(plan, ledger)
    if not asked:
        return []
    whole = total(asked, ledger)
    refusal = BudgetExhausted(
        f"{plan.document.path}: the plan costs {whole} in all, and {left} is left "
        f"of {ledger.budget}; lower its prices, or leave some out. Nothing was charged."
    )
    if left.amounts[0] <= 0:
        raise refusal
    paper = Ledger(budget=left)
    try:
        for ask in asked:
            paper.charge(ask.price, query=ask.name)
    except BudgetExhausted:
        raise refusal from None
    return paper.entries()


def total(asks: Sequence[Ask | Recurring], ledger: Ledger) -> Cost:
    """Sum the prices, of one at least, in the ledger's currency."""
    amounts = [ask.price.in_measure(ledger.measure).amounts for ask in asks]
    main, delta = (sum(parts, Fraction(0)) for parts in zip(*amounts, strict=True))
    return ledger.budget.from_amounts(main, delta, up=True)

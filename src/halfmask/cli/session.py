"""A plan meets its table: opened, checked against the schema, and paid for on paper first."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from halfmask.cli.planfile import Ask, Plan
from halfmask.curator import Curator
from halfmask.curator import open as open_table
from halfmask.errors import BudgetExhausted, InvalidQuery
from halfmask.privacy import Cost, Entry, Ledger

__all__ = ["foresee", "open_plan", "pay_on_paper", "take_ledger", "total"]


def open_plan(plan: Plan) -> Curator:
    """Open the table beside a ledger that is only read: one in memory where no file is yet."""
    budget, document = plan.budget, plan.document
    with document.naming(("budget",), {"ledger": budget.ledger}):
        if budget.ledger is not None and budget.ledger.exists():
            book = Ledger(budget.ledger, budget=budget.cost)
        elif budget.cost is not None:
            book = Ledger(budget=budget.cost)
        else:
            raise InvalidQuery(
                f"ledger: there is no file {str(budget.ledger)!r} yet; add the budget that it "
                "shall hold, such as `epsilon = 1`"
            )
    table = plan.table
    with document.naming(("table",), {**table.options, "source": table.source}):
        return open_table(table.source, ledger=book, **table.options)


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


def pay_on_paper(plan: Plan, ledger: Ledger) -> list[Entry]:
    """Charge the whole plan to a copy of what is left; BudgetExhausted if it does not fit."""
    left = ledger.remaining
    whole = total(plan.asks, ledger)
    refusal = BudgetExhausted(
        f"{plan.document.path}: the plan costs {whole} in all, and {left} is left "
        f"of {ledger.budget}; lower its prices, or leave some out. Nothing was charged."
    )
    if left.amounts[0] <= 0:
        raise refusal
    paper = Ledger(budget=left)
    try:
        for ask in plan.asks:
            paper.charge(ask.price, query=ask.name)
    except BudgetExhausted:
        raise refusal from None
    return paper.entries()


def total(asks: Sequence[Ask], ledger: Ledger) -> Cost:
    """Sum the prices in the ledger's currency."""
    amounts = [ask.price.in_measure(ledger.measure).amounts for ask in asks]
    main, delta = (sum(parts, Fraction(0)) for parts in zip(*amounts, strict=True))
    return ledger.budget.from_amounts(main, delta, up=True)

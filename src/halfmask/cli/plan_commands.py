"""The commands that work on a plan: check, cost, run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from halfmask.cli.figures import Answer
from halfmask.cli.outputs import check_apart, check_writable
from halfmask.cli.planfile import Ask, Document, Plan, Recurring, read_plan
from halfmask.cli.publish import print_answers, write_csv, write_json
from halfmask.cli.session import (
    due,
    fitting,
    foresee,
    going_on,
    last_period,
    open_plan,
    pay_on_paper,
    priced,
    take_ledger,
    total,
)
from halfmask.cli.show import say, table, working
from halfmask.curator import Curator
from halfmask.plan import Filters, Keys
from halfmask.privacy import Meaning
from halfmask.rendering import figure
from halfmask.spoken import arranged

__all__ = ["check", "cost", "preview", "run"]

PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]


def check(path: PlanPath) -> None:
    """Check a plan against the table's columns: reads no row, spends nothing."""
    plan, curator = _opened(path)
    with curator:
        foresee(plan, curator)
        series = going_on(plan, curator)
        pay_on_paper(plan, curator.ledger)
        _introduce(plan, curator)
        rows = [
            (ask.name if line == 0 else "", words, _beside(ask), ask.price if line == 0 else "")
            for ask in plan.asks
            for line, words in enumerate(_asked(ask))
        ]
        rows += [(one.name, each.question.title, _about(one), one.price) for one, each in series]
        table(("release", "asks", "of which rows", "price"), rows)
        _sum_up(plan, curator)
    say("No row was read and nothing was spent.")


def cost(path: PlanPath) -> None:
    """Show what a plan costs, what is left, and the errors to expect: reads no row."""
    plan, curator = _opened(path)
    with curator:
        _foreshow(plan, curator)
        pay_on_paper(plan, curator.ledger)


def preview(path: PlanPath) -> None:
    """Show as `cost` does, and what of the plan does not fit in what is left: reads no row."""
    plan, curator = _opened(path)
    with curator:
        _foreshow(plan, curator)
        bought = fitting(plan, curator.ledger)
        missed = [one for one in due(plan, curator.ledger) if one not in bought]
        if not missed:
            say("All of it fits.")
            return
        names = ", ".join(f"{ask.name} ({ask.price})" for ask in missed)
        say(f"Does not fit, with the others bought in turn: {names}.")
        say("Allow more error, lower a price, or leave some out.")


def _foreshow(plan: Plan, curator: Curator) -> None:
    foreseen = foresee(plan, curator)
    rows = [
        (ask.name if line == 0 else "", name, ask.price if line == 0 else "", *_error(ask, one))
        for ask, previews in foreseen
        for line, (name, one) in enumerate(previews.items())
    ]
    series = going_on(plan, curator)
    rows += [(one.name, "", one.price, *_shown(each.preview())) for one, each in series]
    headers = ("release", "of", "price", "expected error", "95 % interval")
    table(headers, rows)
    if foreseen:
        say(*_assumptions(foreseen))
    _sum_up(plan, curator)
    whole = total([*plan.asks, *plan.series], curator.ledger)
    say(f"{Meaning(whole).in_words()}.")


def run(
    path: PlanPath,
    json: Annotated[
        Path | None, typer.Option(help="Write the releases, with all they tell, to this file.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write the numbers, one a line, to this file.")
    ] = None,
    actor: Annotated[
        str | None, typer.Option(help="Who asks, for the ledger; your login name if left out.")
    ] = None,
) -> None:
    """Answer a plan: all or nothing is checked first; then each release is paid for and read."""
    check_writable(json)
    check_writable(csv)
    plan, checked = _opened(path)
    with checked:
        check_apart(plan, json, csv)
        foresee(plan, checked)
        for one, series in going_on(plan, checked):
            last = last_period(plan, one, series)
            with plan.document.naming(one.place, one.values):
                series.check(last)
        pay_on_paper(plan, checked.ledger)
        curator = checked.with_ledger(take_ledger(plan))
        answers: dict[str, Answer] = {}
        try:
            _ask_all(plan, curator, answers, actor)
        finally:  # what was paid for is shown, whatever stopped the rest
            if answers:
                print_answers(answers)
                _promise(plan, curator, answers)
            if answers and json:
                write_json(json, answers, path, curator)
            if answers and csv:
                write_csv(csv, answers)


def _opened(path: Path) -> tuple[Plan, Curator]:
    plan = read_plan(Document.read(path))
    with working(1) as step:
        step(f"opening {plan.table.name}")
        curator = open_plan(plan)
    return priced(plan, curator.schema, curator.unit, curator.ledger.measure), curator


def _ask_all(plan: Plan, curator: Curator, answers: dict[str, Answer], actor: str | None) -> None:
    with working(len(plan.asks) + len(plan.series)) as step:
        for ask in plan.asks:
            step(ask.name)
            answer = curator.ask(ask.query, actor=actor, **ask.options)
            answers[ask.name] = arranged(answer, ask.arrangement)
        for one, series in going_on(plan, curator, actor):
            step(one.name)
            answers[one.name] = series.release(last_period(plan, one, series))


def _introduce(plan: Plan, curator: Curator) -> None:
    count = "1 release" if len(plan.asks) == 1 else f"{len(plan.asks)} releases"
    count += f" and {len(plan.series)} series" if plan.series else ""
    say(f"{plan.document.path}: {count} of {curator.table}; protected: {_whom(curator)}")


def _promise(plan: Plan, curator: Curator, answers: Mapping[str, Answer]) -> None:
    asked: list[Ask | Recurring] = [*plan.asks, *plan.series]
    answered = [one for one in asked if one.name in answers]
    whole = total(answered, curator.ledger)
    say(
        f"The promise: {whole} for all of these together; protected: {_whom(curator)}.",
        _left(plan, curator),
    )


def _whom(curator: Curator) -> str:
    return curator.unit.describe()


def _sum_up(plan: Plan, curator: Curator) -> None:
    asked, left = due(plan, curator.ledger), _left(plan, curator)
    paid = [one.name for one in plan.series if one not in asked]
    before = f" Paid before: {', '.join(paid)}." if paid else ""
    say(f"In all: {total(asked, curator.ledger) if asked else 'nothing'}.{before} {left}")


def _left(plan: Plan, curator: Curator) -> str:
    return f"Left: {curator.remaining} of {curator.ledger.budget} ({plan.budget.place})."


def _asked(ask: Ask) -> list[str]:
    return [f"{name}: {one.title}" if name else one.title for name, one in ask.questions.items()]


def _beside(ask: Ask) -> str:
    by = [] if ask.by is None else [f"by {_groups(ask.by)}"]
    where = [f"where {ask.where}"] if ask.where else []
    done = [f"({'; '.join(ask.arrangement.steps)})"] if ask.arrangement else []
    return " ".join(by + where + done) or "all"


def _about(one: Recurring) -> str:
    by = [] if one.by is None else [f"by {_groups(one.by)}"]
    return " ".join(by + ([f"where {one.where}"] if one.where else [])) or "all"


def _groups(by: Keys | Filters | str) -> str:
    return (
        f"{by} (keys found in the rows)"
        if isinstance(by, str)
        else f"{by.column} (keys: {by.size})"
    )


def _assumptions(foreseen: list[tuple[Ask, dict[str, Any]]]) -> list[str]:
    if any(ask.rows is None for ask, _ in foreseen):
        return ["Say `rows = 1000` (your public guess) under [table] to see the errors to expect."]
    assumed = sorted({one.assuming for _, previews in foreseen for one in previews.values()} - {""})
    assuming = f", assuming {'; '.join(assumed)}" if assumed else ""
    tried = any(one.how for _, previews in foreseen for one in previews.values())
    simulated = " Where no formula tells them they are simulated on such rows." if tried else ""
    return [f"Expected errors are root mean squares{assuming}.{simulated}"]


def _error(ask: Ask, preview: Any) -> tuple[str, str]:
    if ask.rows is None:
        return "", ""
    return _shown(preview)


def _shown(preview: Any) -> tuple[str, str]:
    return (
        figure(preview.rmse, preview.rmse),
        f"{figure(preview.interval_width, preview.rmse)} wide",
    )

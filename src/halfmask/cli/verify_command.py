"""The command that attacks a plan: exact losses on simulated tables, and samples of the noise."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from halfmask.audit import (
    Asking,
    Audit,
    Finding,
    Verification,
    attack,
    verify_series,
    write_report,
)
from halfmask.audit.exact import Ask, verify_ask
from halfmask.cli.outputs import check_apart, check_writable
from halfmask.cli.planfile import Ask as Asked
from halfmask.cli.planfile import Document, Plan, Recurring, read_plan
from halfmask.cli.session import priced
from halfmask.cli.show import say, table, working
from halfmask.cli.template import _IDENTITY
from halfmask.curator import open as open_table
from halfmask.plan import Filters, Keys, Kind, Schema
from halfmask.privacy import Ledger, Measure, PrivacyUnit, Relation
from halfmask.sources.columns import facts
from halfmask.sources.csvfile import header

__all__ = ["verify_plan"]

_KEYS = 16
"""Public keys of a release that are tried."""


@dataclass(frozen=True)
class _Outcome:
    """What was found for one release, or for all of a series, which is no ask."""

    name: str
    ask: Ask | None
    exact: Verification
    supposed: Verification | None
    sampled: Audit | None

    @property
    def holds(self) -> bool:
        """Whether nothing was found against the claim."""
        return self.as_declared and (self.supposed is None or self.supposed.holds)

    @property
    def as_declared(self) -> bool:
        """Whether nothing was found where the unit is as declared."""
        return self.exact.holds and (self.sampled is None or not self.sampled.violated)

    @property
    def loss(self) -> float:
        """The largest exact loss."""
        return max(self.exact.loss, self.supposed.loss if self.supposed else 0.0)

    @property
    def shown_loss(self) -> str:
        """The same, for people."""
        if self.exact.unlisted and not self.loss:
            return "not listed"
        return "without bound" if math.isinf(self.loss) else f"{self.loss:.6g}"

    @property
    def verdict(self) -> str:
        """In words."""
        if self.as_declared and not self.holds and self.supposed is not None:
            return f"VIOLATED for people of {self.supposed.suppose} units"
        return "holds" if self.holds else "VIOLATED"

    def findings(self) -> Iterator[Finding]:
        """What the report tells."""
        yield Finding.of(self.exact, title=f"{self.name}, exactly")
        if self.supposed is not None:
            title = f"{self.name}, for people of {self.supposed.suppose} units"
            yield Finding.of(self.supposed, title=title)
        if self.sampled is not None and self.ask is not None:
            title = f"{self.name}, by samples"
            yield Finding.of(self.sampled, Asking(self.ask, frozen=True), title=title)


def verify_plan(
    path: Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")],
    out: Annotated[
        Path | None, typer.Option(help="Write a report with pictures to this HTML file.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="About how long to take for each release, at most.")
    ] = 20.0,
    suppose: Annotated[
        int,
        typer.Option(
            min=1, max=1000, help="Suppose that one person is behind up to so many units."
        ),
    ] = 1,
) -> None:
    """Attack a plan on simulated tables: reads no row, spends nothing; exits 1 if it breaks."""
    plan = read_plan(Document.read(path))
    check_writable(out)
    check_apart(plan, out)
    unit = _unit(plan)
    schema = _schema(plan)
    plan = priced(plan, schema, unit, _measure(plan))
    asks = [_ask(plan, asked, schema, unit) for asked in plan.asks]
    outcomes = []
    with working(2 * len(asks) + len(plan.series)) as step:
        for asked, ask in zip(plan.asks, asks, strict=True):
            outcomes.append(_attacked(asked.name, ask, seconds, suppose, step))
        for one in plan.series:
            step(f"{one.name}: exact losses of all closings")
            outcomes.append(_series_attacked(plan, one, schema, unit, seconds, suppose))
    _show(plan, outcomes, unit)
    notes = [*_unlisted(outcomes), *_notes(plan, schema, unit)]
    say("What this cannot see:", *(f"  - {note}" for note in notes))
    if out is not None:
        findings = [finding for outcome in outcomes for finding in outcome.findings()]
        about = f"For {unit.describe()}; simulated tables alone, no row of yours was read."
        write_report(out, findings, title=f"Audit of {path.name}", about=about, notes=notes)
    if not all(outcome.holds for outcome in outcomes):
        raise typer.Exit(1)


def _measure(plan: Plan) -> Measure:
    """The currency in which what an error needs is priced: that of the budget."""
    budget = plan.budget
    if budget.cost is not None or not budget.has_ledger:
        return budget.cost.measure if budget.cost is not None else Measure.PURE
    return Ledger(budget.ledger).measure


def _unit(plan: Plan) -> PrivacyUnit:
    given: Mapping[str, Any] = plan.table.options
    with plan.document.naming(("table",), given):
        return PrivacyUnit(
            given.get("unit"),
            given.get("rows_per_unit", 1),
            given.get("groups_per_unit"),
            Relation(given.get("relation", "add_remove")),
        )


def _schema(plan: Plan) -> Schema:
    """Names and kinds: from a CSV file's header alone, or from what the file says of itself."""
    table = plan.table
    declared: dict[str, Any] = table.options.get("schema", {})
    with plan.document.naming(("table",), {**table.options, "source": table.source}):
        if table.join is None:
            return _schema_of(table.source, table.options.get("table"), declared)
        sides = [_schema_of(side, None, {}) for side in table.files]
        right = [one for one in sides[1] if one.name != table.join["on"]]
        stated, public = facts(declared)
        kinds = {one.name: one.kind for one in (*sides[0], *right)} | (stated or {})
        return Schema.of(kinds).knowing(public)


def _schema_of(source: Path | str, table: str | None, declared: dict[str, Any]) -> Schema:
    if isinstance(source, Path) and _is_csv(source):
        stated, public = facts(declared)
        kinds: dict[str, Kind] = dict.fromkeys(header(source), "unread")
        for name in declared:
            Schema.of(kinds).column(name)
        return Schema.of({**kinds, **(stated or {})}).knowing(public)
    with open_table(source, table=table, budget=1, schema=declared or None) as curator:
        return curator.schema


def _is_csv(source: Path) -> bool:
    return source.name.lower().endswith((".csv", ".csv.gz")) and source.is_file()


def _ask(plan: Plan, asked: Asked, schema: Schema, unit: PrivacyUnit) -> Ask:
    with plan.document.naming(asked.place, asked.values):
        return Ask.of(
            asked.query,
            schema=schema,
            unit=unit,
            by=_few(asked.by),
            where=asked.where,
            price=asked.price,
            shares=asked.shares,
        )


def _few(by: Keys | Filters | str | None) -> Keys | Filters | str | None:
    """The first keys: what each of them gets does not depend on how many there are."""
    if by is None or isinstance(by, Filters | str) or by.size <= _KEYS:
        return by
    return Keys(by.column, by.values[:_KEYS], by.other)


def _attacked(
    name: str, ask: Ask, seconds: float, suppose: int, step: Callable[[str], None]
) -> _Outcome:
    step(f"{name}: exact losses")
    exact = verify_ask(ask, seconds=seconds / 2)
    supposed = verify_ask(ask, seconds=seconds / 4, suppose=suppose) if suppose > 1 else None
    step(f"{name}: samples")
    sampled = attack(ask, exact.witness, seconds=seconds / 8) if exact.witness else None
    return _Outcome(name, ask, exact, supposed, sampled)


def _series_attacked(
    plan: Plan, one: Recurring, schema: Schema, unit: PrivacyUnit, seconds: float, suppose: int
) -> _Outcome:
    by = one.by if unit.column is not None else _few(one.by)  # a unit's noise is for all of them
    given = {**one.periods, "by": by, "where": one.where, "price": one.price}

    def found(share: float, suppose: int = 1) -> Verification:
        with plan.document.naming(one.place, one.values):
            return verify_series(
                one.query, schema=schema, unit=unit, suppose=suppose, seconds=share, **given
            )

    exact, supposed = found(seconds / 2), found(seconds / 4, suppose) if suppose > 1 else None
    return _Outcome(one.name, None, exact, supposed, None)


def _show(plan: Plan, outcomes: list[_Outcome], unit: PrivacyUnit) -> None:
    say(f"{plan.document.path}: {_counted(plan)} attacked for {unit.describe()}.")
    rows = [
        (
            one.name,
            one.exact.claimed,
            one.shown_loss,
            "" if one.sampled is None else f"{one.sampled.epsilon_lower_bound:.3g}",
            one.verdict,
        )
        for one in outcomes
    ]
    table(("release", "claimed", "exact loss", "epsilon from samples", "verdict"), rows)
    for one in outcomes:
        found = (one.exact, one.supposed, one.sampled)
        broken = [f for f in found if f is not None and _broken(f)]
        say(*(line for f in broken for line in str(f).splitlines()))
        if not one.exact.complete:
            say(f"{one.name}: time ran out after {one.exact.pairs} pairs; give more --seconds.")


def _counted(plan: Plan) -> str:
    """How many releases and series there are."""
    releases, series = len(plan.asks), len(plan.series)
    first = f"{releases} release{'' if releases == 1 else 's'}" if releases or not series else ""
    return " and ".join(filter(None, [first, f"{series} series" if series else ""]))


def _broken(found: Verification | Audit) -> bool:
    return found.violated if isinstance(found, Audit) else not found.holds


def _unlisted(outcomes: Sequence[_Outcome]) -> Iterator[str]:
    for one in outcomes:
        for law in one.exact.unlisted:
            yield f"the exact loss of {one.name!r}: {law}: its answers cannot be listed here."
        if not (one.exact.loss or one.exact.unlisted):
            yield f"what {one.name!r} costs: none of the simulated rows moved an answer of it."


def _notes(plan: Plan, schema: Schema, unit: PrivacyUnit) -> list[str]:
    """What no simulated table can show, with what in the plan makes one look twice."""
    whom = f"one {unit.column}" if unit.column else "one row"
    notes = [
        f"whether {whom} is one person: if a person is behind up to 5 of them, the price is up to "
        "5 times as high; try --suppose 5.",
        "whether bounds, keys and edges were known without the rows: they must be.",
    ]
    names = [column.name for column in schema if _IDENTITY.search(column.name)]
    notes += [
        f"whom {name!r} tells apart: it looks like a person, and is not the unit."
        for name in names
        if name != unit.column
    ]
    notes += [
        f"where {bound:.15g} in {ask.name!r} comes from: it looks like a value."
        for ask in plan.asks
        for bound in _telling(ask)
    ]
    grouped = [(ask.name, ask.by) for ask in plan.asks]
    grouped += [(one.name, one.by) for one in plan.series]
    notes += [
        f"what the last {by.size - _KEYS} keys of {name!r} would show: the first {_KEYS} were "
        "tried."
        for name, by in grouped
        if isinstance(by, Keys) and by.size > _KEYS
    ]
    if plan.table.join is not None:
        notes.append("whether rows of the join are of one unit each: hm.open checks that.")
    if unit.relation is Relation.REPLACE:
        notes.append("whether the number of units may be public: `replace` makes it so.")
    if unit.column:
        notes.append(
            "how many rows a unit has: that costs accuracy alone, since what is beyond "
            f"rows_per_unit = {unit.rows} is scaled down (checked here with up to 40 rows more)."
        )
    return notes


def _telling(ask: Asked) -> Iterator[float]:
    """Bounds and edges of more than four digits, such as 41 237.5: rarely known beforehand."""
    for question in ask.questions.values():
        for one in fields(question):  # type: ignore[arg-type]
            value = getattr(question, one.name)
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, int | float) and math.isfinite(number):
                    digits = re.sub(r"e.*|[^0-9]", "", f"{number:.15g}").strip("0")
                    if len(digits) > 4:
                        yield number

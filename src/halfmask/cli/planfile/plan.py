"""A release plan: TOML text becomes frozen objects that name what will be asked. Reads no row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from halfmask.cli.planfile.document import Document, Place
from halfmask.cli.planfile.groups import grouping
from halfmask.cli.planfile.kinds import Question, question
from halfmask.cli.planfile.recurring import Recurring, recurring
from halfmask.cli.planfile.section import (
    AMOUNT,
    TABLE,
    TABLES,
    TEXT,
    Section,
    part,
)
from halfmask.cli.planfile.spoken import spoken
from halfmask.cli.planfile.table import Table, document_path, rows_of, table_of
from halfmask.errors import InvalidQuery
from halfmask.plan import Filters, Keys, where
from halfmask.privacy import Cost, is_stored, shown_place
from halfmask.procedures import Filtered
from halfmask.queries import price_of
from halfmask.sources import is_address
from halfmask.sql import Arrangement

__all__ = ["Ask", "Budget", "Plan", "Table", "Wanted", "read_plan"]

_MONEY = ("epsilon", "delta", "rho", "mu")


@dataclass(frozen=True)
class Budget:
    """What may be spent: a price, a ledger that holds one, or both for a ledger to be made."""

    cost: Cost | None
    ledger: Path | str | None

    @property
    def has_ledger(self) -> bool:
        """Whether the ledger that is named is there."""
        return self.ledger is not None and is_stored(self.ledger)

    @property
    def place(self) -> str:
        """Where the money is kept, for people."""
        if self.ledger is None:
            return "in memory: each run starts anew"
        return shown_place(self.ledger)


@dataclass(frozen=True)
class Wanted:
    """The error that each question may have, by its name, and the delta of the price to find."""

    errors: Mapping[str, Any]
    delta: Any


@dataclass(frozen=True)
class Ask:
    """One [[release]]: the arguments of one `Curator.ask`.

    questions: by name; a single one has the name "".
    paid: the price; None where an error is wanted, until `priced`.
    wanted: the error to allow for each question, in place of a price, and the delta beside it.
    rows: the public guess of how many rows there are, in each group.
    values: the keys as written, to name the one that is refused.
    arrangement: what is done to the released groups, where SQL says so.
    """

    name: str
    place: Place
    questions: Mapping[str, Question]
    paid: Cost | None
    wanted: Wanted | None
    where: str | None
    by: Keys | Filters | str | None
    shares: Mapping[str, Any] | None
    rows: int | None
    values: Mapping[str, Any] = field(repr=False)
    arrangement: Arrangement | None = None

    @property
    def query(self) -> Question | Mapping[str, Question]:
        """What is asked: one query, or several by name."""
        return self.questions.get("", self.questions)

    @property
    def price(self) -> Cost:
        """What the ask costs; known once the plan was `priced`."""
        if self.paid is None:
            raise InvalidQuery("error: its price is not known yet; give an epsilon")
        return self.paid

    @property
    def options(self) -> dict[str, Any]:
        """The other arguments that `ask` and `preview` share."""
        return {**vars(self.price), "where": self.where, "by": self.by, "shares": self.shares}


@dataclass(frozen=True)
class Plan:
    """A whole plan."""

    document: Document
    table: Table
    budget: Budget
    asks: tuple[Ask, ...]
    series: tuple[Recurring, ...] = ()


def read_plan(document: Document) -> Plan:
    """Read a plan; InvalidQuery names the file, line and key of what is wrong, and the fix."""
    top = Section(document, (), document.parse())
    top.only("table", "budget", "release", "series")
    table = table_of(part(top, "table", 'source = "people.csv"'))
    budget = _budget(top)
    asks, series = _asks(top, table), _series(top, table, budget)
    if not asks and not series:
        raise top.refusal(None, "nothing is asked; add a [[release]] table")
    seen: set[str] = set()
    named: list[Ask | Recurring] = [*asks, *series]
    for one in named:
        if one.name in seen:
            refused = Section(document, one.place, one.values)
            raise refused.refusal("name", f"two releases are named {one.name!r}; rename one")
        seen.add(one.name)
    return Plan(document, table, budget, asks, series)


def _budget(top: Section) -> Budget:
    budget = part(top, "budget", "epsilon = 1")
    budget.only("ledger", *_MONEY)
    ledger = budget.get("ledger", TEXT)
    cost = None if ledger and set(budget.values) == {"ledger"} else _price(budget)
    return Budget(cost, _ledger(top.document, ledger) if ledger else None)


def _sections(top: Section, key: str) -> list[Section]:
    listed = top.get(key, TABLES) or []
    numbered = enumerate(listed, start=1)
    return [Section(top.document, (key, number), values) for number, values in numbered]


def _asks(top: Section, table: Table) -> tuple[Ask, ...]:
    return tuple(_ask(section, table) for section in _sections(top, "release"))


def _series(top: Section, table: Table, budget: Budget) -> tuple[Recurring, ...]:
    found = []
    for section in _sections(top, "series"):
        if budget.ledger is None:
            raise section.refusal(
                None,
                "a series goes on from run to run, by what a ledger remembers; add a line like "
                '`ledger = "name.ledger"` to [budget]',
            )
        if table.join is not None:
            raise section.refusal(
                None,
                "rows of a join change when rows are added to its tables, and a series is paid for "
                "rows that stay; take [table.join] out",
            )
        found.append(recurring(section, _price(section), _filter(section), *_MONEY))
    return tuple(found)


def _ask(release: Section, table: Table) -> Ask:
    name, rows = release.need("name", TEXT), table.rows
    beside = ("name", "where", "by", "rows", "error", *_MONEY)
    by, condition = grouping(release) if "by" in release.values else None, _filter(release)
    done: Arrangement | None = None
    if "sql" in release.values:
        release.only("sql", "shares", *(key for key in beside if key not in ("where", "by")))
        questions, by, condition, done = spoken(release, table.options)
    elif "queries" in release.values:
        release.only("queries", "shares", *beside)
        questions = _questions(release.inside("queries"))
    else:
        questions = {"": question(release, *beside)}
    guess = (
        None if rows is None else max(1, rows // (by.size if isinstance(by, Keys | Filters) else 1))
    )
    return Ask(
        name=name,
        place=release.place,
        questions=questions,
        paid=None if "error" in release.values else _price(release),
        wanted=_wanted(release, questions) if "error" in release.values else None,
        where=condition,
        by=by,
        shares=_shares(release),
        rows=rows_of(release) or guess,
        values=release.values,
        arrangement=done,
    )


def _questions(queries: Section) -> dict[str, Question]:
    if not queries.values:
        raise queries.refusal(None, 'no query is named; add one, such as n = { query = "count" }')
    for name in queries.values:
        queries.need(name, TABLE)
    return {name: _part_asked(queries.inside(name)) for name in queries.values}


def _part_asked(section: Section) -> Question:
    """One of several queries, which may have a filter of its own."""
    asked, condition = question(section, "where"), _filter(section)
    return asked if condition is None else Filtered(asked, condition)


def _shares(release: Section) -> dict[str, Any] | None:
    shares = release.inside("shares")
    return {name: shares.need(name, AMOUNT) for name in shares.values} or None


def _wanted(release: Section, questions: Mapping[str, Question]) -> Wanted:
    for key in ("epsilon", "rho", "mu"):
        if key in release.values:
            raise release.refusal("error", f"an error and {key} are given; leave one of them out")
    delta = release.get("delta", AMOUNT)
    if "" in questions:
        return Wanted({"": release.need("error", AMOUNT)}, delta)
    errors = release.need("error", TABLE)
    inside = release.inside("error")
    return Wanted({name: inside.need(name, AMOUNT) for name in errors}, delta)


def _filter(release: Section) -> str | None:
    text = release.get("where", TEXT)
    if text is not None:
        with release.document.naming(release.place, release.values):
            where(text)
    return text


def _price(section: Section) -> Cost:
    given = {key: section.need(key, AMOUNT) for key in _MONEY if key in section.values}
    with section.document.naming(section.place, section.values):
        return price_of(**given)


def _ledger(document: Document, name: str) -> Path | str:
    return name if is_address(name) else document_path(document, name)

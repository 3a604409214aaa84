"""One table of a plan: each key read once, in the form that it must have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import Any, Generic, TypeVar

from halfmask.cli.planfile.document import Document, Place
from halfmask.errors import InvalidQuery

__all__ = [
    "AMOUNT",
    "BOUND",
    "FLAG",
    "LIST",
    "NUMBER",
    "NUMBERS",
    "ONE_OR_MORE",
    "PLACE",
    "PLACEHOLDER",
    "TABLE",
    "TABLES",
    "TEXT",
    "TEXTS",
    "WHOLE",
    "Form",
    "Section",
    "is_filled",
    "is_number",
    "part",
]

PLACEHOLDER = "?"
"""What `halfmask init` writes where only a person can know the value."""

T = TypeVar("T")


@dataclass(frozen=True)
class Form(Generic[T]):
    """What a value must be: in words, an example, and the test."""

    words: str
    example: str
    fits: Callable[[object], bool]


def is_number(value: object) -> bool:
    """Whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_filled(value: object) -> bool:
    """Whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip())


TEXT: Form[str] = Form("a text in quotes", '"age"', is_filled)
NUMBER: Form[float] = Form("a number", "100", is_number)
WHOLE: Form[int] = Form("a whole number", "1", lambda v: is_number(v) and isinstance(v, int))
AMOUNT: Form[Any] = Form("a number", '0.5 or "1/3"', lambda v: is_number(v) or is_filled(v))
FLAG: Form[bool] = Form("true or false", "true", lambda v: isinstance(v, bool))
LIST: Form[list[Any]] = Form("a list", '["ops", "r&d"]', lambda v: isinstance(v, list))
NUMBERS: Form[list[float]] = Form(
    "a list of numbers", "[0, 10, 20]", lambda v: isinstance(v, list) and all(map(is_number, v))
)
PLACE: Form[Any] = Form(
    "a number, or a list of one for each column",
    "100",
    lambda v: is_number(v) or (isinstance(v, list) and all(map(is_number, v))),
)
ONE_OR_MORE: Form[Any] = Form(
    "a number, or a list of numbers", "[0.25, 0.5, 0.75]", lambda v: is_number(v) or NUMBERS.fits(v)
)
BOUND: Form[Any] = Form(
    "a number, a date or a date in quotes",
    "0",
    lambda v: is_number(v) or is_filled(v) or isinstance(v, date),
)
TABLE: Form[dict[str, Any]] = Form("a table", "{ key = value }", lambda v: isinstance(v, dict))
TEXTS: Form[dict[str, str]] = Form(
    "a table of row filters",
    '{ young = "age < 30" }',
    lambda v: isinstance(v, dict) and all(map(is_filled, v.values())),
)
TABLES: Form[list[dict[str, Any]]] = Form(
    "a list of tables",
    "[[release]], in two brackets",
    lambda v: isinstance(v, list) and all(isinstance(one, dict) for one in v),
)

_EXAMPLES = {
    "source": '"people.csv"',
    "name": '"mean age"',
    "query": '"mean"',
    "q": "0.5",
}

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_KINDS |= {list: "a list", dict: "a table"}


@dataclass(frozen=True)
class Section:
    """The keys and values of one table, and where they stand."""

    document: Document
    place: Place
    values: Mapping[str, Any]

    def need(self, key: str, form: Form[T]) -> T:
        """Return a value that must be there."""
        if key not in self.values:
            example = _EXAMPLES.get(key, form.example)
            raise self.refusal(None, f"{key} is missing; add a line like `{key} = {example}`")
        return self._formed(key, form)

    def get(self, key: str, form: Form[T], default: T | None = None) -> T | None:
        """Return a value, or the default where the key is left out."""
        return self._formed(key, form) if key in self.values else default

    def inside(self, key: str) -> "Section":
        """Return the table under a key; one without keys where it is left out."""
        values = self._formed(key, TABLE) if key in self.values else {}
        return Section(self.document, (*self.place, key), values)

    def only(self, *known: str) -> None:
        """Refuse a key that is not known, and name the nearest one that is."""
        for key in self.values:
            if key not in known:
                near = get_close_matches(key, known, n=1, cutoff=0.5)
                advice = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
                raise self.refusal(key, f"unknown key {key!r}; {advice}")

    def refusal(self, key: str | None, problem: object) -> InvalidQuery:
        """Make an error that names this table, or one of its keys."""
        return self.document.refusal((*self.place, *([key] if key else [])), problem)

    def _formed(self, key: str, form: Form[T]) -> T:
        value = self.values[key]
        if value == PLACEHOLDER or (isinstance(value, list) and PLACEHOLDER in value):
            raise self.refusal(
                key,
                f'"{PLACEHOLDER}" is still to be filled in: {form.words} that is known without '
                f"looking at the rows, such as {form.example}",
            )
        if not form.fits(value):
            given = "an empty text" if value == "" else _KINDS.get(type(value), "a date or time")
            raise self.refusal(
                key, f"{form.words} is needed, and {given} is given; write {form.example}"
            )
        found: T = value
        return found


def part(top: Section, key: str, example: str) -> Section:
    """Return a table that must be there."""
    if key not in top.values:
        raise top.refusal(None, f"there is no [{key}]; add one that says `{example}`")
    return top.inside(key)

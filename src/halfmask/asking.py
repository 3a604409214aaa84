"""What is asked, in objects and in words; what is answered, as releases."""

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from halfmask.errors import InvalidQuery, PrivacyWarning, shown
from halfmask.plan import Everything, Filters, Keys, Predicate, Schema
from halfmask.plan import where as parse_where
from halfmask.privacy import Cost, PrivacyUnit
from halfmask.procedures import Procedure, Together, UnknownKeys
from halfmask.provenance import Provenance, caution
from halfmask.queries import Estimate, Expected, Query, Setting
from halfmask.release import GroupedRelease, Preview, Release
from halfmask.reported import report_page

__all__ = [
    "Answer",
    "Question",
    "Releases",
    "in_words",
    "preview_of",
    "refuse_found",
    "releases_of",
    "setting_of",
    "supposed",
    "together",
    "warn",
]

Question = Query | Procedure
Answer = Release | GroupedRelease


class Releases(dict[str, Answer]):
    """The named answers of one ask: a dict that also reads well."""

    @property
    def statement(self) -> str:
        """All the answers in words, one a line."""
        return "\n".join(f"{name}: {answer.statement}" for name, answer in self.items())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        return {name: answer.to_dict() for name, answer in self.items()}

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def report(self, *, title: str = "Releases", remaining: Cost | None = None) -> str:
        """Return one self-contained HTML page to hand on; `remaining` says what is left."""
        left = "" if remaining is None else str(remaining)
        return report_page(self.to_dict(), title=title, remaining=left)

    def __str__(self) -> str:
        return self.statement

    def __repr__(self) -> str:
        return f"<Releases: {self.statement}>"

    def _repr_html_(self) -> str:
        return "".join(answer._repr_html_() for answer in self.values())


def in_words(
    query: Question | Mapping[str, Question],
    setting: Setting,
    shares: Mapping[str, Any] | None,
    origin: str,
    by: Keys | Filters | str | None,
) -> str:
    """Write all that an answer depends on but the rows: the ledger tells requests apart by it."""
    asked = repr(dict(query)) if isinstance(query, Mapping) else repr(query)
    groups = f" by {by!r}" if by is not None else ""
    where = "" if isinstance(setting.where, Everything) else f" where {setting.where}"
    split = f" in shares {dict(shares)!r}" if shares is not None else ""
    kinds = ", ".join(f"{column.name} {column.kind}" for column in setting.schema)
    return f"{asked}{groups}{where}{split}; of {origin!r} ({kinds}); for {setting.unit.describe()}"


def setting_of(
    schema: Schema,
    unit: PrivacyUnit,
    by: Keys | Filters | str | None,
    where: str | Predicate | None,
    near: bool = True,
) -> Setting:
    """The public facts of an ask; InvalidQuery for groups or filters that do not fit the schema."""
    if by is not None and not isinstance(by, Keys | Filters | str):
        raise InvalidQuery(
            f"by: {shown(by)} is no list of keys and no column; give public keys, as in "
            f"Keys('dept', ['ops', 'r&d']), or a column's name to find its keys for a delta"
        )
    predicate: object = Everything() if where is None else where
    if isinstance(where, str):
        predicate = parse_where(where)
    if not isinstance(predicate, Predicate):
        raise InvalidQuery(f'where: {shown(where)} is no row filter; write one like "age >= 18"')
    predicate.check(schema)
    if by is None or isinstance(by, str):
        return Setting(schema, unit, predicate, near=near)
    by.check(schema)
    return Setting(schema, unit, predicate, by, near)


def refuse_found(by: object) -> None:
    """Refuse keys that are found in the rows, where a series is asked by them."""
    if isinstance(by, str):
        raise InvalidQuery(
            f"by: keys of {by!r}, found in the rows, would differ from period to period; "
            f"list them, as in Keys({by!r}, [...])"
        )


def supposed(rows: int) -> None:
    """Refuse what is no number of rows to suppose."""
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= 10**15:
        raise InvalidQuery(
            f"rows: {shown(rows)} is not a whole number from 1 to 10^15; give your guess"
        )


def together(
    query: Question | Mapping[str, Question],
    shares: Mapping[str, Any] | None,
    by: Keys | Filters | str | None = None,
) -> Together | UnknownKeys:
    """One query, or several by name, as a procedure; InvalidQuery for what is no query.

    by: the name of a column whose keys are to be found; public keys are part of the setting.
    """
    questions = query if isinstance(query, Mapping) else {"": query}
    for name, question in questions.items():
        if isinstance(question, type) or not isinstance(question, Query | Procedure):
            label = f" {name!r}" if name else ""
            raise InvalidQuery(
                f"query{label}: {shown(question)} is not one; ask something like Count() or "
                f"Mean('salary', 0, 100_000)"
            )
    if isinstance(by, str):
        return UnknownKeys(by, questions, shares)
    return Together(questions, shares)


def releases_of(
    asked: Together | UnknownKeys,
    setting: Setting,
    price: Cost,
    answers: Mapping[str, Sequence[Any]],
    provenance: Provenance,
) -> dict[str, Answer]:
    """The release of each query: one for each key where there are any."""
    if isinstance(asked, UnknownKeys):
        found = asked.mechanism(setting, price)
        return {
            name: GroupedRelease(
                asked.questions[name],
                asked.column,
                tuple(
                    Release(asked.questions[name], one.estimate, provenance, one.key)
                    for one in keyed
                ),
                provenance,
                found,
            )
            for name, keyed in answers.items()
        }
    return {
        name: _release_of(asked.questions[name], setting, estimates, provenance)
        for name, estimates in answers.items()
    }


def _release_of(
    question: Question, setting: Setting, estimates: Sequence[Estimate], provenance: Provenance
) -> Answer:
    if setting.by is None:
        return Release(question, estimates[0], provenance)
    releases = tuple(
        Release(question, estimate, provenance, key)
        for key, estimate in zip(setting.keys, estimates, strict=True)
    )
    return GroupedRelease(question, setting.by.column, releases, provenance)


def preview_of(expected: Expected, price: Cost, how: str = "") -> Preview:
    """What a reader sees of an expected error, and of what the whole ask costs."""
    width = expected.interval_width
    return Preview(expected.rmse, expected.bias, width, expected.assuming, price, how)


def warn(price: Cost, rows: int = 0) -> None:
    """Warn whoever asked of a delta that is no small chance; from public facts alone."""
    words = caution(price, rows)
    if words:
        warnings.warn(words, PrivacyWarning, stacklevel=3)

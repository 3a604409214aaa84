"""What is asked, in objects and in words; what is answered, as releases."""

import json
from collections.abc import Mapping
from typing import Any

from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Everything
from halfmask.procedures import Procedure, Together
from halfmask.queries import Estimate, Expected, Query, Setting
from halfmask.release import GroupedRelease, Preview, Provenance, Release

__all__ = ["Answer", "Question", "Releases", "in_words", "preview_of", "release_of", "together"]

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
) -> str:
    """Write all that an answer depends on but the rows: the ledger tells requests apart by it."""
    asked = repr(dict(query)) if isinstance(query, Mapping) else repr(query)
    by = f" by {setting.by!r}" if setting.by is not None else ""
    where = "" if isinstance(setting.where, Everything) else f" where {setting.where}"
    split = f" in shares {dict(shares)!r}" if shares is not None else ""
    kinds = ", ".join(f"{column.name} {column.kind}" for column in setting.schema)
    return f"{asked}{by}{where}{split}; of {origin!r} ({kinds}); for {setting.unit.describe()}"


def together(
    query: Question | Mapping[str, Question], shares: Mapping[str, Any] | None
) -> Together:
    """One query, or several by name, as a procedure; InvalidQuery for what is no query."""
    questions = query if isinstance(query, Mapping) else {"": query}
    for name, question in questions.items():
        if isinstance(question, type) or not isinstance(question, Query | Procedure):
            label = f" {name!r}" if name else ""
            raise InvalidQuery(
                f"query{label}: {shown(question)} is not one; ask something like Count() or "
                f"Mean('salary', 0, 100_000)"
            )
    return Together(questions, shares)


def release_of(
    question: Question, setting: Setting, estimates: tuple[Estimate, ...], provenance: Provenance
) -> Answer:
    """The release of one query: one for each key where there are any."""
    if setting.by is None:
        return Release(question, estimates[0], provenance)
    releases = tuple(
        Release(question, estimate, provenance, key)
        for key, estimate in zip(setting.by.values, estimates, strict=True)
    )
    return GroupedRelease(question, setting.by.column, releases, provenance)


def preview_of(expected: Expected) -> Preview:
    """What a reader sees of an expected error."""
    return Preview(expected.rmse, expected.bias, expected.interval_width, expected.assuming)

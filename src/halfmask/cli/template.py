"""The plan that `halfmask init` writes: from names and kinds of columns, never from rows."""

import json
import re
from collections.abc import Iterable

from halfmask.cli.planfile import PLACEHOLDER
from halfmask.plan import Column, Schema

__all__ = ["draft"]

_NUMBERS = ("integer", "real", "unread")
_GROUPS = ("text", "boolean", "unread")
_IDENTITY = re.compile(
    r"(^|_)(id|uuid|key|person|patient|user|employee|customer|client|respondent|member)(_id)?$",
    re.IGNORECASE,
)

_HEAD = """\
# A release plan, written from the names and kinds of the columns: no row was read.
# Fill in every "{mark}", delete what you do not want, and then:
#
#   halfmask check {plan}    what would be asked; reads no row, spends nothing
#   halfmask cost {plan}     what it costs, and the errors to expect
#   halfmask run {plan}      spends, reads, answers
#
# The columns are:
{columns}

[table]
source = {source}
{table}# unit = {unit}  # whom a row is about; without it each row is protected on its own
# rows_per_unit = 1  # how many rows' worth one unit may add; more is scaled down
# rows = 1000  # your public guess of the number of rows, for `halfmask cost`

[budget]
epsilon = 1  # for all that is ever asked of this table
# ledger = {ledger}  # a file that remembers what was spent; without it each run starts anew

[[release]]
name = "rows"
query = "count"
epsilon = 0.2
"""

_NUMBER = """\
# For another column, copy a release and name that. Bounds and edges must be known without looking
# at the rows: from a law, a form, a scale. In place of "mean": sum, variance, standard_deviation.

[[release]]
name = {mean}
query = "mean"
column = {column}
lower = "{mark}"
upper = "{mark}"
epsilon = 0.4

# [[release]]
# name = {histogram}
# query = "histogram"
# column = {column}
# edges = ["{mark}"]  # rising, such as [0, 10, 20, inf]
# epsilon = 0.2
"""

_GROUP = """\
# One number for each of some public keys, all from one price; other keys are not counted.

[[release]]
name = {name}
query = "count"
by = {{ column = {column}, keys = ["{mark}"] }}
epsilon = 0.2
"""

_SERIES = """\
# Running totals of a table that grows, released further at each run: name a ledger for these.

# [[series]]
# name = "rows so far"
# query = "count"
# time = {column}
# start = "{mark}"  # a date, such as "2026-01-01"
# every = "month"
# periods = 12
# epsilon = 0.2
"""


def draft(schema: Schema, source: str, plan: str, ledger: str, table: str | None = None) -> str:
    """Write a plan: a release of each shape, one column each.

    In a CSV file any column may hold numbers or text, so there the groups stay a comment.
    """
    unit = next((column for column in schema if _IDENTITY.search(column.name)), None)
    others = [column for column in schema if column is not unit]
    parts = [
        _HEAD.format(
            plan=plan,
            columns="\n".join(_described(schema)),
            source=_quoted(source),
            table=f"table = {_quoted(table)}\n" if table else "",
            unit=_quoted(unit.name if unit else "person_id"),
            ledger=_quoted(ledger),
            mark=PLACEHOLDER,
        )
    ]
    number = next((column for column in others if column.kind in _NUMBERS), None)
    if number is not None:
        parts.append(_number(number))
    group = next((column for column in others if column.kind in _GROUPS and column != number), None)
    if group is not None:
        parts.append(_group(group))
    time = next((column for column in others if column.kind == "time"), None)
    if time is not None:
        parts.append(_SERIES.format(column=_quoted(time.name), mark=PLACEHOLDER))
    return "\n".join(parts)


def _described(columns: Iterable[Column]) -> Iterable[str]:
    for column in columns:
        kind = "read as each query needs" if column.kind == "unread" else column.kind
        yield f"#   {_quoted(column.name)}: {kind}"


def _number(column: Column) -> str:
    return _NUMBER.format(
        mean=_quoted(f"mean of {column.name}"),
        histogram=_quoted(f"histogram of {column.name}"),
        column=_quoted(column.name),
        mark=PLACEHOLDER,
    )


def _group(column: Column) -> str:
    name, quoted = _quoted(f"rows by {column.name}"), _quoted(column.name)
    explained, _, release = _GROUP.partition("\n\n")
    lines = release.format(name=name, column=quoted, mark=PLACEHOLDER).splitlines()
    comment = "# " if column.kind == "unread" else ""
    return "\n".join([explained, "", *(comment + line for line in lines), ""])


def _quoted(text: str) -> str:
    """Write a text as TOML: JSON's escapes are valid there, and DEL needs one too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The exact twin of every source: a tally over Python rows, in fractions and unbounded integers."""

import hashlib
import itertools
import math
import operator
import re
from collections import defaultdict
from datetime import datetime, timedelta
from fractions import Fraction
from types import SimpleNamespace

import pytest
from source_postgres import in_postgres
from source_tables import KINDS, csv_of, nasty_rows, sources_of, without_nul

from halfmask.plan import Among, And, Bins, Comparison, Everything, Missing, Not, Or
from halfmask.sources import open_source

OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


def read(cell, kind, reading):
    """What a cell says when it is read so; None where it says nothing."""
    if cell is None or cell != cell:
        return None
    if kind != "unread":
        return float(cell) if reading == "real" else cell
    stripped = cell.strip(" \t")
    if reading == "real":
        if stripped.lower().lstrip("+-") in ("inf", "infinity") and stripped.lower()[1:2] != "-":
            return float(stripped) if re.fullmatch("[+-]?[a-z]+", stripped.lower()) else None
        return float(stripped) if re.fullmatch(NUMBER, stripped, re.ASCII) else None
    if reading == "boolean":
        return {"true": True, "false": False}.get(stripped.lower())
    if reading == "time":
        if not re.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", stripped):
            return None
        try:
            return datetime.fromisoformat(stripped)
        except ValueError:
            return None
    return cell


def reading_of(literal):
    if isinstance(literal, bool):
        return "boolean"
    if isinstance(literal, datetime):
        return "time"
    return "text" if isinstance(literal, str) else "real"


def beside(cell, kind, literal):
    """A cell and a literal, ready to be compared; integers are compared exactly."""
    if kind == "time" and isinstance(literal, str):
        literal = datetime.fromisoformat(literal)
    if kind == "integer":
        return read(cell, kind, "integer"), literal
    value = read(cell, kind, reading_of(literal))
    return value, float(literal) if reading_of(literal) == "real" else literal


def holds(predicate, row, kinds):
    match predicate:
        case Everything():
            return True
        case Not(inner):
            return not holds(inner, row, kinds)
        case And(left, right):
            return holds(left, row, kinds) and holds(right, row, kinds)
        case Or(left, right):
            return holds(left, row, kinds) or holds(right, row, kinds)
        case Missing(column):
            return row[column] is None or row[column] != row[column]
        case Among(column, values):
            pairs = [beside(row[column], kinds[column], value) for value in values]
            return any(cell is not None and cell == value for cell, value in pairs)
        case Comparison(column, sign, value):
            cell, value = beside(row[column], kinds[column], value)
            return cell is not None and OPERATORS[sign](cell, value)


def moments(row, kinds, grid):
    if grid is None:
        return (1, 0, 0, 0)
    x = read(row[grid.column], kinds[grid.column], "real")
    if x is None:
        return (1, 0, 0, 0)
    step = Fraction(2) ** grid.log2_step
    if math.isinf(x):
        v = grid.upper if x > 0 else grid.lower
    else:
        v = math.floor(min(max(Fraction(x), grid.lower * step), grid.upper * step) / step)
    v -= grid.origin
    return (1, 1, v, v * v)


def group_of(group, row, kinds):
    kind = kinds[group.column]
    if isinstance(group, Bins):
        x = read(row[group.column], kind, "real")
        if x is None or not group.edges[0] <= x <= group.edges[-1]:
            return None
        return min(sum(edge <= x for edge in group.edges) - 1, group.size - 1)
    typed = [value for value in group.values if value is not None]
    reading = reading_of(typed[0]) if typed else "text"
    if kind == "integer":
        reading = "integer"
    elif not typed and kind != "unread":
        reading = kind
    cell = read(row[group.column], kind, reading)
    matches = [i for i, value in enumerate(group.values) if _same(value, cell)]
    return matches[0] if matches else None


def _same(value, cell):
    return value is cell if value is None or cell is None else value == cell


def naive_tally(tally, rows, kinds, salt="halfmask"):
    """The definition of a tally, one row at a time."""
    sizes = [group.size for group in tally.groups]
    answer = [[0] * len(tally.features) for _ in range(math.prod(sizes))]
    units = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows):
        if not holds(tally.where, row, kinds):
            continue
        indexes = [group_of(group, row, kinds) for group in tally.groups]
        if None in indexes:
            continue
        g = 0
        for index, size in zip(indexes, sizes, strict=True):
            g = g * size + index
        unit = number if tally.unit is None else row[tally.unit.column]
        if unit is not None and unit == unit:
            units[unit][g].append(moments(row, kinds, tally.value))
    for unit, found in units.items():
        for g, vector in bounded(tally, unit, found, salt).items():
            answer[g] = [a + b for a, b in zip(answer[g], vector, strict=True)]
    return tuple(map(tuple, answer))


def bounded(tally, unit, found, salt):
    bound = tally.unit
    if bound is not None and bound.once:
        found = {g: [(1, 0, 0, 0)] for g in found}
    vectors = {
        g: [sum(sum(map(operator.mul, f, m)) for m in listed) for f in tally.features]
        for g, listed in found.items()
    }
    if bound is None:
        return vectors
    if bound.groups is not None:
        order = sorted(vectors, key=lambda g: (lot(salt, unit, [g]), g))
        return {g: scaled(vectors[g], bound.norm, total(vectors[g])) for g in order[: bound.groups]}
    everything = total(itertools.chain(*vectors.values()))
    return {g: scaled(vector, bound.norm, everything) for g, vector in vectors.items()}


PRIMES = (2**30 - 35, 2**30 - 41)


def residue(number, prime=PRIMES[0]):
    """Of its sign, as engines have it."""
    return abs(number) % prime * (1 if number >= 0 else -1)


def digest(text):
    """Short texts by all their bytes, the first highest; others by seven of their MD5, lowest."""
    if 1 <= len(text) <= 15:
        return int.from_bytes(text, "big") % (10**9 + 7)
    return int.from_bytes(hashlib.md5(text).digest()[:7], "little") % (10**9 + 7)


def drawn_as(cell):
    """The whole number as which a unit or a key draws lots."""
    if isinstance(cell, str):
        return digest(cell.encode())
    if isinstance(cell, datetime):
        cell = float((cell - datetime(1970, 1, 1)) // timedelta(microseconds=1))
    if isinstance(cell, float):
        cell = max(min(cell, 2.0**62), -(2.0**62))
        return math.floor(cell) + math.floor((cell - math.floor(cell)) * 2.0**29)
    return int(cell)


def lot(salt, unit, entries):
    """What a contribution of a unit draws: the smallest are kept."""
    digits = hashlib.md5(salt.encode()).hexdigest()
    start, *last = (int(digits[i : i + 7], 16) for i in (0, 7, 14))
    lot = residue(drawn_as(unit)) + start
    for entry in (*entries, *last, 0):
        lot = lot * lot % PRIMES[0] + entry
    return lot


def coordinate(v, reach):
    """What a coordinate enters into a lot."""
    return [v] if reach < PRIMES[0] // 2 else [residue(v, prime) for prime in PRIMES]


def key_entries(key):
    return [2**29 if key is None else residue(drawn_as(key), prime) for prime in PRIMES]


def total(vector):
    return sum(map(abs, vector))


def scaled(vector, norm, length):
    return vector if length <= norm else [int(Fraction(f * norm, length)) for f in vector]


@pytest.fixture(scope="session")
def twin():
    return naive_tally


@pytest.fixture(scope="module")
def rows():
    return nasty_rows()


@pytest.fixture(scope="module")
def sources(rows, tmp_path_factory):
    opened = sources_of(rows, tmp_path_factory.mktemp("sources"))
    yield opened
    for source in opened.values():
        source.close()


@pytest.fixture(scope="module")
def csv_source(rows, tmp_path_factory):
    with_csv = open_source(csv_of(rows, tmp_path_factory.mktemp("csv") / "rows.csv"), KINDS)
    yield with_csv
    with_csv.close()


@pytest.fixture(scope="module", params=["postgres"])
def served(request, rows):
    """A source on a server of its own, and the rows that it holds."""
    server, held = request.getfixturevalue(request.param), rows
    if request.param == "postgres":
        held = without_nul(rows)
        source = in_postgres(server.new_database(), held)
    yield source, held
    source.close()


@pytest.fixture(scope="session")
def twins():
    """The parts of the exact twin, for requests of other shapes."""
    return SimpleNamespace(
        holds=holds,
        moments=moments,
        group_of=group_of,
        lot=lot,
        coordinate=coordinate,
        digest=digest,
        key_entries=key_entries,
        total=total,
    )

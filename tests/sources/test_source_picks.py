"""Which rows and groups a unit keeps: by its own content alone, evenly, in 64 bits."""

import itertools
import math
import secrets
from collections import Counter

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats
from source_asked import naive_points, picking, points_of
from source_tables import KINDS

from halfmask.plan import Keys, OnGrid, Points, Tally, UnitBound
from halfmask.sources import open_source
from halfmask.sources.sql import DUCKDB, Cells, emit_points
from halfmask.sources.sql.lots import digest, entries, residue, with_lots

UNITS = 60_000
PRIME = 2**30 - 35
LOOSE = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def lots(units, rows, reaches, salt, unit="u"):
    """The lots (units, rows) of the same rows of every unit, in the SQL of the sources."""
    width = len(rows[0])
    names = [f"v{j}" for j in range(width)]
    kept = ["u", "i", *names]
    listed = ", ".join(str((i, *row)) for i, row in enumerate(rows))
    named = f"(VALUES {listed}) a({', '.join(kept[1:])})"
    table = f"SELECT {', '.join(kept)} FROM ({units}) CROSS JOIN {named}"
    entered = [
        entry
        for name, reach in zip(names, reaches, strict=True)
        for entry in entries(name, reach, DUCKDB)
    ]
    drawn = with_lots(table, kept, residue(unit, DUCKDB), entered, salt, DUCKDB)
    ordered = f"SELECT h FROM ({drawn}) ORDER BY u, i"
    found = duckdb.execute(ordered).fetchnumpy()["h"]
    return np.asarray(found, np.int64).reshape(-1, len(rows))


def surprise(codes, cells):
    """How improbable counts of equally probable cells are."""
    counts = np.bincount(codes, minlength=cells)
    assert len(counts) == cells
    return stats.chisquare(counts).pvalue


def orders(drawn):
    """The order of each unit's lots, as one number."""
    ranks = np.argsort(np.argsort(drawn, axis=1), axis=1)
    numbers = {order: i for i, order in enumerate(itertools.permutations(range(drawn.shape[1])))}
    return np.array([numbers[order] for order in map(tuple, ranks.tolist())])


def least(drawn):
    """How improbable it is: of the orders of a unit's lots, or of the firsts of neighbours."""
    rows = drawn.shape[1]
    first = np.argmin(drawn, axis=1)
    return min(
        surprise(orders(drawn), math.factorial(rows)),
        surprise(first[:-1] * rows + first[1:], rows**2),
    )


CONSECUTIVE = f"SELECT {{0}} + i AS u FROM range({UNITS}) t(i)"
FAR = f"SELECT {{0}} + i * 4294967296 AS u FROM range({UNITS}) t(i)"
RAGGED = f"SELECT CAST(hash(i + {{0}}) // 2 AS BIGINT) AS u FROM range({UNITS}) t(i)"
SQUARE = tuple(itertools.product((0, 1), repeat=2))
ALIKE = {
    "consecutive": ([(v,) for v in range(5)], (10,)),
    "around zero": ([(v,) for v in range(-2, 3)], (10,)),
    "steps of a thousand and 24": ([(1024 * v,) for v in range(5)], (2**20,)),
    "doubling": ([(2**v,) for v in range(20, 25)], (2**25,)),
    "a quarter of the prime": ([(v * (PRIME // 4),) for v in range(4)], (2**31,)),
    "beyond the prime": ([(v * PRIME,) for v in range(5)], (2**53,)),
    "two coordinates": (SQUARE, (1, 1)),
    "two wide coordinates": ([(a * 2**50, b * 2**50) for a, b in SQUARE], (2**53, 2**53)),
}
CASES = [(name, CONSECUTIVE) for name in ALIKE] + [("consecutive", FAR), ("consecutive", RAGGED)]
FALSE_ALARM = 1e-6 / len(CASES) / 2


@pytest.mark.parametrize(("name", "units"), CASES)
def test_every_order_of_a_units_rows_is_as_likely(name, units):
    """So each of c rows is kept as often, and each pair. False alarm 1e-6, salts drawn anew."""
    rows, reaches = ALIKE[name]
    drawn = lots(units.format(secrets.randbelow(2**30)), rows, reaches, secrets.token_hex(8))
    assert drawn.min() >= 0
    assert drawn.max() < PRIME
    assert least(drawn) > FALSE_ALARM


NAMES = {
    "numbered": "'user' || n",
    "padded": "'u' || lpad(n::VARCHAR, 12, '0')",
    "numbered before a domain": "n || '@a.org'",
    "all of 15 bytes": "lpad((n % 250)::VARCHAR, 4, '0') || lpad((n // 250)::VARCHAR, 11, 'x')",
    "letters": "chr(97 + (n % 26)::INT) || '.' || chr(97 + (n // 26 % 26)::INT) || '.' || n // 676",
    "of four bytes each": "chr(100000 + (n % 200)::INT) || chr(120000 + (n // 200)::INT)",
    "mail": "'user' || n || '@example.org'",
}
NAMED = 1e-6 / len(NAMES) / 2


@pytest.mark.parametrize("name", NAMES)
def test_every_order_of_a_named_units_rows_is_as_likely(name):
    """Names that are alike in all but a few bytes, short and long, draw as evenly as numbers do."""
    first = secrets.randbelow(2**30)
    units = (
        f"SELECT {NAMES[name]} AS u FROM (SELECT i + {first % 10**5} AS n FROM range({UNITS}) t(i))"
    )
    rows, reaches = ALIKE["consecutive"]
    drawn = lots(units, rows, reaches, secrets.token_hex(8), digest("u", DUCKDB))
    assert drawn.min() >= 0
    assert drawn.max() < PRIME
    assert least(drawn) > NAMED


@pytest.mark.parametrize("part", ["left(u, 4)", "right(u, 12)", "left(md5(u), 2)"])
def test_units_of_few_digests_are_not_even(part):
    """The test can fail: by a part of a name, or 8 bits of it, many units prefer the same rows."""
    units = f"SELECT 'user' || i || '@example.org' AS u FROM range({UNITS}) t(i)"
    rows, reaches = ALIKE["consecutive"]
    drawn = lots(units, rows, reaches, secrets.token_hex(8), digest(part, DUCKDB))
    assert least(drawn) < NAMED


@pytest.mark.parametrize("power", [1, 2])
def test_a_lot_of_low_degree_is_not_even(power):
    """The test can fail: a fixed multiplier, and one square, order equidistant rows unevenly."""
    units = np.arange(UNITS) + secrets.randbelow(2**28)
    start = units * units % PRIME
    factor = 1 + secrets.randbelow(PRIME - 1) if power == 1 else 1
    values = np.array([factor * v % PRIME for v in range(5)])
    drawn = (start[:, None] + values) % PRIME
    drawn = drawn * drawn % PRIME if power == 2 else drawn
    assert least(drawn) < FALSE_ALARM


wide = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(
    [s * k * PRIME + d for s in (-1, 1) for k in (1, 2**31) for d in (-1, 0, 1)]
    + [-(2**63), 2**63 - 1]
)
cells = st.integers(-(2**54), 2**54) | st.sampled_from([-(2**54), 2**54, PRIME - 1, 1 - PRIME])


@LOOSE
@given(unit=wide, point=st.lists(cells, min_size=1, max_size=4), salt=st.text(max_size=5))
def test_lots_of_any_integers_fit_64_bits(unit, point, salt, twins):
    """No engine can overflow: the twin, in integers of any size, sees less than 2^31 squared."""
    names = [f"v{j}" for j in range(len(point))]
    listed = ", ".join(f"CAST({v} AS BIGINT) AS v{j}" for j, v in enumerate(point))
    table = f"SELECT CAST('{unit}' AS BIGINT) AS u, {listed}"
    entered = [entry for name in names for entry in entries(name, 2**54, DUCKDB)]
    drawn = with_lots(table, ["u", *names], residue("u", DUCKDB), entered, salt, DUCKDB)
    expected = twins.lot(salt, unit, [e for v in point for e in twins.coordinate(v, 2**54)])
    assert duckdb.execute(f"SELECT h FROM ({drawn})").fetchone() == (expected,)


@pytest.mark.parametrize("unit", KINDS)
@pytest.mark.parametrize("most", [1, 2])
def test_picks_equal_the_twin_whatever_the_kind_of_the_unit(unit, most, rows, sources, twin, twins):
    tally, points = picking(unit, most)
    for source in sources.values():
        assert source.tally(tally) == twin(tally, rows, KINDS)
        assert points_of(source, points) == naive_points(points, rows, twins)


@st.composite
def tables(draw):
    row = st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(-9, 9))
    return draw(st.lists(row, min_size=1, max_size=40)) * draw(st.sampled_from([1, 1, 3]))


GRID = OnGrid("x", -8, 8, 0)
ASKED = [
    lambda k: Points((GRID,), unit="u", rows=k),
    lambda k: Points((GRID, OnGrid("g", 0, 8, 0)), unit="u", rows=k),
    lambda k: Points((OnGrid("x", -(2**53), 2**53, -40),), unit="u", rows=k),
]


def picked(rows, points):
    columns = np.array(rows, dtype=[("u", "i8"), ("g", "i8"), ("x", "i8")])
    source = open_source(columns)
    found = Counter(map(tuple, source.points(points).tolist()))
    source.close()
    return found


@LOOSE
@given(rows=tables(), asked=st.sampled_from(ASKED), k=st.sampled_from([1, 2, 3, 8, 9]))
def test_a_units_rows_are_kept_whoever_else_is_there(rows, asked, k):
    """Law 5: what is kept of all is what is kept of each alone, at most k, in any order of rows."""
    apart = [picked([row for row in rows if row[0] == u], asked(k)) for u in {r[0] for r in rows}]
    assert picked(rows[::-1], asked(k)) == sum(apart, Counter())
    assert all(0 < sum(one.values()) <= k for one in apart)


@LOOSE
@given(rows=tables(), most=st.integers(1, 3))
def test_a_units_groups_are_kept_whoever_else_is_there(rows, most):
    def answered(some):
        source = open_source(np.array(some, dtype=[("u", "i8"), ("g", "i8"), ("x", "i8")]))
        keys = (Keys("g", range(6)),)
        found = source.tally(Tally(((1, 0, 0, 0),), None, keys, unit=UnitBound("u", 99, most)))
        source.close()
        return np.array(found)

    apart = [answered([row for row in rows if row[0] == u]) for u in {r[0] for r in rows}]
    assert (answered(rows[::-1]) == sum(apart)).all()
    assert all(0 < np.count_nonzero(one) <= most for one in apart)


@LOOSE
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.sampled_from(
        ["", "\0", "\0a", "x" * 7, "x" * 8, "x" * 15, "x" * 16, "日本語日本", "\U0010ffff" * 4]
    )
)
def test_the_digest_of_any_text_is_the_twins(text, twins):
    sql = f"SELECT {digest('u', DUCKDB)} FROM (SELECT $1 AS u)"
    assert duckdb.execute(sql, [text]).fetchone() == (twins.digest(text.encode()),)
    assert twins.digest(text.encode()) < 2**61


@pytest.mark.parametrize("length", [1, 200])
def test_a_units_rows_are_the_same_found_by_a_sort_or_without(length):
    """Texts of one unit's name are held, a few rows each, where they fit; and ranked where not."""
    names = [f"{'x' * length}{n % 7}" for n in range(50)]
    source = open_source({"u": names, "x": [float(n % 13) - 6 for n in range(50)]})
    cells = Cells(source.schema, source._physical, source._engine.dialect)
    points = Points((GRID,), unit="u", rows=3)
    found = []
    for count, means in ((50, "MIN(z"), (10**8, "ROW_NUMBER"), (None, "ROW_NUMBER")):
        sql = emit_points(points, cells, source._table, count=count)
        assert means in sql
        found.append(sorted(source._engine.rows(sql, RuntimeError("refused"))))
    source.close()
    assert len(found[0]) == 21
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("rows", [1, 3, 8, 9])
@pytest.mark.parametrize("width", [1, 33, 34, 54])
def test_lot_and_value_are_packed_without_loss(rows, width):
    """Grids that just fit a BIGINT beside the lot, and that do not; both ends and missing cells."""
    low = -(2 ** (width - 1))
    grid = OnGrid("x", low, low + 2**width - 1, 0, origin=low if width % 2 else 0)
    x = np.array([low, low + 2**width - 1, 0, np.nan, -np.inf, np.inf] * 2)
    source = open_source({"u": np.repeat([1, 2], 6), "x": x})
    points = Points((grid,), unit="u", rows=rows)
    cells = Cells(source.schema, source._physical, source._engine.dialect)
    found = sorted(source.points(points)[:, 0].tolist())
    source.close()
    assert ("MIN(z" in emit_points(points, cells, "t", count=12)) == (width <= 33)
    assert ("MIN(z" in emit_points(points, cells, "t", count=10**8)) == (width <= 33 and rows == 1)
    whole = sorted((np.clip(x[[0, 1, 2, 4, 5]], grid.lower, grid.upper) - grid.origin).astype(int))
    assert len(found) == 2 * min(rows, 5)
    assert set(found) <= set(whole)
    if rows >= 5:
        assert found == sorted(whole * 2)


@pytest.mark.parametrize("rows", [10**6 - 1, 10**6, 10**9])
def test_a_unit_may_keep_a_million_rows_and_more(rows):
    """The engine finds fewer than 10^6 at once: more failed, after the charge, for small tables."""
    source = open_source({"u": np.array([1, 1, 2]), "x": np.array([1.0, 2.0, 3.0])})
    found = source.points(Points((GRID,), unit="u", rows=rows))
    source.close()
    assert sorted(found[:, 0].tolist()) == [1, 2, 3]

"""Two joined tables give the integers of the rows that a naive join makes of them."""

import csv
from itertools import product

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_tables import (
    KINDS,
    arrow_of,
    columns_of,
    conditions,
    grids,
    groupings,
    in_csv,
    nasty_rows,
    numpy_of,
    pandas_of,
)

import halfmask as hm
from halfmask.plan import (
    Everything,
    FoundKeys,
    GridCounts,
    OnGrid,
    Points,
    Schema,
    Tally,
    UnitBound,
)
from halfmask.privacy import PrivacyUnit
from halfmask.sources import Join, open_source
from halfmask.sources.join import open_join
from halfmask.sources.table import Table

LEFT, RIGHT = ("u", "n", "g", "x"), ("i", "b", "t", "s")


def missing(cell):
    return cell is None or cell != cell


def joined(left, right, on, how):
    """Every pair of rows with the same value; in a left join each row that has no pair, too."""
    found = []
    for one in left:
        pairs = [two for two in right if not missing(one[on]) and one[on] == two[on]]
        if not pairs and how == "left":
            pairs = [dict.fromkeys(KINDS)]
        found += [{n: (one if n in LEFT else two)[n] for n in KINDS} for two in pairs]
    return found


def forms(rows, names, folder, label):
    """The same columns as sources of every kind."""
    arrow = arrow_of(rows).select(list(names))
    pq.write_table(arrow, folder / f"{label}.parquet")
    relation = duckdb.connect().from_arrow(arrow)
    return {
        "arrow": arrow,
        "file": folder / f"{label}.parquet",
        "relation": relation.project(", ".join(names)),
        "pandas": pandas_of(rows)[list(names)],
        "numpy": {name: numpy_of(rows)[name] for name in names},
        "lists": {name: columns_of(rows)[name] for name in names},
    }


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Both tables' rows; keys of every kind that matches, and some that must not."""
    folder = tmp_path_factory.mktemp("join")
    left, right = nasty_rows(60, seed=1), nasty_rows(40, seed=2)
    return left, right, folder


def opened(parts, on, how, forms_of):
    left, right, folder = parts
    one, two = forms_of
    lefts = forms(left, LEFT, folder, "left")[one]
    rights = forms(right, (on, *RIGHT), folder, f"right-{on}")[two]
    return open_source(Join(lefts, rights, on, how), KINDS, unit=PrivacyUnit(on))


@st.composite
def tallies(draw):
    value = draw(st.none() | grids())
    feature = ((1, 0, 0, 0),) if value is None else ((1, 2, 0, 0), (0, 0, 1, 0))
    unit = st.builds(
        UnitBound, st.just("u"), st.sampled_from([1, 7, 2**30]), st.sampled_from([None, 2])
    )
    return Tally(
        feature,
        value,
        tuple(draw(st.lists(groupings(), max_size=1))),
        draw(st.just(Everything()) | conditions),
        draw(st.none() | unit),
    )


FORMS = ["arrow", "file", "relation", "pandas", "numpy", "lists"]
PAIRS = [*zip(FORMS, FORMS[1:] + FORMS[:1], strict=True), ("lists", "lists"), ("file", "file")]
SHAPES = list(product(["u", "n", "x", "g"], ["inner", "left"]))


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_join_equals_the_naive_join(parts, one, two, twin):
    """Identical integers, whatever the kinds of both tables, the key and the join."""

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(tally=tallies())
    def check(tally):
        assert source.tally(tally) == twin(tally, rows, KINDS)

    for on, how in SHAPES:
        rows = joined(parts[0], parts[1], on, how)
        assert len(rows) > 20
        source = opened(parts, on, how, (one, two))
        assert source.schema.names == (*LEFT, *RIGHT)
        check()
        source.close()
        source.close()


def test_a_csv_joins_by_its_declared_kinds(parts, twin):
    """Its kinds are those of the other table only where the schema says so."""
    left, right, folder = parts
    with (folder / "left.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(LEFT)
        writer.writerows([row[name] for name in LEFT] for row in left)
    pq.write_table(arrow_of(right).select(["n", *RIGHT]), folder / "right.parquet")
    join = Join(folder / "left.csv", folder / "right.parquet", "n")
    with pytest.raises(hm.SourceError, match="'n' holds unread in one table and integer in the"):
        open_source(join, unit=PrivacyUnit("n"))
    source = open_source(join, KINDS, unit=PrivacyUnit("n"))
    tally = Tally(((1, 2, 1, 0),), OnGrid("x", -9, 9, 0), unit=UnitBound("n", 100))
    assert source.tally(tally) == twin(tally, joined(in_csv(left), right, "n", "inner"), KINDS)


def test_other_requests_are_answered_as_of_one_table(parts):
    """Cells, found keys and points: those of a plain table of the joined rows."""
    rows = joined(parts[0], parts[1], "u", "inner")
    plain = open_source(columns_of(rows), KINDS)
    source = opened(parts, "u", "inner", ("numpy", "file"))
    grid = OnGrid("x", -100, 100, -2)
    bound = UnitBound("u", 5, 2)
    for request in (
        GridCounts(grid),
        GridCounts(grid, 4, unit=UnitBound("u", 8)),
        FoundKeys("g", Tally(((1, 0, 0, 0),), unit=bound)),
        FoundKeys("i", Tally(((0, 1, 1, 0),), OnGrid("x", -9, 9, 0))),
    ):
        assert repr(request.answered_by(source)) == repr(request.answered_by(plain))
    both = [
        sorted(map(tuple, Points((grid,), unit="u", rows=2).answered_by(s).array()))
        for s in (source, plain)
    ]
    assert both[0] == both[1]


def test_three_tables_are_joined_by_two_joins(twin):
    """Private with private on the unit, and the join with a public table on another column."""
    staff = {"u": ["a", "a", "b", "c"], "g": ["x", "y", "x", None]}
    visits = {"u": ["a", "b", "b", "d"], "n": [1, 2, 3, 4]}
    towns = {"g": ["x", "x", "z"], "size": [10, 20, 30]}
    join = Join(Join(staff, visits, "u"), towns, "g", public=True)
    source = open_source(join, {"n": "integer", "size": "integer"}, unit=PrivacyUnit("u"))
    value = OnGrid("size", 0, 64, 0)
    assert source.tally(Tally(((1, 0, 1, 0),), value)) == ((3 * 2 + 3 * 30,),)
    assert source.tally(Tally(((1, 0, 0, 0),), unit=UnitBound("u", 3))) == ((2 + 3,),)
    source.close()


REFUSED = [
    (Join({"u": [1]}, {"u": [1]}, "u"), {}, "unit: None given, and two private tables"),
    (
        Join({"u": [1], "k": [1]}, {"k": [1]}, "k"),
        {"unit": "u"},
        "unit: 'u' given, and two private",
    ),
    (Join({"u": [1]}, {"u": [1]}, "u"), {"unit": "u", "relation": "replace"}, "'replace' takes"),
    (
        Join({"u": [1], "k": [1]}, {"k": [1]}, "k", public=True),
        {"unit": "u", "relation": "replace"},
        "how many find a match",
    ),
    (
        Join({"u": [1], "k": [1]}, {"k": [1], "v": [2]}, "k", public=True),
        {"unit": "v"},
        "'v' is no column of the left table",
    ),
    (Join({"k": [1]}, {"k": [1, 1]}, "k", public=True), {}, "in more than one row"),
    (Join({"k": [1], "a": [1]}, {"k": [1], "a": [1]}, "k", public=True), {}, "both tables have"),
    (Join({"k": [1]}, {"j": [1]}, "k", public=True), {}, "there is no 'k' in the right table"),
    (Join({"k": [1]}, {"k": [1]}, "k", public=True), {"schema": {"z": "real"}}, "no 'z'"),
]


@pytest.mark.parametrize(("join", "options", "reason"), REFUSED)
def test_what_would_break_the_promise_is_refused(join, options, reason):
    with pytest.raises(hm.HalfmaskError, match=reason):
        hm.open(join, budget=1, **options)


def test_keys_of_two_kinds_are_refused():
    left, right = pa.table({"k": [1, 2]}), pa.table({"k": ["1", "2"]})
    with pytest.raises(
        hm.SourceError, match="'k' holds integer in one table and text in the other"
    ):
        open_source(Join(left, right, "k", public=True), unit=PrivacyUnit())
    source = open_source(Join(left, right, "k", public=True), {"k": "integer"}, unit=PrivacyUnit())
    assert source.tally(Tally(((1, 0, 0, 0),))) == ((2,),)


class Far:
    """An engine that is not in this process."""

    def close(self):
        pass


def test_tables_of_other_engines_are_joined_there():
    far = Table("far", Schema.of({"k": "integer"}), {"k": "k"}, "t", Far())
    with pytest.raises(hm.SourceError, match="far is in an engine of its own; join there"):
        open_join(Join({}, {}, "k"), None, PrivacyUnit("k"), lambda source, kinds: far)
    with pytest.raises(hm.SourceError, match="the source is no database"):
        hm.open(Join({"k": [1]}, {"k": [1]}, "k"), table="t", unit="k", budget=1)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"on": 3}, "on: 3 is no name"),
        ({"how": "outer"}, "how: 'outer' is unknown"),
        ({"public": 1}, "public: 1 given"),
        ({"right": Join({}, {}, "k")}, "the right table is a join"),
    ],
)
def test_a_join_is_checked_as_it_is_written(given, reason):
    with pytest.raises(hm.InvalidQuery, match=reason):
        Join(**{"left": {}, "right": {}, "on": "k", **given})


def test_no_other_door_opens_a_join():
    join = Join({"k": [1]}, {"k": [1]}, "k", public=True)
    with pytest.raises(hm.SourceError, match=r"only halfmask\.open opens one"):
        open_source(join)
    with pytest.raises(hm.InvalidQuery, match="may be of private rows"):
        hm.trials(hm.Count(), join, epsilon=1, repeats=3)
    with pytest.raises(hm.InvalidQuery, match="series"):
        hm.open(join, budget=1).series(
            "s", hm.Count(), time="k", start=0, every=1, periods=2, epsilon=1
        )

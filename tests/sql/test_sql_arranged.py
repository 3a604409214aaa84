"""HAVING, ORDER BY and LIMIT: what an engine does to the released numbers, and nothing else."""

import json

import duckdb
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.spoken import arranged

OTHER = "no'' such"
KEYS = ["ops", "it's", "r&d", "", None]
ROWS = {
    "dept": [key for number, key in enumerate(KEYS, 1) for _ in range(number)] * 3,
    "ok": [i % 3 == 0 for i in range(45)],
    "pay": [i % 7 for i in range(45)],
}
SCHEMA = {
    "dept": hm.Public("text", keys=KEYS),
    "ok": hm.Public("boolean", keys=[False, True]),
    "pay": hm.Public("real", lower=0, upper=10),
}
ASKED = "SELECT dept AS d, COUNT(*) AS n, AVG(pay) FROM staff GROUP BY dept"


def opened(**given):
    return hm.open(ROWS, budget=hm.Approximate(1000, "0.001"), schema=SCHEMA, **given)


def released(seed):
    """The plain answer, and the same numbers in an engine."""
    answer = opened(words=seeded_words(seed)).sql(ASKED, epsilon=1)
    engine = duckdb.connect()
    engine.execute("CREATE TABLE released (d VARCHAR, n DOUBLE, mean DOUBLE)")
    rows = [(key, answer["n"].value[key], answer["AVG(pay)"].value[key]) for key in KEYS]
    engine.executemany("INSERT INTO released VALUES (?, ?, ?)", rows)
    return answer, engine


SEEDS = {seed: released(seed) for seed in range(3)}
NUMBERS = st.sampled_from(["n", "N", "COUNT(*)", "AVG(pay)", "avg(Pay)"])
TESTS = st.recursive(
    st.one_of(
        st.tuples(NUMBERS, st.sampled_from(["<", ">=", "<>"]), st.integers(-3, 16)).map(
            lambda t: f"{t[0]} {t[1]} {t[2]}"
        ),
        st.tuples(st.integers(-3, 16), NUMBERS).map(lambda t: f"{t[0]} > {t[1]}"),
        st.tuples(NUMBERS, st.integers(-3, 9)).map(lambda t: f"{t[0]} BETWEEN {t[1]} AND 9"),
        st.tuples(NUMBERS, st.sampled_from(["IN (3, 4)", "IS NOT NULL"])).map(" ".join),
    ),
    lambda inner: st.one_of(
        inner.map(lambda one: f"NOT ({one})"),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda t: f"({t[0]}) {t[1]} ({t[2]})"
        ),
    ),
    max_leaves=4,
)
TERMS = st.tuples(
    st.one_of(NUMBERS, st.sampled_from(["dept", "d", "staff.dept", "1", "2", "3"])),
    st.sampled_from(["", "ASC", "DESC"]),
    st.sampled_from(["NULLS FIRST", "NULLS LAST"]),
).map(" ".join)


def for_engine(text):
    """The same text about the released numbers."""
    for name in ("AVG(pay)", "avg(Pay)"):
        text = text.replace(name, "mean")
    return text.replace("COUNT(*)", "n").replace("staff.dept", "d").replace("dept", "d")


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(SEEDS)),
    st.none() | TESTS,
    st.lists(TERMS, max_size=3),
    st.none() | st.integers(1, 6),
    st.none() | st.integers(0, 6),
)
def test_groups_are_those_of_an_engine_on_the_released_numbers(seed, test, terms, first, after):
    """A naive twin: the engine runs the same words on what was released."""
    answer, engine = SEEDS[seed]
    having = f" HAVING {test}" if test else ""
    order = f" ORDER BY {', '.join(terms)}" if terms else ""
    limit = (f" LIMIT {first}" if first else "") + (f" OFFSET {after}" if after else "")
    done = opened().statement(ASKED + having + order + limit).arrangement
    found = arranged(answer, done)
    rule = f" WHERE {for_engine(test)}" if test else ""
    twin = f"SELECT * FROM (SELECT d, n, mean, rowid AS r FROM released{rule})"
    text = twin + (f"{for_engine(order)}, r" if order else " ORDER BY r") + limit
    rows = engine.execute(text).fetchall()
    assert [(one.key, one.value) for one in found["n"].releases] == [row[:2] for row in rows]
    assert [one.value for one in found["AVG(pay)"].releases] == [row[2] for row in rows]
    assert (found["n"].raw().releases, found["n"].raw().steps) == (answer["n"].releases, ())


def test_the_same_is_asked_charged_and_noised_whatever_is_shown():
    text = "SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept"
    plain, few = opened(words=seeded_words(5)), opened(words=seeded_words(5))
    whole = plain.sql(text, epsilon=1)
    top = few.sql(f"{text} ORDER BY n DESC LIMIT 2", epsilon=1)
    assert top.raw().value == whole.value
    assert list(top.value) == sorted(whole.value, key=whole.value.get, reverse=True)[:2]
    (one,), (other,) = plain.ledger.entries(), few.ledger.entries()
    assert (one.query.split(";")[0], one.cost) == (other.query.split(";")[0], other.cost)


def test_a_request_asked_again_may_be_shown_in_another_way_for_nothing():
    staff, text = opened(), "SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept"
    whole = staff.sql(text, epsilon=1, request_id="one")
    last = staff.sql(f"{text} HAVING n > 3 ORDER BY n", epsilon=1, request_id="one")
    assert list(last.value.values()) == sorted(n for n in whole.value.values() if n > 3)
    assert len(staff.ledger.entries()) == 1


def test_a_release_tells_what_was_done_to_it():
    staff, text = opened(), "SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept"
    top = staff.sql(f"{text} HAVING n > -99 ORDER BY n DESC LIMIT 2 OFFSET 1", epsilon=1)
    said = (
        "Of the groups released: kept where n > -99; in the order of n DESC; the first 1 left "
        "out; the first 2 shown; picked by noisy numbers, which intervals do not count."
    )
    assert said in top.statement
    assert said in top._repr_html_().replace("&gt;", ">")
    told = json.loads(top.to_json())
    assert told["post_processing"][0] == "kept where n > -99"
    assert len(told["groups"]) == 2
    assert len(top.non_negative().rounded().raw()) == len(KEYS)
    by_key = staff.sql(f"{text} ORDER BY dept LIMIT 1", epsilon=1)
    assert list(by_key) == [None]  # the smallest, unless NULLS LAST is written
    assert "picked" not in by_key.statement
    none = staff.sql(f"{text} HAVING n > 999", epsilon=1)
    assert "by dept: none." in none.statement
    assert none.to_frame().empty
    assert none.to_dict()["groups"] == []


def test_keys_that_are_found_and_combinations_are_ordered_too():
    staff = opened()
    text = "SELECT pay, COUNT(*) AS n FROM staff GROUP BY pay ORDER BY n, 1 LIMIT 3"
    schema = SCHEMA | {"pay": "integer"}
    found = hm.open(ROWS, budget=hm.Approximate(1000, "0.001"), schema=schema)
    few = found.sql(text, epsilon=500, delta=1e-6)
    assert [(one.key, round(one.value)) for one in few.releases] == [(3, 6), (4, 6), (5, 6)]
    both = "SELECT dept, ok, COUNT(*) FROM staff GROUP BY dept, ok ORDER BY ok DESC, dept LIMIT 6"
    labels = list(staff.sql(both, epsilon=1))
    assert labels == [*(f"{k}, True" for k in ("missing", "", "it's", "ops", "r&d")), labels[5]]
    assert labels[5] == "missing, False"
    case = "CASE WHEN pay < 3 THEN 'few' ELSE 'many' END"
    cases = staff.sql(f"SELECT {case}, COUNT(*) FROM t GROUP BY 1 ORDER BY 1 DESC", epsilon=1)
    assert list(cases) == ["many", "few"]


def test_without_groups_a_limit_is_idle():
    """Tools write it behind every statement."""
    assert opened().statement("SELECT COUNT(*) FROM staff LIMIT 100").arrangement is None


BY = "SELECT dept, COUNT(*) AS n FROM staff GROUP BY dept"
REFUSED = {
    f"{BY} ORDER BY pay": "ORDER BY takes keys, and numbers that SELECT releases",
    f"{BY} ORDER BY AVG(pay)": "what decides is released: add it there",
    f"{BY} ORDER BY MAX(pay)": "the extreme value is one person's",
    f"{BY} ORDER BY n + 1": "ORDER BY takes keys",
    f"{BY} ORDER BY RANDOM()": "ORDER BY takes keys",
    f"{BY} ORDER BY 0": "ORDER BY takes keys",
    f"{BY} ORDER BY 3": "ORDER BY takes keys",
    f"{BY} ORDER BY ALL": "there is no 'ALL'",
    f"{BY} ORDER BY n COLLATE de": "ORDER BY takes keys",
    f"{BY} ORDER BY n WITH FILL": "ORDER BY takes keys",
    f"{BY} HAVING pay > 3": "HAVING compares what SELECT releases",
    "SELECT dept, COUNT(*) AS Pay FROM staff GROUP BY dept HAVING pay > 3": "is a column too",
    f"{BY} HAVING dept = 'ops'": "conditions on rows stand in WHERE",
    f"{BY} HAVING SUM(pay) > 3": "what decides is released: add it there",
    f"{BY} HAVING COUNT(*) > pay": "HAVING compares what SELECT releases",
    f"{BY} HAVING n > n": "a filter compares a column with",
    f"{BY} HAVING n > 'x'": "cannot be compared",
    f"{BY} HAVING n + 1 > 2": "a filter compares a column with",
    f"{BY} HAVING n > (SELECT 1)": "a filter compares a column with",
    f"{BY} HAVING n": "cannot be compared",
    f"{BY} LIMIT 0": "LIMIT from 1",
    f"{BY} LIMIT -1": "LIMIT from 1",
    f"{BY} LIMIT 2.5": "LIMIT from 1",
    f"{BY} LIMIT ALL": "LIMIT from 1",
    f"{BY} LIMIT n": "LIMIT from 1",
    f"{BY} LIMIT {'9' * 5000}": "LIMIT from 1",
    f"{BY} LIMIT 2 PERCENT": "LIMIT from 1",
    f"{BY} LIMIT 2 BY dept": "LIMIT",
    f"{BY} OFFSET -2": "LIMIT from 1",
    f"{BY} FETCH FIRST 2 ROWS WITH TIES": "LIMIT from 1",
    "SELECT COUNT(*) FROM staff HAVING COUNT(*) > 3": "there are no groups",
    "SELECT COUNT(*) FROM staff ORDER BY 1": "there are no groups",
    "SELECT COUNT(*) FROM staff LIMIT 3 OFFSET 1": "there are no groups",
    "SELECT dept, MODE(dept) AS m FROM staff GROUP BY dept ORDER BY m": "no single number",
    "SELECT dept, QUANTILE(pay, [0.1, 0.5]) AS q FROM s GROUP BY dept HAVING q > 1": "no single",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_hangs_on_more_than_is_released_is_refused_before_a_charge(text):
    staff = opened()
    with pytest.raises(hm.InvalidQuery, match=REFUSED[text]):
        staff.sql(text, epsilon=1)
    assert not staff.ledger.entries()


HOSTILE = st.text(st.sampled_from("ab'\"`;-,%_\\/*<&>\n\0 é\u202e{}"), min_size=1, max_size=8)


@settings(max_examples=80, deadline=None)
@given(st.lists(HOSTILE, min_size=2, max_size=4, unique=True), HOSTILE, HOSTILE)
def test_names_and_keys_of_any_letters_are_names_and_keys(keys, column, name):
    """Nothing of them is read as SQL, as a condition or as HTML."""
    assume(column.casefold() != name.casefold())
    rows = {column: [key for number, key in enumerate(keys, 1) for _ in range(number)]}
    with hm.open(rows, budget=10**6, schema={column: "text"}) as table:
        given, wanted = ('"{}"'.format(one.replace('"', '""')) for one in (column, name))
        text = (
            f"SELECT {given}, COUNT(*) AS {wanted} FROM t WHERE {given} <> '{OTHER}' "
            f"GROUP BY {given} HAVING {wanted} > 1.5 ORDER BY {wanted} DESC, {given} LIMIT 3"
        )
        found = table.sql(text, keys={column: keys}, epsilon=10**4)
        assert list(found) == keys[:0:-1][:3]
        assert "<" not in found._repr_html_().partition("<p><small>")[2].removesuffix(
            "</small></p>"
        )


def test_a_huge_limit_shows_all():
    assert len(opened().sql(f"{BY} LIMIT {10**30}", epsilon=1)) == len(KEYS)


def test_fetch_without_a_number_is_one():
    assert len(opened().sql(f"{BY} ORDER BY n FETCH FIRST ROW ONLY", epsilon=1)) == 1
    assert opened().sql("SELECT COUNT(*) FROM staff FETCH FIRST ROW ONLY", epsilon=1).value

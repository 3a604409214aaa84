"""FROM a JOIN b: the join that was opened, and no other."""

import pytest

import halfmask as hm
from halfmask.plan import Schema, Sides
from halfmask.sql import read_sql

STAFF = {"who": [1, 1, 2, 3], "dept": ["ops", "ops", "r&d", None]}
VISITS = {"who": [1, 2, 2, 4], "cost": [10, 20, 30, 40]}
DEPTS = {"dept": ["ops", "r&d"], "floor": [1, 2]}
COST = hm.Public("integer", lower=0, upper=50)


def clinic():
    return hm.open(
        hm.Join(STAFF, VISITS, on="who"),
        unit="who",
        rows_per_unit=4,
        budget=10**6,
        schema={"who": "integer", "dept": "text", "cost": COST},
    )


def near(answer, exact):
    return abs(answer.value - exact) < 1e-3


@pytest.mark.parametrize(
    "source",
    [
        "clinic",
        "staff JOIN visits USING (who)",
        "staff INNER JOIN visits USING (WHO)",
        "staff AS s JOIN visits v ON s.who = v.who",
        "staff JOIN visits ON visits.who = staff.who",
    ],
)
def test_the_join_that_was_opened_is_asked(source):
    curator = clinic()
    assert near(curator.sql(f"SELECT COUNT(*) FROM {source}", epsilon=10**5), 4)
    assert near(curator.sql(f"SELECT SUM(cost) FROM {source}", epsilon=10**5), 70)


def test_names_before_a_dot_say_from_which_table():
    curator = clinic()
    text = "SELECT SUM(v.cost) FROM staff s JOIN visits v USING (who) WHERE s.dept = 'ops'"
    assert near(curator.sql(text, epsilon=10**5), 20)
    with pytest.raises(hm.InvalidQuery, match="'dept' is no column of that table"):
        curator.sql(text.replace("s.dept", "v.dept"), epsilon=1)


def test_a_public_table_beside_a_private_one():
    curator = hm.open(
        hm.Join(STAFF, DEPTS, on="dept", how="left", public=True),
        unit="who",
        rows_per_unit=2,
        budget=10**6,
        schema={"floor": hm.Public("integer", keys=[1, 2, None])},
    )
    text = "SELECT floor, COUNT(*) FROM staff LEFT JOIN depts USING (dept) GROUP BY floor"
    found = curator.sql(text, epsilon=10**5)
    assert [round(one.value) for one in found.releases] == [2, 1, 1]


REFUSED = {
    "staff LEFT JOIN visits USING (who)": "opened with how='inner'",
    "staff CROSS JOIN visits": "opened with how='inner'",
    "staff FULL JOIN visits USING (who)": "opened with how='inner'",
    "staff, visits": "joined on 'who'; write USING",
    "staff JOIN visits": "joined on 'who'; write USING",
    "staff JOIN visits USING (dept)": "joined on 'who'; write USING",
    "staff JOIN visits USING (who, dept)": "joined on 'who'; write USING",
    "staff JOIN visits ON staff.who = staff.who": "joined on 'who'; write USING",
    "staff JOIN visits ON staff.who < visits.who": "joined on 'who'; write USING",
    "staff JOIN visits ON who = who": "joined on 'who'; write USING",
    "staff JOIN staff USING (who)": "both tables have one name",
    "staff JOIN visits USING (who) JOIN depts USING (dept)": "and no third one",
    "staff JOIN (SELECT * FROM visits) v USING (who)": "FROM names one table",
    "staff NATURAL JOIN visits": "a JOIN b USING",
}


@pytest.mark.parametrize("source", REFUSED)
def test_another_join_is_refused_before_a_charge(source):
    curator = clinic()
    with pytest.raises(hm.InvalidQuery, match=REFUSED[source]):
        curator.sql(f"SELECT COUNT(*) FROM {source}", epsilon=1)
    assert not curator.ledger.entries()


def test_in_a_left_join_the_key_is_that_of_the_left_table():
    schema = Schema.of({"who": "integer", "dept": "text", "cost": "real"})
    sides = Sides(("who", "dept"), ("cost",), "who", "left")
    text = "SELECT COUNT(*) FROM a LEFT JOIN b ON a.who = b.who WHERE b.who IS NULL"
    with pytest.raises(hm.InvalidQuery, match="'who' is no column of that table"):
        read_sql(text, schema, sides=sides)
    ok = read_sql(text.replace("b.who IS", "b.cost IS"), schema, sides=sides)
    assert str(ok.where) == "cost is None"

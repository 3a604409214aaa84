"""The unit of privacy and its words."""

import pytest

from halfmask.errors import InvalidQuery
from halfmask.privacy import PrivacyUnit, Relation


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (PrivacyUnit(), "one row, added or removed"),
        (PrivacyUnit(relation=Relation.REPLACE), "one row, replaced"),
        (PrivacyUnit("employee_id"), "one employee_id with up to 1 row, added or removed"),
        (PrivacyUnit("employee_id", 3), "one employee_id with up to 3 rows, added or removed"),
        (
            PrivacyUnit("id", 3, 2, Relation.REPLACE),
            "one id with up to 3 rows in 2 groups, replaced",
        ),
    ],
)
def test_a_unit_is_described_in_words(unit, words):
    assert unit.describe() == words


def test_a_relation_may_be_written_as_text():
    assert PrivacyUnit(relation="replace").relation is Relation.REPLACE


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"relation": "swap"}, "relation"),
        ({"column": 3}, "unit"),
        ({"column": "id", "rows": 0}, "rows_per_unit"),
        ({"column": "id", "rows": -1}, "rows_per_unit"),
        ({"column": "id", "rows": True}, "rows_per_unit"),
        ({"column": "id", "rows": 1.5}, "rows_per_unit"),
        ({"column": "id", "rows": 10**10}, "rows_per_unit"),
        ({"column": "id", "groups": 0}, "groups_per_unit"),
        ({"rows": 2}, "unit"),
        ({"groups": 2}, "unit"),
    ],
)
def test_an_impossible_unit_is_refused(fields, name):
    with pytest.raises(InvalidQuery, match=f"^{name}: .*;"):
        PrivacyUnit(**fields)

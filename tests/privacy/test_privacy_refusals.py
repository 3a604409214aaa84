"""What is given by mistake is named by its type: no message of this room prints a table."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from halfmask.errors import InvalidQuery
from halfmask.plan import Among, And, Bins, Comparison, Keys, Not, Periods, col, where
from halfmask.privacy import Cost, Ledger, PrivacyUnit, Pure, Relation, exact

SECRET = "Ada-Lovelace-1815"
TABLES = [
    pd.DataFrame({"s": [SECRET] * 3}),
    pd.Series([SECRET] * 3),
    np.array([SECRET] * 3),
    {"s": [SECRET]},
    [SECRET],
]
PLACES = {
    "unit": PrivacyUnit,
    "rows": lambda t: PrivacyUnit("u", rows=t),
    "groups": lambda t: PrivacyUnit("u", groups=t),
    "relation": lambda t: PrivacyUnit("u", relation=t),
    "named relation": Relation.of,
    "exact": lambda t: exact(t, "epsilon"),
    "price": Pure,
    "share": lambda t: Pure(1).share(t),
    "cost": lambda t: Cost.from_dict({"measure": "pure", "epsilon": "x", "more": t}),
    "ledger": lambda t: Ledger(t, budget=1),
    "budget": lambda t: Ledger(budget=t),
    "asked": lambda t: Ledger(budget=1).charge(Pure(1), query=t),
    "actor": lambda t: Ledger(budget=1).charge(Pure(1), query="q", actor=t),
    "request": lambda t: Ledger(budget=1).charge(Pure(1), query="q", request_id=t),
    "stored": lambda t: Ledger(budget=1).stored(t),
    "col": col,
    "literal": lambda t: Comparison("s", "==", t),
    "operator": lambda t: Comparison("s", t, 1),
    "in": lambda t: Among("s", [1, t]),
    "not": Not,
    "and": lambda t: (col("x") > 1) & t,
    "or": lambda t: (col("x") > 1) | t,
    "built": lambda t: And(col("x") > 1, t),
    "where": where,
    "keys": lambda t: Keys("s", ["a", t]),
    "keyed": lambda t: Keys(t, ["a"]),
    "twice": lambda t: Keys("s", [SECRET * 10, SECRET * 10, 0.5]),
    "edges": lambda t: Bins("s", t),
    "start": lambda t: Periods(t, 1, 2),
    "every": lambda t: Periods("2026-01-01", t, 2),
    "step": lambda t: Periods(0, t, 2),
    "periods": lambda t: Periods(0, 1, t),
    "period": lambda t: Periods(0, 1, 2).find(t),
}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
@pytest.mark.parametrize("place", PLACES)
def test_a_table_in_the_wrong_place_is_refused_unseen(place, table):
    with pytest.raises(InvalidQuery) as caught:
        PLACES[place](table)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "number",
    [10**5000, -(10**5000), Fraction(10**5000), Decimal("1e9999"), "9" * 5000, float("inf")],
    ids=["integer", "negative", "fraction", "decimal", "text", "infinite"],
)
def test_a_number_beyond_reason_is_refused_in_few_words(number):
    attempts = [lambda: exact(number, "epsilon"), lambda: PrivacyUnit("u", rows=number)]
    if not isinstance(number, str):
        attempts.append(lambda: col("x") > number)
    for attempt in attempts:
        with pytest.raises(InvalidQuery) as caught:
            attempt()
        assert len(str(caught.value)) < 250

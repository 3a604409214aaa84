"""The privacy law of workloads and matrices end to end: neighbouring tables, units, groups."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import halfmask as hm
from halfmask.audit.exact import exact_loss
from halfmask.plan import Everything, Keys
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure, Relation
from halfmask.queries import Setting
from halfmask.sources import open_source

EDGES = list(range(13))
QUESTIONS = {
    "ranges": hm.Ranges("x", EDGES),
    "some ranges": hm.Ranges("x", EDGES, [(0, 12), (2, 9), (3, 4)]),
    "prefixes": hm.Prefixes("x", EDGES),
    "matrix": hm.LinearQueries("x", [0, 4, 8, 12], [[1, -0.3, 0.2], [0.7, 0, -1]]),
    "marginals": hm.Marginals({"x": [0, 4, 12], "h": ["p", "q"]}, order=1),
}
row = st.tuples(
    st.integers(0, 3), st.sampled_from("abz"), st.sampled_from("pqr"), st.integers(-1, 13)
)


def table(rows):
    columns = [np.array(column) for column in zip(*rows, strict=True)] if rows else [[]] * 4
    return open_source(
        {
            "u": np.array(columns[0], dtype=np.int64),
            "g": np.array(columns[1], dtype="U1"),
            "h": np.array(columns[2], dtype="U1"),
            "x": np.array(columns[3], dtype=float),
        },
        schema={"g": "text", "h": "text"},
    )


@st.composite
def settings_of(draw):
    column = draw(st.sampled_from([None, "u"]))
    rows = draw(st.integers(1, 3)) if column else 1
    by = draw(st.sampled_from([None, Keys("g", ["a", "b"])]))
    groups = draw(st.sampled_from([None, 1, 2])) if column and by else None
    return by, PrivacyUnit(column, rows, groups, draw(st.sampled_from(list(Relation))))


def neighbour(rows, extra, unit):
    """Remove a unit, or put `extra` in its place."""
    gone = (lambda r: r is rows[0]) if unit.column is None else (lambda r: r[0] == rows[0][0])
    kept = [r for r in rows if not gone(r)]
    if unit.relation is Relation.ADD_REMOVE:
        return kept
    return kept + [(rows[0][0], *r[1:]) for r in (extra if unit.column else extra[:1])]


@pytest.mark.parametrize("name", QUESTIONS)
@given(
    drawn=settings_of(),
    rows=st.lists(row, min_size=1, max_size=7),
    extra=st.lists(row, min_size=1, max_size=4),
    price=st.sampled_from([Pure("0.7"), ZCDP("0.3"), GDP(1)]),
)
@settings(max_examples=20, deadline=None)
def test_the_exact_loss_of_neighbours_is_within_the_price(name, drawn, rows, extra, price):
    """Pure: sum |A(x - y)| / scale, the exact worst loss of Laplace noise, is at most epsilon.

    Gaussian: |A(x - y)|^2 / (2 sigma^2), the exact zCDP of it, at most rho (mu^2/2 of a GDP).
    """
    by, unit = drawn
    others = neighbour(rows, extra, unit)
    setting = Setting(table(rows).schema, unit, Everything(), by)
    prepared = QUESTIONS[name].prepare(setting, price)
    one, two = (prepared.vectors(prepared.request.answered_by(table(t))) for t in (rows, others))
    moved = [abs(a - b) for x, y in zip(one, two, strict=True) for a, b in zip(x, y, strict=True)]
    scale = prepared.choice.mechanism.scale
    if isinstance(price, Pure):
        assert sum(moved) / scale <= price.epsilon
    else:
        worth = price.rho if isinstance(price, ZCDP) else price.mu**2 / 2
        assert Fraction(sum(m * m for m in moved)) / (2 * scale**2) <= worth


def shifts(name):
    """What single rows add to the noised integers, over all cells or corners: pure and rho."""
    schema = table([]).schema
    setting = Setting(schema, PrivacyUnit())
    for price in (Pure("0.7"), ZCDP("0.3")):
        if name == "covariance":
            made = hm.Covariance({"x": (0, 12), "u": (0, 3)}).prepare(setting, price)
            w, v = made.body.widths
            rows = [[x, u] for x in (0, w // 2, w) for u in (0, v // 2, v)]
            moved = [made.body.sums(np.array([one], dtype=np.int64)) for one in rows]
            yield price, made.mechanism, moved
        else:
            choice = QUESTIONS[name].prepare(setting, price).choice
            yield price, choice.mechanism, choice.strategy.matrix.T.tolist()


@pytest.mark.parametrize("name", [*QUESTIONS, "covariance"])
def test_the_auditors_loss_is_the_price_and_no_more(name):
    """By the mass functions of the noise: within the price, and nearly all of it is used."""
    for price, mechanism, moved in shifts(name):
        losses = [exact_loss(mechanism, one) for one in moved]
        if isinstance(price, Pure):
            spent = max(loss.epsilon for loss in losses) / float(price.epsilon)
        else:
            spent = max(loss.renyi(2) for loss in losses) / (2 * float(price.rho))
        assert 0.97 <= spent <= 1 + 1e-9

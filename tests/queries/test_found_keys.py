"""Groups by keys that are found in the rows: what a unit may move, what leaves, what is refused."""

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.privacy import GDP, ZCDP, Approximate, PrivacyUnit, Pure, Relation, plain
from halfmask.procedures import UnknownKeys
from halfmask.queries import CountedKeys, KeptKeys, Setting
from halfmask.sources import open_source

PRICE = Approximate(1, "1e-3")
CITIES = ["oslo", "bergen", "", "o'slo", "Ωslo", None]

row = st.tuples(st.integers(0, 3), st.sampled_from(CITIES), st.floats(-50, 150))


def table(rows):
    return open_source(
        {
            "u": np.array([r[0] for r in rows], dtype=np.int64),
            "city": [r[1] for r in rows],
            "x": np.array([r[2] for r in rows], dtype=float),
        },
        schema={"city": "text"},
    )


def exact_of(measurement, rows):
    return dict(measurement.request.answered_by(table(rows)))


@given(
    rows=st.lists(row, min_size=1, max_size=10),
    extra=st.lists(row, min_size=1, max_size=5),
    groups=st.sampled_from([None, 1, 2, 3]),
    per_unit=st.integers(1, 3),
    replaced=st.booleans(),
    once=st.booleans(),
)
@settings(max_examples=35, deadline=None)
def test_no_unit_moves_more_keys_or_farther_than_the_mechanism_counts_on(
    rows, extra, groups, per_unit, replaced, once
):
    """The privacy law of the bounding: at most `changed` keys, each by `reach` at most."""
    relation = Relation.REPLACE if replaced else Relation.ADD_REMOVE
    unit = (
        PrivacyUnit("u", per_unit, groups, relation)
        if groups
        else PrivacyUnit(None, 1, None, relation)
    )
    setting = Setting(table(rows).schema, unit)
    measured = (
        CountedKeys.of("city", setting, PRICE, once=once)
        if per_unit > 1 or once
        else KeptKeys.of("city", setting, PRICE)
    )
    kept = rows[1:] if groups is None else [r for r in rows if r[0] != rows[0][0]]
    if replaced:
        added = extra[:1] if groups is None else [(rows[0][0], g, x) for _, g, x in extra]
        kept = kept + added
    if not kept:
        return
    one, other = exact_of(measured, rows), exact_of(measured, kept)
    moved = [abs(one.get(key, (0,))[0] - other.get(key, (0,))[0]) for key in {**one, **other}]
    assert sum(move > 0 for move in moved) <= measured.mechanism.changed
    assert max(moved) <= getattr(measured.mechanism, "reach", 1)


def test_a_unit_alone_in_its_keys_is_shown_with_delta_at_most():
    """The attack: three keys of one unit beside common ones, from the exact law of the answer."""
    price = Approximate(1, "1e-4")
    crowd = [(i, "oslo", 0.0) for i in range(100)]
    lone = [(1000, key, 0.0) for key in ("bergen", "", "o'slo")]
    for groups in (1, 2, 3):
        unit = PrivacyUnit("u", 1, groups)
        setting = Setting(table(crowd).schema, unit)
        counted = CountedKeys.of("city", setting, price, once=False)
        exact = counted.request.answered_by(table(crowd + lone))
        assert len(exact) == 1 + groups  # the rest of its keys is not even looked at
        hidden = 0.0
        for key, law in counted.log_masses(exact, 200).items():
            if key != "oslo":
                hidden += law[None]
            else:
                assert math.exp(law[None]) < 1e-9
        assert -math.expm1(hidden) <= float(counted.mechanism.delta) * (1 + 1e-9)
        kept = KeptKeys.of("city", setting, price)
        masses = kept.log_masses(kept.request.answered_by(table(crowd + lone)))
        shown = 1 - math.prod(1 - math.exp(m) for key, m in masses.items() if key != "oslo")
        assert shown <= float(price.delta) * (1 + 1e-9)


def cities(sizes):
    return [f"c{i}" for i, size in enumerate(sizes) for _ in range(size)]


def opened(sizes, budget=None, **options):
    names = cities(sizes)
    rng = np.random.default_rng(4)
    return hm.open(
        {"city": names, "x": rng.uniform(0, 100, len(names)), "u": np.arange(len(names))},
        budget=budget or Approximate(100, "1e-2"),
        **options,
    )


def test_what_is_shown_fits_the_chance_that_is_stated():
    """Keys of 10 to 20 rows, 200 each: a binomial test at each size, 1e-6 in all."""
    sizes = [size for size in range(10, 20) for _ in range(200)]
    release = opened(sizes).ask(hm.Count(), by="city", epsilon=1, delta="1e-6")
    for size in range(10, 20):
        names = {f"c{i}" for i, one in enumerate(sizes) if one == size}
        shown = len(names & set(release))
        chance = release.found.chance(size)
        assert stats.binomtest(shown, 200, min(chance, 1.0)).pvalue > 1e-7
    wrong = stats.binomtest(len([k for k in release if sizes[int(k[1:])] == 14]), 200, 0.9)
    assert wrong.pvalue < 1e-6


def test_counts_of_found_keys_are_near_and_bracketed():
    release = opened([400, 300, 200] * 30).ask(hm.Count(), by="city", epsilon=1, delta="1e-6")
    assert len(release) == 90
    held = 0
    for i, size in enumerate([400, 300, 200] * 30):
        low, high = release[f"c{i}"].interval(0.9)
        held += low <= size <= high
        assert abs(release[f"c{i}"].value - size) < 30
    assert held >= stats.binom.ppf(1e-6, 90, 0.9)


@pytest.mark.parametrize(
    "query",
    [
        hm.Mean("x", 0, 100),
        {"n": hm.Count(), "x": hm.Mean("x", 0, 100), "v": hm.Variance("x", 0, 100)},
        {"units": hm.CountDistinct(), "n": hm.Count()},
        {"h": hm.Histogram("x", [0, 50, 100])},
        {"s": hm.Sum("x", 0, 100), "m": hm.MostCommon("city", ["c0", "c1"])},
    ],
    ids=str,
)
@pytest.mark.parametrize("unit", [{}, {"unit": "u", "rows_per_unit": 2, "groups_per_unit": 2}])
def test_all_queries_answer_for_the_keys_that_are_found(query, unit):
    curator = opened([500, 400, 1, 2], **unit)
    answers = curator.ask(query, by="city", epsilon=4, delta="1e-6")
    for release in answers.values() if isinstance(query, dict) else [answers]:
        assert set(release) == {"c0", "c1"}
        assert len(release.to_frame()) >= 2
        assert "shown mostly" not in release.statement
        assert "found in the rows" in release.statement
        assert release.to_dict()["keys_found"]["delta"] == plain(release.found.delta)
    assert curator.remaining == Approximate.from_amounts(
        Fraction(96), Fraction(1, 100) - Fraction(1, 10**6), up=False
    )


def str_of(delta):
    from halfmask.privacy import plain

    return plain(delta)


def test_an_answer_about_no_key_reads_well():
    release = opened([1, 1, 2]).ask(
        {"n": hm.Count(), "x": hm.Mean("x", 0, 100)}, by="city", epsilon=1, delta="1e-9"
    )
    assert [len(one) for one in release.values()] == [0, 0]
    assert "by city: none" in release["x"].statement
    assert json.loads(release["x"].to_json())["groups"] == []


def test_keys_are_of_their_kind_and_a_missing_key_is_one():
    table = {"k": [None] * 60 + [True] * 60 + [False] * 60, "i": [None, 7, -(2**62)] * 60}
    with hm.open(
        table, budget=Approximate(9, "1e-3"), schema={"k": "boolean", "i": "integer"}
    ) as curator:
        flags = curator.ask(hm.Count(), by="k", epsilon=3, delta="1e-6")
        assert set(flags) == {None, True, False}
        numbers = curator.ask(
            {"n": hm.Count(), "m": hm.CountDistinct()}, by="i", epsilon=3, delta="1e-6"
        )
        assert set(numbers["m"]) == {None, 7, -(2**62)}


def test_a_repeated_request_gets_the_same_keys_and_numbers_free():
    curator = opened([100, 90, 14, 15])
    asked = {"n": hm.Count(), "x": hm.Mean("x", 0, 100)}
    first = curator.ask(asked, by="city", epsilon=1, delta="1e-6", request_id="r")
    left = curator.remaining
    again = curator.ask(asked, by="city", epsilon=1, delta="1e-6", request_id="r")
    assert again.to_dict() == first.to_dict()
    assert curator.remaining == left
    with pytest.raises(hm.HalfmaskError, match="r"):
        curator.ask(asked, by=hm.Keys("city", ["c0"]), epsilon=1, delta="1e-6", request_id="r")


def test_a_seed_repeats_the_answer_whatever_the_order_of_the_rows():
    names = cities([50, 40, 16, 15])
    answers = []
    for order in (names, names[::-1]):
        curator = hm.open({"city": order}, budget=Approximate(9, "1e-3"), words=seeded_words(3))
        answers.append(curator.ask(hm.Count(), by="city", epsilon=1, delta="1e-6").value)
    assert answers[0] == answers[1]
    assert list(answers[0]) == sorted(answers[0])


def test_the_split_uses_all_of_the_price_and_shares_are_kept():
    setting = Setting(open_source({"city": ["a"], "x": [1.0]}).schema, PrivacyUnit())
    asked = UnknownKeys(
        "city", {"n": hm.Count(), "x": hm.Mean("x", 0, 1)}, {"n": "1/4", "x": "3/4"}
    )
    assert asked._found(setting, PRICE).cost == Approximate("1/4", "1e-3")
    assert asked._others(setting, PRICE)[1] == Pure("3/4")
    alone = UnknownKeys("city", {"x": hm.Mean("x", 0, 1)}, {"by": "1/5", "x": "4/5"})
    assert alone._found(setting, PRICE).cost == Approximate("1/5", "1e-3")
    assert alone._others(setting, PRICE)[1] == Pure("4/5")
    for shares in ({"x": 1}, {"by": "1/5", "x": "1/5"}, {"by": "1/2", "y": "1/2"}):
        with pytest.raises(hm.InvalidQuery, match=r"^shares: "):
            UnknownKeys("city", {"x": hm.Mean("x", 0, 1)}, shares).rehearse(setting, PRICE)


def test_previews_state_the_chance_of_a_key():
    curator = opened([5])
    previews = curator.preview(
        {"n": hm.Count(), "x": hm.Mean("x", 0, 100)}, by="city", epsilon=1, delta="1e-6", rows=400
    )
    assert "a key of 400 rows, which is shown with probability 1" in previews["n"].assuming
    assert previews["n"].rmse == pytest.approx(2.8, rel=0.1)
    assert (
        "probability 1e-06"
        in curator.preview(
            hm.Mean("x", 0, 100), by="city", epsilon=1, delta="1e-6", rows=1
        ).assuming
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ({"by": "city", "epsilon": 1}, r"^delta: epsilon 1 has none, .* list public Keys$"),
        ({"by": "city", "epsilon": 1, "delta": 0}, r"^delta: epsilon 1 has none"),
        ({"by": "city", "rho": 1}, r"^delta: rho 1 has none"),
        ({"by": "city", "mu": 1}, r"^delta: mu 1 has none"),
        ({"by": "town", "epsilon": 1, "delta": "1e-6"}, r"^column: there is no 'town'"),
        ({"by": "x", "epsilon": 1, "delta": "1e-6"}, r"^keys: column 'x' .* 'real'"),
        ({"by": 7, "epsilon": 1, "delta": "1e-6"}, r"^by: 7 is no list of keys and no column"),
        ({"by": ["a"], "epsilon": 1, "delta": "1e-6"}, r"^by: a list is no list of keys"),
    ],
)
def test_what_cannot_be_found_is_refused_before_the_charge(ask, message):
    curator = opened([5])
    with pytest.raises(hm.InvalidQuery, match=message):
        curator.ask(hm.Count(), **ask)
    assert curator.remaining == Approximate(100, "1e-2")


def test_a_unit_needs_a_number_of_groups():
    with pytest.raises(hm.InvalidQuery, match=r"^groups_per_unit: none is declared.*=1"):
        opened([5], unit="u").ask(hm.Count(), by="city", epsilon=1, delta="1e-6")


@pytest.mark.parametrize("budget", [Pure(1), ZCDP(1), GDP(1)])
def test_a_ledger_that_holds_no_delta_says_so(budget):
    with pytest.raises(hm.InvalidQuery, match="open a ledger in 'approximate'"):
        opened([5], budget=budget).ask(hm.Count(), by="city", epsilon="0.1", delta="1e-6")


def test_a_delta_that_is_no_small_chance_is_warned_of_with_the_number():
    curator = opened([50])
    with pytest.warns(hm.PrivacyWarning, match="1e-5 is a chance of 1 in 100 000") as caught:
        release = curator.ask(hm.Count(), by="city", epsilon=1, delta=1e-5)
    assert caught[0].filename == __file__
    assert "CAUTION: delta 1e-5 is a chance of 1 in 100 000" in release.statement
    with pytest.warns(hm.PrivacyWarning, match="10 000 rows are supposed"):
        curator.preview(hm.Count(), by="city", epsilon=1, delta="1e-5", rows=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = curator.ask(hm.Count(), by="city", epsilon=1, delta="1e-6")
        curator.preview(hm.Count(), by="city", epsilon=1, delta="1e-9", rows=10_000)
    assert "CAUTION" not in quiet.statement


def test_more_keys_than_the_rest_may_name_are_cut_by_their_counts(monkeypatch):
    monkeypatch.setattr("halfmask.procedures.unknown_keys.MOST", 3)
    curator = opened([900, 20, 700, 800, 30, 600])
    both = {"n": hm.Count(), "x": hm.Mean("x", 0, 100)}
    found = curator.ask(both, by="city", epsilon=40, delta="1e-6")
    assert len(found["n"]) == 6
    assert set(found["x"]) == {"c0", "c2", "c3"}

"""Parts of the statistical auditor, each against a naive twin or the theorem it rests on."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from halfmask.audit import Pair, answer_pairs, audit, audit_pairs, repeated, row_pairs
from halfmask.audit.events import Intervals, KeySet, outcomes
from halfmask.audit.evidence import Evidence, payoffs, stakes
from halfmask.audit.keys import atoms, fingerprints
from halfmask.audit.search import Claim, propose
from halfmask.audit.statistics import Statistic, lowest_bit
from halfmask.errors import InvalidQuery
from halfmask.noise import discrete_laplace

chance = np.random.default_rng()  # fresh on every run: no lucky seed
ALARM = 1e-6
shares = st.floats(0, 1)


def outcome_shares(p, q):
    """Of both, first only, second only, neither, when the two outputs are independent."""
    return np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])


@given(q=shares, part=shares, epsilon=st.floats(0, 10), delta=st.floats(0, 0.5))
def test_a_true_claim_makes_every_bet_fair_or_worse(q, part, epsilon, delta):
    """E[a - e^epsilon b - delta] <= 0 for P(E|D) <= e^epsilon P(E|D') + delta, and no ruin."""
    p = part * min(1, math.exp(epsilon) * q + delta)
    pay = payoffs(np.array([epsilon]), np.array([delta]))
    assert outcome_shares(p, q) @ pay[0] <= 1e-9
    stake, growth = stakes(outcome_shares(p, q)[None], pay)
    assert (1 + stake[0, 0] * pay > 0).all()
    assert growth[0, 0] <= 1e-9


@given(
    counts=st.lists(st.integers(1, 1000), min_size=4, max_size=4),
    epsilon=st.floats(0, 3),
    delta=st.floats(0, 0.1),
)
def test_stakes_are_those_of_fastest_growth(counts, epsilon, delta):
    """Within a tenth, against a search on a grid: a stake that is off costs outputs, not truth."""
    frequency = np.array(counts) / sum(counts)
    pay = payoffs(np.array([epsilon]), np.array([delta]))
    growth = stakes(frequency[None], pay)[1][0, 0]
    grid = np.linspace(0, 0.999 / -pay.min(), 2000)
    best = max(float(frequency @ np.log1p(stake * pay[0])) for stake in grid)
    assert growth >= 0.9 * best - 1e-6


def drawn(p, q, size):
    return chance.multinomial(size, outcome_shares(p, q)).astype(float)


def test_a_true_claim_is_refuted_with_probability_at_most_alpha():
    """Ville's inequality, with events picked and stakes set from what was seen, stopped at will.

    The three events are as likely as the claim allows, so that any excess bet is the worst case.
    """
    alpha, times, epsilon = 0.2, 150, 1.0
    alarms = 0
    for _ in range(times):
        evidence = Evidence(epsilon, 0.0, alpha)
        past = np.stack([drawn(q * math.e, q, 500) for q in (0.01, 0.1, 0.3)])
        for _ in range(12):
            fresh = np.stack([drawn(q * math.e, q, 500) for q in (0.01, 0.1, 0.3)])
            evidence.bet(past, fresh)
            past += fresh
        alarms += evidence.violated
    assert alarms <= stats.binom.ppf(1 - ALARM, times, alpha)


def test_betting_needs_fewer_outputs_than_clopper_pearson():
    """At alpha 1e-6, noise 5 % short of epsilon 1, on the expected counts of the best event."""

    def clopper_pearson(size, p, q, alpha=1e-6):
        low = stats.beta.ppf(alpha / 2, p * size, size - p * size + 1)
        high = stats.beta.ppf(1 - alpha / 2, q * size + 1, size - q * size)
        return math.log(low / high)

    size, p, q = 80_000, 0.5, 0.5 * math.exp(-1.05)
    evidence = Evidence(1.0, 0.0, 1e-6)
    expected = outcome_shares(p, q)[None] * size
    evidence.bet(expected / 2, expected)
    assert evidence.violated
    assert clopper_pearson(size, p, q) < 1


def test_the_bound_lies_above_the_claim_exactly_when_it_is_violated():
    for p, q in [(0.6, 0.1), (0.5, 0.3)]:
        evidence = Evidence(1.0, 0.0, 1e-6)
        evidence.bet(outcome_shares(p, q)[None] * 1e4, outcome_shares(p, q)[None] * 1e5)
        assert evidence.violated is (evidence.epsilon > 1.0) is (p / q > math.e)
        assert evidence.epsilon < math.log(p / q)


def test_delta_is_bounded_at_the_claimed_epsilon():
    evidence = Evidence(1.0, 1e-6, 1e-6)
    true = 0.1  # an event of probability 0.1 that cannot happen on the neighbour
    evidence.bet(outcome_shares(true, 0.0)[None] * 1e4, outcome_shares(true, 0.0)[None] * 1e5)
    assert 0.05 < evidence.delta <= true


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_lowest_bit_is_that_of_the_exact_fraction(value):
    found = lowest_bit(np.array([value]))[0]
    if value:
        exact = Fraction(value) / Fraction(2) ** int(found)
        assert exact.denominator == 1
        assert exact.numerator % 2 == 1
    else:
        assert found == 2000


@given(st.lists(st.integers(-5, 5), min_size=1), st.lists(st.booleans(), min_size=5, max_size=5))
def test_intervals_hold_what_their_bins_hold(values, chosen):
    edges = np.array([-3.0, -1.0, 0.0, 2.0])
    event = Intervals(Statistic("x", lambda y: y[:, 0]), edges, np.array(chosen))
    outputs = np.array(values, float)[:, None]
    twin = [chosen[sum(value >= edge for edge in edges)] for value in values]
    assert event.holds(outputs).tolist() == twin
    assert str(event) or not any(chosen)


def test_fingerprints_tell_patterns_apart_and_nothing_else():
    outputs = chance.choice([0.0, 1.0, np.nan], (4000, 3))
    rows = [tuple(np.nan_to_num(row, nan=9.0)) for row in outputs]
    for keys in fingerprints(outputs):
        if keys.name in ("the output", "the pattern"):
            pairs = set(zip(keys(outputs).tolist(), rows, strict=True))
            assert len(pairs) == len(set(rows)) == len({word for word, _ in pairs})
            event = KeySet(keys, np.sort(np.unique(keys(outputs[:2]))))
            assert event.holds(outputs).tolist() == [row in rows[:2] for row in rows]


def test_outcomes_count_pairs_of_rows_in_either_direction():
    event = Intervals(Statistic("x", lambda y: y[:, 0]), np.array([0.5]), np.array([False, True]))
    first, second = (np.array(bits, float)[:, None] for bits in ([1, 1, 1, 0], [1, 0, 0, 1]))
    counted = outcomes([(event, False), (event, True)], first, second)
    assert counted.tolist() == [[1, 2, 1, 0], [1, 1, 2, 0]]


def test_values_that_recur_are_atoms_in_every_column():
    outputs = chance.normal(size=(50_000, 20))
    outputs[:, 13] = -1000.0
    assert atoms(outputs).tolist() == [-1000.0]


def test_proposals_are_ranked_on_rows_that_did_not_propose_them():
    """Two equal laws: what looked best on the fitted half must not look good on the other."""
    first, second = chance.normal(size=(2, 8192, 3))
    for proposal in propose(first, second, Claim(0.5, 0.0)):
        assert proposal.counts.sum() == 4096
        assert proposal.bound < 0.5


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("columns", [0, 2])
def test_row_pairs_are_neighbours(relation, columns):
    for pair in row_pairs(-1, 3, rows=6, columns=columns, relation=relation):
        one, two = pair.data, pair.neighbour
        if relation == "add_remove":
            assert len(two) == len(one) + 1
            assert np.array_equal(two[:-1], one)
        else:
            assert len(two) == len(one)
            assert np.array_equal(two[:-1], one[:-1])
            assert not np.array_equal(two, one)


@pytest.mark.parametrize("answers", [1, 2, 7])
def test_answer_pairs_move_by_the_sensitivity_at_most(answers):
    for pair in answer_pairs(answers, 3.0):
        assert np.abs(pair.data - pair.neighbour).max() == 3.0


def test_the_worst_pair_of_a_family_is_reported_in_the_direction_that_shows_it():
    """Rows are bounded at 1, but a NaN passes: of all pairs only that one gives it away."""

    def leaky(rows, size):
        return np.clip(rows, 0, 1).sum() + discrete_laplace(1, size)

    found = audit_pairs(leaky, row_pairs(0, 1, rows=4), epsilon=1, samples=2_000_000)
    assert found.violated
    assert found.pair.name.startswith("NaN")
    one, two = found.frequencies
    assert one > two
    assert found.to_dict()["pair"] == found.pair.name


def test_a_violation_in_one_direction_only_is_found_whichever_way_the_pair_is_given():
    """An output that only the second data set can give, one time in a hundred."""

    def mechanism(rows, size):
        return np.where(chance.random(size) < 0.01 * len(rows), 1, 0)

    for one, two in [([], [1]), ([1], [])]:
        found = audit(mechanism, one, two, epsilon=1)
        assert found.violated
        assert found.pair.data == [1]


def test_how_long_an_output_is_counts_as_an_output():
    def groups(rows, size):
        return discrete_laplace(1, (size, len(set(rows))))

    assert audit(groups, ["a"], ["a", "b"], epsilon=1, samples=200_000).violated


def test_a_failure_that_depends_on_rows_is_found_or_refused():
    def fails(rows):
        return len(rows) / (len(rows) - 1)

    assert audit(repeated(fails), [1], [1, 2], epsilon=1, samples=50_000).violated
    with pytest.raises(InvalidQuery, match="raised ZeroDivisionError"):
        audit(lambda rows, size: fails(rows), [1], [1, 2], epsilon=1)


@pytest.mark.parametrize(
    "outputs", [["a", "b"], [[[1.0]], [[2.0]]], [1.0]], ids=["text", "three axes", "too few"]
)
def test_outputs_of_a_wrong_shape_or_kind_are_refused(outputs):
    with pytest.raises(InvalidQuery, match="mechanism: returned"):
        audit(lambda rows, size: np.array(outputs), [1], [1, 2], epsilon=1)


def test_no_pairs_or_hardly_any_outputs_are_refused():
    with pytest.raises(InvalidQuery, match="pairs: none"):
        audit_pairs(lambda rows, size: np.zeros(size), [], epsilon=1)
    with pytest.raises(InvalidQuery, match="too few"):
        audit_pairs(lambda rows, size: np.zeros(size), [Pair("p", 1, 2)], epsilon=1, samples=10)

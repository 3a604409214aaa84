"""The statistical auditor: it flags what is broken and passes what is right.

The whole corpus at full depth is benchmarks/audit.py; here the quick violators, and all right forms
at a depth that shows no alarm. The false-alarm rate of each audit is 1e-6.
"""

import audit_corpus
import audit_planted
import numpy as np
import pytest
from scipy import stats

from halfmask.audit import audit, audit_pairs, repeated
from halfmask.errors import InvalidQuery
from halfmask.noise import discrete_laplace

SLOW = ("SVT3", "SVT4", "SVT6", "NoisyMax")  # millions of outputs: in the benchmark
QUICK = [one for one in audit_corpus.BROKEN if not one.name.startswith(SLOW)]
RIGHT = [*audit_corpus.CORRECT, *audit_planted.TWINS]


def named(entries):
    return pytest.mark.parametrize("entry", entries, ids=[entry.name for entry in entries])


@named([*QUICK, *audit_planted.BUGS])
def test_what_is_broken_is_flagged(entry):
    found = audit_pairs(entry.mechanism, entry.pairs, epsilon=entry.claimed, **entry.options)
    assert found.violated
    assert found.epsilon_lower_bound > entry.claimed or found.delta
    assert found.event


@named(RIGHT)
def test_what_is_right_passes(entry):
    options = {**entry.options, "samples": 300_000}
    assert not audit_pairs(entry.mechanism, entry.pairs, epsilon=entry.claimed, **options).violated


def test_every_bug_and_every_broken_algorithm_has_a_right_form():
    right = {entry.name for entry in audit_planted.TWINS}
    assert {bug.twin for bug in audit_planted.BUGS} <= right
    forms = ", ".join(entry.twin for entry in audit_corpus.CORRECT)
    for broken in audit_corpus.BROKEN:
        assert broken.name.split(" (")[0].split(",")[0] in forms


def count(scale):
    return lambda rows, size: len(rows) + discrete_laplace(scale, size)


def test_five_percent_too_little_noise_is_seen_and_the_right_noise_passes():
    assert audit(count(1 / 1.05), [1], [1, 2], epsilon=1).violated
    right = audit(count(1), [1], [1, 2], epsilon=1, samples=2_000_000)
    assert not right.violated
    assert 0.9 < right.epsilon_lower_bound <= 1


def test_the_false_alarm_rate_is_at_most_alpha():
    """At a lenient alpha, over many audits of a mechanism that is exactly as claimed."""
    times, alpha = 60, 0.05
    alarms = sum(
        audit(count(1), [1], [1, 2], epsilon=1, alpha=alpha, samples=60_000).violated
        for _ in range(times)
    )
    assert alarms <= stats.binom.ppf(1 - 1e-6, times, alpha)


def shameless(chance):
    """An exact answer now and then: (epsilon, delta) for no delta below the chance of it."""
    draws = np.random.default_rng()

    def mechanism(rows, size):
        noisy = len(rows) + discrete_laplace(1, size)
        return np.where(draws.random(size) < chance, 1000 + len(rows), noisy)

    return mechanism


def test_a_delta_is_bounded_from_below_at_the_claimed_epsilon():
    """The truth is delta = 0.02: claims below fall, by a bound near it; the true claim stands."""
    for claimed in (0, 0.005):
        found = audit(shameless(0.02), [1], [1, 2], epsilon=1, delta=claimed)
        assert found.violated
        assert claimed < found.delta_lower_bound <= 0.02
    tight = audit(
        shameless(0.02), [1], [1, 2], epsilon=1, delta=0.005, samples=1_000_000, stop=False
    )
    assert 0.01 < tight.delta_lower_bound <= 0.02
    right = audit(shameless(0.02), [1], [1, 2], epsilon=1, delta=0.02, samples=1_000_000)
    assert not right.violated
    assert right.delta_lower_bound <= 0.02
    assert right.epsilon_lower_bound <= 1


def test_far_too_much_noise_is_called_waste():
    assert "larger than it need be" in str(audit(count(3), [1], [1, 2], epsilon=1, samples=10**6))


def test_the_low_bits_of_float_noise_give_the_answer_away():
    chance = np.random.default_rng()
    found = audit(lambda x, n: x + chance.laplace(0, 1, n), 0.0, 1.0, epsilon=1)
    assert found.violated
    assert "bit" in str(found.event)


def test_one_answer_a_call_can_be_audited():
    found = audit(
        repeated(lambda rows: len(rows) + int(discrete_laplace(0.4, 1)[0])),
        [1],
        [1, 2],
        epsilon=1,
        samples=40_000,
    )
    assert found.violated


@pytest.mark.parametrize(
    "wrong", [{"epsilon": -1}, {"epsilon": float("nan")}, {"alpha": 0}, {"delta": 2}]
)
def test_bad_claims_are_refused(wrong):
    with pytest.raises(InvalidQuery):
        audit(count(1), [1], [1, 2], **{"epsilon": 1, **wrong})

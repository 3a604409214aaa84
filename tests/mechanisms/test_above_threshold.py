"""The sparse vector: its exact law over all answers, summed by brute force, costs its price."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import AboveThreshold, DiscreteLaplace
from halfmask.noise import seeded_words
from halfmask.privacy import GDP, ZCDP, Approximate, Pure


def probability(mechanism, integers, threshold, answers, scales=None):
    """The probability of one answer: a sum over the threshold's noise."""
    first, each = scales or mechanism.scales
    t = np.arange(-40 * math.ceil(first), 40 * math.ceil(first) + 1)
    noise, far = DiscreteLaplace(1, 1 / each), 40 * math.ceil(each) + 100
    upper = np.cumsum(np.exp(noise.log_mass(np.arange(-far, far + 1)))[::-1])[::-1]  # P(>= .)
    total = DiscreteLaplace(1, 1 / first).log_mass(t)
    for q, above in zip(integers, answers, strict=False):
        reached = upper[np.clip(threshold + t - q, -far, far) + far]
        missed = upper[np.clip(1 - (threshold + t - q), -far, far) + far]  # by symmetry
        total = total + np.log(np.maximum(reached if above else missed, 1e-300))
    return math.fsum(np.exp(total))


def sequences(limit, left):
    """All answers that end with the last integer, or with the one that reaches the limit."""
    if not limit or not left:
        yield ()
        return
    for above in (False, True):
        for rest in sequences(limit - above, left - 1):
            yield (above, *rest)


def law(mechanism, integers, threshold, scales=None):
    return {
        answers: probability(mechanism, integers, threshold, answers, scales)
        for answers in sequences(mechanism.limit, len(integers))
    }


def loss(mechanism, one, other, scales=None):
    a, b = (law(mechanism, x, 0, scales) for x in (one, other))
    return max(abs(math.log(a[k] / b[k])) for k in a)


def neighbours(mechanism, base):
    steps = (0, mechanism.sensitivity)
    if not mechanism.monotonic:
        steps = (-mechanism.sensitivity, *steps)
    for moved in itertools.product(steps, repeat=len(base)):
        yield [x + m for x, m in zip(base, moved, strict=True)]


MECHANISMS = [
    AboveThreshold(sensitivity, epsilon, limit, monotonic)
    for sensitivity in (1, 2)
    for epsilon in (Fraction(1), Fraction(3))
    for limit in (1, 2)
    for monotonic in (False, True)
]
ALL = pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)


@ALL
def test_the_loss_is_at_most_the_price(mechanism):
    """Lyu, Su & Li 2017, Alg. 7: all answers of three integers, ties and far ones included."""
    worst = 0.0
    for base in ((0, 0, 0), (3, -5, 1), (-30, 20, 20)):
        assert math.fsum(law(mechanism, base, 0).values()) == pytest.approx(1, abs=1e-9)
        for other in neighbours(mechanism, base):
            worst = max(worst, loss(mechanism, base, other))
    assert worst <= float(mechanism.epsilon) + 1e-6
    assert worst >= 0.4 * float(mechanism.epsilon)


def last_of_many(mechanism, moves, scales=None):
    """The loss of the answer "only the last": all others rise where it falls, which tells most."""
    many = 1000
    answers = (*[False] * many, True)
    one, other = [-2] * many + [-40], [-2 + moves[0]] * many + [-40 + moves[1]]
    chances = [probability(mechanism, x, 0, answers, scales) for x in (one, other)]
    return abs(math.log(chances[0] / chances[1]))


@pytest.mark.parametrize(
    ("monotonic", "moves"), [(False, (1, -1)), (True, (1, 0)), (True, (0, -1))]
)
def test_the_price_is_nearly_used_and_thinner_noise_costs_more(monotonic, moves):
    mechanism = AboveThreshold(1, 2, monotonic=monotonic)
    thin = tuple(scale * 2 / 3 for scale in mechanism.scales)
    used = last_of_many(mechanism, moves)
    assert used <= 2 + 1e-9
    if moves != (0, -1):  # of the whole price; there, of the integers' part alone
        assert used > 1.4
        assert last_of_many(mechanism, moves, thin) > 2


def test_the_monotonic_noise_is_not_for_integers_that_move_both_ways():
    assert last_of_many(AboveThreshold(1, 2, monotonic=True), (1, -1)) > 2.3


@pytest.mark.parametrize("limit", [1, 2])
def test_answers_fit_the_law(limit):
    """False alarm 1e-6 over all answers; noise of 2/3 and 3/2 of the scale does not fit.

    Of two answers, 8 000 draws told noise of 3/2 from the right one but 98.5 times in 100.
    """
    mechanism, integers = AboveThreshold(3, Fraction(1, 2), limit), [-2, 9, 4, 30]
    draws = 8_000 * limit
    counts = {}
    for _ in range(draws):
        shown = mechanism.release(integers, 10)
        counts[shown] = counts.get(shown, 0) + 1

    def fits(scales):
        expected = law(mechanism, integers, 10, scales=scales)
        tails = [
            2 * min(binom.cdf(counts.get(k, 0), draws, p), binom.sf(counts.get(k, 0) - 1, draws, p))
            for k, p in expected.items()
        ]
        return min(tails) * len(tails) > 1e-6

    first, each = mechanism.scales
    assert set(counts) <= set(law(mechanism, integers, 10))
    assert fits((first, each))
    for factor in (Fraction(2, 3), Fraction(3, 2)):
        assert not fits((first * factor, each * factor))


def test_the_split_is_near_the_best():
    for limit in (1, 5):
        for monotonic in (False, True):
            mechanism = AboveThreshold(1, "0.01", limit, monotonic)
            k = limit * (1 if monotonic else 2)
            best = min(
                (1 / share) ** 2 + (k / (1 - share)) ** 2 for share in np.linspace(0.01, 0.99, 981)
            )
            assert mechanism.variance == pytest.approx(2 * best * 100**2, rel=1e-3)
            first, each = mechanism.scales
            assert 1 / first + k / each == mechanism.epsilon


def test_without_sensitivity_it_compares_exactly_and_stops():
    mechanism = AboveThreshold(0, 1, limit=2)
    assert mechanism.release([1, 5, 4, 9, 9], 5) == (False, True, False, True)
    assert mechanism.release([], 5) == ()
    assert mechanism.law.startswith("no noise")


def test_a_seed_repeats_and_huge_numbers_are_compared_exactly():
    mechanism = AboveThreshold(1, 1, limit=3)
    integers = list(range(50))
    first = [mechanism.release(integers, 25, seeded_words(i)) for i in range(9)]
    assert first == [mechanism.release(integers, 25, seeded_words(i)) for i in range(9)]
    assert AboveThreshold(1, 10**6).release([10**400, 10**400 + 1], 10**400 + 1) == (False, True)


def test_price_in_place_of_epsilon():
    assert AboveThreshold(1, 1).cost == Pure(1)
    for price in (Approximate(1, 1e-6), ZCDP("0.5"), GDP("1.3")):
        assert AboveThreshold(1, 1, price=price).cost == price
    with pytest.raises(InvalidQuery, match="costs more"):
        AboveThreshold(1, 1, price=ZCDP("0.1"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, 1), r"^sensitivity: 0.5 is not an integer"),
        ((1, 0), r"^epsilon: "),
        ((1, 1, 0), r"^limit: 0 is no whole number"),
        ((1, 1, True), r"^limit: True"),
        ((1, 1, 1, 1), r"^monotonic: 1 given"),
        ((2**55, 1), r"^scale: "),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidQuery, match=message):
        AboveThreshold(*arguments)

"""Laws of the mechanisms that show some of many keys.

Privacy is checked on exact laws: the hockey-stick divergence of products of keys. Statistical tests
draw from the secure source, with a false-alarm rate of 1e-6 each.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import stats

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import KeySelection, ThresholdGaussian, ThresholdLaplace
from halfmask.noise import bernoulli_enclosed, exp_minus, seeded_words
from halfmask.privacy import ZCDP, Approximate, Pure

FALSE_ALARM = 1e-6
MEMBERS = {"laplace": ThresholdLaplace, "gaussian": ThresholdGaussian}
every_member = pytest.mark.parametrize("build", MEMBERS.values(), ids=MEMBERS)


def lowered(mechanism, by=1):
    """The same mechanism with a threshold that is too low."""
    wrong = type(mechanism)(mechanism.reach, mechanism.groups, mechanism.price, mechanism.replaced)
    ends = mechanism.threshold
    object.__setattr__(wrong, "threshold", ends - by)
    return wrong


def law_of(mechanism, count, most):
    """The exact law of one key as (None, values ...) masses; the tail beyond `most` is one more."""
    masses = mechanism.log_masses(count, most)
    law = {value: math.exp(mass) for value, mass in masses.items()}
    law["beyond"] = max(0.0, 1 - math.fsum(law.values()))
    return law


def divergence(mechanism, ones, others, epsilon):
    """sup of P(S) - exp(epsilon) Q(S) over all sets S of outputs, for independent keys."""
    most = max(*ones, *others) + mechanism.far
    laws = [
        (law_of(mechanism, a, most), law_of(mechanism, b, most))
        for a, b in zip(ones, others, strict=True)
    ]
    total = []
    for outcome in itertools.product(*({**p, **q} for p, q in laws)):
        p = math.prod(law.get(value, 0.0) for value, (law, _) in zip(outcome, laws, strict=True))
        q = math.prod(law.get(value, 0.0) for value, (_, law) in zip(outcome, laws, strict=True))
        total.append(max(p - math.exp(epsilon) * q, 0.0))
    return math.fsum(total)


PAIRS = [
    ((1, 1), (0, 0)),
    ((2, 1), (1, 0)),
    ((4, 5), (3, 4)),
    ((6, 1), (5, 0)),
    ((9, 9), (8, 8)),
    ((15, 14), (14, 13)),
]


@every_member
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.001"), ("3", "0.01")])
def test_two_keys_of_one_unit_stay_within_the_price(build, epsilon, delta):
    """(epsilon, delta)-DP of all keys and counts together, exactly; a lower threshold breaks it."""
    mechanism = build(1, 2, Approximate(epsilon, delta))
    worst = 0.0
    for ones, others in PAIRS:
        for p, q in ((ones, others), (others, ones)):
            worst = max(worst, divergence(mechanism, p, q, float(Fraction(epsilon))))
    assert worst <= float(mechanism.delta) * (1 + 1e-9) <= float(Fraction(delta)) * (1 + 1e-9)
    assert divergence(lowered(mechanism), (1, 1), (0, 0), float(Fraction(epsilon))) > float(
        Fraction(delta)
    )


def test_the_stated_delta_of_laplace_is_attained():
    mechanism = ThresholdLaplace(1, 2, Approximate(1, "0.05"))
    attained = divergence(mechanism, (1, 1), (0, 0), 1)
    assert attained == pytest.approx(float(mechanism.delta), rel=1e-9)


@every_member
def test_replaced_units_leave_one_key_and_enter_another(build):
    mechanism = build(1, 1, Approximate(2, "0.05"), replaced=True)
    for ones, others in [((1, 0), (0, 1)), ((9, 0), (8, 1)), ((9, 7), (8, 8)), ((1, 7), (0, 8))]:
        assert divergence(mechanism, ones, others, 2) <= float(mechanism.delta) * (1 + 1e-9)


@every_member
@given(
    epsilon=st.fractions(Fraction(1, 5), 5, max_denominator=20),
    log_delta=st.integers(1, 12),
    reach=st.integers(1, 6),
    groups=st.integers(1, 30),
    replaced=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_a_unit_alone_in_its_keys_is_shown_with_delta_at_most(
    build, epsilon, log_delta, reach, groups, replaced
):
    """The attack on a unique key, at every size; and the threshold is the least one."""
    delta = Fraction(1, 10**log_delta)
    mechanism = build(reach, groups, Approximate(epsilon, delta), replaced)

    def shown(law):
        return -math.expm1(groups * math.log1p(-law.chance(reach)))

    assert shown(mechanism) <= float(delta) * (1 + 1e-9)
    assert mechanism.delta <= delta
    if mechanism.threshold > reach:
        with mp.workdps(40):
            assert exact_delta(build, lowered(mechanism)) > float(delta) * (1 - 1e-9)


def exact_delta(build, mechanism):
    """The delta as the mechanism proves it, at the threshold that it was given."""
    if build is ThresholdGaussian:
        return float(mechanism._delta(mechanism.threshold))
    x = mpf(mechanism.noise.scale.denominator) / mechanism.noise.scale.numerator
    masses = [mp.exp(-x * k) for k in range(mechanism.threshold + 1)]
    end = mp.fsum(masses[-mechanism.reach :]) / (2 * mp.fsum(masses) - 1)
    return float(1 - (1 - end) ** mechanism.changed)


def test_gaussian_blocks_cover_every_number_of_lone_keys():
    """With many groups the maximum is taken in blocks: never below the maximum over each a."""
    mechanism = ThresholdGaussian(1, 60, Approximate(1, "1e-6"))
    from_each = max(
        float(mechanism._term(hidden(mechanism), a, a)) for a in range(mechanism.groups + 1)
    )
    assert from_each <= float(mechanism.delta) <= 1e-6


def hidden(mechanism):
    from decimal import Decimal

    return Decimal(1 - mechanism.chance(mechanism.reach))


@every_member
def test_many_groups_need_less_gaussian_noise(build):
    price = Approximate(1, "1e-6")
    assert ThresholdLaplace(1, 1, price).threshold < ThresholdGaussian(1, 1, price).threshold
    assert ThresholdLaplace(1, 50, price).threshold > 3 * ThresholdGaussian(1, 50, price).threshold
    assert build(1, 50, price).noise.scale > build(1, 1, price).noise.scale


@every_member
def test_masses_sum_to_one_and_the_chance_is_theirs(build):
    mechanism = build(2, 2, Approximate(1, "1e-3"))
    for count in (1, 2, 5, mechanism.threshold, 3 * mechanism.threshold):
        law = mechanism.log_masses(count, count + mechanism.far)
        assert math.fsum(map(math.exp, law.values())) == pytest.approx(1, abs=1e-12)
        shown = math.fsum(math.exp(mass) for value, mass in law.items() if value is not None)
        assert mechanism.chance(count) == pytest.approx(shown, rel=1e-9)
    assert mechanism.log_masses(0, 100) == {None: 0.0}
    assert mechanism.chance(mechanism.likely) >= 0.5 > mechanism.chance(mechanism.likely - 1)


@every_member
@pytest.mark.parametrize("count", [1, 6, 30])
def test_releases_fit_their_law_and_no_other(build, count):
    """Shown values and hiding by chi-square; noise of 2/3 and 3/2 of the scale is rejected."""
    mechanism = build(1, 1, Approximate(1, "0.02"))
    draws = 40_000
    values = mechanism.release([count] * draws)

    def fit(law):
        masses = law.log_masses(count, count + 4 * law.far)
        found = dict.fromkeys(masses, 0)
        strange = 0
        for value in values:
            if value in found:
                found[value] += 1
            else:
                strange += 1
        expected = draws * np.exp(np.array(list(masses.values())))
        got = np.array(list(found.values()))
        cells = expected > 50
        expected = np.append(expected[cells], max(draws - expected[cells].sum(), 0))
        got = np.append(got[cells], got[~cells].sum() + strange)
        statistic = ((got - expected) ** 2 / np.maximum(expected, 50)).sum()
        return stats.chi2.sf(statistic, len(got) - 1)

    assert fit(mechanism) > FALSE_ALARM
    if count < 30:
        assert fit(lowered(mechanism)) < FALSE_ALARM
    else:
        for factor in (Fraction(2, 3), Fraction(3, 2)):
            other = build(1, 1, Approximate(1 / factor, "0.02"))
            object.__setattr__(other, "threshold", mechanism.threshold)
            assert fit(other) < FALSE_ALARM


@every_member
def test_a_threshold_one_too_low_shows_lone_keys_too_often(build):
    """A binomial test of keys that one unit holds: it accepts the right threshold alone."""
    mechanism = build(1, 1, Approximate(1, "0.002"))
    draws = 400_000
    most = stats.binom.isf(FALSE_ALARM, draws, float(mechanism.price.delta))
    shown = [
        sum(value is not None for value in law.release([1] * draws))
        for law in (mechanism, lowered(mechanism))
    ]
    assert shown[0] <= most < shown[1]


@every_member
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_of_shown_keys_cover_exactly_as_they_say(build, confidence):
    """Given that a key is shown: summed over the exact law, for counts about the threshold."""
    mechanism = build(1, 1, Approximate(1, "1e-4"))
    counts = [*range(1, 3 * mechanism.threshold, 3), 20 * mechanism.threshold]
    for count in counts:
        law = mechanism.log_masses(count, count + mechanism.far)
        covered = total = 0.0
        for value, mass in law.items():
            if value is not None:
                low, high = mechanism.interval(value, confidence)
                assert low <= value <= high
                total += math.exp(mass)
                covered += math.exp(mass) * (low <= count <= high)
        assert covered >= confidence * total * (1 - 1e-9)
    plain = mechanism.noise.interval(10**6, confidence)
    assert abs((plain[1] - plain[0]) - np.diff(mechanism.interval(10**6, confidence))[0]) <= 2


@every_member
def test_huge_counts_are_exact_and_zero_is_hidden(build):
    mechanism = build(1, 1, Approximate(1, "1e-6"))
    (huge, none, few) = mechanism.release([10**30, 0, -5], seeded_words(3))
    assert none is None
    assert few is None
    assert abs(huge - 10**30) <= mechanism.far
    assert mechanism.release([], None) == []
    assert mechanism.release([40] * 9, seeded_words(1)) == mechanism.release(
        [40] * 9, seeded_words(1)
    )


# which keys, without a count


def recurrence(selection, last):
    """The three bounds of the minimum, as the theorem writes them, in fifty digits."""
    with mp.workdps(50):
        e = mpf(selection.loss.numerator) / selection.loss.denominator
        d = mpf(selection.lone.numerator) / selection.lone.denominator
        chances = [mpf(0)]
        for _ in range(last):
            p = chances[-1]
            chances.append(min(mp.exp(e) * p + d, 1 - mp.exp(-e) * (1 - p - d), mpf(1)))
        return chances


@given(
    epsilon=st.fractions(Fraction(1, 30), 8, max_denominator=100),
    delta=st.sampled_from(["0.9", "0.3", "1e-2", "1e-6", "1e-12"]),
    groups=st.integers(1, 4),
    replaced=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_selection_is_the_optimal_one(epsilon, delta, groups, replaced):
    """Desfontaines, Voss, Gipson & Mandayam 2022, Thm 1: by enclosures of 2^-80."""
    selection = KeySelection(groups, Approximate(epsilon, delta), replaced)
    last = min(selection.full, 150)
    with mp.workdps(50):
        chances = recurrence(selection, last)
        for count in {*range(0, last, 7), selection.turn, selection.turn + 1, last}:
            if count > last:
                continue
            chance = chances[count]
            low, high = selection.enclosure(count, 80)
            assert 0 <= high - low <= 2
            assert low - 1 <= chance * mpf(2) ** 80 <= high + 1
            assert selection.chance(count) == pytest.approx(float(chance), abs=1e-15, rel=1e-14)
    assert selection.enclosure(selection.full, 64) == (1 << 64, 1 << 64)
    assert 1 - (1 - selection.lone) ** (groups * (1 + replaced)) <= Fraction(delta)


def test_a_selection_keeps_what_noise_and_a_threshold_keep_and_more():
    """With an epsilon and a delta that fit no whole threshold, the best selection gains on both."""
    for delta in ("1e-6", "3e-4", "0.02"):
        price = Approximate("0.5", delta)
        best, noisy = KeySelection(1, price), ThresholdLaplace(1, 1, price)
        for count in range(1, 70):
            assert best.chance(count) >= noisy.chance(count) - 1e-14
        assert best.likely <= noisy.likely


@pytest.mark.parametrize("count", [1, 3, 5, 6])
def test_keys_are_kept_as_often_as_stated(count):
    selection = KeySelection(1, Approximate(1, "0.02"))
    draws = 400_000
    kept = sum(selection.release([count] * draws))
    assert stats.binomtest(kept, draws, selection.chance(count)).pvalue > FALSE_ALARM
    wrong = KeySelection(1, Approximate(1, "0.03"))
    assert stats.binomtest(kept, draws, wrong.chance(count)).pvalue < FALSE_ALARM


def test_the_selection_decides_between_nothing_and_all():
    selection = KeySelection(1, Approximate(1, "1e-6"))
    assert selection.release([0, -1, selection.full, 10**40]) == [False, False, True, True]
    assert selection.chance(0) == 0
    assert selection.log_chance(0) == -math.inf
    mixed = [1, 14, 15, 14, 0]
    assert selection.release(mixed, seeded_words(2)) == selection.release(mixed, seeded_words(2))


def test_enclosed_coins_agree_with_a_twin_of_unbounded_integers():
    """The same words through plain comparisons of the first 256 bits."""
    x = Fraction(7, 5)
    fast = bernoulli_enclosed(lambda bits: exp_minus(x, bits), 3000, seeded_words(5))
    low, high = exp_minus(x, 64)
    drawn = seeded_words(5).words(3000).tolist()
    assert all(bool(coin) == (u < low) for coin, u in zip(fast, drawn, strict=True))
    assert not any(low <= u < high for u in drawn)  # probability 2^-51

    class Scripted:
        """Words that start on the enclosure's boundary, so that the coin must read on."""

        def __init__(self, *numbers):
            self.left = list(numbers)

        def words(self, count):
            taken, self.left = self.left[:count], self.left[count:]
            return np.array(taken, dtype=np.uint64)

    third = lambda bits: ((1 << bits) // 3, (1 << bits) // 3 + 1)  # noqa: E731
    first = (1 << 64) // 3
    assert bernoulli_enclosed(third, 1, Scripted(first, first - 1)).tolist() == [True]
    assert bernoulli_enclosed(third, 1, Scripted(first, first + 1)).tolist() == [False]
    assert bernoulli_enclosed(third, 2, Scripted(first - 1, first + 1)).tolist() == [True, False]
    assert not bernoulli_enclosed(lambda bits: (0, 0), 50).any()
    assert bernoulli_enclosed(lambda bits: (1 << bits, 1 << bits), 50).all()


@pytest.mark.parametrize("build", [*MEMBERS.values(), lambda r, g, p: KeySelection(g, p)])
@pytest.mark.parametrize("price", [Pure(1), ZCDP(1), Approximate(1, 0)])
def test_without_a_delta_no_key_can_be_shown(build, price):
    with pytest.raises(InvalidQuery, match=r"^delta: .*public Keys$"):
        build(1, 1, price)


@pytest.mark.parametrize("build", MEMBERS.values())
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1), "give 1"),
        ((1, 0), "give 1"),
        ((1.5, 1), "integer"),
        ((1, 1, Approximate(1, "1e-6"), 1), "True or False"),
    ],
)
def test_bad_arguments_are_refused_with_advice(build, arguments, message):
    with pytest.raises(InvalidQuery, match=message):
        build(*(*arguments, Approximate(1, "1e-6"))[: max(3, len(arguments))])

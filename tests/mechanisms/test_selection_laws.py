"""Laws of every mechanism that chooses a candidate. A new member joins by one line in MEMBERS.

Statistical tests draw from the secure source, with a false-alarm rate of 1e-6 each.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.stats import chi2

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Exponential, PermuteAndFlip
from halfmask.noise import seeded_words
from halfmask.privacy import Pure

FALSE_ALARM = 1e-6


def exponential_mass(chances):
    return [p / mp.fsum(chances) for p in chances]


def permute_and_flip_mass(chances):
    """∫ p_i Π (1 - p_j t) dt over [0, 1], the polynomial multiplied out."""
    masses = []
    for i, chance in enumerate(chances):
        coefficients = [mpf(1)]
        for p in chances[:i] + chances[i + 1 :]:
            shifted = [mpf(0), *(-p * c for c in coefficients)]
            coefficients = [a + b for a, b in zip([*coefficients, 0], shifted, strict=True)]
        masses.append(chance * mp.fsum(c / (power + 1) for power, c in enumerate(coefficients)))
    return masses


MEMBERS = {
    "Exponential": (Exponential, exponential_mass),
    "PermuteAndFlip": (PermuteAndFlip, permute_and_flip_mass),
}
every_member = pytest.mark.parametrize("build", [m[0] for m in MEMBERS.values()], ids=MEMBERS)
every_twin = pytest.mark.parametrize(("build", "twin"), MEMBERS.values(), ids=MEMBERS)
either_kind = pytest.mark.parametrize("monotonic", [False, True])

some_scores = st.lists(st.integers(-30, 30), min_size=1, max_size=12)
some_epsilon = st.fractions(Fraction(1, 100), 8, max_denominator=100)


def moves(sensitivity: int, count: int, monotonic: bool) -> list[tuple[int, ...]]:
    """How far one unit can move the scores."""
    if not monotonic:
        return list(itertools.product((-sensitivity, 0, sensitivity), repeat=count))
    up = list(itertools.product(range(sensitivity + 1), repeat=count))
    return up + [tuple(-step for step in move) for move in up]


def log_ratios(mechanism, claim):
    """Every log ratio over every vector of three scores and its neighbours under `claim`."""
    for scores in [*itertools.product((0, 1, 3), repeat=3), (0, 40, 0), (40, 0, 40), (0, 90, 45)]:
        here = mechanism.log_mass(scores)
        for move in moves(claim.sensitivity, 3, claim.monotonic):
            yield here, mechanism.log_mass(np.add(scores, move))


def worst_loss(mechanism, claim) -> float:
    return max(float(np.abs(here - there).max()) for here, there in log_ratios(mechanism, claim))


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1), (2, Fraction(1, 3)), (1, 4)])
@either_kind
@every_member
def test_loss_is_at_most_epsilon_and_nearly_all_of_it(build, monotonic, sensitivity, epsilon):
    """McSherry & Talwar 2007, Thm 6; McKenna & Sheldon 2020, Thm 1; to 1e-12."""
    mechanism = build(sensitivity, epsilon, monotonic)
    assert epsilon * 0.99 <= worst_loss(mechanism, mechanism) <= epsilon + 1e-12
    thin = build(sensitivity, epsilon * Fraction(3, 2), monotonic)
    assert worst_loss(thin, mechanism) > epsilon * 1.3


@every_member
def test_monotonic_scale_is_too_small_for_scores_that_part(build):
    assert worst_loss(build(1, 1, monotonic=True), build(1, 1)) > 1.9


@either_kind
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), 1, 5])
def test_exponential_is_an_eighth_of_epsilon_squared_in_zcdp(epsilon, monotonic):
    """Cesar & Rogers 2021, Lemma 3.4: Renyi divergence of order a at most a epsilon²/8."""
    mechanism = Exponential(1, epsilon, monotonic)
    assert mechanism.zcdp.rho == Fraction(epsilon) ** 2 / 8
    worst = 0.0
    for here, there in log_ratios(mechanism, mechanism):
        for order in (1.01, 2, 6, 30):
            power = math.fsum(np.exp(order * here + (1 - order) * there))
            worst = max(worst, math.log(power) / (order - 1) / order)
    assert worst <= float(mechanism.zcdp.rho) + 1e-12
    if epsilon <= 1:
        assert worst > 0.85 * float(mechanism.zcdp.rho)


@every_twin
@given(scores=some_scores, epsilon=some_epsilon, sensitivity=st.integers(1, 5))
def test_log_mass_agrees_with_sixty_digits(build, twin, scores, epsilon, sensitivity):
    mechanism = build(sensitivity, epsilon)
    with mp.workdps(60):
        chances = [mp.exp(mpf(s - max(scores)) / mpf(mechanism.scale)) for s in scores]
        expected = [float(mp.log(mass)) for mass in twin(chances)]
    assert mechanism.log_mass(scores).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@every_twin
@pytest.mark.parametrize("scale", [0.01, 3, 1000])
def test_log_mass_of_many_candidates(build, twin, scale):
    """Sixty candidates, where the polynomial of the twin cancels forty digits away."""
    scores = [(37 * i * i) % 101 for i in range(60)]
    mechanism = build(1, 2 / Fraction(scale))
    with mp.workdps(150):
        chances = [mp.exp(mpf(s - max(scores)) / mpf(mechanism.scale)) for s in scores]
        expected = [float(mp.log(mass)) for mass in twin(chances)]
    assert mechanism.log_mass(scores).tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(scores=st.lists(st.integers(0, 4), min_size=1, max_size=5), epsilon=some_epsilon)
def test_permute_and_flip_is_its_definition(scores, epsilon):
    """The average over all orders, as the algorithm is written. [McKenna & Sheldon 2020, Alg 1]"""
    mechanism = PermuteAndFlip(1, epsilon)
    heads = [math.exp((score - max(scores)) / mechanism.scale) for score in scores]
    mass = np.zeros(len(scores))
    for order in itertools.permutations(range(len(scores))):
        passed = 1.0
        for i in order:
            mass[i] += passed * heads[i] / math.factorial(len(scores))
            passed *= 1 - heads[i]
    assert np.exp(mechanism.log_mass(scores)) == pytest.approx(mass, abs=1e-12)


@every_member
@pytest.mark.parametrize("scale", [0.01, 1, 50, 10**6])
@pytest.mark.parametrize("count", [1, 2, 40, 3000])
def test_masses_sum_to_one_and_ties_are_equal(build, count, scale):
    mechanism = build(1, 2 / Fraction(scale))
    scores = [i * i % 1009 for i in range(count)]
    assert math.fsum(np.exp(mechanism.log_mass(scores))) == pytest.approx(1, abs=1e-12)
    ties = mechanism.log_mass([7] * count)
    assert ties == pytest.approx(np.full(count, -math.log(count)), abs=1e-12)


@every_member
@given(scores=some_scores, shift=st.integers(-(10**40), 10**40), factor=st.integers(1, 10**40))
def test_shift_of_scores_and_common_factor_change_nothing(build, scores, shift, factor):
    base = build(1, 1).log_mass(scores)
    moved = build(factor, 1).log_mass([factor * score + shift for score in scores])
    assert base.tolist() == moved.tolist()


@given(scores=some_scores, epsilon=some_epsilon)
def test_permute_and_flip_expects_no_lower_score(scores, epsilon):
    """McKenna & Sheldon 2020, Thm 2."""
    ours, theirs = (
        float(np.dot(np.exp(build(1, epsilon).log_mass(scores)), scores))
        for build in (PermuteAndFlip, Exponential)
    )
    assert ours >= theirs - 1e-10


@every_member
@pytest.mark.parametrize("scores", [(0, 3, 5, 5, 1), (10**30, 10**30 - 3, 0), range(0, 70, 7)])
def test_choices_fit_the_law_and_no_other_scale(build, scores):
    mechanism = build(1, Fraction(1, 2))
    draws = 10_000  # a wrong scale passes with probability below 1e-8
    chosen = [mechanism.release(scores) for _ in range(draws)]
    counts = np.bincount(chosen, minlength=len(scores))

    def fit(law) -> float:
        expected = draws * np.exp(law.log_mass(scores))
        cells = expected > 100  # so that the false-alarm rate is as stated; the rest is one cell
        found = np.append(counts[cells], counts[~cells].sum())
        expected = np.append(expected[cells], expected[~cells].sum())
        statistic = ((found - expected) ** 2 / np.maximum(expected, 100)).sum()
        return float(chi2.sf(statistic, len(found) - 1))

    assert fit(mechanism) > FALSE_ALARM
    assert fit(build(1, Fraction(3, 4))) < FALSE_ALARM
    assert fit(build(1, Fraction(1, 3))) < FALSE_ALARM


@every_member
def test_a_seed_repeats_the_choice_and_huge_scores_are_compared_exactly(build):
    mechanism = build(1, 1)
    scores = list(range(1000))
    first = [mechanism.release(scores, seeded_words(seed)) for seed in range(20)]
    assert first == [mechanism.release(scores, seeded_words(seed)) for seed in range(20)]
    assert len(set(first)) > 1
    assert build(1, 10**6).release([10**400, 10**400 + 1, -(10**400)]) == 1
    assert build(10**400, 10**6).release([0, 10**400, -(10**400)]) == 1
    assert mechanism.log_mass([0, 10**400])[0] < -1e300
    assert type(mechanism.release(np.array([3, 4], dtype=np.uint8))) is int


@every_member
def test_zero_sensitivity_takes_the_best_first(build):
    mechanism = build(0, 1)
    assert mechanism.release([3, 9, 9, 2]) == 1
    assert np.exp(mechanism.log_mass([3, 9, 9, 2])).tolist() == [0, 1, 0, 0]
    assert mechanism.law == "no noise: no unit can change these scores"
    assert mechanism.cost == Pure(1)


@every_member
def test_cost_and_scale_are_exact(build):
    assert build(np.int64(3), 0.1).cost == Pure(Fraction(1, 10))
    assert (build(3, 0.1).scale, build(3, 0.1, monotonic=True).scale) == (60, 30)
    assert build(3, 0.1).law.endswith(", scale 60")
    assert Exponential(1, 1e-9).zcdp.rho == Fraction(1, 8 * 10**18)


@every_member
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.5, 1), r"^sensitivity: 1.5 is not an integer; .* in grid steps$"),
        ((True, 1), r"^sensitivity: True is not an integer"),
        ((-1, 1), r"^sensitivity: -1 is negative; give 0 or more$"),
        ((1, 0), r"^epsilon: .*give"),
        ((1, math.nan), r"^epsilon: .*give"),
        ((1, 1, 1), r"^monotonic: 1 given; give True or False$"),
    ],
)
def test_bad_arguments_are_refused_with_advice(build, arguments, message):
    with pytest.raises(InvalidQuery, match=message):
        build(*arguments)


@every_member
def test_bad_scores_are_refused_with_advice(build):
    for call in (build(1, 1).release, build(0, 1).log_mass):
        with pytest.raises(InvalidQuery, match=r"^scores: none given; give one integer"):
            call([])
        with pytest.raises(InvalidQuery, match=r"^scores: not integers; "):
            call([1, 0.5])

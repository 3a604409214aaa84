"""What the noise gives away is at most what its cost says, and hardly less."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from halfmask.mechanisms import Additive, DiscreteGaussian, RoundedGaussian
from halfmask.privacy import GDP, ZCDP, Approximate, Pure

every_setting = pytest.mark.parametrize(
    ("sensitivity", "loss"),
    [
        (1, Fraction(1, 10)),
        (1, Fraction(1)),
        (3, Fraction(1, 3)),
        (7, Fraction(2)),
        (900, Fraction(1, 2)),
    ],
)


def log_masses(noise: Additive, shift: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Log masses of an answer on D and on D', whose exact values differ by `shift`."""
    radius = int(reach * float(noise.scale)) + abs(shift) + 20
    k = np.arange(-radius, radius + 1)
    return noise.log_mass(k), noise.log_mass(k + shift)


def pure_loss(noise: Additive, shift: int, claimed: Pure) -> tuple[float, float]:
    here, there = log_masses(noise, shift, reach=40)
    return float(np.abs(here - there).max()), float(claimed.epsilon)


def renyi_loss(noise: Additive, shift: int, claimed: ZCDP) -> tuple[float, float]:
    """The largest Renyi divergence per unit of its order, over several orders."""
    found = []
    for order in (1.125, 2, 3.5, 8, 20):
        here, there = log_masses(noise, shift, reach=15 + order * shift / float(noise.scale))
        powers = order * here + (1 - order) * there
        top = powers.max()
        divergence = (top + math.log(np.exp(powers - top).sum())) / (order - 1)
        found.append(divergence / order)
    return max(found), float(claimed.rho)


def gaussian_delta(mu: float, epsilon: float) -> float:
    m, e = mpf(mu), mpf(epsilon)
    return float(mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m))


def hockey_stick(noise: Additive, shift: int, epsilon: float) -> float:
    here, there = log_masses(noise, shift, reach=12)
    return math.fsum(np.maximum(np.exp(here) - np.exp(epsilon + there), 0))


def gdp_loss(noise: Additive, shift: int, claimed: GDP) -> tuple[float, float]:
    """The largest excess of the hockey-stick curve over that of G_mu, 1 added to both."""
    epsilons = [float(claimed.mu) * x for x in (0, 0.1, 0.5, 1, 2, 3)]
    excess = [hockey_stick(noise, shift, e) - gaussian_delta(claimed.mu, e) for e in epsilons]
    return 1 + max(excess), 1.0


def approximate_loss(noise: Additive, shift: int, claimed: Approximate) -> tuple[float, float]:
    return hockey_stick(noise, shift, float(claimed.epsilon)), float(claimed.delta)


MEASURES = {Pure: pure_loss, ZCDP: renyi_loss, GDP: gdp_loss, Approximate: approximate_loss}


def losses(noise: Additive, shift: int, claim: Additive) -> tuple[float, float]:
    """What one shift of the exact value tells, and the cost that `claim` charges."""
    return MEASURES[type(claim.cost)](noise, shift, claim.cost)


@every_setting
def test_loss_is_at_most_the_cost_for_every_shift(member, sensitivity, loss):
    """Ghosh et al. 2012 / Canonne et al. 2020 Thm 14 / Dong et al. 2019 Thm 2.7, to 1e-12."""
    mechanism = member.build(sensitivity, loss)
    steps = range(1, sensitivity + 1) if sensitivity < 10 else (1, sensitivity // 2, sensitivity)
    for shift in steps:
        measured, claimed = losses(mechanism, shift, mechanism)
        assert measured <= claimed + 1e-12


@every_setting
def test_loss_nearly_attains_the_cost(member, sensitivity, loss):
    mechanism = member.build(sensitivity, loss)
    measured, claimed = losses(mechanism, sensitivity, mechanism)
    assert measured >= claimed * 0.995


@every_setting
def test_two_thirds_of_the_scale_costs_more(member, sensitivity, loss):
    thin = member.build(sensitivity, loss * 3 / 2)
    measured, claimed = losses(thin, sensitivity, member.build(sensitivity, loss))
    assert measured > claimed * 1.001


@pytest.mark.parametrize("sides", [(3, 4), (5, 0), (1, 1)])
@pytest.mark.parametrize("kind", ["DiscreteGaussian", "RoundedGaussian"])
def test_gaussian_cost_is_of_the_whole_vector(kind, sides):
    """A shift of the vector by `sides` loses at most what the squared L2 norm says."""
    squared, loss = sides[0] ** 2 + sides[1] ** 2, Fraction(1, 2)
    if kind == "DiscreteGaussian":
        noise = DiscreteGaussian(squared, loss**2 / 2)
        whole = sum(losses(noise, side, noise)[0] for side in sides if side)
        assert whole <= float(noise.rho) + 1e-12
        return
    noise = RoundedGaussian(squared, loss)
    (a, b), (c, d) = (log_masses(noise, side, reach=10) for side in sides)
    for epsilon in (0, 0.2, 1):
        excess = np.exp(np.add.outer(a, c)) - np.exp(epsilon + np.add.outer(b, d))
        assert np.maximum(excess, 0).sum() <= gaussian_delta(loss, epsilon) + 1e-12


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (0.1, 1e-3), (4, 1e-9)])
def test_gaussian_for_an_approximate_price_meets_it_and_no_more(epsilon, delta):
    """Balle & Wang 2018, Thm 8."""
    price = Approximate(epsilon, delta)
    mechanism = RoundedGaussian.for_approximate(40**2, price)
    assert mechanism.cost == price
    measured, claimed = losses(mechanism, 40, mechanism)
    assert claimed * 0.99 <= measured <= claimed * (1 + 1e-9)
    thin = RoundedGaussian(40**2, mechanism.mu * 3 / 2)
    assert losses(thin, 40, mechanism)[0] > 2 * claimed

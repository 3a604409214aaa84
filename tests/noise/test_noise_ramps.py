"""Ranges on which the exponent rises: their exact law, at small and at huge rates."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import stats

from halfmask.noise import Ramps, secure_words, seeded_words

COUNT = 3000
ALARM = 1e-6
CASES = {
    "one slope": ([40], [1], [0], [1], Fraction(1, 7)),
    "flat beside steep": ([5, 90, 30], [7, 1, 2], [3, 0, 1], [0, 1, 4], Fraction(1, 5)),
    "huge rate": ([2**40, 3], [1, 10], [0, 0], [1, 2], Fraction(5, 2)),
    "no rate": ([4, 6], [3, 1], [5, 0], [1, 2], Fraction(0)),
    "fine": ([2**14], [1], [0], [1], Fraction(1, 2**11)),
}


def arrays(*columns):
    return [np.array(column, np.int64) for column in columns]


def masses(lengths, counts, gaps, rises, rate):
    """The law over (i, p), for p up to where nothing is left."""
    law = {}
    for i, length in enumerate(lengths):
        for p in range(min(length, 2**14)):
            x = float(rate * (gaps[i] + p * rises[i]))
            if x > 60:
                break
            law[i, p] = counts[i] * exp(-x)
    total = sum(law.values())
    return {place: mass / total for place, mass in law.items()}


def p_value(case, rate, words):
    """Chi-square over cells of at least 5: positions are binned by their law's quantiles."""
    law = masses(*case)
    places, edges = list(law), np.cumsum(list(law.values()))
    bins = {place: int(edge * 40) for place, edge in zip(places, edges, strict=True)}
    expected = np.bincount([bins[p] for p in places], [law[p] for p in places]) * COUNT
    ramps = Ramps(*arrays(*case[:4]), rate)
    drawn = np.bincount([bins[ramps.draw(words)] for _ in range(COUNT)], minlength=expected.size)
    kept = expected > 5
    assert drawn[~kept].sum() <= 40
    fitted = expected[kept] / expected[kept].sum() * drawn[kept].sum()
    return stats.chisquare(drawn[kept], fitted).pvalue if kept.sum() > 1 else 1.0


@pytest.mark.parametrize("name", CASES)
def test_a_position_is_drawn_by_its_weight(name):
    """False alarm 1e-6."""
    assert p_value(CASES[name], CASES[name][4], secure_words()) > ALARM


@pytest.mark.parametrize("factor", [Fraction(2, 3), Fraction(3, 2)])
def test_a_wrong_rate_is_seen(factor):
    case = CASES["one slope"]
    assert p_value(case, case[4] * factor, secure_words()) < ALARM


def test_the_same_words_draw_the_same_places():
    case = CASES["flat beside steep"]
    ramps = Ramps(*arrays(*case[:4]), case[4])
    first, second = ([ramps.draw(w) for _ in range(50)] for w in map(seeded_words, (3, 3)))
    assert first == second


def test_integers_of_any_size_are_taken():
    huge = [np.array(c, object) for c in ([3, 3], [1, 1], [0, 10**30], [10**30, 0])]
    assert Ramps(*huge, Fraction(1)).draw() == (0, 0)

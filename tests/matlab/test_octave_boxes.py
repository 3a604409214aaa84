"""The toolbox's median by nested boxes: its law is that of Python's, on small grids.

Octave draws from the secure source; a chi-square test with a false-alarm rate of 1e-6 accepts the
exact law and sees 2/3 and 3/2 of its scale.
"""

import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare
from toolbox import needs_octave, octave

from halfmask.mechanisms import BoxMedian

pytestmark = needs_octave

FALSE_ALARM = 1e-6
CASES = {
    "plane, replaced": ([[0, 0], [3, 1], [1, 4], [1, 1], [5, 2]], [-1, 0], [6, 5], 2, 3),
    "space with ties": (
        [[1, 1, 1], [2, 2, 1], [3, 1, 2], [2, 2, 2], [2, 3, 1], [2, 1, 1], [1, 2, 2], [2, 2, 1]],
        [0, 0, 0],
        [4, 4, 3],
        1,
        Fraction(3, 2),
    ),
}


def drawn(rows, lower, upper, moved, epsilon):
    """Draw 700 cells in Octave."""
    columns = len(lower)
    code, said = octave(
        f"v = reshape({np.ravel(rows).tolist()}, {columns}, [])';"
        f"rate = halfmask.parts.part_of(halfmask.exact.meant('{epsilon}', 'epsilon'), 1, {moved});"
        "words = halfmask.noise.SecureWords();"
        "for i = 1:700;"
        f"disp(sprintf('%d ', halfmask.parts.box_cells(v, {lower}, {upper}, rate, words)));"
        "end"
    )
    assert code == 0, said
    lines = [line for line in said.splitlines() if re.fullmatch(r"[-\d ]+", line)]
    assert len(lines) == 700
    return [tuple(map(int, line.split())) for line in lines]


def p_value(cells, law):
    """The p-value of the cells under a law; those expected fewer than 5 times are one."""
    seen = np.array([cells.count(cell) for cell in law])
    assert seen.sum() == len(cells)
    expected = np.exp(list(law.values())) * len(cells)
    rare = expected < 5
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    return chisquare(seen[expected > 0], expected[expected > 0]).pvalue


@pytest.mark.parametrize("case", CASES)
def test_cells_have_the_law_of_their_depth(case):
    rows, lower, upper, moved, epsilon = CASES[case]
    cells = drawn(rows, lower, upper, moved, epsilon)
    laws = {
        factor: BoxMedian(lower, upper, moved, epsilon * factor).log_masses(np.array(rows))
        for factor in (1, Fraction(2, 3), Fraction(3, 2))
    }
    assert p_value(cells, laws[1]) > FALSE_ALARM
    assert p_value(cells, laws[Fraction(2, 3)]) < FALSE_ALARM
    assert p_value(cells, laws[Fraction(3, 2)]) < FALSE_ALARM

"""Proposals from boxes: the certified bound, the partition, the law of a draw, and that it ends.

Statistical tests draw from the secure source, with a false-alarm rate of 1e-6 each.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spatial_cases import CASES, FALSE_ALARM, KINDS, float_lengths, p_value

from halfmask.mechanisms import SpatialMedian
from halfmask.mechanisms.spatial.boxes import Boxes
from halfmask.noise import secure_words


def in_boxes(median, points):
    return Boxes.of(median, points, median.steps)


@pytest.mark.parametrize("case", CASES)
def test_a_draw_has_the_law_of_its_score(case):
    assert p_value(case, in_boxes) > FALSE_ALARM


@pytest.mark.parametrize("factor", [Fraction(2, 3), Fraction(3, 2)])
def test_a_wrong_epsilon_is_seen(factor):
    assert p_value("line", in_boxes, factor, 1500) < FALSE_ALARM


@given(st.sampled_from(sorted(KINDS)), st.integers(1, 4), st.integers(0, 40), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_the_bound_of_a_box_is_below_the_score_in_it_and_boxes_are_a_partition(kind, d, n, seed):
    generator = np.random.default_rng(seed)
    rows = np.clip(np.rint(KINDS[kind](generator, n, d) * 50).astype(np.int64), -999, 1000)
    median = SpatialMedian([-999] * d, [1000] * d, 1, 1, generator.integers(1, 4, d).tolist())
    boxes = Boxes.of(median, rows, median.steps)
    for _ in range(5):
        boxes = boxes.cut(0.0)
    widths = (boxes.high - boxes.low + 1).astype(object)
    assert sum(widths.prod(axis=1).tolist()) == 2000**d
    for place in generator.integers(-999, 1001, (10, d)):
        assert ((boxes.low <= place) & (place <= boxes.high)).all(axis=1).sum() == 1
    for low, high, level in zip(boxes.low, boxes.high, boxes.levels.tolist(), strict=True):
        places = np.vstack([low, high, generator.integers(low, high + 1, (5, d))])
        assert level / 2**20 <= float_lengths(rows, places, median.steps).min() + 1e-9 * n


HARD = {
    "two places": lambda g, n, d: np.repeat(g.normal(size=(2, d)), n // 2, axis=0),
    "a long axis": lambda g, n, d: g.normal(size=(n, d)) * ([1e6] + [1] * (d - 1)),
    "a lattice": lambda g, n, d: np.rint(g.normal(size=(n, d))),
    "two values": lambda g, n, d: (g.normal(size=(n, d)) > 0).astype(float),
}  # fmt: skip


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kind", HARD)
def test_few_coordinates_are_drawn_soon_whatever_the_rows(kind, d):
    """Parts and proposals are counted, not time; shells alone would take millions on the first."""
    rows = HARD[kind](np.random.default_rng(1), 600, d)
    rows = np.rint(rows * (2**36 / np.abs(rows).max())).astype(np.int64)
    median = SpatialMedian([-(2**40)] * d, [2**40] * d, 1, 1)
    boxes, words = Boxes.of(median, rows, median.steps), secure_words()
    assert len(boxes.low) < 3000
    for _ in range(3000):
        if boxes.attempt(words) is not None:
            return
    pytest.fail("no proposal was accepted")

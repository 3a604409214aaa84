"""Prices too small for a stage of a centre or a shape."""

import numpy as np
import pytest

import halfmask as hm
from halfmask.procedures.location import CoordinateMedian, RobustLocation

SMALL = [
    (RobustLocation(0, 10), {"mu": "1e-10"}),
    (RobustLocation(0, 10), {"rho": "1e-10"}),
    (RobustLocation(0, 10, plan=(1e-9, 1e-9, 1 - 2e-9)), {"rho": "0.01"}),
    (RobustLocation(0, 10, whiten=True), {"mu": "1e-10"}),
    (hm.TylerScatter(0, 10), {"rho": "1e-9"}),
    (CoordinateMedian(0, 10), {"mu": "1e-12"}),
]


@pytest.mark.parametrize(("query", "price"), SMALL)
def test_a_price_too_small_for_a_stage_is_refused_before_it_is_charged(query, price):
    budget = hm.GDP(1) if "mu" in price else hm.ZCDP(1)
    points = hm.open(np.zeros((50, 3)), budget=budget)
    with pytest.raises(hm.InvalidQuery):
        points.ask(query, **price)
    assert points.remaining == budget

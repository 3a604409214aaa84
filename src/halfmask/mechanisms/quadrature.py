"""One quadrature rule for the smooth, positive integrands of two log masses."""

import functools

import numpy as np


@functools.cache
def nodes_and_weights() -> tuple[tuple[float, float], ...]:
    """Return the 48 nodes and weights of Gauss and Legendre on [0, 1]: exact to degree 95."""
    nodes, weights = np.polynomial.legendre.leggauss(48)
    return tuple(zip(((1 + nodes) / 2).tolist(), (weights / 2).tolist(), strict=True))

"""Clusters of public weighted points: free, and found by scikit-learn."""

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import InvalidQuery

__all__ = ["grouped", "need_grouping"]

_STARTS = 20


def need_grouping() -> None:
    """Raise InvalidQuery where scikit-learn is missing."""
    if find_spec("sklearn") is None:
        raise InvalidQuery(
            "KMeans: needs scikit-learn, which is not installed; pip install 'halfmask[cluster]'. "
            "Nothing was charged."
        )


def grouped(points: NDArray[np.float64], weights: NDArray[np.float64], k: int) -> Any:
    """Cluster public weighted points: the best of many starts. At most as many as there are."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    k = min(k, len(points))
    with threadpool_limits(1), warnings.catch_warnings():  # few points: threads would only wait
        warnings.simplefilter("ignore")  # of points that coincide
        found = KMeans(k, n_init=_STARTS, random_state=0).fit(points, sample_weight=weights)
    return np.asarray(found.cluster_centers_, dtype=np.float64)

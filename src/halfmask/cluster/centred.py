"""What estimators of centres share: settings, labels of rows that are asked for, clones."""

from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from halfmask.cluster.rows import distances_between, held, numbers
from halfmask.errors import InvalidQuery, shown
from halfmask.noise import Words
from halfmask.privacy import Number, Relation, exact

__all__ = ["Centred"]

_MOST_CLUSTERS = 1000
_FAR = Fraction(10**30)


class Centred(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator whose `fit` leaves `cluster_centers_`."""

    n_clusters: int
    row_bound: str | Number
    relation: str
    words: Words | None
    cluster_centers_: NDArray[np.float64]

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return which centre is nearest to each row, -1 for a row that has none."""
        distances = self.transform(X)
        absent = ~np.isfinite(distances[:, 0])
        distances[absent] = 0
        return np.where(absent, -1, distances.argmin(axis=1))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the distance from each row, held to the bound, to each centre."""
        check_is_fitted(self)
        table = numbers(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        rows = held(table, self._bound())
        return distances_between(rows, self.cluster_centers_)

    def _settings(self) -> tuple[int, float | None, bool]:
        """Return the clusters, the bound, and whether a row is replaced."""
        k = self.n_clusters
        whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
        if not whole or not 1 <= k <= _MOST_CLUSTERS:
            raise InvalidQuery(
                f"n_clusters: must be a whole number from 1 to {_MOST_CLUSTERS}, given {shown(k)}; "
                "say how many centres you want"
            )
        return int(k), self._bound(), Relation.of(self.relation) is Relation.REPLACE

    def _bound(self) -> float | None:
        """Return the bound of rows; None where their directions are compared."""
        if isinstance(self.row_bound, str) and self.row_bound == "unit":
            return None
        return float(exact(self.row_bound, "row_bound", smallest=1 / _FAR, largest=_FAR))

    @property
    def _seeded(self) -> str:
        seeded = self.words is not None and self.words.seeded
        return " NOT PRIVATE: seeded" if seeded else ""

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_clone__(self) -> Self:
        """A clone shares the ledger: a copy could spend the same money twice."""
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.non_deterministic = True
        return tags

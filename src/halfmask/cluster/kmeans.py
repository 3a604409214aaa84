"""Private k-means and k-medians, as an estimator of scikit-learn."""

from typing import Any, Self

from sklearn.utils.validation import validate_data

from halfmask.cluster.centred import Centred
from halfmask.cluster.payment import Payment
from halfmask.cluster.rows import Rows, numbers
from halfmask.errors import InvalidQuery, shown
from halfmask.noise import Words
from halfmask.privacy import Approximate, Ledger, Number, Purse
from halfmask.procedures.cluster import Shares, Stages, grouped

__all__ = ["PrivateKMeans"]


class PrivateKMeans(Centred):
    """Centres of clusters at a price: (epsilon, delta)-differential privacy for each row.

    Rows are held to a public ball; their mean and axes are found first, then many noisy cells along
    the axes, which are a private core-set: it is clustered for free, and the clusters take one more
    noisy step in all columns.

    Args:
        n_clusters: from 1 to 1000.
        epsilon: with delta, the price of one `fit`.
        delta: above 0, below 1 / rows.
        row_bound: "unit" compares rows by direction alone, each stretched to length 1; a number is
            the length to which longer rows are cut. It is public: say what is known of such rows
            without these ones, in their units, and subtract a public centre first where 0 is none.
        loss: "mean", or "median" for a last step towards the spatial median of each cluster, which
            far rows pull less.
        ledger: a Ledger or Purse, charged with each `fit` before its rows are looked at; clones
            share it. None charges nobody.
        relation: which change is hidden, "add_remove" or "replace" of one row.
        words: the source of noise; None means the secure one, which alone is private.

    Attributes:
        cluster_centers_: (n_clusters, columns), within the bound of rows; of directions, if "unit".
        cluster_sizes_: noisy numbers of rows, which may be negative.
        privacy_spent_: what the last `fit` cost.
        n_components_: how many axes were used.
        n_features_in_, feature_names_in_: the columns.

    There is no `labels_` nor `inertia_`: a label is a fact about a row, and so would be a sum of
    distances without noise. `predict` tells labels of whatever rows it is given to whoever has
    those rows; its answers about private rows are as private as they are. A centre is a location: a
    private row in its place, as k-medoids would choose, would be published as it is. To centre on
    items of a public catalogue, see `PrivateKMedoids`.

    Rows with a NaN or an infinity, or longer than 1e154, count as absent; `predict` gives them -1,
    `transform` NaN. Fewer rows than clusters, or none, give centres as for any other: mostly noise.

    Raises (by `fit`):
        InvalidQuery: for parameters, shapes and types, before anything is charged or looked at.
        BudgetExhausted: when the ledger has too little left.

    Privacy: (epsilon, delta)-DP for one row: every stage is a Gaussian mechanism (`Cells`,
    `Spread`), and a purse holds them to the largest mu within the price.
    [Dong, Roth & Su 2019, Thm 2.7 and Cor. 3.3; Balle & Wang 2018, Thm 8]

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(scale=0.3, size=(6000, 2)) + rng.choice([-5.0, 0.0, 5.0], size=(6000, 1))
    >>> found = PrivateKMeans(3, epsilon=1, delta=1e-6, row_bound=10).fit(X)
    >>> bool(np.abs(np.sort(found.cluster_centers_[:, 0]) - [-5, 0, 5]).max() < 0.5)
    True
    >>> print(found.privacy_spent_)
    epsilon 1, delta 1e-6

    """

    def __init__(
        self,
        n_clusters: int,
        epsilon: Number,
        delta: Number,
        *,
        row_bound: str | Number = "unit",
        loss: str = "mean",
        ledger: Ledger | Purse | None = None,
        relation: str = "add_remove",
        words: Words | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.row_bound = row_bound
        self.loss = loss
        self.ledger = ledger
        self.relation = relation
        self.words = words

    def fit(self, X: Any, y: None = None) -> Self:
        """Pay, then find centres of the rows of X (rows, columns). y is not used."""
        clusters, bound, replaced = self._settings()
        if self.loss not in ("mean", "median"):
            raise InvalidQuery(f"loss: unknown value {shown(self.loss)}; choose 'mean' or 'median'")
        price = Approximate(self.epsilon, self.delta)
        inside = price.largest_gdp()
        payment = Payment.of(price, inside, self.ledger)
        table = numbers(X)
        columns = table.shape[1]
        shares = Shares(columns, replaced, inside)
        shares.rehearse()
        validate_data(self, X, skip_check_array=True)
        purse = payment.pay(self._described(columns))
        stages = Stages(clusters, self.loss == "median", shares, grouped)
        rows: list[Rows] = []

        def measure(measurement: Any) -> Any:
            purse.spend(measurement.cost)
            if not rows:
                rows.append(Rows.of(table, bound))
            return measurement.read(measurement.release(rows[0], self.words))

        found = stages.run(inside, measure)
        self.cluster_centers_ = found.centres * (1.0 if bound is None else bound)
        self.cluster_sizes_ = found.counts
        self.privacy_spent_ = payment.cost
        self.n_components_ = found.axes
        return self

    def _described(self, columns: int) -> str:
        return (
            f"PrivateKMeans({self.n_clusters}, epsilon={self.epsilon}, delta={self.delta}, "
            f"row_bound={self.row_bound!r}, loss={self.loss!r}, relation={self.relation!r}) of "
            f"{columns} columns{self._seeded}"
        )

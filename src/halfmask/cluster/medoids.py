"""Private medoids among public candidates, as an estimator of scikit-learn."""

from fractions import Fraction
from math import isqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from halfmask.cluster.centred import Centred
from halfmask.cluster.payment import Payment
from halfmask.cluster.rows import Rows, held, numbers
from halfmask.cluster.savings import FAR, Savings
from halfmask.errors import InvalidQuery, shown
from halfmask.mechanisms import Exponential
from halfmask.noise import Words
from halfmask.privacy import ZCDP, Approximate, Ledger, Number, Purse, exact
from halfmask.queries.cutting import FINE

__all__ = ["PrivateKMedoids"]

_MOST_CANDIDATES = 10_000
_MOST_SWAPS = 1000
_UNIT = 10**12


class PrivateKMedoids(Centred):
    """Medoids of private rows, chosen from a public catalogue: (epsilon, delta) for each row.

    The first medoid, and each further one, is the candidate with which the rows are nearest to
    their medoids; then medoids are exchanged for candidates. Each choice is an exponential
    mechanism. A distance counts up to `reach`, so that no row matters more than another.

    Args:
        n_clusters: from 1 to 1000, at most as many as candidates.
        epsilon: with delta, the price of one `fit`.
        delta: above 0, below 1 / rows.
        candidates: (m, columns), up to 10 000: public, as centres are published as they are. Rows
            of the private table are no such candidates: a released row is not private.
        row_bound: "unit" compares directions, a number is the length to which longer rows, and
            candidates, are cut.
        reach: the distance beyond which a row counts as lost: public; None means the bound.
        swaps: how many exchanges; None means `n_clusters`. More of them share the price.
        ledger, relation, words: as `PrivateKMeans`.

    Attributes:
        medoid_indices_: which candidates.
        cluster_centers_: these, held to the bound.
        privacy_spent_: what the last `fit` cost.

    Rows that are no vectors, tables of no rows, and labels: as `PrivateKMeans`.

    Raises (by `fit`):
        InvalidQuery: for parameters, shapes and types, before anything is charged or looked at.
        BudgetExhausted: when the ledger has too little left.

    Privacy: (epsilon, delta)-DP for one row: a row moves every score the same way and by at most
    FAR (`Savings`), so a choice at e is e^2/8-zCDP, and their sum implies (epsilon, delta).
    [McSherry & Talwar 2007, Thm 6; Dwork & Roth 2014, Section 3.4; Cesar & Rogers 2021, Lemma 3.4;
    Bun & Steinke 2016, Lemma 1.7]

    >>> rng = np.random.default_rng(0)
    >>> shops = np.array([[0.0, 0.0], [1.0, 4.0], [4.0, 1.0], [5.0, 5.0]])
    >>> X = shops[rng.choice([1, 2], size=2000)] + rng.normal(scale=0.3, size=(2000, 2))
    >>> found = PrivateKMedoids(2, 1, 1e-6, candidates=shops, row_bound=10, reach=5).fit(X)
    >>> sorted(found.medoid_indices_.tolist())
    [1, 2]

    """

    def __init__(  # noqa: PLR0913
        self,
        n_clusters: int,
        epsilon: Number,
        delta: Number,
        *,
        candidates: Any,
        row_bound: str | Number = "unit",
        reach: Number | None = None,
        swaps: int | None = None,
        ledger: Ledger | Purse | None = None,
        relation: str = "add_remove",
        words: Words | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.candidates = candidates
        self.row_bound = row_bound
        self.reach = reach
        self.swaps = swaps
        self.ledger = ledger
        self.relation = relation
        self.words = words

    def fit(self, X: Any, y: None = None) -> Self:
        """Pay, then choose medoids for the rows of X (rows, columns). y is not used."""
        clusters, bound, replaced = self._settings()
        places, reach = self._catalogue(clusters), self._reach()
        steps = clusters + self._exchanges()
        price = Approximate(self.epsilon, self.delta)
        inside = price.largest_zcdp()
        payment = Payment.of(price, inside, self.ledger)
        choice = _choice(inside, steps, replaced)
        table = numbers(X)
        if table.shape[1] != places.shape[1]:
            raise InvalidQuery(
                f"X: {table.shape[1]} columns given, and candidates of {places.shape[1]}; give "
                "both in the same columns"
            )
        validate_data(self, X, skip_check_array=True)
        purse = payment.pay(self._described(places.shape))
        savings = Savings.of(Rows.of(table, bound), Rows.of(places, bound), reach)
        medoids: list[int] = []
        for step in range(steps):
            purse.spend(choice.zcdp)
            if step < clusters:
                medoids.append(choice.release(savings.first(medoids), self.words))
            else:
                out, new = divmod(choice.release(savings.swapped(medoids), self.words), len(places))
                medoids[out] = new
        self.medoid_indices_ = np.array(medoids)
        self.cluster_centers_ = held(places, bound)[medoids]
        self.privacy_spent_ = payment.cost
        return self

    def _catalogue(self, clusters: int) -> NDArray[Any]:
        """Return the candidates, which are public: so what is wrong with them may be said."""
        places = numbers(self.candidates)
        if not clusters <= len(places) <= _MOST_CANDIDATES:
            raise InvalidQuery(
                f"candidates: {len(places)} given for {clusters} clusters; give as many at least, "
                f"and at most {_MOST_CANDIDATES}"
            )
        if len(Rows.of(places, self._bound()).vectors) < len(places):
            raise InvalidQuery("candidates: one has a NaN or an infinity; leave it out")
        return places

    def _reach(self) -> float:
        """Return the reach in parts of the bound."""
        if self.reach is None:
            return float(FINE)
        bound = self._bound() or 1.0
        far = Fraction(2 * bound)
        return FINE * float(exact(self.reach, "reach", smallest=far / 2**11, largest=far)) / bound

    def _exchanges(self) -> int:
        swaps = self.n_clusters if self.swaps is None else self.swaps
        whole = isinstance(swaps, int | np.integer) and not isinstance(swaps, bool)
        if not whole or not 0 <= swaps <= _MOST_SWAPS:
            raise InvalidQuery(
                f"swaps: must be a whole number from 0 to {_MOST_SWAPS}, given {shown(swaps)}; "
                "say how many exchanges share the price"
            )
        return int(swaps)

    def _described(self, shape: tuple[int, ...]) -> str:
        return (
            f"PrivateKMedoids({self.n_clusters}, epsilon={self.epsilon}, delta={self.delta}, "
            f"row_bound={self.row_bound!r}, reach={self.reach}, swaps={self.swaps}, "
            f"relation={self.relation!r}) of {shape[0]} candidates of {shape[1]} columns"
            f"{self._seeded}"
        )


def _choice(inside: ZCDP, steps: int, replaced: bool) -> Exponential:
    """Return the choice that so many steps may make within a rho."""
    each = isqrt(int(8 * inside.rho / steps * _UNIT**2))  # of e^2/8-zCDP
    return Exponential(FAR, Fraction(each, _UNIT), monotonic=not replaced)

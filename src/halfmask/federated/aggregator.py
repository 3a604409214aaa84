"""Private and robust aggregation of what clients send, round after round."""

import os
import threading
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import BudgetExhausted, InvalidQuery, LedgerError, shown
from halfmask.federated.pace import Pace
from halfmask.federated.subspace import Subspace
from halfmask.federated.walk import Walk
from halfmask.mechanisms import RoundedGaussian
from halfmask.noise import Words, bernoulli_enclosed
from halfmask.privacy import GDP, Approximate, Cost, Ledger, Number, Purse, Relation

__all__ = ["PrivateRobustAggregator"]

_MOST_CLIENTS = 2**29


class PrivateRobustAggregator:
    """A private spatial median of clients' updates, by noisy clipped steps; one vector a round.

    In each round the centre c starts at `warm_start` times the last aggregate, and takes
    `inner_steps` steps c += step * S / N. S is the noisy sum of x - c over the clients' updates x,
    each cut to length `radius`; N = population * sampling_rate, a public number, whoever shows up.
    Where most updates lie farther from c than the radius, this climbs towards the spatial median,
    and no client, whatever it sends, pulls harder than any other. One step from 0 (`warm_start=0,
    inner_steps=1, step=1`) is DP-FedAvg; one step from the last aggregate is centred clipping.

    Args:
        epsilon: with delta, the price of all rounds together, for one client.
        delta: above 0; below 1 / population.
        rounds: how many there will be; one more is refused.
        population: how many clients there are: public, not counted from those who came.
        radius: the length to which a difference is cut, in units of the updates: public.
        sampling_rate: the chance with which each client enters a round. Below 1, `sample()` must
            say who does, in each round anew, and nobody else may learn whom it drew.
        inner_steps: steps in each round.
        warm_start: from 0 to 1.
        step: the gain of each step, above 0.
        subspace: a `Subspace`, in which clients send what `subspace.down(aggregate.round, update)`
            returns; the aggregate is lifted out of it. It saves traffic and adds noise. Each round
            has another one, so `warm_start` is 0.
        schedule: "constant", "decreasing" or "increasing" shares of the price.
        relation: which change is hidden, "add_remove" or "replace" of one client (a client that
            stays away is absent in both).
        ledger: a Ledger or Purse, charged with the whole price before the first updates are
            looked at; None charges nobody else.
        words: the source of noise; None means the secure one, which alone is private.

    Calling it with an array (clients, d) of numbers returns d floats. A client whose update has
    a NaN or an infinity, or is longer than 1e154, counts as absent. Fewer clients than announced,
    or none, add less; more add more: the noise is the same.

    Raises:
        InvalidQuery: for settings, shapes and types, before anything is charged or looked at.
        BudgetExhausted: after the last round, or when the ledger has too little left.

    Privacy: (epsilon, delta)-DP for one client, over all rounds and all their steps: each step is a
    Gaussian mechanism (`Walk`), the rest is post-processing and composition (`Pace`).
    [Dong, Roth & Su 2019, Thm 2.7 and Cor. 3.3; below a sampling_rate of 1 see `sampled`]

    >>> updates = np.random.default_rng(0).normal(size=(1000, 20)) + 3
    >>> updates[:100] = -1e9                                     # a tenth is malicious
    >>> aggregate = PrivateRobustAggregator(
    ...     1, 1e-5, rounds=2, population=1000, radius=5, inner_steps=8)
    >>> bool(np.abs(aggregate(updates) - 3).max() < 2)
    True
    >>> aggregate.rounds_left, str(aggregate.cost)
    (1, 'epsilon 1, delta 1e-5')

    """

    def __init__(  # noqa: PLR0913
        self,
        epsilon: Number,
        delta: Number,
        rounds: int,
        population: int,
        *,
        radius: float,
        sampling_rate: Number = 1,
        inner_steps: int = 1,
        warm_start: float = 0.8,
        step: float = 1.0,
        subspace: Subspace | None = None,
        schedule: str = "constant",
        relation: str = "add_remove",
        ledger: Ledger | Purse | None = None,
        words: Words | None = None,
    ) -> None:
        whole = isinstance(population, int) and not isinstance(population, bool)
        if not whole or not 1 <= population <= _MOST_CLIENTS:
            raise InvalidQuery(
                f"population: must be a whole number from 1 to 2^29, given {shown(population)}; "
                "give about how many clients there are, from public knowledge"
            )
        self.relation = Relation.of(relation)
        moved = 2 if self.relation is Relation.REPLACE else 1
        price = Approximate(epsilon, delta)
        if price.delta * population >= 1:
            raise InvalidQuery(
                f"delta: {delta} is not below 1 / population, so a client could be shown as it is; "
                f"give {0.01 / population:.1g}, for instance"
            )
        self.pace = Pace(price, rounds, sampling_rate, schedule)  # type: ignore[arg-type]
        if self.pace.rate < 1 and moved == 2:
            raise InvalidQuery(
                "relation: sampling hides who took part, so 'replace' is not accounted for below a "
                "sampling_rate of 1; use 'add_remove'"
            )
        clients = population * self.pace.rate
        self.subspace = subspace
        if subspace is not None and not isinstance(subspace, Subspace):
            raise InvalidQuery(f"subspace: {shown(subspace)} is none; give a Subspace, or None")
        if subspace is not None and warm_start != 0:
            raise InvalidQuery(
                f"warm_start: {warm_start} given beside a subspace, which is another one in each "
                "round, so that the last aggregate is no start; say warm_start=0"
            )
        self.walk = Walk(radius, inner_steps, warm_start, step, moved, clients)
        self.population = population
        for least in {0, rounds - 1}:
            self.noise(least)  # refuses a price that is too small to draw noise for
        self._ledger = ledger
        self._words = words
        self._done = 0
        self._entered: NDArray[np.int64] | None = None
        self._last: NDArray[np.float64] | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self.cost = self.pace.price if ledger is None else self.pace.cost(_budget(ledger).measure)

    @property
    def rounds_left(self) -> int:
        """How many rounds are left."""
        return self.pace.rounds - self._done

    @property
    def round(self) -> int:
        """The number of the next round, from 0: clients need it for a subspace."""
        return self._done

    @property
    def seeded(self) -> bool:
        """Whether the noise can be drawn again: then nothing of this is private."""
        return self._words is not None and self._words.seeded

    def noise(self, round: int = 0) -> RoundedGaussian:
        """Return the noise of each sum in a round, in parts of the radius: a public law."""
        return self.walk.mechanism(self.pace.round(round))

    def sample(self, clients: int | None = None) -> NDArray[np.int64]:
        """Draw who enters the next round: some of 0 .. clients - 1, each by its own coin.

        clients: how many there are; `population` unless given. Asked again before that round, it
        names the same.

        Privacy: the coins are exact and independent (Poisson sampling); keep the outcome secret.
        """
        over, under = self.pace.rate.numerator, self.pace.rate.denominator

        def chance(bits: int) -> tuple[int, int]:
            return (over << bits) // under, -(-(over << bits) // under)

        count = self.population if clients is None else clients
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= _MOST_CLIENTS:
            raise InvalidQuery(
                f"clients: {shown(clients)} is no number of clients; give one, or None"
            )
        with self._lock:
            if self._entered is None:
                certain = np.ones(count, np.bool_)  # and no word is read
                coins = certain if over == under else bernoulli_enclosed(chance, count, self._words)
                self._entered = np.flatnonzero(coins).astype(np.int64)
            return self._entered.copy()

    def __call__(self, updates: Any) -> NDArray[np.float64]:
        """Return the aggregate of one round. updates: an array (clients, d) of numbers."""
        with self._lock:
            table = self._checked(updates)
            price = self._pay(len(table))
            last = np.zeros(table.shape[1]) if self._last is None else self._last
            self._last = self.walk.round(table, last, price, self._words)
            if self.subspace is not None:
                return self.subspace.lift(self._done - 1, self._last)
            return self._last.copy()

    def _checked(self, updates: Any) -> NDArray[Any]:
        """Return updates as an array, judged by its shape and type alone."""
        try:
            table = np.asarray(updates)
        except ValueError:
            table = np.empty(0, dtype=object)
        if table.ndim != 2 or table.dtype.kind not in "fiu" or table.shape[1] == 0:
            raise InvalidQuery(
                f"updates: {table.ndim} dimensions of type {table.dtype} given; give an array "
                "(clients, parameters) of numbers, a row of NaN for a client without an update"
            )
        if self.subspace is not None and table.shape[1] != self.subspace.size:
            raise InvalidQuery(
                f"updates: {table.shape[1]} numbers given of each client, and the subspace has "
                f"{self.subspace.size}; send subspace.down(aggregate.round, update)"
            )
        if self._last is not None and table.shape[1] != self._last.size:
            raise InvalidQuery(
                f"updates: {table.shape[1]} parameters given after rounds of {self._last.size}; "
                "start another aggregator for another model"
            )
        return table

    def _pay(self, clients: int) -> GDP:
        """Take one round, and charge the ledger with all of them before the first."""
        if self._process != os.getpid():
            raise LedgerError("aggregator: this process is a fork; aggregate where it was made")
        if not self.rounds_left:
            raise BudgetExhausted(
                f"rounds: all {self.pace.rounds} were had; no update was looked at. Make another "
                "aggregator at its own price"
            )
        if self._entered is None and self.pace.rate < 1:
            raise InvalidQuery(
                f"sampling_rate: {self.pace.rate} holds only if sample() drew the clients of this "
                "round; call it, and give the updates of those whom it names"
            )
        drawn = clients if self._entered is None else len(self._entered)
        if self.pace.rate < 1 and clients > drawn:
            raise InvalidQuery(
                f"updates: {clients} given, and sample() drew {drawn} clients; give the updates of "
                "those alone, since the price counts on the others' absence"
            )
        if self._done == 0 and isinstance(self._ledger, Ledger):
            self._ledger.charge(self.cost, query=repr(self))
        elif self._done == 0 and isinstance(self._ledger, Purse):
            self._ledger.spend(self.cost)
        self._done += 1
        self._entered = None
        return self.pace.round(self._done - 1)

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "aggregator: a copy could spend the same money twice; pass the aggregator itself"
        )

    def __repr__(self) -> str:
        walk, pace = self.walk, self.pace
        return (
            f"PrivateRobustAggregator({self.cost}, rounds={pace.rounds}, "
            f"population={self.population}, radius={walk.radius:g}, sampling_rate={pace.rate}, "
            f"inner_steps={walk.inner_steps}, warm_start={walk.warm_start:g}, step={walk.step:g}, "
            f"{f'subspace={self.subspace!r}, ' if self.subspace else ''}"
            f"schedule={pace.schedule!r}, relation={str(self.relation)!r})"
            f"{' NOT PRIVATE: seeded' if self.seeded else ''}"
        )


def _budget(ledger: object) -> Cost:
    match ledger:
        case Ledger():
            return ledger.budget
        case Purse():
            return ledger.remaining
    raise InvalidQuery(
        f"ledger: {shown(ledger)} given; give a halfmask.Ledger, a Purse, or nothing"
    )

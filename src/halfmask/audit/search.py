"""The search for an event: half of the outputs proposes, the other half ranks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.events import Event, Intervals, Keys, KeySet, outcomes
from halfmask.audit.keys import fingerprints
from halfmask.audit.samples import Matrix
from halfmask.audit.scores import learned_statistics
from halfmask.audit.statistics import Statistic, plain_statistics

__all__ = ["Claim", "Proposal", "propose"]

Counts = NDArray[np.float64]

MANY = 160  # distinct values up to which each gets a bin of its own
QUANTILES = np.concatenate(
    [[0.0005, 0.002, 0.005, 0.01], np.linspace(0.02, 0.98, 97), [0.99, 0.995, 0.998, 0.9995]]
)
FITTED = 1 << 18  # rows from which scores, their thresholds and sets of fingerprints are learned
CUT = 1 << 16  # rows from which thresholds of what needs no learning are
RANKED = 1 << 17  # rows that rank
PILOT_SIGMAS = 1.5  # how far estimates are shrunk against the lucky winner
DEPTH_SIGMAS = 5.3  # about sqrt(2 log(1/alpha)) at alpha = 1e-6: what certifying costs
DEPTH = 8  # an event is chosen for so many times the outputs at hand
KEPT = 2  # proposals kept by each rating and direction
SLOWNESS = 0.03  # by so much an event must be better to be worth many bins
SHORTLIST = 10  # intervals by each rating and direction that are ranked
RARE = 8  # a fingerprint seen less often is first left out


@dataclass(frozen=True)
class Claim:
    """What is claimed: (epsilon, delta)-DP."""

    epsilon: float
    delta: float

    def ratings(self, counts: Counts) -> tuple[float, float]:
        """Return excess and bound of one event, from its outcomes, shape (4,)."""
        both, once, twice, _ = counts
        one, two, size = np.array([both + once]), np.array([both + twice]), counts.sum()
        return float(self.excess(one, two, size)[0]), float(self.bound(one, two, size)[0])

    def excess(self, one: Counts, two: Counts, size: float | Counts) -> Counts:
        """Rate events by the standard deviations per root output by which they break the claim.

        Args:
            one: how often the event held under the first data set.
            two: how often under the second.
            size: outputs from each.

        """
        ratio = np.exp(self.epsilon)
        p, q = one / size, (two + 1) / size
        spread = np.sqrt(p + ratio**2 * q)
        rating: Counts = (p - self.delta - ratio * q - spread / np.sqrt(size)) / spread
        return rating

    def bound(self, one: Counts, two: Counts, size: float | Counts) -> Counts:
        """Rate events by the epsilon that they might certify at greater depth."""
        p, q = one / size, (two + 0.5) / size
        low = p - PILOT_SIGMAS * np.sqrt(p / size) - self.delta
        high = q + PILOT_SIGMAS * np.sqrt(q / size) + 0.5 / size
        low = np.maximum(low, 1e-300)
        cost = DEPTH_SIGMAS * np.sqrt((1 / low + 1 / high) / (DEPTH * size))
        rating: Counts = np.log(low / high) - cost
        return rating


class _Draft(NamedTuple):
    """An event, its direction, and in how many of `size` fitted rows of each it held."""

    event: Event
    swapped: bool
    one: float
    two: float
    size: int


@dataclass(frozen=True)
class Proposal:
    """An event, and for which neighbour it is likelier.

    counts: shape (4,), outcomes among the outputs that ranked it (see events.outcomes), the
    likelier neighbour first.
    """

    event: Event
    swapped: bool
    counts: Counts
    excess: float
    bound: float


def propose(first: Matrix, second: Matrix, claim: Claim) -> list[Proposal]:
    """Return the most promising events for either direction, best bound first.

    Args:
        first: outputs under one data set, shape (size, k).
        second: outputs under its neighbour, same shape.
        claim: what is to be broken.

    """
    half = len(first) // 2
    few = min(half, FITTED)
    fit, rank = (first[:few], second[:few]), (first[half:][:RANKED], second[half:][:RANKED])
    events = [(event, swapped) for event, swapped, *_ in _shortlist(*fit, claim)]
    tables = outcomes(events, *rank)
    # Of events that held in the same numbers of rows, most likely one event, one is enough.
    distinct = {
        (swapped, tuple(counts)): _rated(event, swapped, counts, claim)
        for (event, swapped), counts in zip(events[::-1], tables[::-1], strict=True)
    }
    ranked = list(distinct.values())
    chosen: list[Proposal] = []
    for swapped in (False, True):
        these = [proposal for proposal in ranked if proposal.swapped is swapped]
        chosen += sorted(these, key=lambda p: -p.bound)[:KEPT]
        chosen += sorted((p for p in these if p.excess > 0), key=lambda p: -p.excess)[:KEPT]
    unique = {id(proposal): proposal for proposal in chosen}
    return sorted(unique.values(), key=lambda p: -p.bound)


def _rated(event: Event, swapped: bool, counts: Counts, claim: Claim) -> Proposal:
    excess, bound = claim.ratings(counts)
    if not event.plain:
        excess, bound = excess - abs(excess) * SLOWNESS, bound - abs(bound) * SLOWNESS
    return Proposal(event, swapped, counts, excess, bound)


def _shortlist(first: Matrix, second: Matrix, claim: Claim) -> list[_Draft]:
    """Return the best intervals by either rating and direction, and all sets of fingerprints."""
    pooled = np.concatenate([first, second])
    drafts = [
        *(
            d
            for s in plain_statistics(pooled)
            for d in _intervals(s, first[:CUT], second[:CUT], claim)
        ),
        *(
            d
            for s in learned_statistics(first, second)
            for d in _intervals(s, first, second, claim)
        ),
    ]
    chosen: dict[int, _Draft] = {}
    for swapped in (False, True):
        these = [draft for draft in drafts if draft.swapped is swapped]
        for rating in (claim.bound, claim.excess):
            one = np.array([draft.one for draft in these])
            two = np.array([draft.two for draft in these])
            size = np.array([draft.size for draft in these], np.float64)
            for i in np.argsort(-rating(one, two, size), kind="stable")[:SHORTLIST]:
                chosen[id(these[i])] = these[i]
    sets = [d for keys in fingerprints(pooled) for d in _key_sets(keys, first, second, claim)]
    return [*chosen.values(), *sets]


def _intervals(
    statistic: Statistic, first: Matrix, second: Matrix, claim: Claim
) -> Iterator[_Draft]:
    """Yield the best thresholds and unions of bins of a statistic."""
    ordered = np.sort(statistic(first)), np.sort(statistic(second))
    edges = _edges(np.concatenate(ordered))
    one, two = (
        np.diff(np.searchsorted(values, edges), prepend=0, append=values.size).astype(np.float64)
        for values in ordered
    )
    if np.array_equal(one, two):
        return
    for swapped, (a, b) in enumerate([(one, two), (two, one)]):
        up = np.arange(a.size)
        likeliest = _likeliest(a, b)
        found = {
            tuple(sorted(order[:count]))
            for order in (up, up[::-1], likeliest)
            for count in _prefixes(a[order], b[order], len(first), claim)
        }
        for chosen in found:
            flags = np.zeros(a.size, np.bool_)
            flags[list(chosen)] = True
            event = Intervals(statistic, edges, flags)
            yield _Draft(
                event, bool(swapped), float(a[flags].sum()), float(b[flags].sum()), len(first)
            )


def _key_sets(keys: Keys, first: Matrix, second: Matrix, claim: Claim) -> Iterator[_Draft]:
    """Yield the best sets of fingerprints: likeliest first, with and without the rare ones."""
    words = np.concatenate([keys(first), keys(second)])
    order = np.argsort(words, kind="stable")
    new = np.concatenate([[True], words[order][1:] != words[order][:-1]])
    distinct, group = words[order][new], np.cumsum(new) - 1
    totals = np.bincount(group).astype(np.float64)
    one = np.bincount(group, weights=(order < len(first)).astype(np.float64)).astype(np.float64)
    two = totals - one
    rows = np.concatenate([first, second])[order[new]]
    for swapped, (a, b) in enumerate([(one, two), (two, one)]):
        for least in (1, RARE):
            kept = np.flatnonzero(totals >= least)
            kept = kept[_likeliest(a[kept], b[kept])]
            for count in _prefixes(a[kept], b[kept], len(first), claim):
                chosen = np.sort(kept[:count])
                example = tuple(float(value) for value in rows[kept[0]])
                event = KeySet(keys, distinct[chosen], example)
                yield _Draft(
                    event, bool(swapped), float(a[chosen].sum()), float(b[chosen].sum()), len(first)
                )


def _prefixes(a: Counts, b: Counts, size: int, claim: Claim) -> set[int]:
    """Return how many of the leading bins make the best events, by either rating."""
    if not a.size:
        return set()
    a, b = a.cumsum(), b.cumsum()
    counts = {int(claim.bound(a, b, size).argmax()) + 1}
    excess = claim.excess(a, b, size)
    if excess.max() > 0:
        counts.add(int(excess.argmax()) + 1)
    return counts


def _likeliest(one: Counts, two: Counts) -> NDArray[np.intp]:
    """Order by likelihood ratio, highest first, what is seen seldom being trusted little."""
    return np.argsort(-(one + 0.5) / (two + 1.5), kind="stable")


def _edges(values: Counts) -> Counts:
    """Return the edges of bins: one a value if there are few, else at quantiles, atoms apart."""
    values = np.sort(values)
    new = np.concatenate([[True], np.asarray(values[1:] != values[:-1])])
    if np.count_nonzero(new) <= MANY:
        few: Counts = values[new][1:]
        return few
    at = values[np.minimum((QUANTILES * values.size).astype(int), values.size - 1)]
    atoms = at[1:][at[1:] == at[:-1]]
    return np.unique(np.concatenate([at, np.nextafter(atoms, np.inf)]))

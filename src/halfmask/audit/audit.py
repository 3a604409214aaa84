"""The audit: draw, bet on what was learned before, learn, and narrow down."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.audit.events import Event, outcomes
from halfmask.audit.evidence import Evidence
from halfmask.audit.neighbours import Pair
from halfmask.audit.samples import Matrix, Mechanism, draw, stacked
from halfmask.audit.search import Claim, propose
from halfmask.audit.verdict import Audit
from halfmask.errors import InvalidQuery

__all__ = ["audit", "audit_pairs"]

Counts = NDArray[np.float64]

DEPTH = 10_000_000
FIRST = 1 << 13  # outputs of each neighbour in the first round
LONGEST = 1 << 17  # rows of a batch
LARGEST = 1 << 20  # entries of a batch
MEMORY = 1 << 24  # entries of each neighbour that are kept to learn from, of all pairs together
PATIENCE = 50_000  # outputs of each neighbour before pairs are told apart
SLACK = 2.0  # standard deviations between a low and a high guess
HOPE = 5.0  # standard deviations by which a better event may yet be found
BEHIND = 8  # no pair is left with fewer outputs than the most tried one over this
LAST = 0.75  # part of the depth after which the highest bound is sought, no longer the violation
RETAINED = 2  # candidates of either rating that stay


def audit(
    mechanism: Mechanism,
    data: object,
    neighbour: object,
    *,
    epsilon: float,
    delta: float = 0.0,
    alpha: float = 1e-6,
    samples: int = DEPTH,
    stop: bool = True,
) -> Audit:
    """Attack the claim that a mechanism is (epsilon, delta)-DP, on one pair of neighbours.

    Args:
        mechanism: `mechanism(data, size)` returns `size` independent outputs, shape (size,) or
            (size, k); NaN and infinities are outputs like others. See `repeated` for one that
            answers once a call.
        data: whatever the mechanism takes.
        neighbour: the same with one unit more, less or other.
        epsilon: what is claimed.
        delta: what is claimed.
        alpha: the false-alarm rate: the probability that a mechanism which is as claimed is
            called a violator, and that a lower bound is above the truth.
        samples: about how many outputs are drawn in all, at most.
        stop: as soon as a violation is certified; False: go on for a tighter bound.

    False alarms: at most alpha in all. Events, directions, pairs and stakes of each batch are
    chosen from earlier batches, so a gambler who bets on them against a true claim has a
    non-negative supermartingale for wealth; it ever reaches 1/alpha with probability at most
    alpha, however long he plays and whenever he stops. [Ville 1939; see audit.evidence]

    Raises:
        InvalidQuery: bad arguments, or outputs that are no numbers.

    >>> from halfmask.noise import discrete_laplace
    >>> def count(rows, size):
    ...     return len(rows) + discrete_laplace(0.5, size)          # twice epsilon 1
    >>> found = audit(count, [1, 2, 3], [1, 2, 3, 4], epsilon=1)
    >>> found.violated, found.epsilon_lower_bound > 1
    (True, True)

    """
    pair = Pair("the given pair", data, neighbour)
    return audit_pairs(
        mechanism,
        [pair],
        epsilon=epsilon,
        delta=delta,
        alpha=alpha,
        samples=samples,
        stop=stop,
    )


def audit_pairs(
    mechanism: Mechanism,
    pairs: Sequence[Pair],
    *,
    epsilon: float,
    delta: float = 0.0,
    alpha: float = 1e-6,
    samples: int = DEPTH,
    stop: bool = True,
) -> Audit:
    """Attack a claim on a family of neighbours: see `audit`.

    Every pair is tried in both directions; rounds go to the pairs that are not clearly worse than
    the best so far. One gambler bets on all of them, so that alpha covers the whole search.

    Args:
        mechanism: see `audit`.
        pairs: such as `row_pairs(lower, upper)` or `answer_pairs(10)`.
        epsilon: see `audit`.
        delta: see `audit`.
        alpha: see `audit`.
        samples: see `audit`; the rounds of all pairs together.
        stop: see `audit`.

    """
    _check(pairs, epsilon, delta, alpha, samples)
    search = _Search(mechanism, Claim(float(epsilon), float(delta)), float(alpha))
    contests = everyone = [_Contest(pair) for pair in pairs]
    rows = min(FIRST, max(2, samples // (8 * len(pairs))))
    while rows > 0:
        for contest in contests:
            search.round(contest, rows, MEMORY // len(contests))
            if stop and search.evidence.violated:
                return search.verdict(everyone)
        contests = search.worthwhile(everyone, samples)
        left = (samples - search.drawn) // (2 * len(contests))
        rows = min(2 * rows, contests[0].most, left)
    return search.verdict(everyone)


@dataclass
class _Candidate:
    """An event under test: outcomes so far, and what betting on it brought."""

    event: Event
    swapped: bool
    past: Counts
    gains: Counts = field(default_factory=lambda: np.zeros(1))
    fresh: Counts = field(default_factory=lambda: np.zeros(4))


@dataclass
class _Contest:
    """A pair, the candidates on it, and how promising it is."""

    pair: Pair
    candidates: list[_Candidate] = field(default_factory=list)
    seen: int = 0
    learned_at: int = 0
    most: int = FIRST
    memory: list[tuple[Matrix, Matrix]] = field(default_factory=list)

    def remember(self, first: Matrix, second: Matrix, entries: int) -> None:
        """Keep a batch; forget the oldest beyond so many entries."""
        self.memory.append((first, second))
        while len(self.memory) > 1 and sum(a.size for a, _ in self.memory) > entries:
            del self.memory[0]

    def recalled(self) -> tuple[Matrix, Matrix]:
        """Hand over what was kept, and forget it."""
        firsts, seconds = zip(*self.memory, strict=True)
        self.memory.clear()
        width = max(part.shape[1] for part in firsts)
        return stacked(firsts, width), stacked(seconds, width)


class _Search:
    """One gambler at work on all contests."""

    def __init__(self, mechanism: Mechanism, claim: Claim, alpha: float) -> None:
        self.mechanism, self.claim, self.alpha = mechanism, claim, alpha
        self.evidence = Evidence(claim.epsilon, claim.delta, alpha)
        self.drawn = 0

    def round(self, contest: _Contest, rows: int, memory: int) -> None:
        """Draw a batch; bet on it with what is known; when there is much that is new, learn."""
        pair = contest.pair
        first, second = _alike(
            draw(self.mechanism, pair.data, rows), draw(self.mechanism, pair.neighbour, rows)
        )
        self.drawn += 2 * rows
        if contest.candidates:
            self._bet(contest.candidates, first, second)
            contest.candidates = self._best(contest.candidates)
        contest.seen += rows
        contest.most = min(LONGEST, LARGEST // first.shape[1])
        contest.remember(first, second, memory)
        if contest.seen >= 3 * contest.learned_at:
            self._learn(contest, *contest.recalled())

    def _bet(self, candidates: list[_Candidate], first: Matrix, second: Matrix) -> None:
        fresh = outcomes([(c.event, c.swapped) for c in candidates], first, second)
        gains = self.evidence.bet(np.stack([c.past for c in candidates]), fresh)
        for candidate, counts, gain in zip(candidates, fresh, gains, strict=True):
            candidate.past = candidate.past + counts
            candidate.fresh = candidate.fresh + counts
            candidate.gains = candidate.gains + gain

    def _learn(self, contest: _Contest, first: Matrix, second: Matrix) -> None:
        contest.learned_at = contest.seen
        contest.candidates = self._best(contest.candidates) + [
            _Candidate(p.event, p.swapped, p.counts) for p in propose(first, second, self.claim)
        ]

    def _best(self, candidates: list[_Candidate]) -> list[_Candidate]:
        """Keep those that did best so far, by either rating."""
        ratings = [self.claim.ratings(candidate.past) for candidate in candidates]
        kept: set[int] = set()
        for rating in zip(*ratings, strict=True):
            kept.update(np.argsort(rating)[-RETAINED:].tolist())
        return [candidates[i] for i in sorted(kept)]

    def worthwhile(self, contests: list[_Contest], samples: int) -> list[_Contest]:
        """Choose the pairs to go on with: those not clearly worse than the best so far."""
        if self.drawn >= samples * LAST:
            return [max(contests, key=self.bound)]
        if contests[0].seen < PATIENCE and self.drawn < samples // 4:
            return contests
        if self.evidence.violated:
            return [max(contests, key=self.bound)]
        known = [self.known(contest) for contest in contests]
        best, most = max(known), max(contest.seen for contest in contests)
        return [
            contest
            for contest, excess in zip(contests, known, strict=True)
            if contest.seen * BEHIND < most
            or (
                max(excess, 0) + SLACK / sqrt(contest.seen) >= max(best, 0)
                and excess + HOPE / sqrt(contest.seen) >= best
            )
        ]

    def known(self, contest: _Contest) -> float:
        """Rate a pair by its best event's excess per root output; below 0 breaks no claim.

        An event that was not found may be better than the best so far: a pair below 0 counts as 0
        at first, and no pair is ever left alone for good.
        """
        return max(self.claim.ratings(candidate.past)[0] for candidate in contest.candidates)

    def bound(self, contest: _Contest) -> float:
        """Rate a pair by the epsilon that it might certify."""
        return max(self.claim.ratings(candidate.past)[1] for candidate in contest.candidates)

    def verdict(self, contests: list[_Contest]) -> Audit:
        """Say what was found, with the event that brought most at the bound."""
        rung = max(self.evidence.reached - 1, 0)
        played = [(c, k) for c in contests for k in c.candidates if k.fresh.any()]
        common: dict[str, Any] = {
            "epsilon_lower_bound": self.evidence.epsilon,
            "delta_lower_bound": self.evidence.delta,
            "violated": self.evidence.violated,
            "claimed": self.claim.epsilon,
            "delta": self.claim.delta,
            "alpha": self.alpha,
            "samples": self.drawn,
        }
        if not played:
            pair = contests[0].pair
            return Audit(**common, event=None, pair=pair, frequencies=(0.0, 0.0), trials=0)
        contest, best = max(played, key=lambda ck: ck[1].gains[rung])
        both, once, twice, _ = best.fresh
        trials = int(best.fresh.sum())
        pair = contest.pair
        if best.swapped:
            pair = Pair(pair.name + ", reversed", pair.neighbour, pair.data)
        frequencies = float((both + once) / trials), float((both + twice) / trials)
        return Audit(**common, event=best.event, pair=pair, frequencies=frequencies, trials=trials)


def _alike(first: Matrix, second: Matrix) -> tuple[Matrix, Matrix]:
    """Fill the narrower matrix up with NaN: a length that depends on rows is an output, too."""
    width = max(first.shape[1], second.shape[1], 1)
    return stacked([first], width), stacked([second], width)


def _check(pairs: Sequence[Pair], epsilon: float, delta: float, alpha: float, samples: int) -> None:
    if not pairs:
        raise InvalidQuery("pairs: none given; see halfmask.audit.row_pairs")
    if not (isfinite(epsilon) and 0 <= epsilon <= 300):
        raise InvalidQuery(f"epsilon: {epsilon!r} is not between 0 and 300; give the claim")
    if not 0 <= delta < 1:
        raise InvalidQuery(f"delta: {delta!r} is not in [0, 1); give the claim, 0 for none")
    if not 0 < alpha < 1:
        raise InvalidQuery(f"alpha: {alpha!r} is not between 0 and 1; 1e-6 is a false-alarm rate")
    if samples < 64 * len(pairs):
        raise InvalidQuery(f"samples: {samples} is too few; give {64 * len(pairs)} or more")

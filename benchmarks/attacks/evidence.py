"""Evidence in numbers: certified privacy losses and rank correlations. Standard library only."""

import math
import time
from collections.abc import Callable, Iterable
from itertools import pairwise

ALARM = 1e-6  # of a whole cell
TESTS = 4  # at most so many certified losses a cell share the alarm

Draw = Callable[[int], Iterable[float]]


def at_least(hits: int, count: int, chance: float) -> float:
    """P(a binomial of `count` trials is `hits` or more), for hits above the mean."""
    term = math.exp(
        math.lgamma(count + 1)
        - math.lgamma(hits + 1)
        - math.lgamma(count - hits + 1)
        + hits * math.log(chance)
        + (count - hits) * math.log1p(-chance)
    )
    total, k = term, hits
    while k < count and term > total * 1e-15:
        term *= (count - k) / (k + 1) * chance / (1 - chance)
        total, k = total + term, k + 1
    return total


def lower(hits: int, count: int, alarm: float) -> float:
    """The Clopper-Pearson lower bound of a probability."""
    low, high = 0.0, hits / count
    for _ in range(60 if hits else 0):
        middle = (low + high) / 2
        if at_least(hits, count, middle) > alarm:
            high = middle
        else:
            low = middle
    return low


def loss_of(hits: int, count: int, others: int, of: int, alarm: float = ALARM / TESTS) -> float:
    """A lower bound on ln(P(E|D) / P(E|D')), too high with probability at most `alarm`."""
    below = lower(hits, count, alarm / 2)
    return math.log(below / (1 - lower(of - others, of, alarm / 2))) if below else -math.inf


def sample(draw: Draw, count: int, seconds: float) -> list[float]:
    values: list[float] = []
    stop, size = time.process_time() + seconds, 50
    while len(values) < count and (not values or time.process_time() < stop):
        values += map(float, draw(min(size, count - len(values))))
        size *= 2
    return values


def events_of(values: list[float]) -> list[Callable[[float], bool]]:
    """Is it missing, is it infinite, is it above or below a quantile."""
    finite = sorted(v for v in values if math.isfinite(v))
    cuts = {finite[len(finite) * i // 24] for i in range(1, 24)} if finite else set()
    above = [lambda v, c=c: v >= c for c in cuts]
    return [math.isnan, math.isinf, *above, *(lambda v, c=c: v <= c for c in cuts)]


def certified(
    one: Draw, other: Draw, events: Iterable[Callable] = (), count: int = 4000, seconds: float = 8
) -> float:
    """A loss that D and D' certainly have: the event is chosen on a pilot, and tested afresh."""
    sides = [sample(draw, count // 3, seconds / 6) for draw in (one, other)]

    def found(event: Callable[[float], bool], a: list[float], b: list[float], *alarm) -> float:
        return loss_of(sum(map(event, a)), len(a), sum(map(event, b)), len(b), *alarm)

    among = [*events_of(sides[0] + sides[1]), *events]
    ways = {1: sides, -1: sides[::-1]}
    scores = [(found(e, *ways[w], 0.05), i, w) for w in ways for i, e in enumerate(among)]
    _, index, way = max(scores)
    fresh = [sample(draw, count, seconds / 3) for draw in (one, other)][::way]
    return max(0.0, found(among[index], *fresh))


def ranks(values: list[float]) -> list[float]:
    """Ranks from zero, ties averaged."""
    order = sorted(range(len(values)), key=values.__getitem__)
    starts = [i for i in range(len(order)) if not i or values[order[i]] != values[order[i - 1]]]
    found = [0.0] * len(values)
    for start, end in pairwise([*starts, len(order)]):
        for i in order[start:end]:
            found[i] = (start + end - 1) / 2
    return found


def correlation(x: list[float], y: list[float]) -> float:
    a, b = ([r - (len(x) - 1) / 2 for r in ranks(v)] for v in (x, y))
    norm = math.sqrt(sum(p * p for p in a) * sum(q * q for q in b))
    return sum(p * q for p, q in zip(a, b, strict=True)) / norm if norm else 0.0

"""Tools of the attacker: record and replay, a search through objects, and sampling at scale."""

import gc
import math
import types
from fractions import Fraction

import pytest
from scipy import stats

import halfmask as hm
from halfmask.mechanisms import Additive, DiscreteGaussian, DiscreteLaplace, Staircase

FALSE_ALARM = 1e-6
"""Of every statistical verdict in this folder."""

GENUINE = Additive.release


class Tape:
    """Every use of a mechanism: what it was given, and what came out; and what left the door."""

    def __init__(self):
        self.calls = []
        self.released = None

    def release(self, mechanism, integers, words=None):
        exact = tuple(int(integer) for integer in integers)
        noisy = self.answer(mechanism, exact, words)
        self.calls.append((mechanism, exact, noisy))
        return noisy

    def answer(self, mechanism, exact, words):
        return GENUINE(mechanism, exact, words)


class Frozen(Tape):
    """Gives the outputs of an earlier tape, whatever the rows now say."""

    def __init__(self, earlier):
        super().__init__()
        self.earlier = earlier.calls

    def answer(self, mechanism, exact, words):
        return self.earlier[len(self.calls)][2]


@pytest.fixture
def record(monkeypatch):
    """record(curator, query, earlier=None, **price) -> Tape of one ask."""

    def run(curator, query, earlier=None, **options):
        tape = Frozen(earlier) if earlier else Tape()
        with monkeypatch.context() as patch:
            patch.setattr(Additive, "release", lambda *given: tape.release(*given))
            tape.released = curator.ask(query, **options)
        return tape

    return run


def privacy_loss(first, second):
    """What telling two tapes apart costs: exact sums of epsilon, of rho and of mu^2.

    The outputs were frozen, so the price holds if the distance of the exact integers, in units of
    the noise of each call, sums to it. [Record and replay; sequential composition]
    """
    assert [call[0] for call in first.calls] == [call[0] for call in second.calls]
    epsilon, rho, squared = Fraction(0), Fraction(0), Fraction(0)
    for (mechanism, x, _), (_, y, _) in zip(first.calls, second.calls, strict=True):
        scale, apart = mechanism.scale, [abs(a - b) for a, b in zip(x, y, strict=True)]
        if scale == 0:
            epsilon += math.inf if any(apart) else 0
        elif isinstance(mechanism, DiscreteLaplace):
            epsilon += Fraction(sum(apart)) / scale
        elif isinstance(mechanism, Staircase):  # one step down the stairs a sensitivity, or part
            epsilon += mechanism.epsilon * sum(-(-a // mechanism.sensitivity) for a in apart)
        elif isinstance(mechanism, DiscreteGaussian):
            rho += Fraction(sum(a * a for a in apart)) / (2 * scale**2)
        else:
            squared += Fraction(sum(a * a for a in apart)) / scale**2
    return epsilon, rho, squared


@pytest.fixture
def loss(record):
    """loss(query, rows, neighbours, price, **options): what the frozen replay shows, in epsilon."""

    def run(query, table, neighbour, *, epsilon=1, by=None, where=None, **options):
        asked = {"by": by, "where": where, "epsilon": epsilon}
        with hm.open(table, budget=10**6, **options) as curator:
            first = record(curator, query, **asked)
        with hm.open(neighbour, budget=10**6, **options) as curator:
            second = record(curator, query, first, **asked)
        found, rho, squared = privacy_loss(first, second)
        assert rho == squared == 0
        return found

    return run


def told_apart(hits, other_hits, draws):
    """Whether an event was seen more often on one side than chance allows (Fisher's exact test)."""
    table = [[hits, draws - hits], [other_hits, draws - other_hits]]
    return stats.fisher_exact(table).pvalue < FALSE_ALARM


def epsilon_lower_bound(hits, other_hits, draws, *, alpha=FALSE_ALARM):
    """A certified lower bound on epsilon from one event (Clopper-Pearson on both sides)."""
    low = stats.beta.ppf(alpha / 2, hits, draws - hits + 1) if hits else 0.0
    high = stats.beta.isf(alpha / 2, other_hits + 1, draws - other_hits)
    return math.log(low / high) if low > 0 else -math.inf


OPAQUE = (types.ModuleType, types.BuiltinFunctionType, type)


def reachable(start, *, most=200_000):
    """Every object that can be reached from one, closures and slots included; no modules."""
    seen, waiting = {id(start): start}, [start]
    while waiting and len(seen) < most:
        item = waiting.pop()
        if isinstance(item, OPAQUE):
            continue
        found = gc.get_referents(item)
        if isinstance(item, types.FunctionType):  # not its globals: they hold the whole library
            found = [item.__closure__, item.__defaults__, item.__kwdefaults__, item.__dict__]
        for one in found:
            if one is not None and id(one) not in seen:
                seen[id(one)] = one
                waiting.append(one)
    return list(seen.values())


@pytest.fixture(scope="session")
def tools():
    """The plain functions of this file, for tests that import nothing from each other."""
    return types.SimpleNamespace(
        alarm=FALSE_ALARM,
        bound=epsilon_lower_bound,
        loss=privacy_loss,
        reachable=reachable,
        told_apart=told_apart,
    )

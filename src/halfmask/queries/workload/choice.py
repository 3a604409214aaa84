"""The strategy of least expected error for a workload at a price."""

import functools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from halfmask.errors import InvalidQuery
from halfmask.mechanisms import Additive
from halfmask.privacy import GDP, ZCDP, Cost, Pure, Relation
from halfmask.queries.pricing import mechanism_for, strength
from halfmask.queries.setting import Reach, Setting
from halfmask.queries.workload.gaussian import gaussian_text
from halfmask.queries.workload.identity_plus import identity_plus
from halfmask.queries.workload.load import Load
from halfmask.queries.workload.strategies import Norms, Strategy, strategy

__all__ = ["LARGEST", "Choice", "choose", "reach_of"]

LARGEST = 2048
"""Cells, after merging, that a strategy is sought for: seconds, and 32 MB a matrix."""

OPTIMISED = 1024
"""Cells up to which strategies are optimised; beyond, the fixed ones must do."""

BRANCHES = (2, 4, 8, 16)


@dataclass(frozen=True)
class Choice:
    """A strategy with the noise that the price buys for it; total: the sum of all variances."""

    strategy: Strategy
    mechanism: Additive
    total: float


def choose(load: Load, setting: Setting, parts: int, price: Cost) -> Choice:
    """Return the strategy with the least sum of the queries' variances.

    Among: the cells as they are (a noisy histogram), the queries themselves, trees, Haar's wavelet,
    and the optimised ones. So it is never worse than answering directly or from a histogram.
    parts: what a row counts as in the exact integers.
    """
    best: tuple[float, str, Additive] | None = None
    problem = InvalidQuery("epsilon: no noise is wide enough; give a larger one")
    for text, total, norms in _candidates(load, *_kinds(price)):
        try:
            mechanism = mechanism_for(reach_of(norms, setting, parts), price)
        except InvalidQuery as refused:  # noise too wide for the samplers: a finer matrix's fate
            problem = refused
            continue
        error = total * mechanism.variance
        if best is None or error < best[0]:
            best = (error, text, mechanism)
    if best is None:
        raise problem
    error, text, mechanism = best
    return Choice(strategy(text, load), mechanism, error)


def reach_of(norms: Norms, setting: Setting, parts: int) -> Reach:
    """Bound how far one unit moves the strategy's answers, over all groups together.

    Privacy: a unit adds non-negative integers x over the cells of all groups, of L1 norm at most
    far = rows * parts (`Setting.spread_bound`), or, where a row is the unit, parts in one cell. So
    |A x|_1 <= far * max column |a|_1 and |A x|_2 <= far * max column |a|_2. Under `replace` the
    change is A (x - y), a convex function of (x, y), largest at corners: 2 * far * max |a|_1, and
    far * max |a - b|_2 over columns a, b of one group, one of which may be zero, or of different
    groups, whose squares add up. [Li, Hay, Rastogi, Miklau & McGregor 2010, Prop. 4]
    """
    far, squared = setting.rows * parts, (setting.rows * parts) ** 2
    if setting.unit.relation is Relation.ADD_REMOVE:
        return Reach(far * norms.l1, squared * norms.l2_squared)
    apart = norms.apart_squared
    if setting.by is not None:
        apart = max(apart, 2 * norms.l2_squared)
    return Reach(2 * far * norms.l1, squared * apart)


def _kinds(price: Cost) -> tuple[bool, bool]:
    """Whether the noise may be pure, and whether it may be Gaussian."""
    if isinstance(price, Pure):
        return True, False
    if isinstance(price, ZCDP | GDP):
        return strength(price) > 1, True
    return True, True


@functools.lru_cache(maxsize=64)
def _candidates(load: Load, pure: bool, gaussian: bool) -> tuple[tuple[str, float, Norms], ...]:
    """The candidates' texts, each with its sum of variances for noise of variance 1, and norms."""
    gram, found = load.gram(), []
    for text in _texts(load, pure, gaussian):
        with suppress(InvalidQuery, np.linalg.LinAlgError):  # numerically singular
            known = strategy(text, load)
            found.append((text, known.total(gram), known.norms))
    return tuple(found)


def _texts(load: Load, pure: bool, gaussian: bool) -> Iterator[str]:
    yield "identity"
    if load.cells < 2:
        return
    if load.whole() is not None:
        yield "direct"
    yield from (f"tree {b}" for b in BRANCHES if b < load.cells or b == BRANCHES[0])
    yield "wavelet"
    if load.cells <= OPTIMISED and pure:
        yield f"plus {identity_plus(load.gram())}"
    if load.cells <= OPTIMISED and gaussian:
        yield f"gaussian {gaussian_text(load.gram())}"

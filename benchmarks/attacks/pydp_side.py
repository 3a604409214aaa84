"""PyDP (Google's C++ library): one algorithm object a question, over a Python list.

Add/remove one row, as Google's library states it. It keeps no budget between algorithm objects.
"""

import math
import random

import judge
from evidence import certified
from judge import absent, attack, failed, left, passed
from pydp.algorithms.laplacian import (
    BoundedMean,
    BoundedStandardDeviation,
    BoundedSum,
    BoundedVariance,
    Count,
    Median,
)
from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism

BASE = 2.0**53
NO_BUDGET = "keeps no budget between algorithms, and claims none"


def algorithm(kind, low=0.0, high=1.0, epsilon=1.0, dtype="float"):
    return kind(epsilon=epsilon, lower_bound=low, upper_bound=high, dtype=dtype)


def draws(kind, rows, *bounds, **more):
    kept, rows = algorithm(kind, *bounds, **more), list(rows)
    return lambda n: [kept.quick_result(rows) for _ in range(n)]


def once(kind, **more):
    return lambda rows: algorithm(kind, **more).quick_result(list(rows))


KINDS = (BoundedSum, BoundedMean, BoundedVariance, BoundedStandardDeviation, Median)
QUERIES = {kind.__name__: once(kind) for kind in KINDS}
QUERIES["Count"] = lambda rows: Count(epsilon=1, dtype="float").quick_result(list(rows))


@attack(1)
def support():
    laplace = LaplaceMechanism(epsilon=1, sensitivity=1)
    return judge.support(lambda f: lambda n: [laplace.add_noise(f) for _ in range(n)])


@attack(2)
def float_sums():
    def pair(seed):
        rest = [BASE + random.Random(seed + i * 997).choice((6, 8, 10)) for i in range(95)]
        return [BASE + 6, *rest], [BASE + 10, *rest]

    one, other = pair(max(range(500), key=lambda s: judge.distance(map(sum, pair(s)))))
    loss = certified(*(draws(BoundedSum, rows, BASE + 6, BASE + 10) for rows in (one, other)))
    return judge.judged({"sum": loss}, 2, " (a replaced row is two steps)")


@attack(3)
def order():
    rows = [BASE + 6] * 48 + [BASE + 10] * 48
    orders = [random.Random(seed).sample(rows, 96) for seed in range(500)]
    pair = [pick(orders, key=sum) for pick in (min, max)]
    loss = certified(*(draws(BoundedSum, rows, BASE + 6, BASE + 10) for rows in pair))
    return judge.judged({"sum of the same rows": loss}, 1)


@attack(4)
def overflow():
    top = 2**62 - 1
    pair = [draws(BoundedSum, [top] * n, 0, top, dtype="int64") for n in (2, 3)]
    note = "; sums beyond the type wrap round, and their noise with them: private, but wrong"
    return judge.judged({"sum of 64-bit integers": certified(*pair)}, 1, note)


@attack(5)
def missing():
    found = {}
    for kind in (BoundedSum, BoundedMean):
        pair = (draws(kind, [x] + [math.nan] * 99) for x in (0.0, 1.0))
        found[kind.__name__] = certified(*pair)
    strange = judge.odd(QUERIES, {"NaN": [0.5, math.nan]})
    if strange:
        return failed("; ".join(strange))
    return judge.judged(found, 2, " with 99 NaN rows (a replaced row is two steps)")


@attack(6)
def extremes():
    strange = judge.odd(QUERIES, judge.extreme_tables())
    if strange:
        return failed("; ".join(strange))
    top = 0.9e308
    pair = [once(BoundedSum, high=top)] * 2
    refused = [
        judge.tried(lambda ask=ask, n=n: ask([top] * n))
        for n, ask in zip((1, 2), pair, strict=True)
    ]
    if all(refused):
        return passed("all finite; bounds of 0 and 0.9e308 are refused")
    pair = (draws(BoundedSum, [top] * n, 0, top) for n in (1, 2))
    return judge.judged({"sum within 0 and 0.9e308": certified(*pair)}, 1)


@attack(7)
def exceptions():
    tables = judge.extreme_tables() | {"NaN": [0.5, math.nan], "ties": [0.4] * 5000}
    strange = judge.odd(QUERIES, tables, finite=False)
    for dtype, value in (("int", 2**31), ("int64", 2**63)):
        ask = once(BoundedSum, low=0, high=10, dtype=dtype)
        strange += judge.odd({f"{dtype} sum": ask}, {str(value): [1, value]}, finite=False)
    if strange:
        return failed(f"{'; '.join(strange)}, though bounds of 0 and 10 were given")
    return passed(f"0 of {len(QUERIES) * len(tables) + 2} raise")


@attack(8)
def empty():
    raising = judge.odd(QUERIES, {"no rows": []})
    return failed("; ".join(raising)) if raising else passed(f"{len(QUERIES)} queries answer")


@attack(9)
def size():
    inside = [lambda v: 0 < v < 1]
    pair = (draws(BoundedMean, rows, epsilon=0.1) for rows in ([0.0], [0.0, 1.0]))
    return judge.judged({"mean": certified(*pair, inside, count=20_000)}, 0.1)


@attack(10)
def bounds():
    def draw(last):
        kept, rows = BoundedSum(epsilon=1, dtype="float"), [1.0] * 4999 + [last]
        return lambda n: [kept.quick_result(rows) for _ in range(n)]

    loss = certified(draw(1.0), draw(1e6), count=2000)
    return judge.judged({"sum without bounds": loss}, 2, " (bounds are found privately)")


@attack(13)
def fork():
    laplace = LaplaceMechanism(epsilon=1, sensitivity=1000)
    return judge.forked(lambda: laplace.add_noise(0.0))


@attack(14)
def seeds():
    answers = []
    for _ in range(2):
        random.seed(7)
        laplace = LaplaceMechanism(epsilon=1, sensitivity=1000)
        answers.append([laplace.add_noise(0.0) for _ in range(5)])
    same = answers[0] == answers[1]
    shown = f"no seed to set; answers {'repeat' if same else 'differ'} under Python's"
    return failed(shown) if same else passed(shown)


@attack(16)
def timing():
    laplace = LaplaceMechanism(epsilon=0.1, sensitivity=1)
    gaussian = GaussianMechanism(0.5, 1e-6, 1.0)
    return judge.timed(
        {
            "Laplace": lambda: laplace.add_noise(0.0),
            "Laplace on integers": lambda: laplace.add_noise(0),
            "Gaussian": lambda: gaussian.add_noise(0.0),
        }
    )


@attack(17)
def threads():
    return absent(NO_BUDGET)


@attack(18)
def copies():
    return absent(NO_BUDGET)


@attack(19)
def refunds():
    return absent(NO_BUDGET)


@attack(20)
def parameters():
    accepted = []
    for epsilon in (math.nan, -1, 0):
        made = judge.tried(lambda e=epsilon: once(BoundedSum, epsilon=e)([1.0]))
        accepted += [] if made else [f"epsilon {epsilon}"]
    for sensitivity in (math.nan, -1, math.inf):
        made = judge.tried(
            lambda s=sensitivity: LaplaceMechanism(epsilon=1, sensitivity=s).add_noise(0.0)
        )
        accepted += [] if made else [f"sensitivity {sensitivity}"]
    for wide in ((math.nan, 1.0), (1.0, 0.0), (0.0, math.inf)):
        made = judge.tried(lambda b=wide: algorithm(BoundedSum, *b).quick_result([1.0]))
        accepted += [] if made else [f"bounds {wide}"]
    far = once(BoundedSum)([1e7])
    shown = f"1e7 under bounds (0, 1) gives {far:.3g}; accepted: {', '.join(accepted) or 'none'}"
    return failed(shown) if accepted or far > 100 else passed(shown)


@attack(21)
def errors():
    canary, text = 918_273_645, "canary" * 2
    calls = {
        f"a list with {type(bad).__name__}": lambda bad=bad: once(
            BoundedSum, low=0, high=10, dtype="int64"
        )([canary, bad])
        for bad in (text, None, 2**70, [1.0])
    }
    kept = algorithm(BoundedSum)
    kept.add_entries([canary, 2.0])
    calls["repr of an algorithm"] = lambda: (kept, vars(kept))
    return judge.showing(calls, [canary, text, 2**70])


@attack(22)
def csv():
    return absent("reads no files")


@attack(23)
def replay():
    kept = algorithm(BoundedSum)
    again = sum(judge.tried(lambda: kept.quick_result([1.0])) is None for _ in range(10))
    kept.reset()
    kept.add_entries([1.0])
    once_only = sum(judge.tried(kept.result) is None for _ in range(10))
    return left(f"quick_result answers {again} of 10 times, as documented; result, {once_only}")


@attack(25)
def ledger():
    return absent(NO_BUDGET)


if __name__ == "__main__":
    judge.main()

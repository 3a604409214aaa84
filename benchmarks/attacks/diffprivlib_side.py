"""diffprivlib: NumPy functions with noise, and a BudgetAccountant.

Its documentation names no neighbouring relation. The verdicts take the kinder one, replace one row
with the number of rows public; where only that makes a difference, the cell says so.
"""

import math
import random
import warnings

import judge
import numpy as np
from diffprivlib import BudgetAccountant, mechanisms, tools
from evidence import certified
from judge import absent, attack, failed, left, passed

warnings.simplefilter("ignore")
UNIT = (0.0, 1.0)
BASE = 2.0**53
BOUNDS = (BASE + 6, BASE + 10)


def draws(function, rows, epsilon=1.0, bounds=UNIT, **more):
    array = np.asarray(rows)
    return lambda n: [function(array, epsilon=epsilon, bounds=bounds, **more) for _ in range(n)]


def once(function, **more):
    return lambda rows: function(np.asarray(rows, float), epsilon=1.0, **more)


QUERIES = {
    "count": once(tools.count_nonzero),
    "sum": once(tools.nansum, bounds=UNIT),
    "mean": once(tools.nanmean, bounds=UNIT),
    "variance": once(tools.nanvar, bounds=UNIT),
    "median": once(tools.median, bounds=UNIT),
}


def float_sum(rows):
    return float(np.sum(np.asarray(rows)))


@attack(1)
def support():
    laplace = mechanisms.Laplace(epsilon=1, sensitivity=1)
    return judge.support(lambda f: lambda n: [laplace.randomise(f) for _ in range(n)])


@attack(2)
def float_sums():
    def pair(seed):
        rest = [BASE + random.Random(seed + i * 997).choice((6, 8, 10)) for i in range(95)]
        return [BASE + 6, *rest], [BASE + 10, *rest]

    seed = max(range(500), key=lambda s: judge.distance(map(float_sum, pair(s))))
    one, other = pair(seed)
    moved = judge.distance([float_sum(one), float_sum(other)])
    loss = certified(*(draws(tools.sum, rows, bounds=BOUNDS) for rows in (one, other)))
    return judge.judged({"sum": loss}, 1, f"; a row moves it by {moved:g}, and 4 is covered")


@attack(3)
def order():
    rows = [BASE + 6] * 48 + [BASE + 10] * 48
    orders = [random.Random(seed).sample(rows, 96) for seed in range(500)]
    pair = [pick(orders, key=float_sum) for pick in (min, max)]
    loss = certified(*(draws(tools.sum, rows, bounds=BOUNDS) for rows in pair))
    moved = judge.distance(map(float_sum, pair))
    return judge.judged({"sum of the same rows": loss}, 1, f"; order moves it by {moved:g}")


@attack(4)
def overflow():
    top = 2**62 - 1
    pair = (draws(tools.sum, [top, top, x], bounds=(0, top)) for x in (0, top))
    return judge.judged({"sum of 64-bit integers": certified(*pair)}, 1)


@attack(5)
def missing():
    found = {}
    for function in (tools.nansum, tools.nanmean):
        pair = (draws(function, [x] + [np.nan] * 99) for x in UNIT)
        found[function.__name__] = certified(*pair)
    return judge.judged(found, 1, " with 99 NaN rows; sum and mean themselves answer NaN")


@attack(6)
def extremes():
    strange = judge.odd(QUERIES, judge.extreme_tables())
    if strange:
        return failed("; ".join(strange))
    top = 0.9e308
    pair = (draws(tools.sum, [top, x], bounds=(0, top)) for x in (0.0, top))
    return judge.judged({"sum within 0 and 0.9e308": certified(*pair)}, 1)


@attack(7)
def exceptions():
    ties = [0.4] * 4000
    tables = judge.extreme_tables() | {"NaN": [0.5, np.nan]}
    tables["4000 ties of 5000"] = ties + np.linspace(0, 1, 1000).tolist()
    strange = judge.odd(QUERIES, tables, finite=False)
    apart = judge.odd(QUERIES, {"5000 apart": np.linspace(0, 1, 5000)}, finite=False)
    if strange:
        return failed(f"{'; '.join(strange)} ({len(apart)} raise when all rows differ)")
    return passed(f"0 of {len(QUERIES) * len(tables)} raise")


@attack(8)
def empty():
    raising = judge.odd(QUERIES, {"no rows": []}, finite=False)
    if raising:
        return left(f"{'; '.join(raising)}: harmless only if the number of rows is public")
    return passed(f"{len(QUERIES)} queries answer")


@attack(9)
def size():
    inside = [lambda v: 0 < v < 1]
    pair = (draws(tools.mean, rows, epsilon=0.1) for rows in ([0.0], [0.0, 1.0]))
    loss = certified(*pair, inside, count=20_000)
    return left(f"add one row to the mean: loss of at least {loss:.2f} at a price of 0.1")


@attack(10)
def bounds():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        tools.mean(np.array([0.0, 1.0]), epsilon=1.0)
    pair = (draws(tools.mean, [0.0] * 99 + [x], bounds=None) for x in (1.0, 1e6))
    loss = certified(*pair)
    shown = f"mean without bounds: loss of at least {loss:.2f} at a price of 1"
    warned = [w.category.__name__ for w in seen if "Privacy" in w.category.__name__]
    return left(f"{shown}, after a {warned[0]}") if warned else failed(shown)


@attack(13)
def fork():
    return judge.forked(lambda: tools.sum(np.ones(9), bounds=(0, 1e6), epsilon=1))


@attack(14)
def seeds():
    answers = [tools.sum(np.array([x, 0.5]), bounds=UNIT, random_state=7) for x in UNIT]
    gap = float(answers[1] - answers[0])
    shown = f"two answers under random_state=7 differ by {gap:.3g}, and the rows by 1"
    if abs(gap - 1) > 1e-9:
        return passed(shown)
    return left(f"{shown}; documented as deterministic, and nothing warns or marks the answer")


@attack(16)
def timing():
    laws = {
        "Laplace": mechanisms.Laplace(epsilon=0.1, sensitivity=1),
        "Geometric": mechanisms.Geometric(epsilon=0.1, sensitivity=1),
        "Gaussian": mechanisms.Gaussian(epsilon=0.1, delta=1e-6, sensitivity=1),
        "GaussianDiscrete": mechanisms.GaussianDiscrete(epsilon=0.5, delta=1e-6, sensitivity=1),
    }
    return judge.timed({name: lambda law=law: law.randomise(0) for name, law in laws.items()})


def spend(accountant):
    return tools.sum(np.ones(9), epsilon=1, bounds=UNIT, accountant=accountant)


@attack(17)
def threads():
    def make():
        accountant = BudgetAccountant(epsilon=1)
        return lambda: spend(accountant)

    return judge.raced(make)


@attack(18)
def copies():
    found = judge.copied(lambda: BudgetAccountant(epsilon=1), spend)
    return left(f"{judge.times(found)}; nothing is claimed beyond one object")


@attack(19)
def refunds():
    accountant = BudgetAccountant(epsilon=1)
    rows = np.r_[np.full(4000, 0.4), np.linspace(0, 1, 1000)]
    ask = lambda: tools.median(rows, epsilon=1, bounds=UNIT, accountant=accountant)  # noqa: E731
    raised = sum(judge.tried(ask) is not None for _ in range(5))
    spent = float(accountant.total()[0])
    shown = f"the median of ties raised {raised} of 5 times, for epsilon {spent:g} of 1"
    return failed(shown) if raised and spent < raised else passed(shown)


@attack(20)
def parameters():
    rows, accepted = np.array([1.0]), []
    for epsilon in (math.nan, -1, 0):
        accepted += [] if judge.tried(lambda e=epsilon: spend_at(rows, e)) else [f"eps {epsilon}"]
    for wide in ((0, math.nan), (1, 0), (math.nan, 1)):
        ask = lambda b=wide: tools.sum(rows, bounds=b)  # noqa: E731
        accepted += [] if judge.tried(ask) else [f"bounds {wide}"]
    far = spend_at(np.array([1e7]), 1)
    told = [name for name in accepted if "eps nan" not in name]
    shown = f"1e7 under bounds (0, 1) gives {far:.3g}; accepted: {', '.join(accepted) or 'none'}"
    shown += " (its answer is NaN, which tells nothing)" if "eps nan" in accepted else ""
    return failed(shown) if told or far > 100 else passed(shown)


def spend_at(rows, epsilon):
    return tools.sum(rows, bounds=UNIT, epsilon=epsilon)


@attack(21)
def errors():
    canary, text = 918_273_645.5, "canary" * 2
    calls = {
        f"a list with {type(bad).__name__}": lambda bad=bad: tools.sum([canary, bad], bounds=UNIT)
        for bad in (text, None, 2**70, [1.0])
    }
    binary = mechanisms.Binary(epsilon=1, value0="yes", value1="no")
    calls["Binary.randomise"] = lambda: binary.randomise(text)
    calls["repr of an accountant"] = lambda: BudgetAccountant(epsilon=1)
    return judge.showing(calls, [canary, text, 2**70])


@attack(22)
def csv():
    return absent("reads no files")


@attack(23)
def replay():
    accountant = BudgetAccountant(epsilon=2)
    answered = sum(judge.tried(lambda: spend(accountant)) is None for _ in range(10))
    shown = f"{answered} of 10 answers at epsilon 1 from a budget of 2"
    return passed(shown) if answered == 2 else failed(shown)


@attack(25)
def ledger():
    def make(share):
        accountant = BudgetAccountant(epsilon=1)
        return lambda: accountant.spend(share, 0)

    return judge.shares(make)


if __name__ == "__main__":
    judge.main()

"""halfmask: `hm.open(...).ask(...)`; many answers at once by asking many equal groups in one ask.

Add/remove one row, so a replaced row is two steps, unless `relation="replace"` is given.
"""

import math
import os
import random
import shutil
import tempfile
from pathlib import Path

import judge
import numpy as np
from evidence import certified
from judge import attack, failed, passed

import halfmask as hm
from halfmask.mechanisms import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

MOST = 100_000
BASE = 2.0**53
QUERIES = {
    "count": hm.Count(),
    "sum": hm.Sum("x", 0, 1),
    "mean": hm.Mean("x", 0, 1),
    "variance": hm.Variance("x", 0, 1),
    "deviation": hm.StandardDeviation("x", 0, 1),
    "histogram": hm.Histogram("x", [0, 1]),
}


def draws(query, rows, epsilon=1.0, **relation):
    """n answers: one ask of n groups that hold the same rows each."""

    def draw(n):
        table = {"k": np.repeat(np.arange(n), len(rows)), "x": np.tile(np.asarray(rows), n)}
        with hm.open(table, budget=MOST, **relation) as curator:
            release = curator.ask(query, by=hm.Keys("k", range(n)), epsilon=epsilon)
        return list(release.value.values())

    return draw


def first(value):
    return value[0] if isinstance(value, tuple) else value


def once(query):
    def ask(rows):
        with hm.open({"x": rows}, budget=1) as curator:
            return first(curator.ask(query, epsilon=1).value)

    return ask


ASKED = {name: once(query) for name, query in QUERIES.items()}


@attack(1)
def support():
    return judge.support(lambda f: draws(hm.Sum("x", 0, 1), [f]))


def sums(low, high):
    return [draws(hm.Sum("x", low, high), rows) for rows in ([low, high], [high, high])]


@attack(2)
def float_sums():
    error = judge.tried(lambda: once(hm.Sum("x", BASE + 6, BASE + 10))([BASE + 8]))
    wide = [certified(*sums(low, low + 1), count=8000) for low in (2.0**30 + 0.1, 0.1)]
    note = f" (a replaced row is two steps); bounds 2^53 + (6, 10): {error or 'accepted'}"
    return judge.judged({"sum in other bounds": max(wide)}, 2, note)


@attack(3)
def order():
    rng = np.random.default_rng()
    rows = rng.normal(size=1000) * 10.0 ** rng.integers(-9, 9, 1000)
    query = hm.Sum("x", -1e-3, 1e-3)
    pair = [draws(query, sorted(rows, key=key)) for key in (float, lambda v: -abs(v))]
    return judge.judged({"sum of the same rows": certified(*pair, count=1500)}, 1)


@attack(4)
def overflow():
    top = 2**62 - 1
    pair = [draws(hm.Sum("x", 0, top), [top] * n) for n in (2, 3)]
    true = draws(hm.Sum("x", 0, top), [top] * 50, 1.0)(1)[0] / top
    note = f"; 50 times the largest gives {true:.1f} times it"
    return judge.judged({"sum of 64-bit integers": certified(*pair)}, 1, note)


@attack(5)
def missing():
    strange = judge.odd(ASKED, {"NaN": [0.5] * 100 + [math.nan]})
    if strange:
        return failed("; ".join(strange))
    found = {}
    for name in ("sum", "mean"):
        pair = (draws(QUERIES[name], [x] + [math.nan] * 99) for x in (0.0, 1.0))
        found[name] = certified(*pair)
    return judge.judged(found, 2, " with 99 NaN rows (a replaced row is two steps)")


@attack(6)
def extremes():
    strange = judge.odd(ASKED, judge.extreme_tables())
    if strange:
        return failed("; ".join(strange))
    top = 0.9e308
    if judge.tried(lambda: once(hm.Sum("x", 0, top))([top])):
        return passed("all finite; bounds of 0 and 0.9e308 are refused")
    pair = (draws(hm.Sum("x", 0, top), [top] * n) for n in (1, 2))
    return judge.judged({"sum within 0 and 0.9e308": certified(*pair)}, 1)


@attack(7)
def exceptions():
    tables = judge.extreme_tables()
    tables["4000 ties of 5000"] = [0.4] * 4000 + [i / 1000 for i in range(1000)]
    cells = (math.nan, None, 2**31, 2**63, 2**70, "canary", "", True)
    tables |= {f"a cell of {cell!r:.9}": [0.5, cell] for cell in cells}
    strange = judge.odd(ASKED, tables, finite=False)
    count = len(ASKED) * len(tables)
    return failed("; ".join(strange)) if strange else passed(f"0 of {count} raise; no median yet")


@attack(8)
def empty():
    raising = judge.odd(ASKED, {"no rows": []})
    return failed("; ".join(raising)) if raising else passed(f"{len(ASKED)} queries answer")


@attack(9)
def size():
    inside = [lambda v: 0 < v < 1]
    pair = (draws(hm.Mean("x", 0, 1), rows, 0.1) for rows in ([0.0], [0.0, 1.0]))
    return judge.judged({"mean": certified(*pair, inside, 20_000)}, 0.1)


@attack(10)
def bounds():
    error = judge.tried(lambda: hm.Sum("x"))
    return passed(f"a sum without bounds is refused: {error}") if error else failed("accepted")


@attack(13)
def fork():
    law = DiscreteLaplace(10**6, 1)
    return judge.forked(lambda: law.release([0])[0])


@attack(14)
def seeds():
    answers = []
    for _ in range(2):
        random.seed(7)
        np.random.seed(7)  # noqa: NPY002
        answers.append([once(hm.Sum("x", 0, 10**6))([0.5]) for _ in range(5)])
    curator = hm.open({"x": [1.0]}, budget=1, words=hm.noise.seeded_words(7))
    release = curator.ask(hm.Count(), epsilon=1)
    marked = "NOT PRIVATE" in str(release) and not release.to_dict()["private"]
    same = answers[0] == answers[1]
    shown = f"answers {'repeat' if same else 'differ'} under Python's and NumPy's seeds; "
    shown += f"a release from seeded words is {'marked NOT PRIVATE' if marked else 'not marked'}"
    return failed(shown) if same or not marked else passed(shown)


@attack(16)
def timing():
    laws = {
        "discrete Laplace": DiscreteLaplace(10, 1),
        "discrete Gaussian": DiscreteGaussian(100, "1/2"),
        "rounded Gaussian": RoundedGaussian(100, 1),
    }
    return judge.timed({name: lambda law=law: law.release([0])[0] for name, law in laws.items()})


def spend(curator):
    return curator.ask(hm.Count(), epsilon=1)


@attack(17)
def threads():
    def make():
        curator = hm.open({"x": [1.0]}, budget=1)
        return lambda: spend(curator)

    return judge.raced(make)


@attack(18)
def copies():
    folder = Path(tempfile.mkdtemp())

    def on_file(name="one", place=folder):
        return hm.open({"x": [1.0]}, budget=1, ledger=place / f"{name}.ledger")

    memory = judge.copied(lambda: hm.open({"x": [1.0]}, budget=1), spend)
    shared = judge.forked_spends(on_file(), spend)
    on_file("two").close()
    twin = Path(shutil.copytree(folder, f"{folder}-copy"))
    places = (folder, twin)
    twice = sum(judge.tried(lambda p=p: spend(on_file("two", p))) is None for p in places)
    found = memory | {"fork with a ledger file": shared}
    shown = f"{judge.times(found)}; {twice} by a copied ledger file, as documented: a release's "
    shown += "head exposes a ledger that was put back, and nothing stops it"
    if max(found.values()) > 1:
        return failed(shown)
    return judge.left(shown) if twice > 1 else passed(shown)


@attack(19)
def refunds():
    file = Path(tempfile.mkdtemp()) / "rows.csv"
    file.write_text("x\n0.5\n0.25\n")
    with hm.open(file, budget=5) as curator:
        file.write_text("y,z\nabc\n")
        raised = sum(
            judge.tried(lambda: curator.ask(hm.Sum("x", 0, 1), epsilon=1)) is not None
            for _ in range(5)
        )
        spent = float(curator.ledger.spent.epsilon)
    os.remove(file)
    shown = f"a file spoilt after it was opened: {raised} of 5 asks raised, epsilon {spent:g} spent"
    return passed(shown) if raised and spent == 5 else failed(shown)


@attack(20)
def parameters():
    accepted = []
    for epsilon in (math.nan, -1, 0):
        with hm.open({"x": [1.0]}, budget=9) as curator:
            found = judge.tried(lambda e=epsilon, c=curator: c.ask(hm.Count(), epsilon=e))
        accepted += [] if found else [f"epsilon {epsilon}"]
    for sensitivity in (math.nan, -1, math.inf):
        found = judge.tried(lambda s=sensitivity: DiscreteLaplace(s, 1))
        accepted += [] if found else [f"sensitivity {sensitivity}"]
    for wide in ((math.nan, 1.0), (1.0, 0.0), (0.0, math.inf)):
        found = judge.tried(lambda b=wide: hm.Sum("x", *b))
        accepted += [] if found else [f"bounds {wide}"]
    far = once(hm.Sum("x", 0, 1))([1e7])
    shown = f"1e7 under bounds (0, 1) gives {far:.3g}; accepted: {', '.join(accepted) or 'none'}"
    return failed(shown) if accepted or far > 100 else passed(shown)


@attack(21)
def errors():
    canary, text = 918_273_645, "canary" * 2
    calls = {
        f"a list with {type(bad).__name__}": lambda bad=bad: hm.open(
            {"x": [canary, bad]}, budget=1
        ).ask(hm.Sum("x", 0, 10), epsilon=1)
        for bad in (text, None, 2**70, [1.0])
    }
    curator = hm.open({"x": [canary, 0.5]}, budget=1)
    calls["repr of a curator"] = lambda: curator
    calls["repr of a release"] = lambda: spend(curator)
    calls["an ask beyond the budget"] = lambda: spend(curator)
    return judge.showing(calls, [canary, text, 2**70])


@attack(22)
def csv():
    file = Path(tempfile.mkdtemp()) / "rows.csv"
    found = []
    for last in ("", "abc\n"):
        file.write_text(f"x\n1.5\n2.5\n{last}")
        found.append(
            judge.tried(lambda: hm.open(file, budget=1).ask(hm.Sum("x", 0, 10), epsilon=1))
        )
    os.remove(file)
    shown = f"{found[0] or 'answers'} without the bad row, {found[1] or 'answers'} with it"
    return failed(shown) if any(found) else passed(shown)


@attack(23)
def replay():
    with hm.open({"x": [1.0]}, budget=2) as curator:
        answered = sum(judge.tried(lambda: spend(curator)) is None for _ in range(10))
        shown = f"{answered} of 10 answers at epsilon 1 from a budget of 2"
    return passed(shown) if answered == 2 else failed(shown)


@attack(25)
def ledger():
    def make(share):
        curator = hm.open({"x": [1.0]}, budget=1)
        return lambda: curator.ask(hm.Count(), epsilon=share)

    return judge.shares(make)


if __name__ == "__main__":
    judge.main()

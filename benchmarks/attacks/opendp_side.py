"""OpenDP under attack. `opendp_tools.py` says how it is asked."""

import math
import os
import random
import tempfile
from pathlib import Path

import judge
import opendp.prelude as dp
import polars as pl
from evidence import certified
from judge import attack, failed, passed
from opendp_tools import (
    BASE,
    INTEGERS,
    UNIT,
    X,
    asking,
    context,
    frame,
    invoked,
    noisy_count,
    one_count,
    queries,
    repeated,
    sized_sum,
    spend,
)


@attack(1)
def support():
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    laplace = space >> dp.m.then_laplace(1.0)
    return judge.support(lambda f: lambda n: laplace([f] * n))


@attack(2)
def float_sums():
    total, measure = sized_sum()

    def pair(seed):
        rest = [BASE + random.Random(seed + i * 997).choice((6, 8, 10)) for i in range(95)]
        return [BASE + 6, *rest], [BASE + 10, *rest]

    one, other = pair(max(range(500), key=lambda s: judge.distance(map(total, pair(s)))))
    moved = judge.distance([total(one), total(other)])
    note = f"; a row moves it by {moved:g}, and {total.map(2):.0f} is covered"
    loss = certified(invoked(measure, one), invoked(measure, other))
    return judge.judged({"sum": loss}, 1, note)


@attack(3)
def order():
    total, measure = sized_sum()
    rows = [BASE + 6] * 48 + [BASE + 10] * 48
    orders = [random.Random(seed).sample(rows, 96) for seed in range(500)]
    pair = [pick(orders, key=total) for pick in (min, max)]
    loss = certified(*(invoked(measure, rows) for rows in pair))
    note = f"; order moves it by {judge.distance(map(total, pair)):g}"
    return judge.judged({"sum of the same rows": loss}, 1, note)


@attack(4)
def overflow():
    top = 2**62 - 1
    total = INTEGERS >> dp.t.then_clamp((0, top)) >> dp.t.then_sum()
    measure = total >> dp.m.then_laplace(float(top))
    loss = certified(*(invoked(measure, [top] * n) for n in (2, 3)))
    return judge.judged({"sum of 64-bit integers": loss}, measure.map(1))


@attack(5)
def missing():
    found, asked = {}, queries("sum", "mean")
    strange = judge.odd(asked, {"NaN": [0.5] * 100 + [math.nan]})
    if strange:
        return failed("; ".join(strange))
    for name, ask in asked.items():
        pair = (repeated(ask, [x] + [math.nan] * 99) for x in UNIT)
        found[name] = certified(*pair)
    return judge.judged(found, 2, " with 99 NaN rows (a replaced row is two steps)")


@attack(6)
def extremes():
    strange = judge.odd(queries(), judge.extreme_tables())
    if strange:
        return failed("; ".join(strange))
    if judge.tried(lambda: asking(X.dp.sum((0.0, 0.9e308)))):
        return passed("all finite; bounds of 0 and 0.9e308 are refused")
    return failed("bounds of 0 and 0.9e308 are accepted")


@attack(7)
def exceptions():
    tables = judge.extreme_tables() | {"NaN": [0.5, math.nan], "null": [0.5, None]}
    tables["4000 ties of 5000"] = [0.4] * 4000 + [i / 1000 for i in range(1000)]
    strange = judge.odd(queries(), tables, finite=False)
    return failed("; ".join(strange)) if strange else passed(f"0 of {4 * len(tables)} raise")


@attack(8)
def empty():
    asked = queries()
    raising = judge.odd(asked, {"no rows": []}, finite=False)
    return failed("; ".join(raising)) if raising else passed(f"{len(asked)} queries answer")


@attack(9)
def size():
    ask = asking(X.dp.mean(UNIT), epsilon=0.1)
    pair = (repeated(lambda scan: ask(scan).item(), rows) for rows in ([0.0], [0.0, 1.0]))
    inside = [lambda v: 0 < v < 1]
    return judge.judged({"mean": certified(*pair, inside, 20_000, 24)}, 0.1)


@attack(10)
def bounds():
    error = judge.tried(lambda: context(frame([0.5])).query().select(X.dp.sum()).resolve())
    return passed(f"a sum without bounds is refused: {error}") if error else failed("accepted")


@attack(13)
def fork():
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    laplace = space >> dp.m.then_laplace(1e6)
    return judge.forked(lambda: laplace(0))


@attack(14)
def seeds():
    laplace = (dp.atom_domain(T=int), dp.absolute_distance(T=int)) >> dp.m.then_laplace(1e6)
    answers = []
    for _ in range(2):
        random.seed(7)
        answers.append([laplace(0) for _ in range(5)])
    same = answers[0] == answers[1]
    shown = f"no seed to set; answers {'repeat' if same else 'differ'} under Python's"
    return failed(shown) if same else passed(shown)


@attack(16)
def timing():
    whole = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    real = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    laws = {
        "discrete Laplace": (whole >> dp.m.then_laplace(10.0), 0),
        "discrete Gaussian": (whole >> dp.m.then_gaussian(10.0), 0),
        "float Laplace": (real >> dp.m.then_laplace(10.0), 0.0),
    }
    return judge.timed({name: lambda law=law: law[0](law[1]) for name, law in laws.items()})


@attack(17)
def threads():
    measure = noisy_count()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    compositor = dp.c.make_adaptive_composition(*space, dp.max_divergence(), 1, [1.0])

    def make():
        queryable = compositor([1, 0, 1])
        return lambda: queryable(measure)

    return judge.raced(make, workers=2)  # a refusal takes 0.1 s


@attack(18)
def copies():
    return judge.left(
        f"{judge.times(judge.copied(one_count, spend))}; nothing is claimed beyond one process"
    )


@attack(19)
def refunds():
    file = Path(tempfile.mkdtemp()) / "rows.csv"
    file.write_text("x\n0.5\n0.25\n")
    budget = context(pl.scan_csv(file, schema={"x": pl.Float64}))
    query = budget.query().select(X.dp.sum(UNIT))
    file.write_text("y,x\nabc\n")
    raised = judge.tried(lambda: query.release().collect())
    file.write_text("x\n0.5\n0.25\n")
    again = judge.tried(lambda: budget.query().select(X.dp.sum(UNIT)).release().collect())
    os.remove(file)
    shown = f"a scan failed with {raised}; the budget after it: {'spent' if again else 'unspent'}"
    return passed(shown) if raised and again else failed(shown)


@attack(20)
def parameters():
    real = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    accepted = []
    for epsilon in (math.nan, -1.0, 0.0):
        found = judge.tried(lambda e=epsilon: asking(dp.len(), epsilon=e))
        accepted += [] if found else [f"epsilon {epsilon}"]
    for scale in (math.nan, -1.0, math.inf):
        found = judge.tried(lambda s=scale: real >> dp.m.then_laplace(s))
        accepted += [] if found else [f"scale {scale}"]
    for wide in ((math.nan, 1.0), (1.0, 0.0), (0.0, math.inf)):
        found = judge.tried(lambda b=wide: asking(X.dp.sum(b)))
        accepted += [] if found else [f"bounds {wide}"]
    far = asking(X.dp.sum(UNIT))([1e7]).item()
    shown = f"1e7 under bounds (0, 1) gives {far:.3g}; accepted: {', '.join(accepted) or 'none'}"
    return failed(shown) if accepted or far > 100 else passed(shown)


@attack(21)
def errors():
    canary, text = 918_273_645, "canary" * 2
    total = INTEGERS >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(10.0)
    calls = {
        f"a list with {type(bad).__name__}": lambda bad=bad: total([canary, bad])
        for bad in (text, None, 2**70, [1.0])
    }
    scan = frame([canary, 0.5])
    calls["repr of a context"] = lambda: context(scan)
    calls["repr of a query"] = lambda: context(scan).query().select(dp.len())
    return judge.showing(calls, [canary, text, 2**70])


@attack(22)
def csv():
    file = Path(tempfile.mkdtemp()) / "rows.csv"
    ask = asking(X.dp.sum((0.0, 10.0)))
    found = []
    for last in ("", "abc\n"):
        file.write_text(f"x\n1.5\n2.5\n{last}")
        scan = pl.scan_csv(file, schema={"x": pl.Float64}, ignore_errors=True)
        found.append(judge.tried(lambda scan=scan: ask(scan)))
    os.remove(file)
    shown = f"with a schema and ignore_errors: {found[0] or 'answers'} without the bad row, "
    shown += f"{found[1] or 'answers'} with it (Polars reads)"
    return failed(shown) if any(found) else passed(shown)


@attack(23)
def replay():
    budget = one_count()
    answered = sum(judge.tried(lambda: spend(budget)) is None for _ in range(10))
    shown = f"{answered} of 10 answers from a budget for one"
    return passed(shown) if answered == 1 else failed(shown)


@attack(25)
def ledger():
    odometer = dp.c.make_fully_adaptive_composition(*INTEGERS, output_measure=dp.max_divergence())
    privacy_filter = dp.c.make_privacy_filter(odometer, d_in=1, d_out=1.0)

    def make(share):
        queryable, measure = privacy_filter([1, 0, 1]), noisy_count(share)
        return lambda: queryable(measure)

    return judge.shares(make)


if __name__ == "__main__":
    judge.main()

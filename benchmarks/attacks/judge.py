"""What every side of the comparison shares: verdicts, certified losses, and the attacks as such.

Standard library only, so that it runs beside one library and nothing else. A side defines one
function a class and calls `main`; `side.py N` prints the verdict on class N as JSON.

A verdict "fail" rests on a counterexample that is true in itself, or on a statistic whose false
alarms are at most 1e-6 a cell (Clopper-Pearson bounds, permutation ranks). "pass" says that this
attack found nothing.
"""

import copy
import gc
import json
import math
import os
import pickle
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from evidence import ALARM, Draw, correlation, loss_of, sample

CPU_SECONDS, WALL_SECONDS = 40, 180
EXTREMES = (math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0)
SHARES = (3, 7, 10, 49, 100)

ATTACKS: dict[int, Callable[[], "Verdict"]] = {}


@dataclass(frozen=True)
class Verdict:
    """One cell: a word, and the number that shows it."""

    word: str
    shown: str


def passed(shown: str) -> Verdict:
    return Verdict("pass", shown)


def failed(shown: str) -> Verdict:
    return Verdict("fail", shown)


def left(shown: str) -> Verdict:
    return Verdict("left to the user", shown)


def absent(shown: str) -> Verdict:
    return Verdict("not applicable", shown)


def attack(number: int) -> Callable:
    def keep(function: Callable[[], Verdict]) -> Callable[[], Verdict]:
        ATTACKS[number] = function
        return function

    return keep


def judged(losses: dict[str, float], price: float, note: str = "") -> Verdict:
    """Pass if no certified loss is above the price."""
    name, worst = max(losses.items(), key=lambda item: item[1])
    shown = f"{name}: loss of at least {worst:.2f} certified at a price of {price:g}{note}"
    return failed(shown) if worst > price else passed(shown)


def low_bits(value: float) -> bool:
    """Near zero, and finer than any double near one can be."""
    return abs(value) < 1 / 8 and value * 2.0**53 % 1 != 0


def support(draw: Callable[[float], Draw], count: int = 30_000) -> Verdict:
    """Class 1: noise on f = 0 and on f = 1 at epsilon 1."""
    hits = [sum(map(low_bits, sample(draw(f), count, 9))) for f in (0.0, 1.0)]
    loss = loss_of(hits[0], count, hits[1], count)
    shown = f"{hits[0]} of {count} outputs at f = 0 have low bits, {hits[1]} at f = 1"
    return failed(shown) if loss > 1 else passed(shown)


def tried(call: Callable) -> str | None:
    """What was raised, or None."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def odd(queries: dict[str, Callable], tables: dict[str, object], finite: bool = True) -> list[str]:
    """The queries that raise, or (finite) answer NaN or infinity, on a table."""
    found = []
    for query, ask in queries.items():
        for name, table in tables.items():
            answers: list[float] = []
            error = tried(lambda ask=ask, table=table, got=answers: got.append(float(ask(table))))
            if error or (finite and not math.isfinite(answers[0])):
                found.append(f"{query} of {name}: {error or answers[0]}")
    return found


def extreme_tables() -> dict[str, list[float]]:
    return {str(value): [0.5] * 100 + [value] for value in EXTREMES}


def forked(draw: Callable[[], float], draws: int = 16, children: int = 4) -> Verdict:
    """Class 13: what the children of one process draw."""
    draw()
    lines = []
    for _ in range(children):
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, json.dumps([float(draw()) for _ in range(draws)]).encode())
            os._exit(0)
        os.wait()
        lines.append(os.read(read, 10_000))
    same = children - len(set(lines))
    shown = f"{same} of {children} forked workers repeated {draws} draws of another"
    return failed(shown) if same else passed(shown)


def timed(draws: dict[str, Callable[[], float]], count: int = 8000) -> Verdict:
    """Class 16: rank correlation of |noise| and the time of a single draw.

    Noise that is independent of the time is exchangeable, whatever else the machine does.
    """
    gc.disable()
    found = {}
    for name, draw in draws.items():
        noise, spent = [], []
        for _ in range(count):
            start = time.perf_counter_ns()
            value = draw()
            spent.append(float(time.perf_counter_ns() - start))
            noise.append(abs(float(value)))
        found[name] = correlation(noise, spent)
    limit = NormalDist().inv_cdf(1 - ALARM / 2 / len(draws)) / math.sqrt(count - 1)
    name, worst = max(found.items(), key=lambda item: abs(item[1]))
    shown = f"{name}: rank correlation {worst:.3f}; chance stays below {limit:.3f}"
    return failed(shown) if abs(worst) > limit else passed(shown)


def raced(
    make: Callable[[], Callable], workers: int = 8, rounds: int = 1500, seconds: float = 12
) -> Verdict:
    """Class 17: several threads spend a budget that is enough for one."""
    sys.setswitchinterval(1e-6)
    stop, played, overspent = time.process_time() + seconds, 0, 0
    while played < rounds and time.process_time() < stop:
        spend, barrier, got = make(), threading.Barrier(workers), []

        def go(spend: Callable = spend, barrier=barrier, got: list = got) -> None:
            barrier.wait()
            if tried(spend) is None:
                got.append(1)

        threads = [threading.Thread(target=go) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        played, overspent = played + 1, overspent + (len(got) > 1)
    shown = f"overspent in {overspent} of {played} rounds of {workers} threads"
    return failed(shown) if overspent else passed(shown)


def forked_spends(holder: object, spend: Callable[[object], object]) -> int:
    """How often one budget is spent by a child and its parent."""
    child = os.fork()
    if child == 0:
        os._exit(0 if tried(lambda: spend(holder)) is None else 1)
    spent = os.waitpid(child, 0)[1] == 0
    return spent + (tried(lambda: spend(holder)) is None)


def copied(make: Callable[[], object], spend: Callable[[object], object]) -> dict[str, int]:
    """Class 18: how often one budget is spent, after a fork and by copies in one process."""
    found = {"fork": forked_spends(make(), spend)}
    for way in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        holder, others = make(), []
        if tried(lambda way=way, h=holder, o=others: o.append(way(h))) is None:
            name = getattr(way, "__name__", "pickle").replace("<lambda>", "pickle")
            found[name] = sum(tried(lambda x=x: spend(x)) is None for x in (holder, *others))
    return found


def times(found: dict[str, int]) -> str:
    return "spends of one budget: " + ", ".join(f"{n} by {w}" for w, n in found.items())


def showing(calls: dict[str, Callable], canaries: Iterable[object]) -> Verdict:
    """Class 21: a value of a row in an error or a text."""
    found = []
    for name, call in calls.items():
        try:
            text = repr(call())
        except Exception as error:
            text = "".join(traceback.format_exception(error))
        count = sum(str(canary) in text for canary in canaries)
        found += [f"{name} ({count} of its rows)"] if count else []
    shown = f"texts that show a row: {len(found)} of {len(calls)}{'; ' * bool(found)}"
    shown += ", ".join(found)
    return failed(shown) if found else passed(shown)


def shares(make: Callable[[float], Callable]) -> Verdict:
    """Class 25: budget 1 in n equal parts; exact sum of what was granted."""
    granted = []
    for n in SHARES:
        spend, count = make(1 / n), 0
        while count < 2 * n and tried(spend) is None:
            count += 1
        granted.append(count)
    over = max(Fraction(repr(1 / n)) * g for n, g in zip(SHARES, granted, strict=True)) - 1
    pairs = ", ".join(f"{g} of {n}" for n, g in zip(SHARES, granted, strict=True))
    shown = f"equal parts granted: {pairs}"
    return failed(shown) if over > Fraction(1, 10**9) else passed(shown)


def distance(sums: Iterable[float]) -> float:
    values = list(sums)
    return max(values) - min(values)


def main() -> None:
    """Print the verdict of the class that is named on the command line."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    signal.alarm(WALL_SECONDS)
    verdict = ATTACKS[int(sys.argv[1])]()
    print(json.dumps([verdict.word, verdict.shown]))

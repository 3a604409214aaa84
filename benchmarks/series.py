"""Running totals released at every period's close: error beside other ways, at one price for all.

Run: python benchmarks/series.py               # with opendp where its environment is there
     python benchmarks/series.py --trials 500 --no-peers

Counts over 12, 24 and 365 periods, at epsilon 1, and at rho 1/2 (whose Gaussian noise is that of an
epsilon-1 vector's in L2); one row added or removed. Root-mean-square error over all totals and
trials. All but the last two rows can answer when a period closes: "a release each" splits the price
among them; "binary tree" sums the dyadic blocks of each total [Chan, Shi & Song 2011]; "read from
below" weighs what is inside of each block too [Honaker 2015]. The last two wait for the last
period: opendp's consistent tree, and halfmask's `Prefixes`, the one-shot question. The bound is
that of Gaussian noise under any strategy, by weak duality.
"""

import argparse
import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import halfmask as hm
from halfmask.plan import Periods
from halfmask.privacy import ZCDP, PrivacyUnit, Pure
from halfmask.queries import Running, Setting
from halfmask.queries.workload.gaussian import optimum
from halfmask.sources import open_source

PYTHON = Path(__file__).parent / ".environments" / "opendp" / "bin" / "python"
OPENDP = """
import json, sys
from itertools import accumulate
import opendp.prelude as dp
dp.enable_features("contrib")
given = json.load(open(sys.argv[1]))
number = given["periods"]
rows = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
branching = dp.t.choose_branching_factor(number)
counts = rows >> dp.t.then_count_by_categories(list(range(number)), null_category=False)
nodes = counts >> dp.t.then_b_ary_tree(leaf_count=number, branching_factor=branching)
scale = dp.binary_search_param(lambda s: nodes >> dp.m.then_laplace(s), 1, 1.0)
noisy = nodes >> dp.m.then_laplace(scale) >> dp.t.make_consistent_b_ary_tree(branching)
found = [list(accumulate(noisy(given["cells"])))[:number] for _ in range(given["trials"])]
print(json.dumps(found))
"""
ROWS = 1_000  # a period


def rmse(errors):
    return float(np.sqrt(np.mean(np.square(errors))))


def opendp_error(cells, number, truth, trials):
    if not PYTHON.exists():
        return math.nan
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.json"
        given.write_text(json.dumps({"cells": cells, "periods": number, "trials": trials}))
        done = subprocess.run([PYTHON, "-c", OPENDP, given], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-400:])
        return math.nan
    return rmse(np.array(json.loads(done.stdout)) - truth)


def tree_error(number, setting, price, below):
    """A noisy sum for each dyadic block; a total adds those of the ones in its number.

    below: weigh what is inside of each block too, by the variances, from the leaves up.
    """
    spreads, left, total = [1.0], np.arange(1, number + 1), 0.0
    for _ in range(1, number.bit_length()):
        parts = 2 * spreads[-1]
        spreads.append(parts / (1 + parts) if below else 1.0)
    for level, spread in reversed(list(enumerate(spreads))):
        total += (left >> level).sum() * spread
        left = left % 2**level
    each = hm.Count().expected(setting, price.share(f"1/{number.bit_length()}"), 1).rmse
    return each * math.sqrt(total / number)


def ours(closings, source, truth, trials):
    number = closings.question.periods.number
    closing = closings.closing(1, number)
    exact = closing.exact(closing.request.answered_by(source))
    noisy = np.array(closings.mechanism.release(exact * trials)).reshape(trials, -1)
    one = closings.totals(tuple(noisy[0].tolist()), number)
    return rmse(noisy @ one.gains.T * float(closings.step) - truth)


def bound(number, price):
    gram = np.minimum.outer(np.arange(number, 0, -1.0), np.arange(number, 0, -1.0))
    return math.sqrt(optimum(gram)[2] / number / (2 * price.rho))


def table(number, price, trials, peers):
    places = np.random.default_rng(7).integers(0, number, ROWS * number)
    truth = np.bincount(places, minlength=number).cumsum()
    source = open_source({"at": places})
    setting, periods = Setting(source.schema, PrivacyUnit()), Periods(0, 1, number)
    question = Running(hm.Count(), "at", periods)
    chosen = question.lay(setting, price)
    begun = time.process_time()
    last = chosen.closing(number, number)
    last.release(last.request.answered_by(source), None)
    spent = 1000 * (time.process_time() - begun)
    errors = {"halfmask, series": ours(chosen, source, truth, trials)}
    once = hm.Count().expected(setting, price.share(f"1/{number}"), 1)
    errors["a release each"] = once.rmse
    errors["binary tree"] = tree_error(number, setting, price, below=False)
    errors["binary tree, read from below"] = tree_error(number, setting, price, below=True)
    errors["each alone"] = ours(question.lay(setting, price, "each"), source, truth, trials)
    if peers and isinstance(price, Pure):
        errors["opendp, consistent tree"] = opendp_error(
            places.tolist(), number, truth, min(trials, 300)
        )
    prefixes = hm.Prefixes("at", list(range(number + 1)))
    errors["halfmask, Prefixes"] = prefixes.expected(setting, price, 1).rmse
    if isinstance(price, ZCDP):
        errors["no strategy is below"] = bound(number, price)
    print(f"\n{number} periods, {price}: {chosen.strategy.name}; last closing {spent:.0f} CPU ms")
    print("| way | RMSE | over the series' |\n| --- | ---: | ---: |")
    for name, error in errors.items():
        print(f"| {name} | {error:.2f} | {error / errors['halfmask, series']:.2f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=4000)
    parser.add_argument("--no-peers", action="store_true")
    given = parser.parse_args()
    for price in (Pure(1), ZCDP("1/2")):
        for number in (12, 24, 365):
            table(number, price, given.trials, not given.no_peers)


if __name__ == "__main__":
    main()

"""Workloads of counts: error of each strategy and of the peers, same run, same price and relation.

Run: python benchmarks/workloads.py               # with the peers whose environments are there
     python benchmarks/workloads.py --trials 200 --no-peers

A hundred random ranges of 1024 bins, all ranges, and all running counts, on skewed data of a
hundred and of a million rows, at epsilon 1, and at rho 1/2 (whose Gaussian noise is that of an
epsilon-1 vector's in L2). Root-mean-square error over all answers and trials; "identity" is a noisy
histogram, "direct" noise in each answer. Adding noise and reading it off are timed together,
the choice of the strategy apart (it is kept for later asks).
"""

import argparse
import json
import math
import random
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import halfmask as hm
from halfmask.noise import discrete_gaussian, discrete_laplace
from halfmask.privacy import ZCDP, PrivacyUnit, Pure
from halfmask.queries import Setting
from halfmask.queries.workload.strategies import strategy
from halfmask.sources import open_source

HERE = Path(__file__).parent
FINE, STEP = 1024, 100
EDGES = [STEP * i for i in range(FINE + 1)]
FIXED = ("direct", "identity", "tree 2", "tree 4", "tree 8", "tree 16", "wavelet")
PEERS = {
    "diffprivlib": """
import numpy as np
from diffprivlib import tools
values = np.asarray(values)
span = dict(bins=FINE, range=(0, FINE * STEP))
again = lambda: tools.histogram(values, epsilon=1, **span)[0]
""",
    "python-dp": """
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism
counts = given["counts"]
noise = LaplaceMechanism(1, 1)
again = lambda: [noise.add_noise(count) for count in counts]
""",
    "opendp": """
import opendp.prelude as dp
dp.enable_features("contrib")
rows = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
edges = [STEP * i for i in range(1, FINE)]
counts = rows >> dp.t.then_find_bin(edges)
counts = counts >> dp.t.then_count_by_categories(list(range(FINE)), null_category=False)
branching = dp.t.choose_branching_factor(FINE)
nodes = counts >> dp.t.then_b_ary_tree(leaf_count=FINE, branching_factor=branching)
scale = dp.binary_search_param(lambda s: nodes >> dp.m.then_laplace(s), 1, 1.0)
noisy = nodes >> dp.m.then_laplace(scale)
noisy = noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=branching)
cells = [int(value) for value in values]
again = lambda: noisy(cells)
""",
}
FRAME = """
import json, sys
from array import array
from itertools import accumulate
FINE, STEP = {fine}, {step}
given = json.load(open(sys.argv[1]))
values = array("d", open(given["values"], "rb").read())
{make}
found = []
for _ in range(given["trials"]):
    running = [0, *accumulate(float(count) for count in again())]
    found.append([running[b] - running[a] for a, b in given["places"]])
print(json.dumps(found))
"""


def places(kind):
    seeded = random.Random(1024)
    if kind == "100 random ranges":
        return [tuple(sorted(seeded.sample(range(FINE + 1), 2))) for _ in range(100)]
    return [(0, end) for end in range(1, FINE + 1)]


def question(kind):
    if kind == "all ranges":
        return hm.Ranges("x", EDGES)
    return hm.Ranges("x", EDGES, [(EDGES[a], EDGES[b]) for a, b in places(kind)])


def skewed(rows):
    x = np.random.default_rng(7).lognormal(10, 0.8, rows)
    return np.clip(x, 0, FINE * STEP - 1)


def fixed_error(name, load, price, counts, truth, trials):
    """The error of one strategy over the cells that the workload tells apart, or over all 1024."""
    known = strategy(name, load)
    if isinstance(price, Pure):
        draw = lambda size: discrete_laplace(known.norms.l1 / price.epsilon, size)  # noqa: E731
    else:
        sigma = math.sqrt(known.norms.l2_squared / (2 * price.rho))
        draw = lambda size: discrete_gaussian(sigma, size)  # noqa: E731
    exact = known.matrix @ counts
    noisy = (known.estimate(exact + draw(len(exact))) for _ in range(trials))
    errors = [load.answers(cells) - truth for cells in noisy]
    return float(np.sqrt(np.mean(np.square(errors))))


def ours(query, source, price, truth, trials):
    begun = time.process_time()
    prepared = query.prepare(Setting(source.schema, PrivacyUnit()), price)
    chosen = time.process_time() - begun
    exact = prepared.request.answered_by(source)
    begun, errors = time.process_time(), []
    for _ in range(trials):
        (one,) = prepared.read(prepared.release(exact, None))
        errors.append(np.array(one.value) - truth)
    spent = (time.process_time() - begun) / trials
    name = prepared.choice.strategy.name
    return float(np.sqrt(np.mean(np.square(errors)))), f"{name}; chosen in {chosen:.1f} CPU s, " + (
        f"then {1000 * spent:.1f} CPU ms"
    )


def peer_error(name, values, kind, truth, trials):
    python = HERE / ".environments" / name / "bin" / "python"
    if not python.exists():
        return math.nan
    with tempfile.TemporaryDirectory() as folder:
        file, given = Path(folder) / "values.f64", Path(folder) / "given.json"
        values.tofile(file)
        counts = np.histogram(values, EDGES)[0].tolist()
        asked = {"values": str(file), "counts": counts, "trials": trials, "places": places(kind)}
        given.write_text(json.dumps(asked))
        script = FRAME.format(fine=FINE, step=STEP, make=PEERS[name])
        done = subprocess.run([python, "-c", script, given], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-400:])
        return math.nan
    return float(np.sqrt(np.mean(np.square(np.array(json.loads(done.stdout)) - truth))))


def table(kind, rows, price, trials, peers):
    values, query = skewed(rows), question(kind)
    counts = np.histogram(values, EDGES)[0]
    truth = query.load.answers(counts.astype(float))
    mine, note = ours(query, open_source({"x": values}), price, truth, trials)
    errors = {"halfmask": mine}
    few = min(trials, 40)
    for name in FIXED:
        if name != "direct" or query.load.queries <= FINE:
            errors[name] = fixed_error(name, query.load, price, counts, truth, few)
    if peers and isinstance(price, Pure) and kind != "all ranges":
        for name in PEERS:
            errors[name] = peer_error(name, values, kind, truth, min(trials, 12))
    print(f"\n{kind}, {rows:,} rows, {price}: {note}")
    print("| strategy | RMSE | over halfmask's |\n| --- | ---: | ---: |")
    for name, error in errors.items():
        print(f"| {name} | {error:.2f} | {error / mine:.2f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--no-peers", action="store_true")
    given = parser.parse_args()
    for rows in (100, 1_000_000):
        table("100 random ranges", rows, Pure(1), given.trials, not given.no_peers)
    table("running counts", 1_000_000, Pure(1), given.trials, not given.no_peers)
    table("all ranges", 1_000_000, Pure(1), 10, False)
    for kind in ("100 random ranges", "running counts"):
        table(kind, 1_000_000, ZCDP("1/2"), given.trials, False)


if __name__ == "__main__":
    main()

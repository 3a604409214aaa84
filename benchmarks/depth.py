"""How fast depths are: beside the article's loop, the bare matrix products, and data-depth.

    OPENBLAS_NUM_THREADS=1 python benchmarks/depth.py
    python benchmarks/depth.py --peer PYTHON    # an interpreter that has the data-depth package

CPU seconds, medians of turns that alternate. One thread: waiting BLAS threads count as busy.
`--wall` tells how many times as fast as the loop it is by least wall times, where nothing ran
before the loop, as in the article: the memory of its large arrays is mapped anew for each then,
which takes more time than the arithmetic. Once larger arrays were freed, as in the tables, it is
not.
"""

import argparse
import json
import subprocess
import time

import numpy as np

from halfmask import depth

SIZES = [(1_000, 2, 200), (10_000, 10, 200), (10_000, 50, 200), (20_000, 200, 64)]
TURNS = 7

PEER = """
import json, sys, time
import numpy as np
from depth.model import DepthEucl
job = json.load(sys.stdin)
x, t = np.array(job["data"]), np.array(job["points"])
model = DepthEucl()
model.load_dataset(x)
answers = {}
for name, call in {
    "tukey": lambda: model.halfspace(t, exact=True),
    "simplicial": lambda: model.simplicial(t, exact=True),
    "spatial": lambda: model.spatial(t, mah_estimate="none"),
    "mahalanobis": lambda: model.mahalanobis(t),
}.items():
    start = time.process_time()
    answer = call()
    seconds = time.process_time() - start
    answers[name] = (np.asarray(answer).tolist(), seconds)
print("\\n" + json.dumps(answers))
"""


def spatial_depth(x, X):
    """The article's, one candidate at a time."""
    diff = x - X
    norms = np.linalg.norm(diff, axis=1)
    return 1 - np.linalg.norm(np.mean(diff / norms[:, None], axis=0))


def medians(*calls):
    """Median CPU seconds of each call, in turns, after a first."""
    times = []
    for _ in range(TURNS + 1):
        turn = []
        for call in calls:
            start = time.process_time()
            call()
            turn.append(time.process_time() - start)
        times.append(turn)
    return np.median(times[1:], axis=0)


def against_loop(n, d, m):
    random = np.random.default_rng(0)
    X, T = random.normal(size=(n, d)), random.normal(size=(m, d))
    W = np.ones((m, n))
    X1, T1, W1 = (part.astype(np.float32) for part in (X, T, W))
    loop, bare, ours, bare1, ours1 = medians(
        lambda: [spatial_depth(t, X) for t in T],
        lambda: (X @ T.T, W @ X),
        lambda: depth.spatial_depth(T, X),
        lambda: (X1 @ T1.T, W1 @ X1),
        lambda: depth.spatial_depth(T, X, dtype=np.float32),
    )
    true = np.array([spatial_depth(t, X) for t in T])
    error = np.abs(depth.spatial_depth(T, X) - true).max()
    error1 = np.abs(depth.spatial_depth(T, X, dtype=np.float32) - true).max()
    print(
        f"| {n}, {d}, {m} | {loop * 1e3:.1f} | {ours * 1e3:.2f} | {loop / ours:.1f} "
        f"| {bare / ours:.2f} | {loop / ours1:.1f} | {bare1 / ours1:.2f} "
        f"| {error:.0e} | {error1:.0e} |"
    )


def least(call, turns):
    """Least wall time: waiting threads of BLAS count as busy, so CPU seconds say too much here."""
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def loop_first(n, d, m):
    random = np.random.default_rng(0)
    X, T = random.normal(size=(n, d)), random.normal(size=(m, d))
    loop = least(lambda: [spatial_depth(t, X) for t in T], TURNS)
    ours = least(lambda: depth.spatial_depth(T, X), 30 * TURNS)
    print(f"{n}, {d}, {m}: {loop * 1e3:.0f} ms, ours {ours * 1e3:.1f}: {loop / ours:.1f} times")


def others():
    random = np.random.default_rng(1)
    X, T = random.normal(size=(10_000, 50)), random.normal(size=(200, 50))
    rays = random.normal(size=(1000, 50))
    flat, few = random.normal(size=(10_000, 2)), random.normal(size=(20, 2))
    calls = {
        "Tukey, exact, a point of (1e4, 2)": (lambda: depth.tukey_depth(few, flat), 20),
        "simplicial, a point of (1e4, 2)": (lambda: depth.simplicial_depth(few, flat), 20),
        "Tukey, 1000 directions, a point of (1e4, 50)": (
            lambda: depth.tukey_depth(T, X, rays),
            200,
        ),
        "Mahalanobis, a point of (1e4, 50)": (lambda: depth.mahalanobis_depth(T, X), 200),
        "spatial median of (1e4, 50)": (lambda: depth.spatial_median(X), 1),
        "Tukey median of (1e4, 2)": (lambda: depth.tukey_median(flat), 1),
    }
    print("\n| | CPU ms |\n| --- | ---: |")
    for name, (call, count) in calls.items():
        print(f"| {name} | {medians(call)[0] / count * 1e3:.3g} |")


def against_peer(python):
    random = np.random.default_rng(2)
    data, points = random.normal(size=(300, 2)), random.normal(size=(50, 2))
    job = json.dumps({"data": data.tolist(), "points": points.tolist()})
    done = subprocess.run(
        [python, "-c", PEER], input=job, capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout.strip().splitlines()[-1])
    ours = {
        "tukey": lambda: depth.tukey_depth(points, data) / len(data),
        "simplicial": lambda: depth.simplicial_depth(points, data),
        "spatial": lambda: depth.spatial_depth(points, data),
        "mahalanobis": lambda: depth.mahalanobis_depth(points, data),
    }
    print("\n| (300, 2), 50 points | largest difference | data-depth ms | ours ms |")
    print("| --- | ---: | ---: | ---: |")
    for name, (answer, seconds) in theirs.items():
        worst = np.abs(np.array(answer) - ours[name]()).max()
        mine = medians(ours[name])[0]
        print(f"| {name} | {worst:.1e} | {seconds * 1e3:.1f} | {mine * 1e3:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer", help="an interpreter that has the data-depth package")
    parser.add_argument("--wall", action="store_true", help="wall time, the loop before all else")
    chosen = parser.parse_args()
    if chosen.wall:
        loop_first(10_000, 50, 200)
        raise SystemExit
    heads = "n, d, points|loop ms|ours ms|x loop|of bare products|float32 x loop|of bare"
    print(f"|{heads}|error|float32 error|")
    print("| --- " + "| ---: " * 8 + "|")
    for size in SIZES:
        against_loop(*size)
    others()
    if chosen.peer:
        against_peer(chosen.peer)

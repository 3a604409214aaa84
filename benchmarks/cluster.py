"""Private k-means on MNIST: purity, beside k-means of the same rows without noise.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/cluster.py              # everything
     python benchmarks/cluster.py --only rows --seeds 1               # or: peers, epsilons, losses

Ten clusters of images, as rows of length 1: 784 pixels, or pooled 4 x 4 to 7 x 7, which is a map
that everybody may know. Purity: the share of rows whose label is the most common of their cluster.
Images are those of benchmarks/federated.py; each seed draws its own rows, and delta is 1e-6.
K-means is scikit-learn's, the best of 3 starts. diffprivlib has an environment of its own, as in
benchmarks/peers.py; Google's clustering by hashing is on no registry, so it is not run.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from federated import DATA, fetch, labels
from sklearn.cluster import KMeans

from halfmask.cluster import PrivateKMeans

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from libraries import PEERS, SCRIPTS, prepare

PEER = next(one for one in PEERS if one.name == "diffprivlib")
DELTA = "1e-6"
LINE = 0.85  # of the purity without noise: what the article promises at epsilon 1
SIZES = (2000, 5000, 10_000, 30_000, 60_000)


class Mnist:
    """Training images in bytes, 784 pixels or pooled, and their labels."""

    def __init__(self):
        fetch()
        pixels = np.fromfile(DATA / "train-images-idx3-ubyte", np.uint8, offset=16)
        self.whole = pixels.reshape(-1, 784)
        self.pooled = pixels.reshape(-1, 7, 4, 7, 4).mean((2, 4), dtype=np.float32).reshape(-1, 49)
        self.y = labels("train-labels-idx1-ubyte")

    def rows(self, n, pooled, seed=None):
        """Rows drawn by a seed, or the first of the file, which are a little easier."""
        drawn = (
            np.arange(n)
            if seed is None
            else np.random.default_rng(seed).permutation(len(self.y))[:n]
        )
        return (self.pooled if pooled else self.whole)[drawn], self.y[drawn]


def purity(found, y):
    return sum(np.bincount(y[found == c]).max(initial=0) for c in range(10)) / len(y)


def private(X, y, epsilon, **settings):
    """Purity, and CPU seconds of the fit."""
    start = time.process_time()
    model = PrivateKMeans(10, epsilon, DELTA, **settings).fit(X)
    return purity(model.predict(X), y), time.process_time() - start


def unit(X):
    return X / np.linalg.norm(X.astype(np.float32), axis=1, keepdims=True)


def plain(X, y, seed):
    """Purity without noise, and CPU seconds."""
    start = time.process_time()
    model = KMeans(10, n_init=3, random_state=seed).fit(unit(X))
    return purity(model.labels_, y), time.process_time() - start


def rows(data, seeds):
    """Purity over numbers of rows, at epsilon 1; the worst seed too."""
    print(f"\nEpsilon 1, delta {DELTA}, means of {seeds} seeds; * is at least {LINE:.0%}\n")
    print("| rows | columns | k-means | private | worst | share | CPU s (k-means) |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n in SIZES:
        for pooled in (False, True):
            tables = [data.rows(n, pooled, seed) for seed in range(seeds)]
            base = np.mean([plain(X, y, s) for s, (X, y) in enumerate(tables)], axis=0)
            got = np.array([private(X, y, 1) for X, y in tables])
            share = got[:, 0].mean() / base[0]
            print(
                f"| {n} | {49 if pooled else 784} | {base[0]:.3f} | {got[:, 0].mean():.3f} | "
                f"{got[:, 0].min():.3f} | {share:.0%}{'*' if share >= LINE else ''} | "
                f"{got[:, 1].mean():.1f} ({base[1]:.1f}) |",
                flush=True,
            )


def diffprivlib(X, y, epsilon, upper):
    """Purity of diffprivlib's k-means, of columns from 0 to `upper`, and CPU seconds of the fit."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "rows.npy", X)
        script = str(SCRIPTS / "diffprivlib_kmeans.py")
        seconds = float(PEER.run(script, folder, "10", str(epsilon), str(upper)))
        centres = np.load(Path(folder) / "centres.npy")
    nearest = ((centres**2).sum(1) - 2 * (X @ centres.T)).argmin(1)
    return purity(nearest, y), seconds


def peers(data, seeds):
    """Ours beside k-means and diffprivlib, of the first rows of the file and of rows drawn."""
    prepare(PEER)
    print(
        f"\nEpsilon 1, means of {seeds} seeds; private: of more fits, with their standard error\n"
    )
    print(
        "| rows | columns | k-means | private | diffprivlib, length 1 | diffprivlib, as they are |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for n, pooled, first in ((10_000, True, True), (10_000, True, False), (60_000, False, True)):
        tables = [data.rows(n, pooled, None if first else seed) for seed in range(seeds)]
        base = np.mean([plain(X, y, s)[0] for s, (X, y) in enumerate(tables)])
        got = np.array([private(X, y, 1)[0] for X, y in tables for _ in range(16 if pooled else 1)])
        theirs = [diffprivlib(unit(X), y, 1, 1)[0] for X, y in tables]
        raw = [diffprivlib(X.astype(np.float32), y, 1, 255)[0] for X, y in tables]
        print(
            f"| {n}, {'the first' if first else 'drawn'} | {49 if pooled else 784} | {base:.3f} | "
            f"**{got.mean():.3f}** ({got.std(ddof=1) / len(got) ** 0.5:.3f}) | "
            f"{np.mean(theirs):.3f} | {np.mean(raw):.3f} |",
            flush=True,
        )


def epsilons(data, seeds):
    """Purity over prices."""
    print(f"\nPurity over prices, means of {seeds} seeds\n")
    print("| rows | columns | epsilon 0.5 | 1 | 3 | 10 |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for n in (2000, 10_000, 60_000):
        for pooled in (False, True):
            tables = [data.rows(n, pooled, seed) for seed in range(seeds)]
            got = [
                np.mean([private(X, y, epsilon)[0] for X, y in tables])
                for epsilon in (0.5, 1, 3, 10)
            ]
            figures = " | ".join(f"{value:.3f}" for value in got)
            print(f"| {n} | {49 if pooled else 784} | {figures} |", flush=True)


def losses(data, seeds):
    """Means and medians, where a tenth of the rows is noise of the length of an image."""
    print(f"\n20 000 rows of 49 columns, epsilon 1, means of {seeds} seeds\n")
    print("| loss | clean | a tenth is noise |\n| --- | ---: | ---: |")
    cases = []
    for seed in range(seeds):
        X, y = data.rows(20_000, True, seed)
        spoilt = X.copy()
        spoilt[:2000] = np.random.default_rng(seed).normal(size=(2000, 49)) * 255
        cases.append((X, spoilt, y))
    for loss in ("mean", "median"):
        clean, noisy = [], []
        for X, spoilt, y in cases:
            for table, found in ((X, clean), (spoilt, noisy)):
                model = PrivateKMeans(10, 1, DELTA, loss=loss).fit(table)
                found.append(purity(model.predict(X[2000:]), y[2000:]))
        print(f"| {loss} | {np.mean(clean):.3f} | {np.mean(noisy):.3f} |", flush=True)


PARTS = {f.__name__: f for f in (rows, peers, epsilons, losses)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    data = Mnist()
    for name in given.only or PARTS:
        PARTS[name](data, given.seeds)


if __name__ == "__main__":
    main()

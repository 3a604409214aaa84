"""Private scatter of points: errors of the shape, beside Tyler's own and a clipped covariance.

Run: python benchmarks/scatter.py                # every case
     python benchmarks/scatter.py --trials 3 --case "10 dims" --relation replace

Points with autoregressive correlations of 0.9, or with axes from 1 to 100 in directions of their
own; normal, or a quarter of them moved by +10 deviations in every coordinate, or Cauchy. delta is
1e-6. Two errors, of matrices of trace d: Frobenius, relative to the true matrix; and "shape", the
root mean square logarithm of its eigenvalues in terms of the true ones: no linear map changes it.
"Tyler (not private)" iterates to the end about the true centre; "covariance (not private)" is
the plain covariance. `Covariance` is told bounds of 4 deviations about the true centre.
"""

import argparse
import statistics
import time

import numpy as np

import halfmask as hm

DELTA = 1e-6
CASES = {"10 dims": (10_000, 10, 1), "20 dims": (100_000, 20, 1)}
KINDS = ("normal", "quarter of outliers", "Cauchy")
CENTRE = 5.0


def shapes(d):
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(d, d)))
    yield "correlations 0.9", 0.9 ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    yield "axes 1 to 100", (turn * np.geomspace(1, 1e4, d)) @ turn.T


def points(kind, n, shape, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(shape)))
    if kind == "Cauchy":
        X /= np.abs(rng.normal(size=(n, 1)))
    X = X @ np.linalg.cholesky(shape).T + CENTRE
    if kind == "quarter of outliers":
        X[: n // 4] += 10 * np.sqrt(np.diag(shape))
    return X


def tyler(X):
    Y, V = X - CENTRE, np.eye(X.shape[1])
    for _ in range(60):
        weights = 1 / np.einsum("ij,ij->i", Y @ np.linalg.inv(V), Y)
        V = (Y * weights[:, None]).T @ Y
        V *= len(V) / np.trace(V)
    return V


def estimators(X, shape, epsilon, relation):
    d, widths = len(shape), np.sqrt(np.diag(shape))
    price = {"epsilon": epsilon, "delta": DELTA}
    radius = tuple((1000 * widths).tolist())
    bounds = {f"x{j}": (CENTRE - 4 * w, CENTRE + 4 * w) for j, w in enumerate(widths.tolist())}

    def ask(query):
        budget = hm.Approximate(epsilon, DELTA)
        with hm.open(X, relation=relation, budget=budget) as table:
            return np.array(table.ask(query, **price).value)

    yield "TylerScatter", lambda: ask(hm.TylerScatter(0, radius))
    yield "TylerScatter, outliers kept", lambda: ask(hm.TylerScatter(0, radius, outliers=False))
    yield "Covariance, clipped", lambda: ask(hm.Covariance(bounds))
    yield "Tyler (not private)", lambda: tyler(X)
    yield "covariance (not private)", lambda: np.cov(X.T).reshape(d, d)


def errors_of(found, shape):
    d = len(shape)
    found, shape = found * d / np.trace(found), shape * d / np.trace(shape)
    root = np.linalg.inv(np.linalg.cholesky(shape))
    values = np.linalg.eigvalsh(root @ found @ root.T)
    logs = np.log(np.maximum(values, 1e-9 * values.max()))
    return float(np.linalg.norm(found - shape) / np.linalg.norm(shape)), float(np.std(logs))


def measured(kind, n, shape, epsilon, relation, trials):
    errors, seconds = {}, {}
    for seed in range(trials):
        X = points(kind, n, shape, seed)
        for name, estimate in estimators(X, shape, epsilon, relation):
            began = time.process_time()
            found = estimate()
            seconds.setdefault(name, []).append(time.process_time() - began)
            errors.setdefault(name, []).append(errors_of(found, shape))
    return errors, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=7)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--relation", action="append", choices=["replace", "add_remove"])
    given = parser.parse_args()
    for case in given.case or CASES:
        n, d, epsilon = CASES[case]
        trials = max(3, given.trials // 2) if n * d > 10**6 else given.trials
        for relation in given.relation or ("replace", "add_remove"):
            for label, shape in shapes(d):
                print(f"\n{label}: n = {n}, d = {d}, epsilon {epsilon}, {relation}")
                print(f"median Frobenius and shape error of {trials} trials, CPU s\n")
                print("| estimator | " + " | ".join(KINDS) + " | CPU s |")
                print("| --- |" + " ---: |" * 4)
                found = [measured(k, n, shape, epsilon, relation, trials) for k in KINDS]
                for name in found[0][0]:
                    cells = []
                    for errors, _ in found:
                        pair = map(statistics.median, zip(*errors[name], strict=True))
                        cells.append(", ".join(f"{error:.3g}" for error in pair))
                    cpu = statistics.median(found[0][1][name])
                    print(f"| {name} | {' | '.join(cells)} | {cpu:.3g} |", flush=True)


if __name__ == "__main__":
    main()

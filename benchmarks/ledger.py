"""Durable charges a second, by one process and by eight racing for one budget.

Run: python benchmarks/ledger.py [--spends 500]
Every charge is on disk (fsync) before it returns, and the next one waits for it: so no account
takes more charges a second than the disk below takes flushes, which is told with the machine's load
before each race. The PostgreSQL server is one that this starts, with its usual settings of
durability, over loopback.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path

from halfmask.errors import BudgetExhausted
from halfmask.privacy import GDP, Approximate, Ledger, Pure

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "services"))
from postgres_server import PostgresServer, programs

PRICE = Pure("0.001")


def spend(place, count, start, results):
    ledger = Ledger(place)
    start.wait()
    granted, refused, worst = [], 0, 0.0
    for _ in range(count):
        began = time.perf_counter()
        try:
            granted.append(ledger.charge(PRICE, query="Count()", actor="benchmark").seq)
        except BudgetExhausted:
            refused += 1
        worst = max(worst, time.perf_counter() - began)
    results.put((granted, refused, worst))


def race(place, processes, count, budget):
    Ledger(place, budget=budget).close()
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(processes + 1), context.Queue()
    workers = [
        context.Process(target=spend, args=(place, count, start, results)) for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    start.wait()
    began = time.perf_counter()
    outcomes = [results.get() for _ in workers]
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    report(place, processes, count, outcomes, seconds)


def report(place, processes, count, outcomes, seconds):
    ledger = Ledger(place)
    began = time.perf_counter()
    ledger.verify()
    verified = time.perf_counter() - began
    granted = sorted(seq for seqs, _, _ in outcomes for seq in seqs)
    refused = sum(refusals for _, refusals, _ in outcomes)
    exact = granted == [entry.seq for entry in ledger.entries()]
    over = ledger.spent.epsilon > ledger.budget.epsilon
    print(
        f"{processes} process(es) x {count}: {len(granted) / seconds:,.0f} charges/s, "
        f"worst wait {max(worst for _, _, worst in outcomes):.2f} s; "
        f"{len(granted)} granted, {refused} refused, {ledger.remaining} left; "
        f"overspent: {'YES' if over else 'no'}, lost or doubled: {'no' if exact else 'YES'}; "
        f"chain verifies in {verified * 1e3:.0f} ms"
    )


def tell_disk(folder, count=100):
    with open(Path(folder) / "flushed", "wb") as file:
        began = time.perf_counter()
        for _ in range(count):
            os.pwrite(file.fileno(), b"x" * 8192, 0)
            os.fdatasync(file.fileno())
        flushes = count / (time.perf_counter() - began)
    print(f"(load {os.getloadavg()[0]:.1f}, {flushes:,.0f} flushes/s)", end=" ")


def on_postgres(count):
    server = PostgresServer(durable=True)
    try:
        for processes in (1, 8):
            tell_disk(server.folder)
            print("PostgreSQL,", end=" ")
            race(f"{server.url()}#race_{processes}", processes, count, 2)
    finally:
        server.stop()


def in_memory(count):
    ledger = Ledger(budget=1000)
    began = time.process_time()
    for _ in range(count):
        ledger.charge(PRICE, query="Count()", actor="benchmark")
    print(f"in memory: {count / (time.process_time() - began):,.0f} charges/s of CPU time")


def conversions():
    for name, convert in {
        "pure -> zCDP": lambda k: Pure(f"0.{k}").in_measure("zcdp"),
        "pure -> GDP": lambda k: Pure(f"0.{k}").in_measure("gdp"),
        "GDP -> (epsilon, delta)": lambda k: GDP(f"0.{k}").at_delta(1e-6),
        "(epsilon, delta) -> GDP": lambda k: Approximate(f"0.{k}", 1e-6).largest_gdp(),
        "(epsilon, delta) -> zCDP": lambda k: Approximate(f"0.{k}", 1e-6).largest_zcdp(),
    }.items():
        began = time.process_time()
        for k in range(11, 61):
            convert(k)
        print(f"{name}: {(time.process_time() - began) / 50 * 1e3:.2f} ms (then remembered)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spends", type=int, default=500, help="wishes of each process")
    parser.add_argument("--folder", help="where to write; default: a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for processes in (1, 8):
            tell_disk(folder)
            race(Path(folder) / f"race-{processes}.ledger", processes, options.spends, 2)
    if programs() is None:
        print("PostgreSQL is not installed, so its rows are left out")
    else:
        on_postgres(options.spends)
    in_memory(2000)
    conversions()


if __name__ == "__main__":
    main()

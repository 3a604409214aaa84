"""The auditor on the whole corpus: what it certifies, beside what is true and what was published.

Run: python benchmarks/audit.py                    # everything: under 3 minutes of one core
     python benchmarks/audit.py --part planted     # our own bugs and their right forms
     python benchmarks/audit.py --only SVT --tight # do not stop at the first violation: best bounds

Published bounds: DP-Sniper's logs, 200 million final samples [Bichsel et al. 2021]; alpha there is
0.05 or more, here 1e-6. CPU seconds are of this process, all threads.
"""

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "audit"))

import audit_corpus
import audit_planted

from halfmask.audit import audit_pairs


def measured(entry, tight, **options):
    began = time.process_time()
    found = audit_pairs(
        entry.mechanism, entry.pairs, epsilon=entry.claimed, stop=not tight, **options
    )
    return found, time.process_time() - began


def judged(found, entry):
    return ("violation" if found.violated else "passes") + (
        "" if found.violated == entry.broken else " (WRONG)"
    )


def report(title, entries, tight, depth):
    print(f"\n{title}\n")
    print("| algorithm | claimed | true | certified | DP-Sniper | verdict | outputs | CPU s |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    total, wrong = 0.0, 0
    for entry in entries:
        found, seconds = measured(entry, tight, **depth, **entry.options)
        total, wrong = total + seconds, wrong + (found.violated != entry.broken)
        print(
            f"| {entry.name} | {entry.claimed:g} | {entry.true:.3g} "
            f"| {found.epsilon_lower_bound:.3f} | {entry.published} | {judged(found, entry)} "
            f"| {found.samples / 1e6:.2f} M | {seconds:.2f} |",
            flush=True,
        )
    print(f"\n{len(entries)} audits, {wrong} wrong, {total:.1f} CPU s")
    return total, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=["broken", "correct", "planted"], action="append")
    parser.add_argument("--only", default="", help="a part of the name")
    parser.add_argument("--tight", action="store_true", help="go on to the full depth")
    parser.add_argument(
        "--depth", type=int, default=2_000_000, help="outputs for each right form, all drawn"
    )
    options = parser.parse_args()
    right = {"samples": options.depth}
    parts = {
        "broken": {"Published, broken": (audit_corpus.BROKEN, {})},
        "correct": {"Published, right": (audit_corpus.CORRECT, right)},
        "planted": {
            "Planted bugs": (audit_planted.BUGS, {}),
            "Their right forms": (audit_planted.TWINS, right),
        },
    }
    total, wrong = 0.0, 0
    for part in options.part or parts:
        for title, (entries, depth) in parts[part].items():
            chosen = [entry for entry in entries if options.only in entry.name]
            if chosen:
                seconds, mistakes = report(title, chosen, options.tight, depth)
                total, wrong = total + seconds, wrong + mistakes
    print(f"\n{total:.1f} CPU s in all, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()

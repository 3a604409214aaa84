"""The same implementation attacks on halfmask and on three other libraries, in one run.

    python benchmarks/attacks.py                             # everything: a Markdown report
    python benchmarks/attacks.py --only opendp --class 16    # one cell

Standard library only. Each cell is a process of its own in the environment of its library, which
`peers.py` makes and keeps. `docs/comparison.md` says how to read the report.
"""

import argparse
import json
import platform
import time
from datetime import UTC, datetime
from pathlib import Path

from peers import HALFMASK, PEERS, Peer, prepare, say, table

SIDES = Path(__file__).resolve().parent / "attacks"
NAMED = {peer.name: peer for peer in PEERS}
LIBRARIES = {
    "halfmask": (HALFMASK, "halfmask_side.py"),
    "opendp": (NAMED["opendp-polars"], "opendp_side.py"),
    "diffprivlib": (NAMED["diffprivlib"], "diffprivlib_side.py"),
    "python-dp": (NAMED["python-dp"], "pydp_side.py"),
}
CLASSES = {
    1: "floating-point support of the noise",
    2: "rounding of float sums",
    3: "order of rows",
    4: "integer overflow",
    5: "NaN rows",
    6: "infinity, 1e308, denormals, -0.0",
    7: "exceptions that depend on rows",
    8: "empty data",
    9: "number of rows in a mean",
    10: "bounds taken from data",
    13: "noise after a fork",
    14: "seeds in production",
    16: "time of a draw",
    17: "race of threads on a budget",
    18: "budget after a fork, or copied",
    19: "refund after a failure",
    20: "wrong parameters and domains",
    21: "rows in errors and texts",
    22: "a bad cell in a CSV file",
    23: "replay beyond the budget",
    25: "rounding of the budget",
}

Cells = dict[tuple[int, str], tuple[str, str]]


def version(peer: Peer) -> str:
    code = f"import importlib.metadata as m; print(m.version({peer.distribution!r}))"
    return peer.run("-c", code, helped=False)


def cell(library: str, number: int) -> tuple[str, str]:
    """The verdict of one attack on one library; a side that dies or is too slow gives none."""
    peer, script = LIBRARIES[library]
    try:
        word, shown = json.loads(peer.run(str(SIDES / script), str(number)))
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        return "no verdict", lines[-1] if len(lines) > 1 else "the time limit was reached"
    return word, " ".join(shown.split())


def verdicts(cells: Cells, libraries: dict[str, str], numbers: list[int]) -> str:
    head = ["class", *(f"{name} {number}" for name, number in libraries.items())]
    rows = []
    for number in numbers:
        words = [cells[number, library][0] for library in libraries]
        rows.append([f"{number} {CLASSES[number]}", *(f"**{w}**" if w == "fail" else w
                                                      for w in words)])  # fmt: skip
    return table(head, rows)


def evidence(cells: Cells, libraries: dict[str, str], numbers: list[int]) -> str:
    lines = []
    for number in numbers:
        lines.append(f"### {number} {CLASSES[number]}\n")
        for library in libraries:
            word, shown = cells[number, library]
            command = f"python benchmarks/attacks.py --only {library} --class {number}"
            lines.append(f"- {library}, {word}: {shown}. `{command}`")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=list(LIBRARIES))
    parser.add_argument("--class", action="append", type=int, choices=list(CLASSES), dest="classes")
    given = parser.parse_args()
    begun, chosen, numbers = time.monotonic(), given.only or list(LIBRARIES), list(CLASSES)
    numbers = [number for number in numbers if number in (given.classes or numbers)]
    for library in chosen:
        prepare(LIBRARIES[library][0])
    libraries = {library: version(LIBRARIES[library][0]) for library in chosen}
    cells: Cells = {}
    for number in numbers:  # libraries stand next to each other in time
        for library in libraries:
            cells[number, library] = cell(library, number)
            say(f"{number} {library}: {': '.join(cells[number, library])}")
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"{datetime.now(UTC):%Y-%m-%d}, {where}\n")
    print(verdicts(cells, libraries, numbers), end="\n\n")
    print(evidence(cells, libraries, numbers))
    say(f"{(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()

"""halfmask beside six other libraries, each in an environment of its own, in one run.

    python benchmarks/peers.py [--quick] [--only NAME] [--task NAME] [--size large] [--json FILE]
    python benchmarks/peers.py --report FILE...

Standard library only. Makes the missing environments, then puts every library through each task,
one process after the other, and prints Markdown tables. `README.md` beside this file says what is
measured and how.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))

from libraries import HALFMASK, PEERS, SCRIPTS, Peer, megabytes, prepare, say
from report import report, table

__all__ = ["HALFMASK", "PEERS", "Peer", "prepare", "say", "table"]  # for attacks.py

TOOLS = ("pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack", "distutils-precedence")
STARTS = 5
PATIENCE = 600  # seconds a process may measure a task; what it has finished by then is kept
SIZES = {"large": "", "small": "small"}  # folders below that of the data
TASKS = (
    "count",
    "sum",
    "mean",
    "variance",
    "median",
    "quartiles",
    "histogram",
    "group mean",
    "unknown keys",
    "ranges",
    "per unit",
)
LARGE_ONLY = ("unknown keys", "per unit")
OTHERS = ("start", "article")


def start(peer: Peer, folder: Path) -> dict[str, object]:
    """Version, sizes, import time, and the cold start to a first private mean."""
    about = (
        "import json, sysconfig, platform, importlib.metadata as m;"
        f"print(json.dumps([m.version({peer.distribution!r}), sysconfig.get_path('purelib')]))"
    )
    version, packages = json.loads(peer.run("-c", about, helped=False))
    timed = (
        f"import time; w, c = time.perf_counter(), time.process_time(); import {peer.module};"
        "print(time.perf_counter() - w, time.process_time() - c)"
    )
    peer.run("-c", timed, helped=False)  # the first one fills the disk cache
    starts = 1 if peer.together else STARTS
    imports = [
        [float(x) for x in peer.run("-c", timed, helped=False).split()] for _ in range(starts)
    ]
    cold = []
    for _ in range(starts):
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        peer.script_run("cold", "--folder", str(folder))
        wall, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cold.append((wall, cpu))
    helpers = megabytes(peer.home / "helpers") if peer.helpers else 0.0
    return {
        "version": version,
        "import_wall": statistics.median(w for w, _ in imports),
        "import_cpu": statistics.median(c for _, c in imports),
        "cold_wall": statistics.median(w for w, _ in cold),
        "cold_cpu": statistics.median(c for _, c in cold),
        "packages_mb": megabytes(Path(packages), TOOLS),
        "environment_mb": megabytes(peer.home) - helpers,
    }


def plan_runs(peers: list[Peer], folder: Path, wanted: list[str]) -> list[tuple[Peer, list[str]]]:
    """Task by task, so that the libraries compared stand next to each other in time."""
    offered = {p: json.loads(p.script_run("list", "--folder", str(folder))) for p in peers}
    runs = [
        (peer, [name])
        for task in wanted
        for peer in peers
        for name in offered[peer]
        if name.split(",")[0] == task and not peer.together
    ]
    return runs + [
        (peer, [name for name in offered[peer] if name.split(",")[0] in wanted])
        for peer in peers
        if peer.together
    ]


def run_tasks(
    result: dict, peers: list[Peer], folder: Path, size: str, given: argparse.Namespace
) -> None:
    """Every task of every library over one table."""
    place = folder / SIZES[size]
    wanted = [t for t in TASKS if t in given.task and (size == "large" or t not in LARGE_ONLY)]
    limits = [
        "--folder",
        str(place),
        "--trials",
        str(given.trials),
        "--seconds",
        str(given.seconds),
    ]
    rows = "1 000 000" if size == "large" else "100"
    for peer, names in plan_runs(peers, place, wanted):
        for name, got in measured(peer, names, limits).items():
            task, _, rest = name.partition(",")
            found = result["tasks"].setdefault(f"{task} ({rows} rows)", {})
            found[f"{peer.name},{rest}" if rest else peer.name] = got
        save(result, given.json)


def measured(peer: Peer, names: list[str], limits: list[str]) -> dict[str, dict]:
    """What one process measured; a peer that fails is told of, and left out. halfmask may not."""
    if not names:
        return {}
    say(f"{time.strftime('%H:%M:%S')} {peer.name}: {'; '.join(names)}")
    script = str(SCRIPTS / peer.script)
    try:
        lines = peer.lines(script, "measure", *names, *limits, most=PATIENCE * len(names))
        found = {k: v for line in lines for k, v in json.loads(line or "{}").items()}
        for name in set(names) - set(found):
            say(f"{peer.name}: {name} was not done in time")
        return found
    except RuntimeError as failed:
        if peer is HALFMASK:
            raise
        say(str(failed)[-2000:])
        return {}


def others(result: dict, peers: list[Peer], folder: Path, given: argparse.Namespace) -> None:
    """The start of every library, and the article's mean."""
    place = ["--folder", str(folder)]
    limits = ["--trials", str(10 * given.trials), "--seconds", str(given.seconds / 3)]
    for peer in peers:
        if "start" in given.task:
            say(f"{peer.name}: start")
            result["start"][peer.name] = start(peer, folder)
        if "article" in given.task and not peer.together:
            say(f"{peer.name}: article")
            answer = peer.script_run("article", *place, *limits)
            result["article"][peer.name] = json.loads(answer)
        save(result, given.json)


def save(result: dict, file: Path | None) -> None:
    if file:
        file.write_text(json.dumps(result, indent=1))


def together(files: list[Path]) -> dict:
    """The figures of several runs as those of one; of the same figure the last counts."""
    result: dict = {"tasks": {}, "start": {}, "article": {}}
    for one in (json.loads(file.read_text()) for file in files):
        result |= {"machine": one["machine"]}
        for task, found in one["tasks"].items():
            result["tasks"].setdefault(task, {}).update(found)
        result["start"] |= one["start"]
        result["article"] |= one["article"]
    return result


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few trials: does everything run?")
    parser.add_argument("--trials", type=int, default=1000, help="at most, of each task")
    parser.add_argument("--seconds", type=float, default=8, help="at most, of each task")
    parser.add_argument("--only", action="append", choices=[p.name for p in PEERS])
    parser.add_argument("--task", action="append", choices=[*TASKS, *OTHERS])
    parser.add_argument("--size", action="append", choices=list(SIZES), help="of the table")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    parser.add_argument("--report", type=Path, nargs="+", help="print such files, measure nothing")
    given = parser.parse_args()
    given.task = given.task or [*TASKS, *OTHERS]
    if given.quick:
        given.trials, given.seconds = 5, 1
    return given


def main() -> None:
    given = arguments()
    if given.report:
        print(report(together(given.report)))
        return
    peers = [p for p in PEERS if not given.only or p.name in given.only]
    begun = time.monotonic()
    for peer in dict.fromkeys([HALFMASK, *peers]):  # halfmask's environment makes the tables
        prepare(peer)
    system = f"{platform.system()} {platform.machine()}"
    machine = {"system": system, "cores": os.cpu_count(), "python": platform.python_version()}
    result: dict = {"machine": machine, "tasks": {}, "start": {}, "article": {}}
    with tempfile.TemporaryDirectory() as name:
        HALFMASK.run(str(SCRIPTS / "make_table.py"), name)
        for size in given.size or SIZES:
            run_tasks(result, peers, Path(name), size, given)
        others(result, peers, Path(name), given)
    print(report(result))
    say(f"{(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()

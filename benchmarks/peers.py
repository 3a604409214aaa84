"""halfmask beside six other libraries, each in an environment of its own, in one run.

    python benchmarks/peers.py [--quick] [--only NAME] [--task NAME] [--size large] [--json FILE]

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
PATIENCE = 600  # seconds a process may measure; what it has finished by then is kept
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


def run_tasks(
    peers: list[Peer], folder: Path, wanted: list[str], limits: list[str]
) -> dict[str, dict[str, dict]]:
    """Task by task, so that the libraries compared stand next to each other in time."""
    place = ["--folder", str(folder)]
    offered = {peer: json.loads(peer.script_run("list", *place)) for peer in peers}
    results: dict[str, dict[str, dict]] = {task: {} for task in wanted}
    runs = [
        (peer, [name])
        for task in wanted
        for peer in peers
        for name in offered[peer]
        if name.split(",")[0] == task and not peer.together
    ]
    runs += [
        (peer, [name for name in offered[peer] if name.split(",")[0] in wanted])
        for peer in peers
        if peer.together
    ]
    for peer, names in runs:
        for name, got in measured(peer, names, place, limits).items():
            task, _, rest = name.partition(",")
            results[task][f"{peer.name},{rest}" if rest else peer.name] = got
    return results


def measured(peer: Peer, names: list[str], place: list[str], limits: list[str]) -> dict[str, dict]:
    """What one process measured; a peer that fails is told of, and left out. halfmask may not."""
    if not names:
        return {}
    say(f"{time.strftime('%H:%M:%S')} {peer.name}: {'; '.join(names)}")
    script = str(SCRIPTS / peer.script)
    try:
        lines = peer.lines(script, "measure", *names, *place, *limits, most=PATIENCE)
        found = {k: v for line in lines for k, v in json.loads(line or "{}").items()}
        for name in set(names) - set(found):
            say(f"{peer.name}: {name} was not done after {PATIENCE} s")
        return found
    except RuntimeError as failed:
        if peer is HALFMASK:
            raise
        say(str(failed)[-2000:])
        return {}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few trials: does everything run?")
    parser.add_argument("--trials", type=int, default=1000, help="at most, of each task")
    parser.add_argument("--seconds", type=float, default=8, help="at most, of each task")
    parser.add_argument("--only", action="append", choices=[p.name for p in PEERS])
    parser.add_argument("--task", action="append", choices=[*TASKS, *OTHERS])
    parser.add_argument("--size", choices=list(SIZES), help="one of the two tables alone")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    peers = [p for p in PEERS if not given.only or p.name in given.only]
    chosen = given.task or [*TASKS, *OTHERS]
    limits = ["--trials", "5", "--seconds", "1"] if given.quick else []
    limits = limits or ["--trials", str(given.trials), "--seconds", str(given.seconds)]
    small = ["--trials", "100" if given.quick else "10000", "--seconds", str(given.seconds)]
    begun = time.monotonic()
    for peer in dict.fromkeys([HALFMASK, *peers]):  # halfmask's environment makes the tables
        prepare(peer)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        HALFMASK.run(str(SCRIPTS / "make_table.py"), name)
        system = f"{platform.system()} {platform.machine()}"
        machine = {"system": system, "cores": os.cpu_count(), "python": platform.python_version()}
        result: dict = {"machine": machine, "tasks": {}, "start": {}, "article": {}}
        for size in [given.size] if given.size else SIZES:
            left = () if size == "large" else LARGE_ONLY
            wanted = [t for t in TASKS if t in chosen and t not in left]
            for task, found in run_tasks(peers, folder / SIZES[size], wanted, limits).items():
                result["tasks"][f"{task} ({'1 000 000' if size == 'large' else 100} rows)"] = found
        for peer in peers:
            if "start" in chosen:
                say(f"{peer.name}: start")
                result["start"][peer.name] = start(peer, folder)
            if "article" in chosen and not peer.together:
                say(f"{peer.name}: article")
                answer = peer.script_run("article", "--folder", name, *small)
                result["article"][peer.name] = json.loads(answer)
    result["minutes"] = (time.monotonic() - begun) / 60
    print(report(result))
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))
    say(f"{result['minutes']:.1f} minutes")


if __name__ == "__main__":
    main()

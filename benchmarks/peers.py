"""halfmask beside three other libraries, each in an environment of its own, in one run.

    python benchmarks/peers.py [--quick] [--only NAME] [--json FILE]

Standard library only. Makes the missing environments, then puts every library through each task,
one process after the other, and prints Markdown tables. `README.md` beside this file says what is
measured and how.
"""

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "peers"
ENVIRONMENTS = HERE / ".environments"
TOOLS = ("pip", "setuptools", "wheel", "pkg_resources", "_distutils_hack", "distutils-precedence")
STARTS = 7
TASKS = ("count", "sum", "mean", "histogram", "per unit")


@dataclass(frozen=True)
class Peer:
    """One library: what is installed, what its script needs besides, and how it is imported."""

    name: str
    script: str
    packages: tuple[str, ...]
    module: str
    distribution: str
    helpers: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        return ENVIRONMENTS / self.name

    @property
    def python(self) -> Path:
        folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return self.home / folder / name

    def run(self, *arguments: str, helped: bool = True) -> str:
        """Run this environment's Python to its end; the last line of its output."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        if helped and self.helpers:
            environment["PYTHONPATH"] = str(self.home / "helpers")
        done = subprocess.run(
            [self.python, *arguments], env=environment, text=True, capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{self.name}: {' '.join(arguments)} failed\n{done.stderr}")
        return done.stdout.strip().rpartition("\n")[2]

    def script_run(self, *arguments: str) -> str:
        return self.run(str(SCRIPTS / self.script), *arguments)


HALFMASK = Peer("halfmask", "halfmask_ask.py", (str(HERE.parent),), "halfmask", "halfmask")
PEERS = (
    HALFMASK,
    Peer(
        "opendp",
        "opendp_framework.py",
        ("opendp==0.16.*",),
        "opendp.prelude",
        "opendp",
        helpers=("numpy<3",),
    ),
    Peer(
        "opendp-polars",
        "opendp_polars.py",
        ("opendp[polars]==0.16.*",),
        "opendp.prelude, polars",
        "opendp",
    ),
    Peer(
        "diffprivlib",
        "diffprivlib_tools.py",
        ("diffprivlib==0.6.5", "scikit-learn==1.5.2"),
        "diffprivlib",
        "diffprivlib",
    ),
    Peer(
        "python-dp",
        "pydp_laplacian.py",
        ("python-dp==1.1.5",),
        "pydp.algorithms.laplacian",
        "python-dp",
        helpers=("numpy<3",),
    ),
)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def prepare(peer: Peer) -> None:
    """Make the environment unless a finished one is there. halfmask's wheel is always built anew.

    Helpers (for reading columns and binning) go to a folder of their own, so that the size and the
    start of the environment are the library's alone.
    """
    finished = peer.home / "finished.json"
    wanted = json.dumps([peer.packages[1:] if peer is HALFMASK else peer.packages, peer.helpers])
    fresh = not finished.exists() or finished.read_text() != wanted
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if fresh:
        say(f"making the environment of {peer.name}")
        shutil.rmtree(peer.home, ignore_errors=True)
        venv.create(peer.home, with_pip=True)
        peer.run(*install, *peer.packages, helped=False)
        if peer.helpers:
            peer.run(*install, "--target", str(peer.home / "helpers"), *peer.helpers, helped=False)
        finished.write_text(wanted)
    elif peer is HALFMASK:
        peer.run(*install, "--force-reinstall", "--no-deps", *peer.packages, helped=False)


def megabytes(folder: Path, skip: tuple[str, ...] = ()) -> float:
    """Disk blocks below a folder, as `du -m` counts them; top-level names in `skip` left out."""
    total = 0
    for top in folder.iterdir():
        if not top.name.startswith(skip or ("\0",)):
            files = [top] if top.is_symlink() or top.is_file() else top.rglob("*")
            total += sum(f.lstat().st_blocks * 512 for f in files)
    return total / 1024**2


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
    imports = [
        [float(x) for x in peer.run("-c", timed, helped=False).split()] for _ in range(STARTS)
    ]
    cold = []
    for _ in range(STARTS):
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


def run_tasks(peers: list[Peer], folder: Path, limits: list[str]) -> dict[str, dict[str, object]]:
    """Task by task, so that the libraries compared stand next to each other in time."""
    place = ["--folder", str(folder)]
    offered = {peer: json.loads(peer.script_run("list", *place)) for peer in peers}
    results: dict[str, dict[str, object]] = {}
    for task in TASKS:
        for peer in peers:
            for name in (x for x in offered[peer] if x.split(",")[0] == task):
                say(f"{peer.name}: {name}")
                found = json.loads(peer.script_run("measure", name, *place, *limits))
                results.setdefault(task, {})[f"{peer.name}{name[len(task) :]}"] = found
    return results


def number(value: float) -> str:
    """Three or four significant digits without an exponent up to a million."""
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}" if value < 1e7 else f"{value:.3g}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, first column to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    bar = ["-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)]
    cells = [
        [r[0].ljust(widths[0]), *map(str.rjust, r[1:], widths[1:])] for r in (head, bar, *rows)
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def task_report(task: str, found: dict[str, dict]) -> str:
    head = ["library", "wall ms", "CPU ms", "again CPU ms", "peak MB", "RMSE", "trials", "relation"]
    rows, notes = [], []
    for name, got in found.items():
        error = ", ".join(map(number, got["parts"])) if len(got["parts"]) < 3 else None
        if got["note"]:
            notes.append(f"- {name}: {got['note']}")
        times = [f"{1000 * got[k]:.1f}" for k in ("wall", "cpu", "again_cpu")]
        error = error or number(got["rmse"])
        rows.append([name, *times, number(got["peak"]), error, str(got["trials"]), got["relation"]])
    return "\n\n".join([f"### {task}", table(head, rows), *(["\n".join(notes)] if notes else [])])


def start_report(found: dict[str, dict]) -> str:
    head = ["library", "packages MB", "environment MB", "import ms", "import CPU ms"]
    head += ["cold mean ms", "cold mean CPU ms"]
    rows = []
    for name, got in found.items():
        sizes = [f"{got[k]:.0f}" for k in ("packages_mb", "environment_mb")]
        keys = ("import_wall", "import_cpu", "cold_wall", "cold_cpu")
        rows.append([f"{name} {got['version']}", *sizes, *(f"{1000 * got[k]:.0f}" for k in keys)])
    return f"### Install and start\n\n{table(head, rows)}"


def article_report(found: dict[str, dict]) -> str:
    lines = {}
    for name, got in found.items():
        if "extra" in got:
            lines["the article's algorithm"] = ("add/remove one row", got["extra"])
        if got["sets"]:
            lines[name] = (got["relation"], got["sets"])
    if not lines:
        return ""
    sets = list(dict.fromkeys(key for _, errors in lines.values() for key in errors))
    rows = [
        [
            name,
            *(number(errors[key]["rmse"]) for key in sets),
            number(max(e["rmse"] for e in errors.values())),
            f"{min(e['trials'] for e in errors.values())}",
            relation,
        ]
        for name, (relation, errors) in lines.items()
    ]
    head = ["RMSE of the mean", *sets, "worst", "trials", "relation"]
    title = "### The article's example: mean of 100 salaries, C = 100 000, epsilon 0.5"
    return f"{title}\n\n{table(head, rows)}"


def report(result: dict) -> str:
    where = result["machine"]
    facts = f"{where['system']}, {where['cores']} cores, Python {where['python']}"
    parts = [facts, *(task_report(t, found) for t, found in result["tasks"].items())]
    parts += [start_report(result["start"]), article_report(result["article"])]
    return "\n\n".join(filter(None, parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few trials: does everything run?")
    parser.add_argument("--trials", type=int, default=200, help="of each task on the large table")
    parser.add_argument("--only", action="append", choices=[p.name for p in PEERS])
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    given = parser.parse_args()
    peers = [p for p in PEERS if not given.only or p.name in given.only]
    limits = ["--trials", "5" if given.quick else str(given.trials)]
    small = ["--trials", "100" if given.quick else "10000"]
    begun = time.monotonic()
    for peer in dict.fromkeys([HALFMASK, *peers]):  # halfmask's environment makes the table
        prepare(peer)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        HALFMASK.run(str(SCRIPTS / "make_table.py"), name)
        system = f"{platform.system()} {platform.machine()}"
        machine = {"system": system, "cores": os.cpu_count(), "python": platform.python_version()}
        result: dict = {"machine": machine, "tasks": run_tasks(peers, folder, limits)}
        result["start"], result["article"] = {}, {}
        for peer in peers:
            say(f"{peer.name}: start, article")
            result["start"][peer.name] = start(peer, folder)
            answer = peer.script_run("article", "--folder", name, *small)
            result["article"][peer.name] = json.loads(answer)
    result["minutes"] = (time.monotonic() - begun) / 60
    print(report(result))
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))
    say(f"{result['minutes']:.1f} minutes")


if __name__ == "__main__":
    main()

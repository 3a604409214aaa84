"""The libraries that are put side by side, and the environment of each."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ENVIRONMENTS = SCRIPTS.parent / ".environments"
PROJECT = SCRIPTS.parent.parent


@dataclass(frozen=True)
class Peer:
    """One library: what is installed, what its script needs besides, and how it is imported.

    together: its tasks share one process, because it takes long to start.
    """

    name: str
    script: str
    packages: tuple[str, ...]
    module: str
    distribution: str
    helpers: tuple[str, ...] = ()
    together: bool = False

    @property
    def home(self) -> Path:
        return ENVIRONMENTS / self.name

    @property
    def python(self) -> Path:
        folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
        return self.home / folder / name

    def run(self, *arguments: str, helped: bool = True) -> str:
        """Run this environment's Python to its end; the last line of its output."""
        return self.lines(*arguments, helped=helped)[-1]

    def lines(self, *arguments: str, helped: bool = True, most: float | None = None) -> list[str]:
        """Every line of its output; after `most` seconds it is ended, and what it said is kept."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        if helped and self.helpers:
            environment["PYTHONPATH"] = str(self.home / "helpers")
        with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as wrong:
            command = [str(self.python), *arguments]
            process = subprocess.Popen(command, env=environment, stdout=said, stderr=wrong)
            try:
                failed = process.wait(most)
            except subprocess.TimeoutExpired:
                process.terminate()
                failed = process.wait() and None
            said.seek(0)
            wrong.seek(0)
            if failed:
                raise RuntimeError(f"{self.name}: {' '.join(arguments)} failed\n{wrong.read()}")
            return said.read().strip().split("\n")

    def script_run(self, *arguments: str) -> str:
        return self.run(str(SCRIPTS / self.script), *arguments)


HALFMASK = Peer("halfmask", "halfmask_ask.py", (str(PROJECT),), "halfmask", "halfmask")
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
    Peer(
        "pipeline-dp",
        "pipeline_dp_local.py",
        ("pipeline-dp==0.3.1",),
        "pipeline_dp",
        "pipeline-dp",
    ),
    Peer(
        "smartnoise",
        "smartnoise_sql.py",
        ("smartnoise-sql==1.0.10",),
        "snsql",
        "smartnoise-sql",
    ),
    Peer(
        "tmlt",
        "tumult_analytics.py",
        ("tmlt.analytics==0.21.*",),
        "tmlt.analytics",
        "tmlt.analytics",
        together=True,
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

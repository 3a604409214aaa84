"""Set up a private environment beside this file, then run the main job or the tests.

    python3 dev.py run     a private release of a real table
    python3 dev.py test    everything that must hold: formatting, types, layers, tests, documents

Needs Python 3.11 or later with venv, and pip's package index; nothing else. As root on Debian,
`test` installs Octave for the tests of matlab/, and PostgreSQL and Java (for Spark), which tests
start and stop.
"""

import os
import shutil
import subprocess
import sys
from glob import glob
from pathlib import Path

HOME = Path(__file__).resolve().parent
PLACE = HOME / ".venv"
BIN = PLACE / ("Scripts" if os.name == "nt" else "bin")
PLAN = HOME / "examples" / "election" / "plan.toml"
PROGRAMS = {  # Debian's packages, and where each is known to be there already
    "octave": ["octave", "octave-cli"],
    "openjdk-17-jre-headless": ["java"],
    "postgresql": ["initdb", "/usr/lib/postgresql/*/bin/initdb"],
}


def main() -> None:
    """Run the command that was named."""
    commands = {"run": run, "test": test}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(f"Python 3.11 or later is needed, and this is {sys.version.split()[0]}")
    commands[sys.argv[1]]()


def run() -> None:
    """Install the package, and answer the example plan."""
    prepare()
    call(BIN / "halfmask", "run", PLAN)


def test() -> None:
    """Install the package with its test tools, and check everything."""
    prepare("--group", f"{HOME / 'pyproject.toml'}:test")
    add_programs()
    call(BIN / "ruff", "check", ".")
    call(BIN / "ruff", "format", "--check", ".")
    call(BIN / "mypy")
    call(BIN / "lint-imports")
    call(BIN / "python", "-m", "pytest", "-n", "auto", "--dist", "loadfile")


def prepare(*extra: str) -> None:
    """Make the environment if there is none, and install into it."""
    if not (BIN / "python").exists() and not (BIN / "python.exe").exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE], check=True)
        call(BIN / "python", "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
    call(BIN / "python", "-m", "pip", "install", "--quiet", "--editable", HOME, *extra)


def add_programs() -> None:
    """Install Debian's packages that tests need, where that can be done; else those are skipped."""
    able = shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0
    wanted = [package for package, places in PROGRAMS.items() if not any(map(found, places))]
    if able and wanted:
        call("apt-get", "-qq", "update")
        call("apt-get", "-qq", "install", "--yes", "--no-install-recommends", *wanted)


def found(place: str) -> bool:
    """Whether there is such a program: a name on the path, or a pattern of places."""
    return bool(glob(place) if "/" in place else shutil.which(place))


def call(*words: object) -> None:
    """Run a command here; stop with its exit code if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=HOME, check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()

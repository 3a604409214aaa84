"""Octave beside the toolbox."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2] / "matlab"
OCTAVE = shutil.which("octave-cli") or shutil.which("octave")

needs_octave = pytest.mark.skipif(
    OCTAVE is None and "CI" not in os.environ, reason="Octave is not installed"
)


def octave(code):
    """Run Octave code beside the toolbox: (exit code, output)."""
    command = [OCTAVE, "--no-gui", "--norc", "--quiet", "--path", str(HOME), "--eval", code]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr

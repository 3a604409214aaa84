"""Private temporary folders, swept up after processes that died without removing theirs."""

import os
import shutil
import stat
import sys
import tempfile
import weakref
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["PrivateFolder", "sweep"]

_NAME = f"halfmask-{os.getuid() if sys.platform != 'win32' else 'user'}-"
_LOCK = ".lock"
_swept = False


class PrivateFolder:
    """A temporary folder for this user alone (mode 0700), removed on close or at exit.

    A process that is killed leaves its folder behind. But the system lets go of its lock, so the
    next process that opens a table sees that nobody uses the folder, and removes it.
    """

    def __init__(self) -> None:
        global _swept
        if not _swept:
            _swept = True
            sweep(Path(tempfile.gettempdir()))
        made = tempfile.mkdtemp(prefix="halfmask.")  # of a name that is not swept before the lock
        lock = os.open(os.path.join(made, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        named = os.path.join(os.path.dirname(made), _NAME + os.path.basename(made).split(".")[1])
        os.rename(made, named)
        self.path = Path(named)
        self.close = weakref.finalize(self, _remove, named, lock, os.getpid())


def _remove(path: str, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not empty its parent's folder
        os.close(lock)
        shutil.rmtree(path, ignore_errors=True)


def sweep(place: Path) -> None:
    """Remove this user's folders whose lock no living process holds; follows no link."""
    if sys.platform == "win32":
        return
    try:
        found = [entry for entry in os.scandir(place) if entry.name.startswith(_NAME)]
    except OSError:
        return
    for entry in found:
        try:
            state = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid():
                _remove_unused(entry.path)
        except OSError:  # somebody else was quicker
            continue


def _remove_unused(path: str) -> None:
    lock = os.open(os.path.join(path, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)

"""Whether a SQLite file must not be shared: it is on another machine's disk, or mounted by itself.

The log beside the file is found through memory that processes of one machine share (SQLite,
"Write-Ahead Logging"): two machines would each grant what is left, and one of the charges be lost.
"""

import os
import re
from pathlib import Path

__all__ = ["is_mounted", "network_kind"]

_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = {
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "afs",
    "ceph",
    "lustre",
    "gpfs",
    "beegfs",
    "ocfs2",
    "gfs2",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.juicefs",
    "fuse.rclone",
    "fuse.sshfs",
    "fuse.s3fs",
}
"""A user's own file system is named after its program."""


def network_kind(place: Path) -> str | None:
    """Return the kind of a network's file system; None for others, and where none can tell."""
    device = os.stat(place).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    for mount in _mounts():
        fixed, _, kind = mount.partition(" - ")
        if fixed.split()[2:3] == [number]:
            return next((name for name in kind.split()[:1] if name in _NETWORK), None)
    return None


def is_mounted(file: Path) -> bool:
    """Whether a file is mounted by itself, and so has another name, in another folder."""
    points = (mount.split()[4:5] for mount in _mounts())
    return str(file) in (_unescaped(point) for found in points for point in found)


def _mounts() -> list[str]:
    """Return lines such as "36 35 98:0 /root /place options - type source options"."""
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except OSError:  # no Linux
        return []


def _unescaped(point: str) -> str:
    r"""Read blanks and backslashes, which are written as \040 and the like."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), point)

"""Whether a file or folder is on another machine's disk, where a SQLite file must not be shared.

The log beside the file is found through memory that processes of one machine share (SQLite,
"Write-Ahead Logging"): two machines would each grant what is left, and one of the charges be lost.
"""

import os
from pathlib import Path

__all__ = ["network_kind"]

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
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return None
    number = f"{os.major(device)}:{os.minor(device)}"
    for mount in mounts:  # "36 35 98:0 /root /place options - type source options"
        fixed, _, kind = mount.partition(" - ")
        if fixed.split()[2:3] == [number]:
            return next((name for name in kind.split()[:1] if name in _NETWORK), None)
    return None

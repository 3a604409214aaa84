"""A kept ledger under attack: races, kill -9, forks, full disks, locks, lack of permission."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from halfmask.errors import BudgetExhausted, LedgerError
from halfmask.privacy import Ledger, Pure

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and permissions")


def start(code, *arguments):
    """Start Python on `code`, which begins with the imports below; output is line-buffered."""
    head = (
        "import os, sys\n"
        "from halfmask.errors import BudgetExhausted, LedgerError\n"
        "from halfmask.privacy import Ledger, Pure\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


RACE = """
wishes = int(sys.argv[2])
ledger = Ledger(sys.argv[1], budget=wishes * 4, patience=100)
for _ in range(wishes):
    try:
        print(ledger.charge(Pure(1), query="q").seq)
    except BudgetExhausted:
        pass
"""


def test_eight_processes_racing_on_one_new_ledger_never_overspend_and_lose_nothing(home):
    """Eight times as many wishes as it says, against half as much: each is granted once."""
    processes = [start(RACE, home.place, home.wishes) for _ in range(8)]
    granted = [int(line) for process in processes for line in finish(process).split()]
    assert sorted(granted) == list(range(1, 4 * home.wishes + 1))
    ledger = Ledger(home.place)
    assert ledger.spent == Pure(4 * home.wishes)
    assert [entry.seq for entry in ledger.entries()] == sorted(granted)
    ledger.verify()


SPEND_FOR_EVER = """
print("ready", flush=True)
ledger = Ledger(sys.argv[1], budget=1000)
while True:
    print(ledger.charge(Pure("0.001"), query="q").hash, flush=True)
"""


@posix
def test_kill_9_at_any_moment_loses_no_acknowledged_charge(home):
    """Any delay must pass: each is drawn anew, some fall into the ledger's creation."""
    acknowledged = []
    for round_ in range(8):
        process = start(SPEND_FOR_EVER, home.place)
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0, 0.02 if round_ < 3 else 0.3))
        process.send_signal(signal.SIGKILL)
        out, _ = process.communicate()
        acknowledged += [line for line in out.split("\n")[:-1] if len(line) == 64]
        ledger = Ledger(home.place, budget=1000)
        ledger.verify()
        hashes = [entry.hash for entry in ledger.entries()]
        assert set(acknowledged) <= set(hashes)
        assert len(hashes) <= len(acknowledged) + round_ + 1  # one in flight at each kill
        ledger.close()


FULL_DISK = """
import resource
ledger = Ledger(sys.argv[1], budget=1000)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    while True:
        print(ledger.charge(Pure("0.001"), query="q" * 500).hash)
except LedgerError as error:
    print(error)
"""


@posix
@pytest.mark.parametrize("size", [40_000, 50_001, 150_000])
def test_a_full_disk_refuses_before_any_row_and_keeps_what_was_charged(tmp_path, size):
    *acknowledged, message = finish(start(FULL_DISK, tmp_path / "a.ledger", size)).splitlines()
    assert "full" in message
    assert "free some space" in message
    assert "No row was read" in message
    ledger = Ledger(tmp_path / "a.ledger")
    ledger.verify()
    hashes = [entry.hash for entry in ledger.entries()]
    assert hashes[: len(acknowledged)] == acknowledged
    assert len(hashes) <= len(acknowledged) + 1  # a failed commit may have reached the disk
    ledger.charge(Pure(1), query="room again")
    ledger.verify()


def test_a_locked_ledger_refuses_after_its_patience_and_recovers(home):
    ledger = Ledger(home.place, budget=1, patience=0.2)
    with home.held():
        began = time.monotonic()
        with pytest.raises(LedgerError, match=r"locked by another process; .* No row was read"):
            ledger.charge(Pure(0.5), query="q")
        assert 0.1 < time.monotonic() - began < 30
        assert ledger.spent.amounts[0] == 0  # who reads does not wait
    ledger.charge(Pure(0.5), query="q")
    assert ledger.spent == Pure(0.5)


MOUNTS = """\
21 1 0:1 / /proc rw - proc proc rw
36 35 {place} /root /place rw,relatime shared:1 - {kind} host:/place rw
"""


@posix
@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.ceph-fuse", "ext4", "tmpfs"])
def test_a_file_on_a_network_s_disk_is_refused(tmp_path, monkeypatch, kind):
    """Two machines do not share the memory through which SQLite finds the last charges."""
    from halfmask.privacy.store import mounts

    device = os.stat(tmp_path).st_dev
    (tmp_path / "mounts").write_text(
        MOUNTS.format(place=f"{os.major(device)}:{os.minor(device)}", kind=kind)
    )
    monkeypatch.setattr(mounts, "_MOUNTS", tmp_path / "mounts")
    if kind in ("ext4", "tmpfs"):
        assert Ledger(tmp_path / "a.ledger", budget=1).remaining == Pure(1)
        return
    with pytest.raises(LedgerError, match=rf"a network's file system \({kind}\).* PostgreSQL"):
        Ledger(tmp_path / "a.ledger", budget=1)
    assert not (tmp_path / "a.ledger").exists()


@posix
@pytest.mark.parametrize("there", [True, False])
def test_a_link_to_a_file_on_a_network_s_disk_is_refused(tmp_path, monkeypatch, there):
    """The log is beside the file that the link leads to."""
    from halfmask.privacy.store import sqlite

    (tmp_path / "far").mkdir()
    if there:
        Ledger(tmp_path / "far" / "a.ledger", budget=1).close()
    (tmp_path / "a.ledger").symlink_to(tmp_path / "far" / "a.ledger")
    kinds = {tmp_path / "far": "nfs4"}
    monkeypatch.setattr(sqlite, "network_kind", kinds.get)
    with pytest.raises(LedgerError, match=r"a network's file system \(nfs4\)"):
        Ledger(tmp_path / "a.ledger", budget=1)
    assert (tmp_path / "far" / "a.ledger").exists() == there


SECOND = """
try:
    Ledger(sys.argv[1]).charge(Pure(1), query="q")
    print("granted")
except LedgerError as problem:
    print(problem)
"""


@posix
@pytest.mark.parametrize("late", [True, False])
def test_a_file_of_two_names_is_refused_under_both(tmp_path, late):
    """The log is found by the name: under each name the whole budget was there to be spent."""
    ledger = Ledger(tmp_path / "a.ledger", budget=2)
    if late:
        ledger.charge(Pure(1), query="q")
    os.link(tmp_path / "a.ledger", tmp_path / "b.ledger")
    assert "has a second name" in finish(start(SECOND, tmp_path / "b.ledger"))
    with pytest.raises(LedgerError, match=r"has a second name .*find it \(find / -samefile "):
        ledger.charge(Pure("0.5"), query="q")
    (tmp_path / "b.ledger").unlink()
    assert ledger.spent.amounts[0] == late
    ledger.verify()


@posix
def test_a_file_that_is_mounted_by_itself_is_refused(tmp_path, monkeypatch):
    """As `docker -v pay.ledger:/pay.ledger` does: its log would stay inside, and be thrown away."""
    from halfmask.privacy.store import mounts

    place = tmp_path / "the\\pay roll.ledger"
    Ledger(place, budget=1).close()
    written = str(place).replace("\\", "\\134").replace(" ", "\\040")
    line = f"36 35 8:1 /root {written} rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    (tmp_path / "mounts").write_text(line)
    monkeypatch.setattr(mounts, "_MOUNTS", tmp_path / "mounts")
    (tmp_path / "link").symlink_to(place)
    for name in (place, tmp_path / "link"):
        with pytest.raises(LedgerError, match=r"mounted by itself.* mount its folder"):
            Ledger(name)
    (tmp_path / "mounts").write_text(line.replace("roll", "list"))
    assert Ledger(place).remaining == Pure(1)


AS_NOBODY = """
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    ledger = Ledger(sys.argv[1], budget=1)
    ledger.charge(Pure(0.5), query="q")
    print("charged")
except LedgerError as error:
    print(error)
"""


@pytest.fixture
def public_folder(tmp_path):
    """A folder that another user can reach, whatever the permissions of its parents were."""
    folder = tmp_path / "shared"
    folder.mkdir()
    opened = []
    for place in (folder, *folder.parents):
        mode = place.stat().st_mode
        if not mode & 0o001:
            opened.append((place, mode))
            place.chmod(mode | 0o011)
    yield folder
    folder.chmod(0o755)
    for place, mode in opened:
        place.chmod(mode)


@posix
@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o777), (0o666, 0o555), (0, 0o777)])
def test_a_file_or_folder_without_permission_is_refused(public_folder, file_mode, folder_mode):
    path = public_folder / "a.ledger"
    Ledger(path, budget=1).close()
    path.chmod(file_mode)
    public_folder.chmod(folder_mode)
    message = finish(start(AS_NOBODY, path))
    assert "cannot be written by you; make the file and its folder writable" in message
    public_folder.chmod(0o755)
    path.chmod(0o600)
    assert Ledger(path).entries() == []


@posix
def test_a_new_file_in_a_folder_without_permission_is_refused(public_folder):
    public_folder.chmod(0o555)
    assert "make the file and its folder" in finish(start(AS_NOBODY, public_folder / "a.ledger"))


FORK = """
import gc, warnings
warnings.simplefilter("ignore")
path = None if sys.argv[1] == "memory" else sys.argv[1]
ledger = Ledger(path, budget=1)
ledger.charge(Pure("0.1"), query="before")
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        code = 0
        for _ in range(20):
            try:
                ledger.charge(Pure("0.01"), query="child")
            except BudgetExhausted:
                code = 1
            except LedgerError as error:
                code = 2 if "fork" in str(error) else 3
        del ledger
        gc.collect()
        os._exit(code)
    children.append(child)
for _ in range(20):
    ledger.charge(Pure("0.01"), query="parent")
codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
ledger.charge(Pure("0.1"), query="after") if path is None else None
ledger.verify()
print(codes, ledger.spent, len(ledger.entries()))
"""


@posix
def test_a_forked_child_spends_from_the_same_ledger(home):
    """Parent and 4 children wish for 0.1 + 5 x 0.2 = 1.1 of a budget of 1: never over it."""
    process = start(FORK, home.place)
    out, err = process.communicate(timeout=120)
    ledger = Ledger(home.place)
    ledger.verify()
    assert ledger.spent == Pure(1)
    if process.returncode == 0:
        assert "epsilon 1 91" in out
        assert "1" in out.split("}")[0]
    else:  # the parent itself came last
        assert "BudgetExhausted" in err


@posix
def test_a_forked_child_cannot_spend_from_a_ledger_in_memory():
    assert finish(start(FORK, "memory")) == "{2} epsilon 0.4 22\n"


FORK_IN_THREADS = """
import threading, warnings
warnings.simplefilter("ignore")
ledger = Ledger(sys.argv[1], budget=100)
stop = threading.Event()
def spend():
    while not stop.is_set():
        ledger.charge(Pure("0.001"), query="thread")
threads = [threading.Thread(target=spend) for _ in range(3)]
for thread in threads:
    thread.start()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        ledger.charge(Pure("0.001"), query="child")
        os._exit(0)
    children.append(child)
codes = {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}
stop.set()
for thread in threads:
    thread.join()
ledger.verify()
print(codes, sum(entry.query == "child" for entry in ledger.entries()))
"""


@posix
def test_a_fork_amid_spending_threads_neither_hangs_nor_loses(home):
    assert finish(start(FORK_IN_THREADS, home.place)) == "{0} 20\n"


def test_a_child_that_ends_before_its_parent_takes_no_charge_with_it(home):
    """A process which closes the file last may not drop another's log: both keep charging."""
    ledger = Ledger(home.place, budget=1)
    for _ in range(3):
        ledger.charge(Pure(0.1), query="here")
        finish(start("Ledger(sys.argv[1]).charge(Pure(0.1), query='there')", home.place))
    assert [entry.query for entry in Ledger(home.place).entries()] == [
        "here",
        "there",
    ] * 3
    ledger.charge(Pure(0.4), query="rest")
    with pytest.raises(BudgetExhausted):
        Ledger(home.place).charge(Pure(1e-12), query="q")

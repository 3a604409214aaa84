"""A throwaway PostgreSQL: its own folder, loopback only, an unprivileged user, surely stopped.

The server is the child of a small shell that waits for its standard input to end. Whatever ends
this process ends that pipe too, and the shell then stops the server and removes its folder.
"""

import atexit
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from urllib.parse import quote

__all__ = ["PostgresServer", "programs"]

OWNERS = ("postgres", "nobody")  # whom the server runs as when root starts it
PATIENCE = 60.0  # seconds

KEEPER = """
folder=$1; shift
"$@" & server=$!
trap '' INT TERM HUP
if read -r _; then wait "$server"; else
  kill -QUIT "$server" 2>/dev/null; wait "$server"; rm -rf "$folder"
fi
"""

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "fsync": "on",
    "synchronous_commit": "on",
}
if sys.platform == "linux":  # to be up again sooner: one call instead of one a file
    SETTINGS["recovery_init_sync_method"] = "syncfs"
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def programs() -> Path | None:
    """The folder of PostgreSQL's programs: Debian's newest, else that of the path; or None."""
    debian = [p.parent for p in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if debian:
        return max(debian, key=lambda folder: float(folder.parent.name))
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class PostgresServer:
    """A running server. `durable` keeps real durability settings; else it is fast and forgetful.

    of: a server of which this is a hot standby: it follows, and answers what only reads.
    Anybody on this machine may connect as anybody: it holds nothing but tests.
    """

    def __init__(
        self, *, durable: bool = False, of: "PostgresServer | None" = None, **settings: str
    ) -> None:
        place = programs()
        if place is None:
            raise FileNotFoundError("PostgreSQL is not installed")
        self._programs = place
        self.durable = durable
        self._settings = SETTINGS | ({} if durable else FAST) | settings
        short = "/tmp" if os.path.isdir("/tmp") else None  # a socket's path is at most 107 bytes
        self.folder = Path(tempfile.mkdtemp(prefix="halfmask-pg-", dir=short))
        self._names = count(1)
        self._port = 0
        self._as = _owner(self.folder)
        self._keeper: subprocess.Popen[bytes] | None = None
        atexit.register(self.stop)
        if of is None:
            made = "initdb -U postgres -A trust -E UTF8 --locale=C -N data"
        else:
            made = f"pg_basebackup -R -N -c fast -D data -d {of.url()}"
        self._run(*made.split())
        self.start()

    @property
    def data(self) -> Path:
        """The folder of the database's files."""
        return self.folder / "data"

    @property
    def port(self) -> int:
        """The port on 127.0.0.1; the same after a restart."""
        return self._port

    def url(self, database: str = "postgres", user: str = "postgres", password: str = "") -> str:
        """Where a database is reached over TCP."""
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def socket_url(self, database: str = "postgres", user: str = "postgres") -> str:
        """Where a database is reached over the Unix socket."""
        place = quote(str(self.folder), safe="")
        return f"postgresql://{user}@/{database}?host={place}&port={self.port}"

    def new_database(self, **options: str) -> str:
        """Create an empty database, such as lc_collate="en_US.utf8"; return its URL."""
        name = f"test_{next(self._names)}"
        chosen = " ".join(f"{option} '{value}'" for option, value in options.items())
        self.sql(f"CREATE DATABASE {name} {'TEMPLATE template0' if chosen else ''} {chosen}")
        return self.url(name)

    def sql(self, text: str, database: str = "postgres") -> str:
        """Run statements as the superuser, through psql; return what it prints, unadorned."""
        return self._run(
            "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", self.url(database), "-c", text
        )

    def start(self) -> None:
        """Start the server, also again after it was stopped or killed; wait until it answers."""
        for _ in range(10):
            if self._begin(self._port or _free_port()):
                return
            time.sleep(0.2)  # what a killed server started may not have ended yet
        raise RuntimeError("PostgreSQL does not start:\n" + "\n".join(self._log()[-20:]))

    def crash(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """End the server at once, as a power cut of it alone would: no flush, no goodbye."""
        self.signal(how)
        self._await_end()

    def restart(self) -> None:
        """Stop the server in order, and start it again."""
        self.crash(signal.SIGINT)
        self.start()

    def signal(self, which: signal.Signals) -> None:
        """Send a signal to the server's first process."""
        os.kill(int(self._state()[0]), which)

    def stop(self) -> None:
        """End the server and remove all that it wrote; again does nothing."""
        atexit.unregister(self.stop)
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
            self._keeper.wait(PATIENCE)
            self._keeper = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, port: int) -> bool:
        before, told = self._state(), len(self._log())
        options = {"port": str(port), "unix_socket_directories": str(self.folder)}
        words = [f"--{name}={value}" for name, value in (self._settings | options).items()]
        command = [str(self._programs / "postgres"), "-D", str(self.data), *words]
        with open(self.folder / "log", "ab") as log:
            self._keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "keeper", str(self.folder), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self._as,
            )
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            state = self._state()
            if state != before and state[7:] and state[7].strip() in ("ready", "standby"):
                self._port = port
                return True
            if state in (before, []) and "FATAL" in "".join(self._log()[told:]):
                break
            time.sleep(0.02)
        else:
            self.signal(signal.SIGQUIT)
        self._await_end()
        return False

    def _state(self) -> list[str]:
        return _lines(self.data / "postmaster.pid")

    def _log(self) -> list[str]:
        return _lines(self.folder / "log")

    def _await_end(self) -> None:
        """Let the keeper go once its server has ended, and keep the folder."""
        assert self._keeper is not None
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(b"\n")
        self._keeper.stdin.close()
        self._keeper.wait(PATIENCE)
        self._keeper = None

    def _run(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [str(self._programs / program), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            **self._as,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")
        return done.stdout.strip()


def _owner(folder: Path) -> dict[str, object]:
    """How to run as a user who may run a server: who is not root."""
    if os.geteuid() != 0:
        return {}
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    name = next(name for name in OWNERS if name in known)
    os.chown(folder, known[name].pw_uid, known[name].pw_gid)
    return {"user": known[name].pw_uid, "group": known[name].pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []

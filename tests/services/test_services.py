"""The throwaway PostgreSQL serves one machine alone, as nobody special, and is gone afterwards."""

import os
import signal
import subprocess
import sys
import time

import pytest


def test_a_server_answers_by_tcp_and_socket_and_holds_new_databases(postgres):
    psycopg = pytest.importorskip("psycopg")
    first, second = postgres.new_database(), postgres.new_database()
    assert first != second
    for url in (first, postgres.socket_url(first.rsplit("/")[-1])):
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS t (x int)")
    assert postgres.sql("SELECT count(*) FROM t", first.rsplit("/")[-1]) == "0"
    assert postgres.sql("SHOW listen_addresses") == "127.0.0.1"
    assert postgres.sql("SHOW fsync") == "off"


def test_a_server_runs_as_an_unprivileged_user(postgres):
    owner = postgres.data.stat().st_uid
    assert owner != 0
    assert os.stat(postgres.folder / f".s.PGSQL.{postgres.port}").st_uid == owner


def test_a_durable_server_keeps_what_was_committed_when_it_crashes(durable_postgres):
    assert durable_postgres.sql("SHOW fsync") == durable_postgres.sql("SHOW synchronous_commit")
    assert durable_postgres.sql("SHOW fsync") == "on"
    name = durable_postgres.new_database().rsplit("/")[-1]
    durable_postgres.sql("CREATE TABLE t AS SELECT 7 AS x", name)
    for how in (signal.SIGQUIT, signal.SIGKILL):
        before = durable_postgres.port
        durable_postgres.crash(how)
        durable_postgres.start()
        assert durable_postgres.sql("SELECT x FROM t", name) == "7"
        assert durable_postgres.port == before
    durable_postgres.restart()
    assert durable_postgres.sql("SELECT x FROM t", name) == "7"


STARTS = """
import sys
sys.path.insert(0, sys.argv[1])
from postgres_server import PostgresServer
server = PostgresServer()
print(server.folder, (server.data / "postmaster.pid").read_text().split()[0], flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("end", ["kill", "exit"])
def test_a_server_ends_with_whoever_started_it_and_leaves_nothing(postgres, end):
    here = os.path.dirname(__file__)
    process = subprocess.Popen(
        [sys.executable, "-c", STARTS, here],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    folder, pid = process.stdout.readline().split()
    assert os.path.isdir(folder)
    if end == "kill":
        process.kill()
    process.communicate()
    until = time.monotonic() + 60
    while os.path.isdir(folder) or running(int(pid)):
        assert time.monotonic() < until
        time.sleep(0.05)


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

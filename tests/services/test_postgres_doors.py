"""A table of a server behind the door: what is charged, what is told, what a lost server costs."""

import _thread
import copy
import logging
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from source_postgres import connected, fill

import halfmask as hm
from halfmask.errors import InvalidQuery, ReleaseFailed, SourceError

SECRET = "s3cr3t-p@ss/w:rd"
ADVICE = r"pip install 'halfmask\[postgres\]'"


@pytest.fixture(scope="module")
def url(postgres):
    address = postgres.new_database()
    fill(address, {"id": "int", "pay": "float8"}, {"id": range(100), "pay": range(100)}, "staff")
    return address


def open_staff(url, **given):
    return hm.open(url, **{"table": "staff", "unit": "id", "budget": 10, **given})


def test_a_table_answers_as_one_in_memory_does(url):
    """The same seeded words: the same integers, and so the same numbers."""
    rows = {"id": list(range(100)), "pay": [float(i) for i in range(100)]}
    asked = {"n": hm.Count(), "pay": hm.Mean("pay", 0, 128), "half": hm.Median("pay", 0, 128)}
    answers = []
    for source, table in ((url, "public.staff"), (rows, None)):
        words = hm.noise.seeded_words(5)
        with hm.open(source, table=table, unit="id", budget=9, words=words) as curator:
            found = curator.ask(asked, epsilon=3)
            answers.append([found[name].value for name in asked])
    assert answers[0] == answers[1]


def test_a_table_is_known_by_its_place_and_a_repeated_request_is_free(url, tmp_path):
    ledger = tmp_path / "staff.ledger"
    values = []
    for table in ("staff", "public.staff", '"public"."staff"'):
        with open_staff(url, table=table, ledger=ledger, budget=1) as staff:
            assert staff.table == "public.staff"
            values.append(staff.ask(hm.Count(), epsilon=1, request_id="rows").value)
            assert str(staff.remaining) == "epsilon 0"
    assert len(set(values)) == 1
    other = f"{url}?application_name=other"
    with open_staff(other, ledger=ledger, budget=1) as staff:
        assert staff.ask(hm.Count(), epsilon=1, request_id="rows").value == values[0]


def test_a_series_goes_on_with_the_same_table(url, tmp_path):
    with connected(url) as connection:
        connection.execute("DROP TABLE IF EXISTS log")
        connection.execute("CREATE TABLE log AS SELECT i AS at FROM generate_series(0, 9) i")
        for period, added in (("0 to 10", 0), ("10 to 20", 5)):
            connection.execute(
                "INSERT INTO log SELECT 10 + i FROM generate_series(1, %s) i", [added]
            )
            with hm.open(url, table="log", ledger=tmp_path / "log.ledger", budget=100) as log:
                series = log.series("rows", hm.Count(), time="at", start=0, every=10, periods=4,
                                    epsilon=100)  # fmt: skip
                released = series.release(period)
    assert [round(value) for value in released.value][:2] == [10, 15]


def test_what_cannot_be_opened_is_told_without_the_address(url, postgres):
    name = url.rsplit("/")[-1]
    postgres.sql("CREATE ROLE guest LOGIN", name)
    host = f"127.0.0.1:{postgres.port}"
    for address, table, message in [
        (f"postgresql://u:{SECRET}@127.0.0.1:1/x", "staff", "no database answers"),
        (f"postgresql://postgres:{SECRET}@{host}/none", "staff", "no database answers"),
        ("postgresql://u:s3cr3t@[/x?y=z", "staff", "no database answers"),
        (url, "stuff", "no table or view 'stuff'"),
        (url, "no.staff", "no table or view 'no.staff'"),
        (url, "staff; DROP TABLE staff", "no table or view"),
        (url, "pg_class_oid_index", "no table or view"),
        (url, None, "a database holds many"),
        (url, "", "a database holds many"),
        (f"postgresql://guest@{host}/{name}", "staff", "no column of 'staff' that this user may"),
    ]:
        with pytest.raises(SourceError, match=message) as caught:
            open_staff(address, table=table)
        assert caught.value.__context__ is None or caught.value.__suppress_context__
        assert "s3cr3t" not in str(caught.value)
    with pytest.raises(SourceError, match=r"^table: 'staff' given, and the source is no database"):
        hm.open({"x": [1]}, table="staff", budget=1)
    postgres.sql("GRANT SELECT (id) ON staff TO guest", name)
    with open_staff(f"postgresql://guest@{host}/{name}") as staff:
        assert staff.schema.names == ("id",)
        assert staff.ask(hm.Count(), epsilon=1).value is not None


def test_a_wrong_password_is_told_and_none_is_ever_shown(tmp_path, monkeypatch):
    from postgres_server import PostgresServer

    server = PostgresServer()
    try:
        server.sql(f"CREATE ROLE clerk LOGIN PASSWORD '{SECRET}'")
        server.sql("CREATE TABLE staff AS SELECT 1 AS id; GRANT SELECT ON staff TO clerk")
        rules = server.data / "pg_hba.conf"
        rules.write_text("host all clerk all scram-sha-256\nhost all all all trust\n")
        server.sql("SELECT pg_reload_conf()")
        for address in (server.url(user="clerk"), server.url(user="clerk", password="guess")):
            with pytest.raises(SourceError, match="refuses this user") as caught:
                open_staff(address)
            assert "guess" not in str(caught.value)
        ledger = tmp_path / "l.ledger"
        with open_staff(server.url(user="clerk", password=SECRET), ledger=ledger) as staff:
            answer = staff.ask(hm.Count(), epsilon=1)
            told = f"{staff!r}{staff._source!r}{staff._source._engine!r}{answer.to_json()}{answer}"
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        for secret in (SECRET, "s3cr3t", "clerk"):
            assert secret not in told
            assert secret.encode() not in written
        monkeypatch.setenv("PGPASSWORD", SECRET)
        with open_staff(server.url(user="clerk")) as staff:
            assert staff.ask(hm.Count(), epsilon=1).value is not None
    finally:
        server.stop()


def test_without_psycopg_it_says_what_to_install(url, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(SourceError, match=ADVICE):
        open_staff(url)


def test_a_database_in_other_letters_is_refused(postgres):
    url = postgres.new_database(encoding="LATIN1", lc_collate="C", lc_ctype="C")
    fill(url, {"id": "int"}, {"id": [1]}, "staff")
    with pytest.raises(SourceError, match="text in LATIN1; UTF8 is needed"):
        open_staff(url)


FAILING = {
    "a row that divides by zero": "SELECT id, 1 / (id - 7) AS pay FROM staff",
    "text of a row in the words": "SELECT id, CAST('secret' || id AS int) AS pay FROM staff",
    "a function that writes": "SELECT id, noted(id) AS pay FROM staff",
}


@pytest.mark.parametrize("view", FAILING)
def test_a_view_that_fails_is_charged_and_its_words_are_not_shown(view, url, capfd):
    with connected(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS notes (id int)")
        connection.execute(
            "CREATE OR REPLACE FUNCTION noted(id int) RETURNS int LANGUAGE sql VOLATILE AS "
            "'INSERT INTO public.notes VALUES (id) RETURNING id'"
        )
        connection.execute(f"CREATE OR REPLACE VIEW failing AS {FAILING[view]}")
        with open_staff(url, table="failing") as staff:
            for asked in (hm.Sum("pay", 0, 8), hm.Median("pay", 0, 8)):
                before = staff.remaining.epsilon
                with pytest.raises(ReleaseFailed) as caught:
                    staff.ask(asked, epsilon=1)
                assert before - staff.remaining.epsilon == 1
                assert caught.value.__context__ is None
                assert caught.value.__cause__ is None
                told = str(caught.value) + "".join(capfd.readouterr())
                assert not {"secret", "zero", "INSERT", "pay"} & set(told.split())
        assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)
        connection.execute("DROP VIEW failing")


def test_a_lost_connection_is_made_again(url, postgres):
    with open_staff(url) as staff:
        for _ in range(2):
            postgres.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                         "WHERE application_name = 'halfmask'")  # fmt: skip
            assert staff.ask(hm.Count(), epsilon=1).value is not None
        assert staff.remaining.epsilon == 8


def test_a_server_that_is_gone_keeps_the_charge_and_may_come_back():
    from postgres_server import PostgresServer

    server = PostgresServer()
    try:
        server.sql("CREATE TABLE staff AS SELECT i AS id FROM generate_series(1, 9) i; CHECKPOINT")
        with open_staff(server.url()) as staff:
            server.crash(signal.SIGINT)
            with pytest.raises(ReleaseFailed, match="the charge stays"):
                staff.ask(hm.Count(), epsilon=1)
            assert staff.remaining.epsilon == 9
            server.start()
            assert staff.ask(hm.Count(), epsilon=1).value is not None
    finally:
        server.stop()


def test_a_table_that_was_altered_is_not_asked(url):
    with connected(url) as connection:
        connection.execute("CREATE TABLE moving AS SELECT id, pay FROM staff")
        with open_staff(url, table="moving") as staff:
            connection.execute("ALTER TABLE moving ALTER pay TYPE text")
            with pytest.raises(ReleaseFailed, match="the charge stays"):
                staff.ask(hm.Mean("pay", 0, 8), epsilon=1)
            assert staff.remaining.epsilon == 9
            connection.execute("ALTER TABLE moving ALTER pay TYPE float8 USING pay::float8")
            connection.execute("ALTER TABLE moving ADD more int")
            assert staff.ask(hm.Mean("pay", 0, 8), epsilon=1).value is not None
            connection.execute("DROP TABLE moving")
            with pytest.raises(ReleaseFailed):
                staff.ask(hm.Count(), epsilon=1)


def busy(connection):
    query = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query ~ 'slow'"
    return connection.execute(query + " AND pid <> pg_backend_pid()").fetchone()[0]


@pytest.fixture
def plain_ctrl_c():
    """Python's own handler: a Spark that ran in this process leaves one behind that fails."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("plain_ctrl_c")
@pytest.mark.parametrize(
    "asked", [hm.Sum("pay", 0, 8), hm.Median("pay", 0, 8)], ids=["sum", "median"]
)
def test_ctrl_c_stops_the_server_too_and_the_table_can_be_asked_again(asked, url):
    with connected(url) as connection:
        connection.execute(
            "CREATE OR REPLACE VIEW slow AS SELECT id, pay FROM staff "
            "UNION ALL SELECT 1, 1 FROM pg_sleep(CASE WHEN (SELECT count(*) FROM brake) > 0 "
            "THEN 300 ELSE 0 END)"
        ) if connection.execute("CREATE TABLE IF NOT EXISTS brake (x int)") else None
        connection.execute("INSERT INTO brake VALUES (1)")
        with open_staff(url, table="slow") as staff:

            def stop():
                with connected(url) as other:
                    while not ended.wait(0.05):
                        if busy(other):
                            _thread.interrupt_main()
                            return

            ended = threading.Event()
            stopper = threading.Thread(target=stop)
            stopper.start()
            try:
                with pytest.raises(KeyboardInterrupt):
                    staff.ask(asked, epsilon=1)
            finally:
                ended.set()
                stopper.join()
            assert staff.remaining.epsilon == 9
            until = time.monotonic() + 60
            while busy(connection):
                assert time.monotonic() < until
                time.sleep(0.05)
            connection.execute("DELETE FROM brake")
            assert staff.ask(asked, epsilon=1).value is not None


def test_a_server_that_has_not_yet_begun_is_stopped_as_well(url, monkeypatch):
    """It passes over what is to cancel a query that it has not read; so it is told again."""
    from halfmask.sources import postgres_engine

    started = postgres_engine._parts

    def held_up(connection, sql, names):
        pid = connection.info.backend_pid
        os.kill(pid, signal.SIGSTOP)

        def stop():
            time.sleep(0.3)
            _thread.interrupt_main()
            time.sleep(0.3)
            os.kill(pid, signal.SIGCONT)

        threading.Thread(target=stop).start()
        return started(connection, sql, names)

    monkeypatch.setattr(postgres_engine, "_parts", held_up)
    monkeypatch.setattr(logging.getLogger("psycopg"), "disabled", True)  # it tells that it waited
    with connected(url) as connection:
        connection.execute(
            "CREATE VIEW slower AS "
            "SELECT id, pay FROM staff UNION ALL SELECT 1, 1 FROM pg_sleep(300)"
        )
        with open_staff(url, table="slower") as staff, pytest.raises(hm.Interrupted):
            staff.ask(hm.Median("pay", 0, 8), epsilon=1)
        until = time.monotonic() + 60
        while busy(connection):
            assert time.monotonic() < until
            time.sleep(0.05)


def test_a_request_sees_one_snapshot_and_holds_no_transaction_open(url):
    with connected(url) as connection, open_staff(url) as staff:
        staff.ask(hm.Count(), epsilon=1)
        states = connection.execute(
            "SELECT state FROM pg_stat_activity WHERE application_name = 'halfmask'"
        ).fetchall()
        assert ("idle",) in states
        assert not [state for (state,) in states if state.startswith("idle in")]


FORK = """
import os, sys
import halfmask as hm
staff = hm.open(sys.argv[1], table="staff", unit="id", budget=10, ledger=sys.argv[2])
assert staff.ask(hm.Count(), epsilon=1).value is not None
child = os.fork()
assert staff.ask(hm.Count(), epsilon=1).value is not None
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert staff.ask(hm.Count(), epsilon=1).value is not None
    print("done")
"""


def test_a_fork_makes_a_connection_of_its_own(url, tmp_path):
    command = [sys.executable, "-c", FORK, url, str(tmp_path / "l.ledger")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


def test_a_curator_is_not_copied_with_its_connection(url):
    with open_staff(url) as staff:
        twin = copy.copy(staff)
        assert twin.ask(hm.Count(), epsilon=1).value is not None
    with pytest.raises(InvalidQuery, match="closed"):
        staff.ask(hm.Count(), epsilon=1)

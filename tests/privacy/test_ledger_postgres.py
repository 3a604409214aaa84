"""A ledger on PostgreSQL: its address and its secrets, its rights, and a server that goes away."""

import os
import pickle
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from halfmask.errors import BudgetExhausted, InvalidQuery, LedgerError
from halfmask.privacy import Ledger, Pure, is_stored, shown_place

psycopg = pytest.importorskip("psycopg") if "CI" not in os.environ else __import__("psycopg")


# --- addresses and secrets -----------------------------------------------------------------------

HIDDEN = "s3cret"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://ada:{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://ada:{HIDDEN}@127.0.0.1:1/db#pay",
        f"postgres://127.0.0.1:1/db?user=ada&password={HIDDEN}",
        f"postgresql://ada:x@{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://ada:12/{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://ada:x/{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://ada:12?{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://ada:x#{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://ada:%zz{HIDDEN}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?nothing={HIDDEN}",
        f"postgresql://127.0.0.1:{HIDDEN}/db",
        f"postgresql://ada:{HIDDEN}@no host/db",
        f"postgresql://ada:{HIDDEN}@127.0.0.1:1/db?sslmode=nonsense",
        f"POSTGRESQL://ada:{HIDDEN}@127.0.0.1:1/db",
        f" postgresql://ada:{HIDDEN}@127.0.0.1:1/db#pay",
        f"postgresql:/ada:{HIDDEN}@127.0.0.1:1/db",
        f"postgresql+psycopg2://ada:{HIDDEN}@127.0.0.1:1/db",
    ],
)
def test_no_message_shows_a_password_however_the_address_was_mistyped(text):
    with pytest.raises((InvalidQuery, LedgerError)) as refusal:
        Ledger(text, budget=1)
    error = refusal.value
    while error is not None:
        assert HIDDEN not in str(error)
        error = None if error.__suppress_context__ else error.__context__


def test_a_password_is_in_nothing_that_a_ledger_shows_and_in_no_pickle(postgres_home):
    server = postgres_home.server
    url = server.url(user="postgres", password="a@b/c#d%e:f")  # trusted without a look at it
    ledger = Ledger(f"{url}#{postgres_home.name}", budget=1)
    ledger.charge(Pure(0.5), query="q")
    told = (ledger.place, str(ledger), repr(ledger), repr(vars(ledger)), repr(ledger._store._at))
    told += (str(pickle.dumps(ledger)), shown_place(f"{url}#x"), str(ledger.entries()))
    for secret in ("a@b", "a%40b", "c#d", "c%23d"):
        assert not [text for text in told if secret in text]
    assert ledger.place == f"postgresql://127.0.0.1:{server.port}/postgres#{postgres_home.name}"
    assert ledger.path is None
    again = pickle.loads(pickle.dumps(ledger))
    assert again.remaining == Pure(0.5)


@pytest.mark.parametrize("name", ["", "Pay", "pg_pay", "a-b", "a.b", 'a"b', "é", "x" * 64, "1a"])
def test_the_name_of_a_ledger_is_a_plain_word(name):
    with pytest.raises(InvalidQuery, match="the name after #"):
        Ledger(f"postgresql://127.0.0.1/db#{name}", budget=1)


def test_a_database_holds_many_ledgers_and_one_without_a_name(durable_postgres):
    base = durable_postgres.new_database()
    places = (base, f"{base}#payroll", f"{base}#_2")
    for epsilon, place in enumerate(places, start=1):
        assert not is_stored(place)
        with pytest.raises(LedgerError, match="does not exist; check the address, or give a budg"):
            Ledger(place)
        Ledger(place, budget=epsilon).charge(Pure(0.5), query=place[-3:])
    for epsilon, place in enumerate(places, start=1):
        assert is_stored(place)
        assert Ledger(place).remaining == Pure(epsilon - 0.5)
    assert Ledger(f"{base}#halfmask").head == Ledger(base).head
    socket = durable_postgres.socket_url(base.rsplit("/", 1)[1])
    assert Ledger(socket).head == Ledger(base).head


# --- servers and databases that will not do ------------------------------------------------------


def test_a_server_that_may_forget_is_refused(postgres):
    with pytest.raises(LedgerError, match="fsync = off, which may forget charges"):
        Ledger(postgres.url(), budget=1)


def test_a_database_that_cannot_hold_every_text_is_refused(durable_postgres):
    latin = durable_postgres.new_database(encoding="LATIN1")
    with pytest.raises(LedgerError, match="encoding LATIN1"):
        Ledger(latin, budget=1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("postgres@", "role .*nobody_here.* does not exist"),
        ("/postgres", "database .*elsewhere.* does not exist"),
        (":PORT", "refused"),
    ],
)
def test_what_cannot_be_reached_says_why(durable_postgres, change, reason):
    url = durable_postgres.url()
    other = {"postgres@": "nobody_here@", "/postgres": "/elsewhere", ":PORT": ":1"}[change]
    given = change.replace("PORT", str(durable_postgres.port))
    with pytest.raises(LedgerError, match=f"cannot be reached: .*{reason}"):
        Ledger(other.join(url.rsplit(given, 1)), budget=1)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE {}.account (id int)"],
        ["CREATE TABLE {}.people (id int)"],
        ["CREATE VIEW {}.spend AS SELECT 1 AS seq"],
        [f"CREATE TABLE {{}}.{t} (id int)" for t in ("account", "spend", "release")],
    ],
)
@pytest.mark.parametrize("budget", [None, 1])
def test_tables_that_are_no_ledger_are_refused_and_left(postgres_home, statements, budget):
    name = postgres_home.name
    postgres_home.sql(f"CREATE SCHEMA {name}", *(text.format(name) for text in statements))
    with pytest.raises(LedgerError, match="is not a ledger: its schema holds other tables"):
        Ledger(postgres_home.place, budget=budget)
    assert postgres_home.found() == len(statements)


def test_an_empty_schema_becomes_a_ledger_only_with_a_budget(postgres_home):
    postgres_home.sql(f"CREATE SCHEMA {postgres_home.name}")
    with pytest.raises(LedgerError, match="give a budget"):
        Ledger(postgres_home.place)
    assert Ledger(postgres_home.place, budget=1).remaining == Pure(1)


def test_a_table_that_a_crash_would_empty_is_refused(filled_postgres):
    filled_postgres.sql("ALTER TABLE release SET UNLOGGED")
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger(filled_postgres.place)


@pytest.mark.parametrize("what", ["DROP SCHEMA {} CASCADE", "DROP TABLE {}.spend CASCADE"])
def test_a_ledger_dropped_while_in_use_is_not_charged(filled_postgres, what):
    ledger = Ledger(filled_postgres.place)
    filled_postgres.sql(what.format(filled_postgres.name))
    for attempt in (lambda: ledger.charge(Pure(0.1), query="q"), ledger.entries):
        with pytest.raises(LedgerError, match="was dropped, renamed or closed to you"):
            attempt()
    if what.startswith("DROP SCHEMA"):  # made anew by another, it is another ledger
        Ledger(filled_postgres.place, budget=1)
        with pytest.raises(LedgerError, match="charges are missing"):
            ledger.charge(Pure(0.1), query="q")


# --- rights and settings of a role ---------------------------------------------------------------


def as_role(home, *grants):
    """The same ledger, as a role that is given these rights; SCHEMA stands for its schema."""
    role = f"role_{home.name}"
    home.sql(f"CREATE ROLE {role} LOGIN", *(g.format(SCHEMA=home.name, ROLE=role) for g in grants))
    return f"{home.server.url(user=role)}#{home.name}"


READ = (
    "GRANT USAGE ON SCHEMA {SCHEMA} TO {ROLE};"
    "GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {ROLE}"
)
SPEND = (
    "GRANT INSERT ON {SCHEMA}.spend, {SCHEMA}.release TO {ROLE};"
    "GRANT UPDATE (spent, spent_delta, head_seq, head_hash) ON {SCHEMA}.account TO {ROLE}"
)


def test_without_rights_nothing_is_charged_and_the_owner_is_named(filled_postgres):
    nothing = as_role(filled_postgres)
    with pytest.raises(LedgerError, match="may not be used so by you; let its owner GRANT"):
        Ledger(nothing)
    with pytest.raises(LedgerError, match="may not be used so by you"):
        Ledger(f"{nothing}_new", budget=1)


def test_who_may_read_reads_and_does_not_charge(filled_postgres):
    ledger = Ledger(as_role(filled_postgres, READ))
    ledger.verify()
    assert len(ledger.entries()) == 3
    with pytest.raises(LedgerError, match=r"may not be used so by you.* No row was read"):
        ledger.charge(Pure(0.1), query="q")


def test_who_may_spend_can_neither_raise_the_budget_nor_erase_a_charge(filled_postgres):
    place = as_role(filled_postgres, READ, SPEND)
    ledger = Ledger(place)
    ledger.record(ledger.charge(Pure(0.1), query="q"), "7")
    ledger.verify()
    with psycopg.connect(place.partition("#")[0], autocommit=True) as connection:
        for statement in (
            "UPDATE {}.account SET budget = budget * 2",
            "DELETE FROM {}.spend",
            "UPDATE {}.spend SET amount = 0",
            "UPDATE {}.release SET answer = ''",
            "TRUNCATE {}.release",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement.format(filled_postgres.name))


def test_a_role_that_may_only_read_is_told_so(filled_postgres):
    setting = "ALTER ROLE {ROLE} SET default_transaction_read_only = on"
    ledger = Ledger(as_role(filled_postgres, READ, SPEND, setting))
    with pytest.raises(LedgerError, match="is read-only: a standby, or a role"):
        ledger.charge(Pure(0.1), query="q")
    assert ledger.spent == Pure("0.3")


def test_what_a_role_prefers_changes_nothing_of_a_charge(filled_postgres):
    """Neither the isolation, nor a commit that does not wait, nor a search path, nor a limit."""
    preferred = {
        "default_transaction_isolation": "serializable",
        "synchronous_commit": "off",
        "search_path": "public",
        "lock_timeout": "1",
        "statement_timeout": "5000",
    }
    settings = [f"ALTER ROLE {{ROLE}} SET {name} = '{preferred[name]}'" for name in preferred]
    ledger = Ledger(as_role(filled_postgres, READ, SPEND, *settings))
    names = ["synchronous_commit", "transaction_isolation", "statement_timeout", "lock_timeout"]
    with ledger._store.writing() as session:
        found = [session.execute("SELECT current_setting(?)", [n]).fetchone()[0] for n in names]
    assert found == ["on", "read committed", "0", "30s"]
    ledger.charge(Pure(0.1), query="q")
    assert ledger.spent == Pure("0.4")


HINDRANCES = {
    "row security on the account": [
        "ALTER TABLE {SCHEMA}.account ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY seen ON {SCHEMA}.account FOR SELECT USING (true)",
    ],
    "a rule on charges": [
        "CREATE RULE dropped AS ON INSERT TO {SCHEMA}.spend DO INSTEAD NOTHING",
    ],
}


@pytest.mark.parametrize("hindrance", HINDRANCES)
def test_a_charge_that_a_table_swallows_is_refused(filled_postgres, hindrance):
    ledger = Ledger(as_role(filled_postgres, READ, SPEND, *HINDRANCES[hindrance]))
    with pytest.raises(LedgerError, match=r"lets you write no row.* No row was read"):
        ledger.charge(Pure(0.1), query="q")
    if "account" in hindrance:  # refused before anything was written
        ledger.verify()


def test_a_hidden_account_is_no_ledger(filled_postgres):
    hidden = "ALTER TABLE {SCHEMA}.account ENABLE ROW LEVEL SECURITY"
    with pytest.raises(LedgerError, match="has no account row"):
        Ledger(as_role(filled_postgres, READ, SPEND, hidden))


# --- a server that goes away ---------------------------------------------------------------------


def test_a_restart_between_two_charges_is_not_noticed(filled_postgres):
    ledger = Ledger(filled_postgres.place)
    ledger.charge(Pure(0.1), query="before")
    filled_postgres.server.restart()
    ledger.charge(Pure(0.1), query="after")
    assert [entry.query for entry in ledger.entries()][3:] == ["before", "after"]
    ledger.verify()


def test_a_stopped_server_refuses_and_a_started_one_goes_on(filled_postgres):
    ledger, server = Ledger(filled_postgres.place), filled_postgres.server
    server.crash()
    for attempt in (lambda: ledger.charge(Pure(0.1), query="q"), ledger.entries):
        with pytest.raises(LedgerError, match=r"cannot be reached: .*No row was read"):
            attempt()
    server.start()
    ledger.charge(Pure(0.1), query="q")
    assert ledger.spent == Pure("0.4")


@pytest.fixture
def road(filled_postgres):
    from lost_connection import Road

    road = Road(filled_postgres.server.port)
    yield road
    road.close()


@pytest.mark.parametrize(
    ("word", "answer", "charged", "message"),
    [
        (b"FOR UPDATE", None, True, None),  # the transaction had not begun: a new connection
        (b"FOR UPDATE", b"", True, None),
        (b"COMMIT\0", None, False, "count it as spent"),  # nobody knows
        (b"COMMIT\0", b"COMMIT\0", True, "count it as spent"),
    ],
)
def test_a_connection_lost_at_any_step_of_a_charge(
    filled_postgres, road, word, answer, charged, message
):
    far = f"postgresql://postgres@127.0.0.1:{road.port}/postgres#{filled_postgres.name}"
    ledger = Ledger(far)
    Ledger(filled_postgres.place).charge(Pure(0.1), query="of another, so that it has to look")
    road.cut(word, answer)
    asked = {"query": "q", "request_id": "r"}
    if message is None:
        ledger.charge(Pure(0.1), **asked)
    else:
        with pytest.raises(LedgerError, match=message) as refusal:
            ledger.charge(Pure(0.1), **asked)
        assert "No row was read" in str(refusal.value)
    assert road.cuts == 1
    ledger.verify()
    assert ledger.spent == Pure("0.5" if charged else "0.4")
    if charged:  # a retry is not charged twice, and nobody knows whether an answer was shown
        with pytest.raises(LedgerError, match="no stored answer"):
            ledger.charge(Pure(0.1), **asked)
    else:
        ledger.charge(Pure(0.1), **asked)
    assert ledger.spent == Pure("0.5")


@pytest.mark.parametrize("answer", [None, b""])
def test_a_connection_lost_amid_a_transaction_leaves_nothing(filled_postgres, road, answer):
    far = f"postgresql://postgres@127.0.0.1:{road.port}/postgres#{filled_postgres.name}"
    ledger = Ledger(far)

    def spend():
        with ledger._store.writing() as session:
            session.execute("UPDATE account SET spent = spent + 1")
            session.execute("SELECT 'halfway'")

    road.cut(b"halfway", answer)
    with pytest.raises(LedgerError, match="lost its connection; nothing was charged"):
        spend()
    assert road.cuts == 1
    ledger.verify()
    assert ledger.spent == Pure("0.3")


def test_a_charge_and_an_answer_take_two_journeys_each(filled_postgres, road):
    """Others wait for the lock between the two, and who comes next has to look at more."""
    ledger = Ledger(f"postgresql://postgres@127.0.0.1:{road.port}/postgres#{filled_postgres.name}")
    Ledger(filled_postgres.place).charge(Pure(0.1), query="of another, so that it has to look")
    counts = [road.journeys]
    receipt = ledger.charge(Pure(0.1), query="q", request_id="r")
    counts.append(road.journeys)
    ledger.record(receipt, "7")
    counts.append(road.journeys)
    ledger.follow(receipt, query="free", request_id="f", answer=lambda _: "8")
    counts.append(road.journeys)
    assert [after - before for before, after in pairwise(counts)] == [2, 2, 2]


@pytest.mark.parametrize("lost", [None, b"COMMIT\0"])
def test_an_answer_whose_storing_was_lost_is_stored_once(filled_postgres, road, lost):
    far = f"postgresql://postgres@127.0.0.1:{road.port}/postgres#{filled_postgres.name}"
    ledger = Ledger(far)
    paid = ledger.charge(Pure(0.1), query="series")
    follow = {"query": "closing", "request_id": "c"}
    road.cut(b"COMMIT\0", lost)
    with pytest.raises(LedgerError, match="count it as spent"):
        ledger.follow(paid, answer=lambda _: "first noise", **follow)
    again = ledger.follow(paid, answer=lambda _: "second noise", **follow)
    assert again.repeated == bool(lost)
    assert again.answer == ledger.stored("c") == ("first noise" if lost else "second noise")
    ledger.verify()


SPEND_FOR_EVER = """
import sys
from halfmask.errors import LedgerError
from halfmask.privacy import Ledger, Pure
ledger = Ledger(sys.argv[1])
try:
    while True:
        print(ledger.charge(Pure("0.001"), query="q").hash, flush=True)
except LedgerError as error:
    print(error, flush=True)
"""


@pytest.fixture
def clients(postgres_home, tmp_path):
    """Start three clients that charge for ever; their outputs."""

    def start(turn):
        outputs = [tmp_path / f"{turn}-{client}" for client in range(3)]
        command = [sys.executable, "-c", SPEND_FOR_EVER, postgres_home.place]
        started = []
        for output in outputs:
            with output.open("w") as file:
                started.append(subprocess.Popen(command, stdout=file))
        while not all(output.stat().st_size for output in outputs):
            time.sleep(0.02)
        return started, outputs

    return start


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGKILL, signal.SIGINT])
def test_a_server_that_crashes_amid_charges_has_every_acknowledged_one(postgres_home, clients, how):
    """Each client has at most one charge in flight at a crash."""
    Ledger(postgres_home.place, budget=1000).close()
    acknowledged = []
    for turn in (1, 2):
        started, outputs = clients(turn)
        time.sleep(0.2)
        postgres_home.server.crash(how)
        assert [client.wait(100) for client in started] == [0, 0, 0]
        lines = [line for output in outputs for line in output.read_text().splitlines()]
        acknowledged += [line for line in lines if len(line) == 64]
        refused = [line for line in lines if line.startswith("ledger: ")]
        assert len(refused) == 3
        assert all("No row was read" in line for line in refused)
        postgres_home.server.start()
        ledger = Ledger(postgres_home.place)
        ledger.verify()
        hashes = [entry.hash for entry in ledger.entries()]
        assert set(acknowledged) <= set(hashes)
        assert len(hashes) <= len(acknowledged) + 3 * turn
        ledger.close()


def undo(ledger, other):
    """Hold the lock for longer than its patience, while another waits for it."""
    with ledger._store.writing() as session:
        session.execute("UPDATE account SET spent = 0")
        session.execute("SELECT 1")
        time.sleep(1)
        other.charge(Pure(0.7), query="q")


def test_who_stops_while_it_holds_the_lock_loses_it(filled_postgres):
    """Not for ever do others wait for a process that hangs; what it had begun is undone."""
    slow, other = Ledger(filled_postgres.place, patience=0.3), Ledger(filled_postgres.place)
    with pytest.raises(LedgerError, match="lost its connection"):
        undo(slow, other)
    with pytest.raises(BudgetExhausted):
        slow.charge(Pure(0.1), query="q")
    other.verify()

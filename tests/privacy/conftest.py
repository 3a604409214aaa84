"""Homes of a ledger that outlives its process: one law, a file and a PostgreSQL server."""

import shutil
import sqlite3
from contextlib import contextmanager
from itertools import count

import pytest

from halfmask.privacy import Ledger, Pure


class FileHome:
    """A SQLite file."""

    wishes = 500
    """How many charges a test of a race makes in each process."""

    refusals = ()
    """What the engine raises on values that its columns cannot hold."""

    def __init__(self, folder):
        self.place = folder / "a.ledger"
        self._kept = folder / "kept"

    def edit(self, *statements):
        """Change the tables behind the ledger's back, past what the engine would refuse."""
        connection = sqlite3.connect(self.place, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    @contextmanager
    def held(self):
        """Hold the lock, as another process would."""
        holder = sqlite3.connect(self.place, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        yield
        holder.execute("ROLLBACK")
        holder.close()

    def keep(self):
        """Make a copy; nobody may have it open."""
        shutil.copy(self.place, self._kept)

    def put_back(self):
        """Bring the copy back; nobody may have it open."""
        shutil.copy(self._kept, self.place)


class PostgresHome:
    """A schema of a database, of a name that no other test has."""

    wishes = 60
    _names = count(1)

    def __init__(self, server):
        import psycopg

        self.refusals = (psycopg.DataError, psycopg.ProgrammingError)
        self.name = f"book_{next(self._names)}"
        self.server = server
        self.place = f"{server.url()}#{self.name}"

    def sql(self, *statements):
        import psycopg

        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            connection.execute(f"SET search_path = {self.name}")
            for statement in statements:
                connection.execute(statement)

    def found(self):
        """How many tables and views the schema holds."""
        kinds = "c.relkind IN ('r', 'v')"
        place = f"pg_class c WHERE c.relnamespace = '{self.name}'::regnamespace AND {kinds}"
        return int(self.server.sql(f"SELECT count(*) FROM {place}"))

    def edit(self, *statements):
        self.sql("SET session_replication_role = replica", *statements)

    @contextmanager
    def held(self):
        import psycopg

        with psycopg.connect(self.server.url()) as holder:
            holder.execute(f"SELECT * FROM {self.name}.account FOR UPDATE")
            yield
            holder.rollback()

    def keep(self):
        tables = ("account", "spend", "release")
        self.sql(*(f"CREATE TABLE public.{self.name}_{t} AS TABLE {t}" for t in tables))

    def put_back(self):
        for table in ("account", "spend", "release"):
            self.edit(f"DELETE FROM {table}")
            self.edit(f"INSERT INTO {table} SELECT * FROM public.{self.name}_{table}")


@pytest.fixture
def file_home(tmp_path):
    return FileHome(tmp_path)


@pytest.fixture
def postgres_home(durable_postgres):
    return PostgresHome(durable_postgres)


@pytest.fixture(params=["file", "postgres"])
def home(request):
    """Each home in turn; no ledger is in it yet."""
    return request.getfixturevalue(f"{request.param}_home")


@pytest.fixture
def filled(home):
    """A home whose ledger has three charges and their answers."""
    return fill(home)


@pytest.fixture
def filled_postgres(postgres_home):
    """The same on the server."""
    return fill(postgres_home)


def fill(home):
    book = Ledger(home.place, budget=1)
    for name in ("one", "two", "three"):
        book.record(book.charge(Pure(0.1), query=name, actor="ada", request_id=name), f"[{name}]")
    book.close()
    return home

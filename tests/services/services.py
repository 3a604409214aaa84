"""Fixtures of servers that tests start themselves: once a session, and stopped at its end.

In CI nothing is skipped: a server that is not there fails the test.
"""

import os
from importlib.util import find_spec

import pytest
from postgres_server import PostgresServer, programs
from spark_session import SparkService, java


def absent(reason: str) -> None:
    """Fail in CI, else skip."""
    if "CI" in os.environ:
        pytest.fail(reason)
    pytest.skip(reason)


def _served(**options):
    if programs() is None:
        absent("PostgreSQL is not installed")
    if find_spec("psycopg") is None:
        absent("psycopg is not installed")
    server = PostgresServer(**options)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgres():
    """A PostgresServer that is quick and forgets at a power cut: for tables."""
    yield from _served()


@pytest.fixture(scope="session")
def durable_postgres():
    """A PostgresServer that keeps what it acknowledged: for ledgers."""
    yield from _served(durable=True)


@pytest.fixture(scope="session")
def spark():
    """A session of a Spark of two threads."""
    if java() is None:
        absent("Java is not installed")
    if find_spec("pyspark") is None:
        absent("PySpark is not installed")
    service = SparkService()
    yield service.spark
    service.stop()

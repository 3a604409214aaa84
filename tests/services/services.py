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
def spark_service():
    """A Spark of two threads; it serves Connect too, where that is installed."""
    if java() is None:
        absent("Java is not installed")
    if find_spec("pyspark") is None:
        absent("PySpark is not installed")
    service = SparkService(connect=find_spec("grpc_status") is not None)
    yield service
    service.stop()


@pytest.fixture(scope="session")
def spark(spark_service):
    """A session of it."""
    return spark_service.spark


@pytest.fixture(scope="session")
def connect(spark_service):
    """A session of Spark Connect, in the same Spark."""
    if find_spec("grpc_status") is None:
        absent("what PySpark needs for Connect is not installed")
    session = spark_service.connected()
    yield session
    session.stop()

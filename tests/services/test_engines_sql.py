"""What SQL asks, of a table of PostgreSQL and of Spark: the answers of a table in memory."""

from datetime import datetime

import pyarrow as pa
import pytest
from source_postgres import fill

import halfmask as hm

MOMENTS = [
    datetime(2024, 12, 30),
    datetime(2024, 12, 31, 23, 59, 59, 999999),
    datetime(2025, 1, 1),
    datetime(2025, 1, 31, 23, 59, 59),
    None,
    datetime(2025, 2, 1),
    datetime(2025, 3, 30, 2, 30),
    datetime(2025, 3, 31),
]
WORDS = ["log", "login", "Login", "loh", "lo", "log\ud7ff", "log\U0010ffff", None, "", "é", "lö%_"]
NUMBER = 88
ROWS = {
    "id": [i % 13 for i in range(NUMBER)],
    "at": [MOMENTS[i % len(MOMENTS)] for i in range(NUMBER)],
    "word": [WORDS[i % len(WORDS)] for i in range(NUMBER)],
    "pay": [None if i % 7 == 3 else i / 4 for i in range(NUMBER)],
    "ok": [(True, False, None)[i % 3] for i in range(NUMBER)],
}
SCHEMA = {
    "id": "integer",
    "ok": "boolean",
    "at": hm.Public("time", lower="2024-12-30", upper="2025-03-31"),
    "word": hm.Public("text", keys=["log", "login", None]),
    "pay": hm.Public("real", lower=0, upper=32),
}
TEXTS = [
    "SELECT COUNT(*) FROM t WHERE word LIKE 'log%'",
    "SELECT COUNT(*) FROM t WHERE word NOT LIKE 'log%' OR word LIKE 'l%' AND NOT ok",
    "SELECT COUNT(*) AS n, COUNT(pay) AS paid, COUNT(ok) AS told, AVG(pay) AS mean FROM t",
    "SELECT COUNT(*) FILTER (WHERE ok) AS a, SUM(CASE WHEN ok THEN 0 ELSE 1 END) AS b, "
    "SUM(CASE WHEN at >= DATE '2025-01-01' THEN pay ELSE 0 END) AS c, "
    "AVG(pay) FILTER (WHERE word NOT IN ('log', 'é')) AS d FROM t WHERE ok IS NOT FALSE",
    "SELECT COUNT(DISTINCT CASE WHEN word LIKE 'lo%' THEN id END) FROM t",
    "SELECT DATE_TRUNC('month', at), COUNT(*) AS n, AVG(pay) FROM t GROUP BY 1 ORDER BY n",
    "SELECT DATE_TRUNC('week', at), COUNT(*) FROM t WHERE pay > 1.5 GROUP BY 1",
    "SELECT DATE(at), SUM(pay) FROM t GROUP BY DATE(at) HAVING SUM(pay) > 3",
    "SELECT YEAR(at), COUNT(*) FILTER (WHERE ok) FROM t GROUP BY YEAR(at)",
    "SELECT CASE WHEN pay < 9 THEN 'low' WHEN ok THEN 'told' ELSE 'rest' END, COUNT(*) FROM t "
    "GROUP BY 1",
    "SELECT word, ok, COUNT(*) FROM t GROUP BY word, ok",
    "SELECT word, MEDIAN(pay) AS half, COUNT(pay) AS n FROM t GROUP BY word",
]
UNITS = [{"unit": "id", "rows_per_unit": 3, "groups_per_unit": 2}, {}]


@pytest.fixture(scope="module")
def tables(postgres, spark):
    """The same rows in memory, on a server and on Spark: what `open` takes."""
    url = postgres.new_database()
    kinds = {"id": "int", "at": "timestamp", "word": "text", "pay": "float8", "ok": "bool"}
    fill(url, kinds, ROWS, "rows")
    return (ROWS, None), (url, "rows"), (spark.createDataFrame(pa.table(ROWS)), None)


def answers(table, given, ask):
    source, name = table
    words = hm.noise.seeded_words(11)
    options = {"schema": SCHEMA, "words": words, "budget": 1000}
    with hm.open(source, table=name, **options, **given) as curator:
        return ask(curator)


def values(found):
    return (
        {name: one.value for name, one in found.items()} if isinstance(found, dict) else found.value
    )


@pytest.mark.parametrize("given", UNITS)
def test_engines_answer_sql_alike(given, tables):
    """The same seeded words: the same integers, and so the same numbers."""

    def ask(curator):
        asked = [text for text in TEXTS if given.get("unit") or "DISTINCT" not in text]
        keys = {"ok": [True, False, None]}
        return [values(curator.sql(text, keys=keys, epsilon=1)) for text in asked]

    memory, *engines = (answers(table, given, ask) for table in tables)
    for engine in engines:
        assert engine == memory


def test_engines_answer_series_of_groups_alike(tables):
    def ask(curator):
        by = hm.Keys("word", ["log", "login", None], other=True)
        series = curator.series(
            "rows",
            hm.Sum("pay", 0, 32),
            by=by,
            time="at",
            start="2024-12-30",
            every="week",
            periods=13,
            epsilon=1,
            table="rows",
            where="ok is not None",
        )
        return series.release("2025-03-24").value

    given = {"unit": "id", "rows_per_unit": 3, "groups_per_unit": 4}
    memory, *engines = (answers(table, given, ask) for table in tables)
    assert all(engine == memory for engine in engines)

"""Tumult Analytics: the sum of three rows a unit of a Parquet file (unit, value), in CPU seconds.

Run by benchmarks/spark.py. As warm as ours: the second of two answers counts.
"""

import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

from harness import processor_seconds  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from tmlt.analytics import (  # noqa: E402
    AddRowsWithID,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)


def main() -> None:
    path = Path(sys.argv[1])
    built = SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
    built = built.config("spark.sql.shuffle.partitions", "3").master("local[2]")
    spark = built.config("spark.sql.warehouse.dir", str(path.parent / "tables")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.read.parquet(str(path)).select("unit", "value")
    budget = PureDPBudget(float("inf"))
    session = Session.from_dataframe(budget, "rows", frame, protected_change=AddRowsWithID("unit"))
    query = QueryBuilder("rows").enforce(MaxRowsPerID(3)).sum("value", 0.0, 100_000.0)
    for _ in range(2):
        start = processor_seconds()
        session.evaluate(query, PureDPBudget(1)).toPandas()
        taken = processor_seconds() - start
    print(taken)
    spark.stop()


if __name__ == "__main__":
    main()

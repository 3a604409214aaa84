"""A Spark of two threads for this process alone: no page, only loopback, surely ended."""

import os
import shutil
import sys
import tempfile

__all__ = ["SparkService", "java"]

SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # short queries: no long compiling
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def java() -> str | None:
    """The path of Java; None where there is none."""
    home = os.environ.get("JAVA_HOME", "")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


class SparkService:
    """A session, `spark`, whose JVM ends with `stop`, or with this process."""

    def __init__(self, threads: int = 2, **settings: str) -> None:
        from pyspark.sql import SparkSession

        self.folder = tempfile.mkdtemp(prefix="halfmask-spark-")
        os.environ.update(
            PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_DIRS=self.folder
        )
        builder = SparkSession.builder.master(f"local[{threads}]").appName("halfmask")
        builder = builder.config("spark.sql.warehouse.dir", f"{self.folder}/tables")
        for name, value in (SETTINGS | settings).items():
            builder = builder.config(name, value)
        self.spark = builder.getOrCreate()
        self._gateway = self.spark.sparkContext._gateway
        self.pid = self._gateway.proc.pid

    def stop(self) -> None:
        """End the session and its JVM, and wait for both."""
        from pyspark import SparkContext

        self.spark.stop()
        self._gateway.shutdown()
        self._gateway.proc.stdin.close()  # the JVM waits for its end
        self._gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None
        shutil.rmtree(self.folder, ignore_errors=True)

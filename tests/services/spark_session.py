"""A Spark of two threads for this process alone: no page, only loopback, surely ended."""

import os
import secrets
import shutil
import sys
import tempfile
import warnings

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


CONNECT = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",  # a free one
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
}


def java() -> str | None:
    """The path of Java; None where there is none."""
    home = os.environ.get("JAVA_HOME", "")
    return shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")


class SparkService:
    """A session, `spark`, whose JVM ends with `stop`, or with this process.

    connect: whether the JVM also serves Spark Connect, to whom `connected` makes known.
    """

    def __init__(self, threads: int = 2, connect: bool = False, **settings: str) -> None:
        from pyspark.sql import SparkSession

        self._token = secrets.token_hex()
        if connect:
            settings = CONNECT | {"spark.connect.authenticate.token": self._token} | settings

        self.folder = tempfile.mkdtemp(prefix="halfmask-spark-")
        os.environ.update(
            PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_DIRS=self.folder
        )
        builder = SparkSession.builder.master(f"local[{threads}]").appName("halfmask")
        builder = builder.config("spark.sql.warehouse.dir", f"{self.folder}/tables")
        for name, value in (SETTINGS | settings).items():
            builder = builder.config(name, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas: else Connect is left out
            self.spark = builder.getOrCreate()
        self._gateway = self.spark.sparkContext._gateway
        self.pid = self._gateway.proc.pid

    def connected(self):
        """Return a new session of Spark Connect."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas
            from pyspark.sql.connect.session import SparkSession

            name = "org.apache.spark.sql.connect.service.SparkConnectService$"
            server = getattr(getattr(self.spark.sparkContext._jvm, name), "MODULE$")
            port = server.localPort()
            return SparkSession.builder.remote(
                f"sc://localhost:{port}/;token={self._token}"
            ).create()

    def stop(self) -> None:
        """End the session and its JVM, and wait for both."""
        from pyspark import SparkContext

        self.spark.stop()
        self._gateway.shutdown()
        self._gateway.proc.stdin.close()  # the JVM waits for its end
        self._gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None
        shutil.rmtree(self.folder, ignore_errors=True)

"""How OpenDP is asked: the Context over a Polars frame, as in its guide to tables; else vectors.

Add/remove one row, so a replaced row is two steps; sized vectors take the replaced row as one
query. A query over Polars is resolved once and invoked on each frame, which is what `release` does
after its search for the scale.
"""

import warnings

import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")

BASE = 2.0**53
BOUNDS = (BASE + 6, BASE + 10)
UNIT = (0.0, 1.0)
GRID = [i / 10 for i in range(11)]
INTEGERS = (dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance())
X = pl.col("x").fill_nan(0.0).fill_null(0.0)


def frame(rows) -> pl.LazyFrame:
    return pl.LazyFrame({"x": list(rows)}, schema={"x": pl.Float64})


def context(scan, epsilon: float = 1.0) -> dp.Context:
    return dp.Context.compositor(
        data=scan,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=10_000)],
    )


def asking(*expressions, epsilon: float = 1.0):
    """The query with its scale found: from rows to its one answer."""
    measure = context(frame([0.5]), epsilon).query().select(*expressions).resolve()
    return lambda rows: measure(rows if isinstance(rows, pl.LazyFrame) else frame(rows)).collect()


def queries(*names: str) -> dict:
    made = {
        "count": lambda: asking(dp.len(signed=True)),
        "sum": lambda: asking(X.dp.sum(UNIT)),
        "mean": lambda: asking(X.dp.mean(UNIT)),
        "median": lambda: asking(X.dp.median(GRID)),
    }
    found = {name: made[name]() for name in names or made}
    return {name: lambda rows, ask=ask: ask(rows).item() for name, ask in found.items()}


def repeated(ask, rows):
    scan = frame(rows)
    return lambda n: [ask(scan) for _ in range(n)]


def sized_sum():
    """The sum of 96 floats, their number public."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=96), dp.symmetric_distance()
    total = space >> dp.t.then_clamp(BOUNDS) >> dp.t.then_sum()
    measure = dp.binary_search_chain(
        lambda scale: total >> dp.m.then_laplace(scale), d_in=2, d_out=1.0
    )
    return total, measure


def invoked(measure, rows):
    return lambda n: [measure(rows) for _ in range(n)]


def noisy_count(epsilon: float = 1.0):
    return INTEGERS >> dp.t.then_count() >> dp.m.then_laplace(1.0 / epsilon)


def one_count():
    """A Context over a vector: Polars' own threads do not live on in a forked process."""
    return dp.Context.compositor(
        data=[1, 0, 1],
        domain=dp.vector_domain(dp.atom_domain(T=int)),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
    )


def spend(budget):
    return budget.query().count().laplace().release()

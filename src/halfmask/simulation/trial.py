"""One ask, repeated: the experiment of many answers to one question."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.asking import Question
from halfmask.errors import InvalidQuery, shown
from halfmask.plan import Filters, Keys, Predicate
from halfmask.progress import counted, showing
from halfmask.queries import Estimate, price_of
from halfmask.simulation.result import Trials
from halfmask.simulation.simulated import Simulated

__all__ = ["Read", "repeated", "trials"]

Read = Callable[[Mapping[str, Any]], float]
"""Makes one number of the values of several queries."""

MOST = 10**6


def trials(  # noqa: PLR0913
    query: Question | Mapping[str, Question],
    table: object,
    *,
    repeats: int = 1000,
    truth: Any = None,
    read: Read | None = None,
    by: Keys | Filters | None = None,
    where: str | Predicate | None = None,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    mu: Any = None,
    shares: Mapping[str, Any] | None = None,
    progress: bool = False,
    **options: Any,
) -> Any:
    """Ask a public or simulated table many times over: real noise, no ledger, no promise.

    Args:
        query: one query, or several by name, as for `Curator.ask`; then one `Trials` a name.
        table: in memory, and public: giving it here says that its rows may be shown. A curator or a
            file is refused.
        repeats: how many answers, from 2 to a million.
        truth: what the answers are held against; None is the answer without noise, and without
            bounds where the query has some (up to a millionth of the noise of one epsilon).
        read: makes one number of the values of several queries, such as a ratio.
        by: as for `Curator.ask`, and so `where`, the price and `shares`; keys must be listed.
        where: see by.
        epsilon: see by.
        delta: see by.
        rho: see by.
        mu: see by.
        shares: see by.
        progress: whether to draw a bar, on standard error and a terminal, after two seconds.
        options: unit, rows_per_unit, groups_per_unit, relation, schema, as for `halfmask.open`.

    The rows are read once; only the noise is drawn anew, and all that follows from it.

    >>> import halfmask as hm
    >>> import numpy as np
    >>> table = {"salary": np.linspace(20_000, 90_000, 100)}
    >>> tried = hm.trials(hm.Mean("salary", 0, 100_000), table, epsilon=1, repeats=200)
    >>> tried.estimates.shape, round(float(tried.truth), -2), abs(tried.bias) < 6 * tried.spread
    ((200,), 55000.0, True)

    """
    price = price_of(epsilon, delta, rho, mu)
    with showing(progress):
        found = repeated(
            Simulated.of(table, **options),
            query,
            repeats=repeats,
            truth=truth,
            read=read,
            by=by,
            where=where,
            price=price,
            shares=shares,
        )
    return found if isinstance(query, Mapping) and read is None else next(iter(found.values()))


def repeated(  # noqa: PLR0913
    table: Simulated,
    query: Question | Mapping[str, Question],
    *,
    repeats: int,
    truth: Any,
    read: Read | None,
    by: Keys | Filters | None,
    where: str | Predicate | None,
    price: Any,
    shares: Mapping[str, Any] | None,
) -> dict[str, Trials]:
    """Try one ask, and return a result for each number that it answers."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 2 <= repeats <= MOST:
        raise InvalidQuery(f"repeats: {shown(repeats)} is no whole number from 2 to 10^6")
    setting = table.setting(by, where)
    asked = table.asked(query, shares, setting, price)
    answers = [
        _values(table.answer(asked, setting, price), setting.by is None, read)
        for _ in counted(range(repeats))
    ]
    exact, plain = (
        _values(table.exact(one, setting, price), setting.by is None, read)
        for one in (asked, table.unclipped(asked, setting, price))
    )
    titles = {name: one.title for name, one in asked.questions.items()}
    keys = setting.keys if setting.by is not None else ()
    return {
        name: Trials(
            titles.get(name) or " and ".join(titles.values()),
            price,
            _stacked([answer[name] for answer in answers]),
            _stacked(exact[name]),
            _stacked(plain[name] if truth is None else truth),
            keys,
        )
        for name in exact
    }


def _values(
    answers: Mapping[str, Sequence[Estimate]], alone: bool, read: Read | None
) -> dict[str, Any]:
    """The values of one ask by name; of each group in turn where there are groups."""
    if read is not None:
        each = [
            read({name: estimates[at].value for name, estimates in answers.items()})
            for at in range(len(next(iter(answers.values()))))
        ]
        return {"": each[0] if alone else each}
    return {
        name: estimates[0].value if alone else [one.value for one in estimates]
        for name, estimates in answers.items()
    }


def _stacked(values: Any) -> NDArray[Any]:
    """An array of floats, or of objects where the values are no numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return np.asarray(values, dtype=object)

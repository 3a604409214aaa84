"""Trials at several prices, bounds or shares of a price: where bias and noise balance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from halfmask.asking import Question
from halfmask.errors import InvalidQuery
from halfmask.privacy import plain
from halfmask.progress import counted, showing
from halfmask.queries import price_of
from halfmask.rendering import figure, frame
from halfmask.simulation.result import Trials
from halfmask.simulation.simulated import Simulated
from halfmask.simulation.trial import Read, repeated

__all__ = ["Sweep", "sweep"]

_ASKED = ("by", "where")


@dataclass(frozen=True, eq=False)
class Sweep:
    """One `Trials` for each value of what was varied.

    Attributes:
        varied: "epsilon", "rho", "mu", "shares", or "over".
        values: what was tried, in order.
        trials: what came out.

    """

    varied: str
    values: tuple[Any, ...]
    trials: tuple[Trials, ...]

    def _each(self, name: str) -> Any:
        return np.array([getattr(one, name) for one in self.trials])

    @property
    def rmse(self) -> Any:
        """The error against the truth, shape (values, ...)."""
        return self._each("rmse")

    @property
    def bias(self) -> Any:
        """The mean less the truth, shape (values, ...)."""
        return self._each("bias")

    @property
    def clipping(self) -> Any:
        """The part of the bias that bounds make, known without noise, shape (values, ...)."""
        return self._each("clipping")

    @property
    def spread(self) -> Any:
        """The noise alone, shape (values, ...)."""
        return self._each("spread")

    @property
    def best(self) -> Any:
        """The value of the least error, over all numbers of the answer."""
        errors = self.rmse.reshape(len(self.values), -1)
        return self.values[int(np.argmin(np.mean(errors**2, axis=1)))]

    def to_frame(self) -> Any:
        """Return a pandas data frame: one row a value; of single numbers alone."""
        if self.rmse.ndim > 1:
            raise InvalidQuery("sweep: vectors fit in no flat frame; see `trials`")
        names = ("bias", "clipping", "spread", "rmse")
        columns = zip(self.values, *(getattr(self, name) for name in names), strict=True)
        return frame(
            [
                {self.varied: value, **dict(zip(names, map(float, numbers), strict=True))}
                for value, *numbers in columns
            ]
        )

    def __str__(self) -> str:
        lines = [self.trials[-1].title]
        for value, one in zip(self.values, self.trials, strict=True):
            error = float(np.sqrt(np.mean(np.square(one.rmse))))
            bias = float(np.sqrt(np.mean(np.square(one.bias))))
            told = f"error {figure(error, error)}, of which bias {figure(bias, error)}"
            lines.append(f"  {self.varied} {_label(value)}: {told}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Sweep: {self}>"


def sweep(  # noqa: PLR0913
    query: Question | Mapping[str, Question] | Callable[[Any], Any],
    table: object,
    *,
    over: Sequence[Any] | None = None,
    repeats: int = 1000,
    truth: Any = None,
    read: Read | None = None,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    mu: Any = None,
    shares: Any = None,
    progress: bool = False,
    **options: Any,
) -> Sweep:
    """Try a query at several values of one thing: a price, shares, or a parameter of its own.

    Args:
        query: as for `trials`; with `over`, a function from a value to a query.
        table: as for `trials`: public, and in memory.
        over: values for the function, such as upper bounds.
        repeats: answers for each value.
        truth: as for `trials`; without bounds, so that what clipping takes is seen.
        read: as for `trials`; needed for several queries.
        epsilon: one price, or a list of prices to try; so rho and mu.
        delta: one, for all epsilons.
        rho: see epsilon.
        mu: see epsilon.
        shares: one split of several queries, or a list of splits to try.
        progress: whether to draw a bar, on standard error and a terminal, after two seconds.
        options: by, where, and those of `halfmask.open`, as for `trials`.

    >>> import halfmask as hm
    >>> import numpy as np
    >>> table = {"salary": np.linspace(20_000, 90_000, 100)}
    >>> below = lambda top: hm.Mean("salary", 0, top)
    >>> tried = hm.sweep(below, table, over=[30_000, 300_000], epsilon=1, repeats=50)
    >>> tried.clipping.round(-2).astype(int).tolist()
    [-25800, 0]

    """
    price = {"epsilon": epsilon, "rho": rho, "mu": mu, "shares": shares}
    lists: dict[str, Any] = {
        name: one for name, one in price.items() if isinstance(one, list | tuple | np.ndarray)
    }
    if over is not None:
        lists["over"] = over
    if len(lists) != 1:
        raise InvalidQuery(
            f"sweep: {' and '.join(lists) or 'nothing'} varied; give a list of one of epsilon, "
            "rho, mu or shares, or a function and values `over`"
        )
    if (over is not None) != (not isinstance(query, Mapping) and _is_function(query)):
        raise InvalidQuery("over: goes with a function that makes a query of each value")
    ((varied, values),) = lists.items()
    if not len(values):
        raise InvalidQuery(f"{varied}: an empty list; give values to try")
    asked = {name: options.pop(name, None) for name in _ASKED}
    public = Simulated.of(table, **options)
    made: Any = query

    def tried(value: Any) -> Trials:
        at = price | ({varied: value} if varied != "over" else {})
        results = repeated(
            public,
            made(value) if varied == "over" else made,
            repeats=repeats,
            truth=truth,
            read=read,
            price=price_of(at["epsilon"], delta, at["rho"], at["mu"]),
            shares=at["shares"],
            **asked,
        )
        if len(results) > 1:
            raise InvalidQuery(
                "read: several queries were asked; give a function that makes one number of them"
            )
        return next(iter(results.values()))

    with showing(progress):
        found = tuple(tried(value) for value in counted(values, _label))
    return Sweep(varied, tuple(values), found)


def _label(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_label(one)}" for name, one in value.items())
    return plain(value) if isinstance(value, Fraction) else str(value)


def _is_function(query: object) -> bool:
    return callable(query) and not isinstance(query, type)

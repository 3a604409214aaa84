"""Where SQL is answered: the part of a curator that asks what a person typed."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from halfmask.asking import Releases
from halfmask.plan import Schema
from halfmask.privacy import PrivacyUnit
from halfmask.sources import JoinedTable, Source
from halfmask.sql import Arrangement, Statement, read_sql

__all__ = ["Spoken", "arranged"]


def arranged(answer: Any, done: Arrangement | None) -> Any:
    """Return the answer of a statement with its groups as HAVING, ORDER BY and LIMIT say.

    Privacy: post-processing of what was released; see `Arrangement`.
    """
    if done is None:
        return answer
    alone = len(done.names) == 1
    named = {done.names[0]: answer} if alone else answer
    keys = done.keys({name: one.value for name, one in named.items()})
    shown = {
        name: one.arranged([key for key in keys if key in one], done.steps)
        for name, one in named.items()
    }
    return shown[done.names[0]] if alone else Releases(shown)


class Spoken(ABC):
    """The part of a curator that is asked in SQL."""

    _source: Source
    ask: Callable[..., Any]

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The public names and kinds of the columns."""

    @property
    @abstractmethod
    def unit(self) -> PrivacyUnit:
        """Whom the promise protects."""

    def sql(  # noqa: PLR0913
        self,
        text: str,
        *,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Iterable[Any]] | None = None,
        epsilon: Any = None,
        delta: Any = None,
        rho: Any = None,
        mu: Any = None,
        shares: Mapping[str, Any] | None = None,
        actor: str | None = None,
        request_id: str | None = None,
    ) -> Any:
        """Ask in SQL: one SELECT of COUNT, SUM, AVG, MEDIAN, ... with WHERE and GROUP BY.

        The text is read as public queries (`statement` shows them), and these are asked: one
        aggregate is answered by its release, several by one for each name that AS gives, from one
        price. Of groups all are released, and HAVING, ORDER BY and LIMIT say which of them are
        shown, by their released numbers: `raw()` shows all again. Anything else in the text is
        refused, with the piece and the reason, before a charge.

        Args:
            text: as in "SELECT dept, AVG(salary) FROM staff WHERE age >= 30 GROUP BY dept". Any one
                name stands for the table; see docs/sql.md for what is answered.
            bounds: by column, (lower, upper), known without the data, or "private": before the
                bounds of the schema (`Public`).
            keys: by column, the values that GROUP BY answers for, before those of the schema; keys
                of other columns are found in the rows, for a delta.
            epsilon: the price, as for `ask`.
            delta: see `ask`.
            rho: see `ask`.
            mu: see `ask`.
            shares: see `ask`; by the names of the aggregates.
            actor: see `ask`.
            request_id: see `ask`.

        Raises:
            InvalidQuery: what cannot be answered; nothing was charged. Else as `ask`.
            HalfmaskError: sqlglot is not installed (`pip install 'halfmask[sql]'`).

        >>> import halfmask as hm
        >>> pay = hm.Public("real", lower=0, upper=100_000)
        >>> staff = hm.open({"salary": [41_000, 52_500, 60_250]}, schema={"salary": pay}, budget=1)
        >>> answer = staff.sql("SELECT AVG(salary) FROM staff WHERE salary > 0", epsilon=0.5)
        >>> answer.query, answer.provenance.where
        (Mean('salary', 0, 100000), 'salary > 0')

        """
        asked = self.statement(text, bounds=bounds, keys=keys)
        answer = self.ask(
            asked.query,
            by=asked.by,
            where=asked.where,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mu=mu,
            shares=shares,
            actor=actor,
            request_id=request_id,
        )
        return arranged(answer, asked.arrangement)

    def statement(
        self,
        text: str,
        *,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Iterable[Any]] | None = None,
    ) -> Statement:
        """Read what `sql` would ask, without asking: its `query`, `by` and `where`, to preview.

        >>> import halfmask as hm
        >>> staff = hm.open({"dept": ["ops", "r&d"]}, budget=1)
        >>> asked = staff.statement("SELECT COUNT(*) AS people FROM staff WHERE dept <> 'ops'")
        >>> asked.query, str(asked.where)
        (Count(), "dept != 'ops'")
        >>> staff.preview(asked.query, where=asked.where, rows=100, epsilon=1).rmse < 2
        True

        """
        sides = self._source.sides if isinstance(self._source, JoinedTable) else None
        return read_sql(
            text, self.schema, unit=self.unit.column, sides=sides, bounds=bounds, keys=keys
        )

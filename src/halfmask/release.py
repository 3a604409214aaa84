"""What leaves the curator: a frozen record of everything that a reader needs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from halfmask.plan import OTHER
from halfmask.postprocess import Tidy
from halfmask.preview import Preview
from halfmask.privacy import Cost, PrivacyUnit
from halfmask.provenance import Finding, Provenance, caution, facts_of, told_of
from halfmask.queries import Estimate
from halfmask.rendering import Cell, frame, table, told
from halfmask.reported import report_page

__all__ = ["Cell", "GroupedRelease", "Preview", "Provenance", "Release"]

NOT_PRIVATE = "NOT PRIVATE: the noise came from a seed."


class _Made(Tidy):
    """What a release tells of its provenance."""

    provenance: Provenance

    @property
    def cost(self) -> Cost:
        """The price of the ask that this release is part of."""
        return self.provenance.cost

    @property
    def mechanism(self) -> tuple[str, ...]:
        """The laws of the noise in words, in the order in which they were drawn from."""
        return self.provenance.mechanism

    @property
    def unit(self) -> PrivacyUnit:
        """Whom the promise protects."""
        return self.provenance.unit

    @property
    def relation(self) -> str:
        """The neighbouring relation, `add_remove` or `replace`."""
        return str(self.provenance.unit.relation)

    @property
    def seeded(self) -> bool:
        """Whether the noise came from a seed: then the release is NOT PRIVATE."""
        return self.provenance.seeded

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.statement}>"

    @property
    def statement(self) -> str:
        """The answer in words, as it may be published."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        raise NotImplementedError

    def report(self, *, title: str = "Release", remaining: Cost | None = None) -> str:
        """Return one self-contained HTML page to hand on; `remaining` says what is left."""
        left = "" if remaining is None else str(remaining)
        return report_page({"": self.to_dict()}, title=title, remaining=left)

    def _promise(self) -> str:
        asked = self.provenance.asked
        whole = f" for {', '.join(asked)} together," if len(asked) > 1 else ""
        promise = f"Price: {self.cost}{whole} for {self.unit.describe()}."
        warning = caution(self.cost)
        promise += f" CAUTION: {warning}." if warning else ""
        return f"{promise} {NOT_PRIVATE}" if self.seeded else promise


@dataclass(frozen=True, repr=False)
class Release(_Made):
    """One private answer.

    Attributes:
        query: the question.
        estimate: the noisy integers and how they are read.
        provenance: cost, unit, mechanism, time, version, ledger row.
        key: the public group key that it is about, inside a grouped release.

    """

    query: object
    estimate: Estimate
    provenance: Provenance
    key: object = None

    def _estimates(self) -> tuple[Estimate, ...]:
        return (self.estimate,)

    def _with(self, estimates: Sequence[Estimate]) -> Self:
        return replace(self, estimate=estimates[0])

    @property
    def value(self) -> Any:
        """The private answer: a number, or a tuple of numbers for a histogram."""
        return self.estimate.value

    def interval(self, confidence: float = 0.95) -> Any:
        """Return (low, high) that holds the exact answer on the bounded rows.

        The interval covers the noise alone: neither sampling error nor what clipping to the bounds
        took away. For a histogram, one interval a bin, each with this confidence on its own.
        """
        return self.estimate.interval(confidence)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What was done to the noisy numbers, free of charge, beyond a change of units."""
        return self.estimate.post_processing

    @property
    def statement(self) -> str:
        """The answer in words, as it may be published."""
        doubt = f" CAUTION: {self.doubt}." if self.doubt else ""
        return f"{_title(self.query)}: {self._with_interval()}.{doubt} {self._promise()}"

    @property
    def doubt(self) -> str:
        """Why the answer may have failed, where its own noisy numbers show it; else empty."""
        return str(getattr(self.estimate, "doubt", ""))

    def cells(self, confidence: float = 0.95) -> tuple[Cell, ...]:
        """Return the numbers one by one: the answer alone, or one a bin."""
        own = getattr(self.estimate, "cells", None)
        if own is not None:
            return tuple(Cell(*cell) for cell in own(confidence))
        value, interval = self.value, self.interval(confidence)
        if interval is None:
            return (Cell("", value, None, None),)
        if not isinstance(value, tuple):
            return (Cell("", value, *interval),)
        named = getattr(self.estimate, "labels", None) or getattr(self.query, "bins", None)
        bins = named or tuple(map(str, range(len(value))))
        return tuple(
            Cell(name, one, *pair) for name, one, pair in zip(bins, value, interval, strict=True)
        )

    def _with_interval(self) -> str:
        return "; ".join(f"{name}: {shown}" if name else shown for name, shown in _shown(self))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        key = {} if self.key is None else _plain(self.key)
        return {
            "query": repr(self.query),
            "title": _title(self.query),
            **key,
            "cells": _cells_of(self),
            "value": self.value,
            "interval": {"confidence": 0.95, "bounds": self.interval(0.95)},
            "statement": self.statement,
            "post_processing": list(self.post_processing),
            **self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_frame(self) -> Any:
        """Return a pandas data frame: one row, or one a bin."""
        return frame(_rows_of(self))

    def __str__(self) -> str:
        return self.statement

    def _repr_html_(self) -> str:
        rows = [(name, low_high) for name, low_high in _shown(self)]
        return table(_title(self.query), rows, self._promise())


@dataclass(frozen=True, repr=False)
class GroupedRelease(_Made, Mapping[object, Release]):
    """One release for each key, all from one price.

    found: how the keys were found in the rows; None where they are public.
    steps: which groups are shown, and in which order, where these are not all; see `raw`.
    whole: all groups, as they were released.
    """

    query: object
    by: str
    releases: tuple[Release, ...]
    provenance: Provenance
    found: Finding | None = None
    steps: tuple[str, ...] = ()
    whole: tuple[Release, ...] = ()

    def __getitem__(self, key: object) -> Release:
        for release in self.releases:
            if release.key == key and type(release.key) is type(key):
                return release
        raise KeyError(key)

    def __iter__(self) -> Iterator[object]:
        return (release.key for release in self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def _estimates(self) -> tuple[Estimate, ...]:
        return tuple(one.estimate for one in self.releases)

    def _with(self, estimates: Sequence[Estimate]) -> Self:
        each = zip(self.releases, estimates, strict=True)
        return replace(self, releases=tuple(replace(one, estimate=e) for one, e in each))

    def arranged(self, keys: Sequence[object], steps: Sequence[str]) -> Self:
        """Show these groups alone, in this order: free, if it hangs on what was released alone.

        steps: why these, in words, for the release to tell. `raw` shows all groups again.
        """
        shown = tuple(self[key] for key in keys)
        whole = self.whole or self.releases
        return replace(self, releases=shown, steps=(*self.steps, *steps), whole=whole)

    def raw(self) -> Self:
        """Undo all that was done: all groups, and the values as they were released."""
        whole = replace(self, releases=self.whole or self.releases, steps=(), whole=())
        return whole._with([getattr(one, "raw", one) for one in whole._estimates()])

    @property
    def value(self) -> dict[object, Any]:
        """The value of each key."""
        return {release.key: release.value for release in self.releases}

    def interval(self, confidence: float = 0.95) -> dict[object, Any]:
        """Return the interval of each key, each with this confidence on its own."""
        return {release.key: release.interval(confidence) for release in self.releases}

    @property
    def statement(self) -> str:
        """The answers in words, as they may be published."""
        parts = "; ".join(f"{one.key}: {one._with_interval()}" for one in self.releases)
        return f"{_title(self.query)}, by {self.by}: {parts or 'none'}. {self._promise()}"

    def _promise(self) -> str:
        done = f"Of the groups released: {'; '.join(self.steps)}." if self.steps else ""
        return " ".join(filter(None, (done, told_of(self.found), super()._promise())))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON."""
        groups = [
            {
                **_plain(one.key),
                "cells": _cells_of(one),
                "value": one.value,
                "interval": {"confidence": 0.95, "bounds": one.interval(0.95)},
            }
            for one in self.releases
        ]
        return {
            "query": repr(self.query),
            "title": f"{_title(self.query)}, by {self.by}",
            "by": self.by,
            **facts_of(self.found),
            "groups": groups,
            "statement": self.statement,
            "post_processing": [
                *(self.releases[0].post_processing if self.releases else ()),
                *self.steps,
            ],
            **self.provenance.to_dict(),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_frame(self) -> Any:
        """Return a pandas data frame: one row a key (and bin)."""
        return frame([row for release in self.releases for row in _rows_of(release, self.by)])

    def __str__(self) -> str:
        return self.statement

    def _repr_html_(self) -> str:
        rows = [
            (f"{one.key} {name}".strip(), shown)
            for one in self.releases
            for name, shown in _shown(one)
        ]
        return table(f"{_title(self.query)}, by {self.by}", rows, self._promise())


def _title(query: object) -> str:
    """The query as a reader would say it, with a capital letter."""
    title = str(getattr(query, "title", query))
    return title[:1].upper() + title[1:]


def _plain(key: object) -> dict[str, Any]:
    """A key for JSON; the group of all others is no key, so it is marked."""
    return {"key": str(key), "other": True} if key is OTHER else {"key": key}


def _cells_of(release: Release) -> list[dict[str, Any]]:
    return [vars(cell) for cell in release.cells()]


def _shown(release: Release) -> list[tuple[str, str]]:
    return [(cell.bin, told(cell)) for cell in release.cells()]


def _rows_of(release: Release, by: str | None = None) -> list[dict[str, Any]]:
    rows = []
    for cell in release.cells():
        key = {by: release.key} if by else {}
        bins = {"bin": cell.bin} if cell.bin else {}
        seeded = {"private": False} if release.seeded else {}
        numbers = {"value": cell.value, "low": cell.low, "high": cell.high}
        rows.append({**key, **bins, **numbers, **seeded})
    return rows

"""A page about releases that can be handed on, made of what they tell of themselves."""

import html
import math
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from halfmask.errors import InvalidQuery
from halfmask.page import facts, framed
from halfmask.privacy import Cost, Meaning
from halfmask.provenance import caution
from halfmask.rendering import figure, significant

__all__ = ["report_page"]

Told = Mapping[str, Any]
"""What `to_dict` of a release says; for several queries of one ask, by name."""


def report_page(
    releases: Mapping[str, Told],
    *,
    title: str = "Release",
    remaining: str = "",
    plan: str = "",
) -> str:
    """Return the page: each answer with its intervals, then how it was made; no network is asked.

    releases: by name, as `Release.to_dict` tells them.
    remaining: what is left of the budget, in words.
    plan: the text of the plan that was run.
    """
    try:
        flat = list(_flat(releases))
        asks = groupby(flat, key=lambda one: one[1]["ledger"]["head"])
        sections = "\n".join(_ask(list(group)) for _, group in asks)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InvalidQuery(
            "report: this is not what releases tell of themselves; give what `to_dict` returns, or "
            "a file that `halfmask run --json` of this version wrote"
        ) from None
    seeded = any(told["seeded"] for _, told in flat)
    warning = '<p class="bad">NOT PRIVATE: the noise came from a seed.</p>' if seeded else ""
    left = f"<p>Left of the budget: {html.escape(remaining)}.</p>" if remaining else ""
    text = f"<section><h2>The plan</h2><pre>{html.escape(plan)}</pre></section>" if plan else ""
    return framed(title, f"{warning}<p>{_INTRODUCTION}</p>{left}\n{sections}\n{text}")


_INTRODUCTION = (
    "Each number was made noisy on purpose, so that it tells hardly more about any one of those it "
    "is about than if that one were not in the table. The intervals say where the exact answer on "
    "the bounded rows lies: they cover the noise, not how the rows were sampled, nor what bounds "
    "cut off."
)


def _flat(releases: Mapping[str, Told]) -> Iterator[tuple[str, Told]]:
    """The releases one by one; those of one ask follow each other."""
    for name, told in releases.items():
        if "statement" in told:
            yield name, told
        else:
            for part, one in told.items():
                yield f"{name}: {part}", one


def _ask(releases: list[tuple[str, Told]]) -> str:
    """All that was answered at one price, then what its answers share."""
    answers = "".join(_answer(name, told) for name, told in releases)
    return f'<section>{answers}<div class="made">{facts(_shared(releases[0][1]))}</div></section>'


def _answer(name: str, told: Told) -> str:
    title = str(told["title"])
    heading = f"{name}: {title}" if name else title
    cells = list(_cells(told))
    return (
        f"<h2>{html.escape(heading)}</h2><p>{html.escape(_sentence(told, cells))}</p>"
        f"<div class=side>{_numbers(cells)}{facts(_own(told))}</div>"
    )


def _cells(told: Told) -> Iterator[tuple[str, Any, Any, Any]]:
    """Each number: its group and bin in words, the value, the ends of its interval."""
    groups = told.get("groups", [told])
    for group in groups:
        key = [] if "key" not in group else [_key(group["key"])]
        for cell in group["cells"]:
            label = ", ".join([*key, *([cell["bin"]] if cell["bin"] else [])])
            yield label, cell["value"], cell["low"], cell["high"]


def _key(key: object) -> str:
    return "(missing)" if key is None else str(key)


def _sentence(told: Told, cells: list[tuple[str, Any, Any, Any]]) -> str:
    """What a reader should take from the numbers."""
    if not cells:
        return "No key was shown: none was shared by enough units."
    if any(low is None for _, _, low, _ in cells):
        return "Chosen with chance: the best candidate most likely, a near one at times."
    if len(cells) > 1:
        return "Each of the exact numbers lies in its interval with 95 % confidence on its own."
    _, value, low, high = cells[0]
    spread = (high - low) / 2
    shown, least, most = (_whole(figure(number, spread)) for number in (value, low, high))
    if low == high:
        return f"Exactly {shown}: no noise was needed."
    return f"About {shown}; with 95 % confidence the exact answer lies between {least} and {most}."


def _numbers(cells: list[tuple[str, Any, Any, Any]]) -> str:
    ends = [end for _, _, low, high in cells for end in (low, high) if end is not None]
    span = (min(ends), max(ends)) if ends else (0.0, 0.0)
    if len(cells) == 1 and not cells[0][0]:
        return f'<p class="big">{_single(*cells[0][1:])}</p>'
    rows = "".join(_row(*cell, span) for cell in cells)
    beside = '<th class="ends">95 % interval</th><th class="bar"></th>' if ends else ""
    side = "number" if all(_is_number(value) for _, value, _, _ in cells) else "text"
    head = f'<thead><tr><th></th><th class="{side}">value</th>{beside}</tr></thead>'
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _single(value: Any, low: Any, high: Any) -> str:
    shown = significant(value) if low is None else figure(value, (high - low) / 2)
    return html.escape(_whole(shown))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(shown: str) -> str:
    """Keep the thousands of a number on one line."""
    return re.sub(r"(?<=\d) (?=\d)", "\u00a0", shown)


def _row(label: str, value: Any, low: Any, high: Any, span: tuple[float, float]) -> str:
    name = f"<th>{html.escape(label)}</th>"
    if low is None:
        side = "number" if _is_number(value) else "text"
        return f'<tr>{name}<td class="{side}">{_single(value, low, high)}</td></tr>'
    spread = (high - low) / 2
    shown, least, most = (html.escape(_whole(figure(one, spread))) for one in (value, low, high))
    return (
        f'<tr>{name}<td class="number">{shown}</td><td class="ends">{least} to {most}</td>'
        f'<td class="bar">{_bar(value, low, high, span)}</td></tr>'
    )


def _bar(value: Any, low: Any, high: Any, span: tuple[float, float]) -> str:
    """The interval as a line and the value as a dot, on the axis that all rows share."""
    wide = span[1] - span[0]
    if not wide or not math.isfinite(wide):
        return ""
    at = [4 + 192 * min(max((float(x) - span[0]) / wide, 0), 1) for x in (low, value, high)]
    return (
        '<svg viewBox="0 0 200 18" role="img" aria-hidden="true" preserveAspectRatio="none">'
        f'<line class="one" x1="{at[0]:.1f}" y1="9" x2="{at[2]:.1f}" y2="9"/>'
        f'<circle class="dot" cx="{at[1]:.1f}" cy="9" r="4"/></svg>'
    )


def _own(told: Told) -> list[tuple[str, str]]:
    return [
        ("Of which rows", str(told["where"] or "all")),
        ("Done to the noisy numbers", "; ".join(told["post_processing"]) or "nothing"),
        ("Query", str(told["query"])),
    ]


def _shared(told: Told) -> list[tuple[str, str]]:
    cost, ledger = Cost.from_dict(told["cost"]), told["ledger"]
    asked = told["asked_together"]
    whole = f", for {', '.join(asked)} together" if len(asked) > 1 else ""
    made = str(told["time"]).replace("T", " ").replace("+00:00", " UTC")
    pairs = [
        ("Price", f"{cost}{whole}"),
        ("What that means", f"{Meaning(cost).in_words()}."),
        ("Protected", str(told["unit"])),
        ("Noise", "; ".join(told["mechanism"]) or "none: the answer is public"),
        ("Keys", _found(told)),
        ("Caution", caution(cost)),
        ("Made", f"{made}, by halfmask {told['version']}"),
        ("Ledger", f"entry {ledger['entry']}, head {ledger['head']}"),
    ]
    return [pair for pair in pairs if pair[1]]


def _found(told: Told) -> str:
    if "keys_found" not in told:
        return ""
    return (
        f"found in the rows: one of a count of {told['keys_found']['shown_mostly_from']} is shown "
        "more often than not, smaller ones are mostly missed"
    )

"""One page for what an audit found: self-contained HTML that asks nothing of the network."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from halfmask.audit.exact import Verification
from halfmask.audit.histograms import Histogram, of_samples, of_witness
from halfmask.audit.picture import drawn
from halfmask.audit.samples import Mechanism, draw
from halfmask.audit.verdict import Audit
from halfmask.page import facts, framed

__all__ = ["Finding", "report_page", "write_report"]

_SIZE = 20_000


@dataclass(frozen=True)
class Finding:
    """One claim, what was found, and the picture of the pair that witnesses it.

    holds: None where the finding is a remark.
    """

    title: str
    holds: bool | None
    facts: tuple[tuple[str, str], ...]
    histogram: Histogram | None = None

    @classmethod
    def of(
        cls, found: Verification | Audit, mechanism: Mechanism | None = None, *, title: str = ""
    ) -> "Finding":
        """Tell of an exact verification, or of an audit and the mechanism that it was made of."""
        if isinstance(found, Verification):
            asked = (("Asks", found.title),) if title else ()
            return cls(
                title or found.title,
                found.holds,
                asked + _facts_of_verification(found),
                of_witness(found.witness) if found.witness is not None else None,
            )
        histogram = None
        if mechanism is not None:
            pair = found.pair
            size = min(_SIZE, found.samples)
            sampled = (draw(mechanism, rows, size) for rows in (pair.data, pair.neighbour))
            histogram = of_samples(*sampled)
        title = title or "Statistical audit"
        return cls(title, not found.violated, _facts_of_audit(found), histogram)


def _facts_of_verification(found: Verification) -> tuple[tuple[str, str], ...]:
    loss = "without bound" if found.loss == float("inf") else f"{found.loss:.12g}"
    facts = [
        ("Claimed", f"{found.claimed} for {found.unit}"),
        ("Exact loss", f"{loss}, the largest of {found.pairs} pairs of neighbours"),
        ("Method", f"{found.tables} simulated tables through the real source; nothing is sampled"),
    ]
    if found.suppose > 1:
        facts.insert(1, ("Supposed", f"one person is {found.suppose} of the declared units"))
    if found.overspent:
        facts.append(("Spending", "the measurements cost more than the price"))
    if not found.complete:
        facts.append(("Unfinished", "time ran out before all pairs were tried"))
    if found.witness is not None:
        facts.append(("The worst pair", str(found.witness)))
    return tuple(facts)


def _facts_of_audit(found: Audit) -> tuple[tuple[str, str], ...]:
    delta = f", delta {found.delta:g}" if found.delta else ""
    facts = [
        ("Claimed", f"epsilon {found.claimed:.6g}{delta}"),
        (
            "Certified",
            f"epsilon is at least {found.epsilon_lower_bound:.4g}, from {found.samples:,} outputs, "
            f"with a false-alarm rate of {found.alpha:g}",
        ),
    ]
    if found.event is not None:
        one, other = found.frequencies
        facts.append(("Event", f"{found.event}: in {one:.4%} against {other:.4%}"))
    facts.append(("Pair", found.pair.name))
    return tuple(facts)


def report_page(
    findings: Sequence[Finding],
    *,
    title: str = "Audit",
    about: str = "",
    notes: Sequence[str] = (),
) -> str:
    """Return the page: the verdict first, then each finding with its pair and its histograms.

    about: a sentence under the verdict, such as what was audited.
    notes: what the reader must know besides, such as what could not be checked.

    >>> from halfmask.audit import verify
    >>> import halfmask as hm
    >>> found = verify(hm.Count(), schema={"age": "real"}, where="age > 17")
    >>> page = report_page([Finding.of(found)])
    >>> "No violation found" in page, "http" in page
    (True, False)
    """
    broken = sum(finding.holds is False for finding in findings)
    verdict = f"{broken} of {len(findings)} claims VIOLATED" if broken else "No violation found"
    sections = "\n".join(_section(finding) for finding in findings)
    remarks = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    remarks = f"<h2>What this cannot see</h2><ul>{remarks}</ul>" if notes else ""
    return framed(
        title,
        f"""<p class="{"bad" if broken else "good"}">{verdict}.</p>
<p>{html.escape(about)}</p>
{sections}
{remarks}""",
    )


def write_report(path: str | PathLike[str], findings: Sequence[Finding], **options: Any) -> None:
    """Write `report_page` to a file."""
    Path(path).write_text(report_page(findings, **options), encoding="utf-8")


def _section(finding: Finding) -> str:
    mark = {True: "holds", False: "VIOLATED", None: "remark"}[finding.holds]
    style = {True: "good", False: "bad", None: "plain"}[finding.holds]
    picture = f"<figure>{drawn(finding.histogram)}</figure>" if finding.histogram else ""
    return (
        f'<section><h2>{html.escape(finding.title)} <span class="{style}">{mark}</span></h2>'
        f"<div class=side>{facts([*finding.facts])}{picture}</div></section>"
    )

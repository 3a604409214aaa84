"""Where answers go: a table on the screen, a JSON file, a CSV file."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from halfmask.cli.figures import Answer, Figure, figures
from halfmask.cli.show import say, table
from halfmask.curator import Curator
from halfmask.errors import HalfmaskError
from halfmask.release import GroupedRelease, Release
from halfmask.rendering import figure, significant
from halfmask.version import __version__

__all__ = ["print_answers", "write_csv", "write_json"]

Answers = Mapping[str, Answer]


def print_answers(answers: Answers) -> None:
    """Print one line a number; a release's name and price stand on its first line."""
    rows = []
    for name, answer in answers.items():
        listed = list(figures(name, answer))
        if not listed:  # no key that the rows hold was shown
            rows.append((name, "", "no key", "", ""))
        for line, one in enumerate(listed):
            head = (name, str(one.cost)) if line == 0 else ("", "")
            rows.append((head[0], one.of, *_numbers(one), head[1]))
    table(("release", "of", "value", "95 % interval", "cost"), rows, right="value")
    for name, answer in answers.items():
        say(*(f"CAUTION: {name}: {doubt}." for doubt in _doubts(answer)))
        say(*dict.fromkeys(f"{name}: of the groups released: {done}." for done in _done(answer)))


def _doubts(answer: Answer) -> Iterator[str]:
    if isinstance(answer, Release):
        yield from filter(None, [answer.doubt])
    elif not isinstance(answer, GroupedRelease):
        for one in answer.values():
            yield from _doubts(one)


def _done(answer: Answer) -> Iterator[str]:
    """What was done to the groups that were released, of which not all may stand above."""
    if isinstance(answer, GroupedRelease):
        yield from filter(None, ["; ".join(answer.steps)])
    elif not isinstance(answer, Release):
        for one in answer.values():
            yield from _done(one)


def _numbers(one: Figure) -> tuple[str, str]:
    if one.low is None or one.high is None:  # what was chosen, not made noisy
        return significant(one.value), ""
    spread = (one.high - one.low) / 2
    value, low, high = (figure(number, spread) for number in (one.value, one.low, one.high))
    return value, f"{low} to {high}"


def write_json(path: Path, answers: Answers, plan: Path, curator: Curator) -> None:
    """Write everything that the releases tell of themselves."""
    content = {
        "halfmask": __version__,
        "plan": plan.name,
        "table": curator.table,
        "releases": {name: _plain(answer) for name, answer in answers.items()},
        "remaining": curator.remaining.to_dict(),
    }
    _write(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def _plain(answer: Answer) -> dict[str, Any]:
    if isinstance(answer, Release | GroupedRelease):
        return answer.to_dict()
    return {name: one.to_dict() for name, one in answer.items()}


def write_csv(path: Path, answers: Answers) -> None:
    """Write one line a number, with every digit."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(("release", "part", "key", "bin", "value", "low", "high", "cost"))
    for name, answer in answers.items():
        for one in figures(name, answer):
            where = (one.release, one.part, one.key, one.bin)
            writer.writerow((*where, one.value, one.low, one.high, one.cost))
    _write(path, lines.getvalue())


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as problem:
        raise HalfmaskError(
            f"{path}: could not be written ({problem.strerror}); the answers stand above"
        ) from None

"""A TOML text and its places: which line a key stands on, and errors that say so."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from halfmask.errors import HalfmaskError, InvalidQuery, SourceError

__all__ = ["Document", "Place"]

Place = tuple[str | int, ...]
"""The keys that lead to a value, such as ("release", 2, "lower")."""

_LONGEST_SEARCH = 500  # lines; finding a line costs the square of their number


@dataclass(frozen=True)
class Document:
    """The text of a plan, and the file that it came from."""

    path: Path
    text: str = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> "Document":
        """Read a file; InvalidQuery if it is not there or not UTF-8."""
        try:
            return cls(path, path.read_bytes().decode("utf-8-sig"))
        except FileNotFoundError:
            raise InvalidQuery(
                f"{path}: there is no such file; write a plan with `halfmask init TABLE`"
            ) from None
        except UnicodeDecodeError as problem:
            raise InvalidQuery(
                f"{path}: byte {problem.start} is not UTF-8 text; save the plan as UTF-8"
            ) from None
        except OSError as problem:
            raise InvalidQuery(f"{path}: cannot be read ({problem.strerror})") from None

    def parse(self) -> Mapping[str, object]:
        """Return the values; InvalidQuery says on which line the text is no TOML."""
        try:
            return tomllib.loads(self._lines())
        except tomllib.TOMLDecodeError as problem:
            raise InvalidQuery(
                f"{self.path}: not valid TOML: {problem}; texts need quotes, tables [brackets]"
            ) from None
        except RecursionError:
            raise InvalidQuery(f"{self.path}: not valid TOML: nested too deeply") from None

    def refusal(self, place: Place, problem: object) -> InvalidQuery:
        """Make an error that names the file, the line and the key."""
        line = self.line_of(place)
        parts = [f"{self.path}", f"line {line}" if line else "", _in_words(place)]
        return InvalidQuery(f"{', '.join(filter(None, parts))}: {problem}")

    @contextmanager
    def naming(self, place: Place, keys: Mapping[str, object] | None = None) -> Iterator[None]:
        """Name the place in what is refused inside; of `keys`, the one that the message names."""
        try:
            yield
        except (InvalidQuery, SourceError) as problem:
            raise self.refusal((*place, *_key_of(problem, keys or {})), problem) from None

    def line_of(self, place: Place) -> int | None:
        r"""Find the line on which a key's value begins.

        The shortest beginning of the text that is whole TOML and holds the key ends with the
        value; the value begins after the longest shorter one.

        >>> Document(Path("p.toml"), "[table]\nrows = 3").line_of(("table", "rows"))
        2
        """
        lines = self._lines().split("\n")
        if not place or len(lines) > _LONGEST_SEARCH:
            return None
        whole = 0
        for end in range(1, len(lines) + 1):
            try:
                values = tomllib.loads("\n".join(lines[:end]))
            except tomllib.TOMLDecodeError:
                continue
            if _holds(values, place):
                return whole + 1
            whole = end
        return None

    def _lines(self) -> str:
        return self.text.replace("\r\n", "\n")


def _holds(values: object, place: Place) -> bool:
    for key in place:
        if isinstance(key, int) and isinstance(values, list) and len(values) >= key:
            values = values[key - 1]
        elif isinstance(key, str) and isinstance(values, dict) and key in values:
            values = values[key]
        else:
            return False
    return True


def _in_words(place: Place) -> str:
    """Write ("release", 2, "by", "column") as `release 2, by.column`."""
    if len(place) > 1 and isinstance(place[1], int):
        rest = ".".join(map(str, place[2:]))
        return f"{place[0]} {place[1]}" + (f", {rest}" if rest else "")
    return ".".join(map(str, place))


def _key_of(problem: HalfmaskError, keys: Mapping[str, object]) -> tuple[str, ...]:
    """The key that a message starts with; what it says of bounds stands at the lower one."""
    named = str(problem).split(":")[0]
    key = {"bounds": "lower", "keys": "by"}.get(named, named)
    return (key,) if key in keys else ()

"""The parsed text: the one call of sqlglot, and how a piece of the text is named and refused."""

import logging
from typing import Any, NoReturn

from halfmask.errors import HalfmaskError, InvalidQuery, shown

__all__ = ["Node", "naming", "only", "parsed", "refuse", "said", "written"]

Node = Any
"""A node of sqlglot's tree: told apart by its `key`; its parts are its `args`."""

_LONGEST = 10_000


def parsed(text: object) -> Node:
    """Parse one statement; InvalidQuery for anything else, and HalfmaskError without sqlglot."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidQuery(
            f'sql: {shown(text)} is no text; write one like "SELECT COUNT(*) FROM t"'
        )
    if len(text) > _LONGEST:
        raise InvalidQuery(f"sql: the text has more than {_LONGEST} characters; shorten it")
    try:
        import sqlglot
    except ImportError:
        raise HalfmaskError(
            "sql: sqlglot, which reads the text, is not installed; pip install 'halfmask[sql]'"
        ) from None
    try:
        return _alone(_quiet(sqlglot, text))
    except InvalidQuery:
        raise
    except RecursionError:
        raise InvalidQuery("sql: the text is nested too deeply; write it flatter") from None
    except Exception as problem:  # of a parser, about a text that holds no rows
        raise InvalidQuery(
            f"sql: the text does not read as SQL{_near(problem)}; write one SELECT"
        ) from None


def _near(problem: Exception) -> str:
    """Say where a parser stumbled, if it knows."""
    for error in getattr(problem, "errors", []):
        if error.get("highlight"):
            return f" near {shown(error['highlight'])} in line {error['line']}"
    return ""


def _quiet(sqlglot: Any, text: str) -> list[Node]:
    """Parse without the library's remarks on statements that are refused further on."""
    remarks = logging.getLogger("sqlglot")
    before = remarks.disabled
    remarks.disabled = True
    try:
        return list(sqlglot.parse(text))
    finally:
        remarks.disabled = before


def _alone(statements: list[Node]) -> Node:
    """The one statement; a comment behind its semicolon is none."""
    found = [one for one in statements if one is not None and one.key != "semicolon"]
    if len(found) != 1:
        raise InvalidQuery(f"sql: {len(found)} statements are given; write one SELECT")
    return found[0]


def written(node: Node) -> str:
    """Return the piece of the text that a node stands for, as a message or a name shows it.

    sqlglot writes it, in its own spelling, for readers alone.
    """
    try:
        text = _respelled(node)
    except Exception:
        text = ""
    return text or node.key.upper()


def _respelled(node: Node) -> str:
    from sqlglot import ErrorLevel

    return str(node.sql(comments=False, unsupported_level=ErrorLevel.IGNORE))


def naming(name: str) -> Node:
    """Return what stands for a column of exactly this name."""
    from sqlglot import exp

    return exp.column(exp.to_identifier(name, quoted=True))


def said(node: Node) -> str:
    """A piece of the text, short enough for a message."""
    text = written(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def refuse(node: Node, why: str) -> NoReturn:
    """Raise InvalidQuery that names the piece of the text, and why it is not answered."""
    raise InvalidQuery(f"sql: {said(node)}: {why}. Nothing was charged.")


def only(node: Node, why: str, *known: str) -> None:
    """Refuse a node that has parts beside the known ones: nothing in a text is passed over."""
    for name, part in node.args.items():
        if part and name not in known:
            piece = part[0] if isinstance(part, list) else part
            refuse(piece if hasattr(piece, "args") else node, why)

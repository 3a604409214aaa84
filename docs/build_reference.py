"""Write reference.md from the docstrings of the public names: `python docs/build_reference.py`.

Signatures and texts are taken from the source as it stands, so the page is the same under every
version of Python; a test builds it again and compares.
"""

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).with_name("reference.md")


@dataclass(frozen=True)
class Section:
    """A heading, and the names of one module below it; None: all that no section had before."""

    title: str
    module: str = "halfmask"
    names: tuple[str, ...] | None = None
    members: bool = True
    """Whether readers call methods of these things; those of queries are called by a curator."""


SECTIONS = (
    Section("Opening and asking", names=(
        "open", "Curator", "Release", "GroupedRelease", "Series", "Join", "Schema", "Public",
        "Keys", "OTHER", "Filters", "Filtered", "Periods", "where", "col",
    )),
    Section("Queries", names=(
        "Count", "CountDistinct", "Sum", "Mean", "Variance", "StandardDeviation", "Covariance",
        "Correlation", "Histogram", "Median", "Quantile", "Bounds", "SuggestBounds", "MostCommon",
        "TopK", "Choose", "AboveThreshold", "Ranges", "Prefixes", "Marginals", "LinearQueries",
    ), members=False),
    Section("Centres and spread in many dimensions", names=(
        "SpatialMedian", "BoxMedian", "CoordinateMedian", "DepthMedian", "RobustLocation",
        "Location", "DepthCheck", "SignCovariance", "TylerScatter", "KMeans",
    ), members=False),
    Section("Centres of an array, in one call", names=(
        "spatial_median", "box_median", "coordinatewise_median", "robust_location",
    )),
    Section("Budgets and currencies", names=("Pure", "Approximate", "ZCDP", "GDP", "Ledger")),
    Section("Before spending: previews, trials, prices", names=(
        "Preview", "epsilon_for", "trials", "Trials", "sweep", "Sweep",
    )),
    Section("Errors", names=(
        "HalfmaskError", "InvalidQuery", "BudgetExhausted", "LedgerError", "SourceError",
        "ReleaseFailed", "Interrupted", "PrivacyWarning",
    )),
    Section("The package", names=(
        "depth", "errors", "mechanisms", "noise", "plan", "privacy", "__version__",
    )),
    Section("Privacy: prices, their conversions, what they mean", "halfmask.privacy"),
    Section("SQL, read as questions", "halfmask.sql"),
    Section("Plots", "halfmask.plots"),
    Section("Clusters", "halfmask.cluster"),
    Section("Federated rounds", "halfmask.federated"),
    Section("Audit", "halfmask.audit"),
    Section("Depth, without privacy", "halfmask.depth"),
    Section("Noise", "halfmask.noise"),
    Section("Mechanisms", "halfmask.mechanisms"),
    Section("Plans of what is read: inert data", "halfmask.plan", members=False),
    Section("Errors, the rest", "halfmask.errors"),
)  # fmt: skip


@dataclass(frozen=True)
class Public:
    """One public name, and what its source says of it."""

    module: str
    name: str

    @property
    def path(self) -> str:
        """The name as it is imported."""
        return f"{self.module}.{self.name}"

    @cached_property
    def thing(self) -> Any:
        """What the name stands for."""
        return getattr(importlib.import_module(self.module), self.name)

    @cached_property
    def text(self) -> str:
        """The docstring: its own, its only class's, or the literal below its assignment."""
        if isinstance(self.thing, type | ModuleType) or inspect.isroutine(self.thing):
            return inspect.cleandoc(self.thing.__doc__ or "")
        if isinstance(self.thing, Enum):
            return inspect.cleandoc(type(self.thing).__doc__ or "")
        return below_assignment(self.module, self.name)

    @property
    def summary(self) -> str:
        """The first line."""
        return self.text.partition("\n")[0]

    @property
    def signature(self) -> str:
        """How it is called; a name that is not called stands alone."""
        if inspect.isclass(self.thing):
            return self.name + of_class(self.thing)
        if inspect.isfunction(self.thing):
            return self.name + of_function(self.thing)
        return self.name

    @property
    def bases(self) -> list["Public"]:
        """The classes of the page whose members this one has too."""
        if not inspect.isclass(self.thing):
            return []
        above = self.thing.__mro__[1:]
        return [each for each in everything() if each.is_class and each.thing in above]

    @property
    def is_class(self) -> bool:
        """Whether it may have members."""
        return inspect.isclass(self.thing)

    @property
    def is_section(self) -> bool:
        """Whether a section of its own tells what is in it."""
        return any(self.path == section.module for section in SECTIONS)

    def members(self) -> Iterator[tuple[str, str]]:
        """Methods and properties with their docstrings, but those that its bases tell of."""
        if not self.is_class or issubclass(self.thing, Exception):
            return
        told = {name for base in self.bases for name in dir(base.thing)}
        for name, kind, owner, value in inspect.classify_class_attrs(self.thing):
            if name.startswith("_") or name in told or not owner.__module__.startswith("halfmask"):
                continue
            text = inspect.cleandoc(getattr(value, "__doc__", None) or "")
            function = getattr(value, "__func__", value)
            if not text:
                continue
            if kind == "property" or isinstance(value, cached_property):
                yield f".{name}", text
            elif kind != "data" and inspect.isfunction(function):
                yield f".{name}{of_function(function)}", text


@cache
def everything() -> list[Public]:
    """Every public name once, where it is met first."""
    return [public for section in SECTIONS for public in names_of(section)]


def names_of(section: Section) -> list[Public]:
    """The names of a section, without those that an earlier section shows."""
    if section.names is not None:
        return [Public(section.module, name) for name in section.names]
    names = importlib.import_module(section.module).__all__
    mine = [Public(section.module, name) for name in names]
    shown = importlib.import_module("halfmask")
    return [each for each in mine if getattr(shown, each.name, None) is not each.thing]


def tree_of(thing: Any) -> tuple[str, Any]:
    """The source of a class or function, and its syntax tree."""
    source = textwrap.dedent(inspect.getsource(thing))
    return source, ast.parse(source).body[0]


def said(source: str, node: ast.AST | None) -> str:
    """A piece of source on one line."""
    text = re.sub(r"\s+", " ", ast.get_source_segment(source, node) or "") if node else ""
    return re.sub(r"([(\[]) | ?,? ([)\]])$", r"\1\2", text)


def of_function(function: Any) -> str:
    """Arguments and what is returned, as written."""
    source, tree = tree_of(function)
    return f"({', '.join(arguments(source, tree.args))}){returned(source, tree)}"


def returned(source: str, tree: Any) -> str:
    """What comes back, if the source says."""
    return f" -> {said(source, tree.returns)}" if tree.returns else ""


def arguments(source: str, args: ast.arguments) -> Iterator[str]:
    """Each argument as written, with the marks between kinds of them."""
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    for place, (each, default) in enumerate(zip(positional, defaults, strict=True), start=1):
        if each.arg not in ("self", "cls"):
            yield argument(source, each, default)
        if place == len(args.posonlyargs):
            yield "/"
    if args.vararg:
        yield "*" + argument(source, args.vararg, None)
    elif args.kwonlyargs:
        yield "*"
    for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield argument(source, each, default)
    if args.kwarg:
        yield "**" + argument(source, args.kwarg, None)


def argument(source: str, each: ast.arg, default: ast.expr | None) -> str:
    """`name: kind = value`, as far as there is one."""
    kind = f": {said(source, each.annotation)}" if each.annotation else ""
    return each.arg + kind + (f" = {said(source, default)}" if default else "")


def of_class(kind: type) -> str:
    """The arguments of its constructor: written, or the fields of a dataclass."""
    maker = kind.__dict__.get("__init__")
    if dataclasses.is_dataclass(kind) and "__init__" not in functions_in(kind):
        return f"({', '.join(field_arguments(kind))})"
    if inspect.isfunction(maker) and "__init__" in functions_in(kind):
        return of_function(maker).removesuffix(" -> None")
    return ""


def functions_in(kind: type) -> set[str]:
    """The functions that are written in the body of a class."""
    return {each.name for each in tree_of(kind)[1].body if isinstance(each, ast.FunctionDef)}


def field_arguments(kind: type) -> Iterator[str]:
    """The fields that a dataclass takes, with kinds and plain defaults as written."""
    written = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("halfmask"):
            source, tree = tree_of(base)
            for node in tree.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    written[node.target.id] = (source, node)
    starred = False
    for field in dataclasses.fields(kind):
        if not field.init or field.name.startswith("_"):
            continue
        if field.kw_only and not starred:
            starred = True
            yield "*"
        source, node = written[field.name]
        optional = any(
            each is not dataclasses.MISSING for each in (field.default, field.default_factory)
        )
        plain = said(source, node.value)
        default = "..." if plain.startswith("field(") else plain
        yield f"{field.name}: {said(source, node.annotation)}" + (
            f" = {default}" if optional else ""
        )


def below_assignment(module: str, name: str) -> str:
    """The literal below `name = ...`, in the module that assigns it."""
    for each in dict.fromkeys((module, *origins(module, name))):
        body = ast.parse(inspect.getsource(importlib.import_module(each))).body
        for node, after in pairwise(body):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            if any(isinstance(to, ast.Name) and to.id == name for to in targets):
                value = getattr(after, "value", None)
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    return inspect.cleandoc(value.value)
    return ""


def origins(module: str, name: str) -> Iterator[str]:
    """The modules that a name is imported from, one after the other."""
    while True:
        body = ast.parse(inspect.getsource(importlib.import_module(module))).body
        found = [
            node.module
            for node in body
            if isinstance(node, ast.ImportFrom) and any(each.name == name for each in node.names)
        ]
        if not found or found[0] is None:
            return
        module = found[0]
        yield module


class Markdown:
    """The page: docstrings set as Markdown, names in them linked to their headings."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.anchors: dict[str, str] = {}
        self.module = "halfmask"
        for section in SECTIONS:
            self._anchor(section.title)
            for public in names_of(section):
                if not public.is_section:
                    self._anchor(public.path)
            if section.names is None:
                self.anchors[section.module] = self.anchors[section.title]

    def _anchor(self, heading: str) -> str:
        """The fragment that a heading gets where Markdown is shown; repeats are numbered."""
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        self.taken[slug] += 1
        self.anchors[heading] = slug if self.taken[slug] == 1 else f"{slug}-{self.taken[slug] - 1}"
        return self.anchors[heading]

    def page(self) -> str:
        """All of it."""
        contents = [f"- [{each.title}](#{self.anchors[each.title]})" for each in SECTIONS]
        parts = [
            "# Reference",
            "Every public name, as its own docstring tells it. This page is built: change the "
            "docstring, and run `python docs/build_reference.py`. By task: [all pages](README.md).",
            "\n".join(contents),
        ]
        for section in SECTIONS:
            parts += self.section(section)
        return "\n\n".join(parts) + "\n"

    def section(self, section: Section) -> Iterator[str]:
        """A table of its names, then each."""
        names = names_of(section)
        self.module = section.module
        yield f"## {section.title}"
        if section.names is None:
            doc = Public(section.module.rpartition(".")[0], section.module.rpartition(".")[2])
            yield f"`{section.module}`: {self.prose(doc.summary)}"
        if names:
            yield "\n".join(["| name | what it is |", "| --- | --- |", *map(self.row, names)])
        again = [
            name
            for name in importlib.import_module(section.module).__all__
            if section.names is None and name not in [public.name for public in names]
        ]
        if again:
            told = ", ".join(f"[`{name}`](#{self.anchors['halfmask.' + name]})" for name in again)
            yield f"Told above: {told}."
        for public in (each for each in names if not each.is_section):
            yield from self.entry(public)
            if section.members:
                yield from self.members(public)

    def row(self, public: Public) -> str:
        """One line of the table."""
        summary = self.prose(public.summary).replace("|", "\\|")
        return f"| [`{public.name}`](#{self.anchors[public.path]}) | {summary} |"

    def entry(self, public: Public) -> Iterator[str]:
        """Heading, signature, docstring."""
        yield f"### {public.path}"
        yield f"```text\n{wrapped(public.signature)}\n```"
        yield from self.docstring(public.text)

    def members(self, public: Public) -> Iterator[str]:
        """What it can do, beyond what its bases can."""
        if public.bases and not issubclass(public.thing, Exception):
            told = (f"[`{base.name}`](#{self.anchors[base.path]})" for base in public.bases)
            yield f"It has what is told of {', '.join(told)}."
        for signature, text in public.members():
            yield f"```text\n{wrapped(signature)}\n```"
            yield from self.docstring(text)

    def docstring(self, text: str) -> Iterator[str]:
        """Paragraphs as they stand; arguments as lists; examples and tables as they are typed."""
        apart = text.replace("\nPrivacy: ", "\n\nPrivacy: ")
        for block in re.split(r"\n\s*\n", apart):
            lines = block.split("\n")
            place = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
            prose, example = lines[:place], lines[place:]
            if prose and re.fullmatch(r"[A-Z]\w+:", prose[0]) and len(prose) > 1:
                yield f"{prose[0]}\n\n{self.bullets(prose[1:], linked=prose[0] == 'Raises:')}"
            elif prose and all(re.match(r"[a-z]\w*(, \w+)*: | ", line) for line in prose):
                yield self.bullets(prose, linked=False)
            elif prose and any(re.search(r"^\s{3}|\S {3,}\S", line) for line in prose):
                yield "```text\n" + "\n".join(prose) + "\n```"
            elif prose and prose != [""]:
                yield self.prose("\n".join(prose))
            if example:
                yield "```pycon\n" + "\n".join(example) + "\n```"

    def bullets(self, lines: list[str], *, linked: bool) -> str:
        """`name: what it is`, indented, as a list."""
        items: list[str] = []
        margin = min(len(line) - len(line.lstrip()) for line in lines)
        for line in lines:
            if line[margin] == " ":
                items[-1] += "\n  " + line.strip()
            else:
                items.append(line.strip())
        return "\n".join(f"- {self.item(each, linked=linked)}" for each in items)

    def item(self, text: str, *, linked: bool) -> str:
        """`names: what they are`: errors are linked, arguments are not."""
        found = re.fullmatch(r"(\*{0,2}\w+(?:, \w+)*)(:.*)", text, re.DOTALL)
        if not found:
            return self.prose(text)
        names = [f"`{name}`" for name in found[1].split(", ")]
        return ", ".join(map(self.quoted, names) if linked else names) + self.prose(found[2])

    def prose(self, text: str) -> str:
        """Text whose signs mean nothing to Markdown, and whose quoted names are links."""
        plain = re.split(r"(``?[^`]+``?)", text)
        plain[::2] = map(escaped, plain[::2])
        plain[1::2] = map(self.quoted, plain[1::2])
        return "".join(plain)

    def quoted(self, code: str) -> str:
        """A link, if it is a name of this module, or a class or module that all know."""
        name = code.strip("`").removeprefix("hm.")
        known = name[0].isupper() or "hm." in code
        paths = (f"{self.module}.{name}", f"halfmask.{name}", name)
        able = (self.module != "halfmask" or known, known, "." in name)
        for path, sure in zip(paths, able, strict=True):
            if sure and path in self.anchors:
                return f"[{code}](#{self.anchors[path]})"
        return code


def escaped(text: str) -> str:
    """Neither emphasis nor tags nor links."""
    text = re.sub(r"((?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?]))", r"\\\1", text)
    text = re.sub(r"(?<=[\w)])\*+(?=[\w(])", lambda found: found[0].replace("*", "\\*"), text)
    return text.replace("](", "]\\(")


def wrapped(signature: str) -> str:
    """A long signature with an argument a line."""
    if len(signature) <= 98:
        return signature
    head, _, rest = signature.partition("(")
    depth, part = 0, ""
    parts: list[str] = []
    for place, sign in enumerate(rest):
        if sign == ")" and not depth:
            ended = "".join(f"    {each.strip()},\n" for each in [*parts, part] if each.strip())
            return f"{head}(\n{ended}{rest[place:]}"
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            parts.append(part)
            part = ""
        else:
            part += sign
    return signature


def build() -> str:
    """The page as it should be."""
    return Markdown().page()


if __name__ == "__main__":
    PAGE.write_text(build(), encoding="utf-8")

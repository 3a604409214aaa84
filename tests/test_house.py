"""The house stands as designed: who may draw, who may read, and how large a file may grow."""

import ast
from pathlib import Path

import pytest

HOME = Path(__file__).parent.parent
SOURCE = HOME / "src" / "halfmask"
FILES = sorted(SOURCE.rglob("*.py"))


def imported(tree):
    """The modules and names that a file imports, as dotted text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called_methods(tree):
    """The names of the methods that a file calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def attributes(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def trees():
    for file in FILES:
        yield file.relative_to(SOURCE), ast.parse(file.read_text(encoding="utf-8"))


def test_only_the_noise_room_has_a_random_source():
    """No other file imports one, names numpy's, or asks the operating system for bytes."""
    sources = ("random", "secrets", "uuid", "numpy.random", "cryptography", "os.urandom")
    named = {"np.random", "numpy.random", "os.urandom", "os.getrandom"}
    for place, tree in trees():
        if place.parts[0] == "noise":
            continue
        drawn = [name for name in imported(tree) if name.split(".")[0] in sources[:3]]
        drawn += [name for name in imported(tree) if name.startswith(sources[3:])]
        drawn += sorted(named.intersection(attributes(tree)))
        assert not drawn, f"{place} draws: {drawn}"


def test_the_noise_room_draws_from_the_cipher_and_the_operating_system_alone():
    for place, tree in trees():
        if place.parts[0] == "noise":
            roots = {name.split(".")[0] for name in imported(tree)}
            assert not roots & {"random", "secrets"}, place
            assert not {"np.random", "numpy.random"}.intersection(attributes(tree)), place


def test_rows_are_tallied_in_the_room_behind_the_door_alone():
    """A request is answered in the room alone; a request alone knows the method that answers it."""
    # Tables of the auditor and of previews, made by themselves: no row is anybody's.
    simulated = {"audit/exact/tables.py", "imagined/asker.py"}
    answered = {str(place) for place, tree in trees() if "answered_by" in called_methods(tree)}
    assert answered - simulated == {"room.py"}, answered
    methods = {"tally", "grid_counts", "found_keys", "points"}
    called = {str(place) for place, tree in trees() if methods & set(called_methods(tree))}
    assert called - simulated == {"plan/tally.py", "plan/requests.py"}, called


def test_the_ledger_is_charged_at_the_doors_alone():
    callers = {str(place) for place, tree in trees() if "charge" in called_methods(tree)}
    on_paper = {"cli/session.py"}  # adds up a plan in a ledger of its own before anything is asked
    doors = {"curator.py", "series.py"}
    doors |= {"federated/aggregator.py", "cluster/payment.py"}  # of what clients send, and arrays
    assert callers - on_paper == doors, callers
    followers = {str(place) for place, tree in trees() if "follow" in called_methods(tree)}
    assert followers == {"series.py"}, followers  # rows of no cost: closings of what was paid


def test_the_engine_is_called_in_the_sources_alone():
    for place, tree in trees():
        if place.parts[0] != "sources":
            assert not [name for name in imported(tree) if name.split(".")[0] == "duckdb"], place


def test_imports_stand_at_the_top_unless_a_library_is_optional_or_heavy():
    """A hidden import would hide a cycle; the command alone loads late, to be quick at --help."""
    optional = {"pandas", "polars", "pyarrow", "duckdb", "psycopg", "pyspark", "sqlglot"}
    optional |= {"sklearn", "threadpoolctl"}
    for place, tree in trees():
        if place.parts[0] == "cli":
            continue
        inner = [n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)]
        for node in inner:
            if isinstance(node, ast.Import | ast.ImportFrom):
                roots = {name.split(".")[0] for name in imported(node)}
                assert roots <= optional, f"{place} imports {roots} inside a function"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_file_is_one_idea(file):
    """At most about 300 lines, and public names listed by hand in each room."""
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= 330
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    if file.name == "__init__.py":
        assert "*" not in {
            alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names
        }
        assert "__all__" in text

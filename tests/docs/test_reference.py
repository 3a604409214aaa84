"""The reference is built from the docstrings as they are, and leaves out no public name."""

import importlib.util
import re
from pathlib import Path

import pytest

import halfmask

DOCS = Path(__file__).parent.parent.parent / "docs"
_SPEC = importlib.util.spec_from_file_location("build_reference", DOCS / "build_reference.py")
build_reference = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(build_reference)
PUBLIC = build_reference.everything()


@pytest.fixture(scope="module")
def page():
    return (DOCS / "reference.md").read_text(encoding="utf-8")


def test_the_committed_reference_is_what_the_docstrings_say(page):
    assert page == build_reference.build(), "run: python docs/build_reference.py"


def test_every_name_of_the_package_is_in_one_section():
    names = [public.name for public in PUBLIC if public.module == "halfmask"]
    assert sorted(names) == sorted(halfmask.__all__)


def test_every_name_of_the_rooms_is_on_the_page(page):
    rooms = {section.module for section in build_reference.SECTIONS} - {"halfmask"}
    assert rooms >= {f"halfmask.{room}" for room in ("audit", "federated", "noise", "plots")}
    for room in rooms:
        for name in importlib.import_module(room).__all__:
            assert f"\n### {room}.{name}\n" in page or f"\n### halfmask.{name}\n" in page


@pytest.mark.parametrize("public", PUBLIC, ids=lambda public: public.path)
def test_every_public_name_has_a_summary(public):
    lines = public.text.split("\n")
    assert lines[0].strip()
    assert not lines[0].startswith(f"{public.name}("), "written by dataclass"
    assert len(lines) == 1 or not lines[1], "a line of its own"


def test_links_inside_the_page_lead_to_headings(page):
    anchors, taken = set(), {}
    for heading in re.findall(r"^#+ (.*)$", page, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        taken[slug] = taken.get(slug, -1) + 1
        anchors.add(f"{slug}-{taken[slug]}" if taken[slug] else slug)
    links = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert len(links) > 200
    assert links <= anchors


def test_fences_are_closed_and_examples_are_kept(page):
    assert page.count("```") % 2 == 0
    for public in PUBLIC:
        for line in public.text.splitlines():
            if line.startswith(">>> "):
                assert f"\n{line}\n" in page

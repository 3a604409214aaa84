"""The page that `halfmask report` makes of what `halfmask run --json` wrote."""

import pytest


def test_a_run_becomes_a_page(folder, plan_text):
    folder.write("plan.toml", plan_text)
    assert folder.run("run", "plan.toml", "--json", "out.json").code == 0
    made = folder.run("report", "out.json", "page.html", "--plan", "plan.toml")
    assert made.code == 0, made.err
    page = folder.read("page.html")
    for told in ("Releases of staff.csv", "people: Number of rows", "epsilon 1.", "source = "):
        assert told in page
    assert "http" not in page


BAD = {
    "no file": (("none.json", "page.html"), "cannot be read"),
    "no JSON": (("plan.toml", "page.html"), "is no JSON"),
    "no releases": (("list.json", "page.html"), "holds no releases"),
    "no release": (("other.json", "page.html"), "not what releases tell"),
    "over the input": (("other.json", "other.json"), "would be overwritten"),
    "no folder": (("other.json", "none/page.html"), "has no folder"),
}


@pytest.mark.parametrize("name", BAD)
def test_refusals(folder, plan_text, name):
    words, message = BAD[name]
    folder.write("plan.toml", plan_text)
    folder.write("list.json", "[1, 2]")
    left = '{"measure": "pure", "epsilon": "1"}'
    folder.write("other.json", f'{{"table": "t", "remaining": {left}, "releases": {{"a": 3}}}}')
    found = folder.run("report", *words)
    assert found.code == 1
    assert message in found.err
    assert not (folder.path / "page.html").exists()

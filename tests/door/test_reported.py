"""The page of releases: whole HTML, nothing of the network, every number and fact, all escaped."""

import math
from html.parser import HTMLParser

import numpy as np
import pytest

import halfmask as hm
from halfmask.noise import seeded_words
from halfmask.reported import report_page

NASTY = "<script>alert('&')</script>"
TABLE = {"x": np.arange(300.0), "g": np.array(["ops", NASTY, "r&d"] * 100)}
VOID = {"meta", "line", "circle"}


class Tags(HTMLParser):
    """Checks that tags close in order; gathers the text and the names."""

    def __init__(self, page):
        super().__init__()
        self.open, self.names, self.text, self.attributes = [], [], [], []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def staff(**options):
    return hm.open(TABLE, budget=hm.Approximate(20, 1e-6), **options)


KEYS = hm.Keys("g", ["ops", NASTY, "none"])
ASKS = {
    "one number": lambda: staff().ask(hm.Mean("x", 0, 300), epsilon=1),
    "bins": lambda: staff().ask(hm.Histogram("x", [0, 100, math.inf]), epsilon=1),
    "groups": lambda: staff().ask(hm.Count(), by=KEYS, epsilon=1),
    "groups of bins": lambda: staff().ask(hm.Histogram("x", [0, 9, 99]), by=KEYS, epsilon=1),
    "a name": lambda: staff().ask(hm.MostCommon("g", ["ops", NASTY]), epsilon=9),
    "names with counts": lambda: staff().ask(
        hm.TopK("g", 2, ["ops", NASTY], counts=True), epsilon=1
    ),
    "found keys": lambda: staff().ask(hm.Count(), by="g", epsilon=1, delta=1e-7),
    "no key": lambda: hm.open({"g": ["a"]}, budget=hm.Approximate(1, 1e-6)).ask(
        hm.Count(), by="g", epsilon=1, delta=1e-7
    ),
    "a public number": lambda: staff(relation="replace").ask(hm.Count(), epsilon=1),
    "a filter": lambda: staff().ask(hm.Count(), where=f'g != "{NASTY}"', epsilon=1),
    "quantiles": lambda: staff().ask(hm.Quantile("x", [0.1, 0.9], 0, 300), epsilon=1),
    "covariance": lambda: staff().ask(hm.Covariance({"x": (0, 300)}), epsilon=1),
    "bounds": lambda: staff().ask(hm.SuggestBounds("x"), epsilon=1),
    "several": lambda: staff().ask({"n": hm.Count(), NASTY: hm.Sum("x", 0, 300)}, epsilon=1),
    "a tidy one": lambda: staff().ask(hm.Count(), by=KEYS, epsilon=1).non_negative(),
    "Gaussian": lambda: hm.open(TABLE, budget=hm.GDP(1)).ask(hm.Count(), mu="0.5"),
}


@pytest.mark.parametrize("name", ASKS)
def test_the_page_is_whole_and_asks_nothing_of_the_network(name):
    page = ASKS[name]().report(title=NASTY, remaining=hm.Pure(3))
    found = Tags(page)
    assert "script" not in found.names
    assert not {"link", "img", "iframe", "object"} & set(found.names)
    assert not {"src", "href"} & {attribute for attribute, _ in found.attributes}
    assert not any(word in page for word in ("http", "url(", "@import"))
    text = " ".join(found.text)
    for told in (NASTY, "Left of the budget: epsilon 3.", "Protected", "wins at most", "Ledger"):
        assert told in text


def test_every_number_and_interval_is_told():
    release = staff().ask(hm.Count(), by=KEYS, epsilon=1)
    text = " ".join(Tags(release.report()).text)
    for one in release.releases:
        low, high = one.interval()
        assert f"{low} to {high}" in text
        assert f" {one.value} " in text


def test_what_was_asked_together_is_told_once():
    page = ASKS["several"]().report()
    assert page.count("What that means") == 1
    assert page.count("95 % confidence the exact answer") == 2


def test_seeds_cautions_and_hidden_keys_are_told():
    seeded = hm.open(TABLE, budget=1, words=seeded_words(1)).ask(hm.Count(), epsilon=1)
    assert "NOT PRIVATE" in seeded.report()
    assert "NOT PRIVATE" not in ASKS["one number"]().report()
    assert "smaller ones are mostly missed" in ASKS["found keys"]().report()
    assert "No key was shown" in ASKS["no key"]().report()
    assert "Exactly 300" in ASKS["a public number"]().report()


@pytest.mark.parametrize(
    "told", [{"a": 3}, {"a": {"statement": "x"}}, {"a": {"b": {}}}, {"a": None}]
)
def test_what_no_release_told_is_refused(told):
    with pytest.raises(hm.InvalidQuery, match="not what releases tell"):
        report_page(told)

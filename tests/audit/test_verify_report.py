"""The report is one page that needs nothing else, and tells what was found."""

import html
import html.parser
import re

import numpy as np
import pytest

import halfmask as hm
from halfmask.audit import Asking, Finding, attack, audit, report_page, verify, write_report
from halfmask.audit.exact import Ask, verify_ask
from halfmask.audit.histograms import of_samples, of_witness
from halfmask.noise import discrete_laplace

SCHEMA = {"x": "real", "g": "text"}


class Checked(html.parser.HTMLParser):
    """Fails on tags that are not closed in order."""

    void = frozenset({"meta", "line", "path"})

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.void:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def verified():
    return verify(hm.Sum("x", 0, 100), schema=SCHEMA, price=0.5, suppose=2)


@pytest.fixture(scope="module")
def audited():
    def half(rows, size):
        return len(rows) + discrete_laplace(0.5, size)

    return audit(half, [1, 2], [1, 2, 3], epsilon=1), half


def test_the_page_is_whole_and_asks_nothing_of_the_network(verified, audited):
    page = report_page([Finding.of(verified), Finding.of(*audited)], notes=["a <b> note"])
    tags = Checked(page).seen
    assert tags.count("svg") == 2
    assert not {"script", "link", "img", "iframe"} & set(tags)
    assert not re.search(r"https?:|url\(|@import", page)
    assert "a &lt;b&gt; note" in page
    assert "width=device-width" in page


def test_the_page_tells_claim_finding_event_and_pair(verified, audited):
    page = report_page([Finding.of(verified), Finding.of(*audited)])
    assert "2 of 2 claims VIOLATED" in page
    assert "Sum(&#x27;x&#x27;, 0, 100)" in page
    assert "one person is 2 of the declared units" in page
    assert "Exact loss" in page
    assert "Certified" in page
    assert html.escape(str(audited[0].event)) in page
    good = verify(hm.Count(), schema=SCHEMA, where="x > 1")
    assert "No violation found" in report_page([Finding.of(good)])


def test_names_from_outside_cannot_write_the_page():
    evil = '<script>alert("x")</script>'
    found = verify(hm.Count(), schema={evil: "text"}, by=hm.Keys(evil, [evil]))
    page = report_page([Finding.of(found, title=evil)], title=evil)
    assert "<script" not in page
    Checked(page)


def test_an_unbounded_loss_has_a_page_too():
    found = verify(hm.Count(), schema=SCHEMA, relation="replace", unit=None, suppose=1)
    assert found.witness is None
    Checked(report_page([Finding.of(found)]))


def test_a_report_is_written(tmp_path, verified):
    write_report(tmp_path / "report.html", [Finding.of(verified)], title="Audit of x")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_exact_histogram_is_the_law_about_both_integers(verified):
    found = of_witness(verified.witness)
    assert found.exact
    assert found.one.sum() == pytest.approx(1, abs=1e-2)
    assert found.other.sum() == pytest.approx(1, abs=1e-2)
    centres = (found.edges[1:] + found.edges[:-1]) / 2
    means = [(centres * bars).sum() for bars in (found.one, found.other)]
    assert abs(means[0] - means[1]) == pytest.approx(200, rel=0.05)  # two rows of 100


def test_the_sampled_histogram_takes_the_column_that_differs():
    rng = np.random.default_rng()
    one, other = rng.normal(0, 1, (2, 5000, 3))
    other[:, 1] += 3
    assert of_samples(one, other).label == "column 2"
    assert of_samples(one[:, :1], one[:, :1]).label == "output"
    constant = np.zeros((300, 1))
    assert of_samples(constant, constant).one.sum() == 1
    assert of_samples(constant * np.nan, constant).other.sum() <= 1


@pytest.mark.parametrize(
    ("query", "options"),
    [
        (hm.Count(), {"where": "x > 3"}),
        ({"s": hm.Sum("x", 0, 1), "h": hm.Histogram("x", [0, 1])}, {"price": hm.GDP(1)}),
        (hm.Mean("x", 0, 1), {}),
    ],
)
def test_a_whole_ask_attacked_by_samples_keeps_its_price(query, options):
    """False-alarm rate 1e-6 each."""
    ask = Ask.of(query, schema=SCHEMA, **options)
    found = attack(ask, verify_ask(ask).witness, seconds=0.5)
    assert not found.violated, found
    assert found.epsilon_lower_bound > 0


def test_a_whole_ask_that_breaks_its_price_is_caught(monkeypatch):
    """Noise of half the scale, drawn behind the mechanism's back: no exact check can see that."""
    ask = Ask.of(hm.Count(), schema=SCHEMA, where="x > 3", price=1)
    exact = verify_ask(ask)
    drawn = "halfmask.mechanisms.discrete_laplace.discrete_laplace"
    monkeypatch.setattr(drawn, lambda scale, size, words: discrete_laplace(scale / 2, size, words))
    assert exact.holds
    found = attack(ask, exact.witness, seconds=1)
    assert found.violated
    assert 1 < found.epsilon_lower_bound <= 2


def test_procedures_are_attacked_end_to_end_or_with_frozen_answers():
    ask = Ask.of(hm.Mean("x", 0, 1), schema=SCHEMA)
    rows = ({"x": 1.0}, {"x": 0.25})
    whole, frozen = Asking(ask)(rows, 20), Asking(ask, frozen=True)(rows, 20)
    assert whole.shape[0] == frozen.shape[0] == 20
    assert whole.shape[1] <= frozen.shape[1]  # on two rows, no second look pays
    assert np.isfinite(frozen).all()
    assert np.isfinite(whole[:, 0]).all()


def test_prices_too_large_to_attack_are_left_alone():
    ask = Ask.of(hm.Count(), schema=SCHEMA, where="x > 3", price=1000)
    assert attack(ask, verify_ask(ask).witness) is None


def test_what_is_asked_within_bought_bounds_is_answered_on_the_way():
    """Bounds that no script foresaw: the simulated table is asked again."""
    ask = Ask.of(hm.Mean("x", bounds="private"), schema=SCHEMA)
    assert np.isfinite(Asking(ask)(({"x": 1.0}, {"x": 0.25}), 20)[:, 0]).all()
    assert not attack(ask, verify_ask(ask, seconds=1).witness, seconds=0.5).violated

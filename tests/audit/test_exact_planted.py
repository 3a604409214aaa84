"""Broken copies of queries: exact verification must catch each, and pass its correct twin.

Each fault is a small edit of a real query's prepared tally or noise, as a slip of the pen would be.
"""

import sys
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

import halfmask as hm
from halfmask.audit import verify
from halfmask.mechanisms import DiscreteLaplace, ThresholdLaplace
from halfmask.plan import OnGrid
from halfmask.privacy import GDP, ZCDP, PrivacyUnit, Pure
from halfmask.procedures import Together
from halfmask.queries import CountedKeys
from halfmask.queries.location import Halfspaces, SpatialSums
from halfmask.sources.sql import emit
from halfmask.sources.sql.bound import bounded
from halfmask.sources.table import Table

SCHEMA = {"u": "integer", "g": "text", "x": "real", "b": "boolean"}
OPS = hm.Keys("g", ["ops", "r&d"])


@dataclass(frozen=True)
class Broken:
    """A query whose prepared measurement is edited after the fact."""

    query: object
    edit: object

    weight = 1.0
    title = "broken"

    def check(self, setting):
        self.query.check(setting)

    def prepare(self, setting, price):
        return self.edit(self.query.prepare(setting, price))

    def expected(self, setting, price, rows):
        return self.query.expected(setting, price, rows)


def noise(change):
    """Edit the sensitivity that the noise is made for."""

    def edit(prepared):
        outputs = tuple(
            replace(o, mechanism=change(o.mechanism), read=lambda noisy: None)
            for o in prepared.outputs
        )
        return replace(prepared, outputs=outputs)

    return edit


def rows(**changes):
    """Edit the tally."""
    return lambda prepared: replace(prepared, tally=replace(prepared.tally, **changes))


def halved(mechanism):
    return DiscreteLaplace(mechanism.sensitivity // 2, mechanism.epsilon)


def of_scale(factor):
    return noise(lambda m: DiscreteLaplace(round(m.sensitivity * factor), m.epsilon))


def unclipped(prepared):
    """The clip is forgotten: bounds far beyond those that the noise was made for."""
    grid = prepared.tally.value
    wide = OnGrid(grid.column, grid.lower * 64, grid.upper * 64, grid.log2_step, grid.origin)
    return replace(prepared, tally=replace(prepared.tally, value=wide))


def looser(by):
    """The unit's bound is off by so many rows."""

    def edit(prepared):
        bound = prepared.tally.unit
        once = bound.norm // 2  # of a unit of two rows
        return replace(
            prepared,
            tally=replace(prepared.tally, unit=replace(bound, norm=bound.norm + by * once)),
        )

    return edit


def more_groups(prepared):
    bound = prepared.tally.unit
    wider = replace(bound, groups=bound.groups + 1)
    return replace(prepared, tally=replace(prepared.tally, unit=wider))


def missing_counts(prepared):
    """A missing value adds what no bounded value would."""
    far = prepared.tally.value.reach
    return replace(prepared, tally=replace(prepared.tally, features=((-3 * far, 3 * far, 1, 0),)))


SUM, COUNT = hm.Sum("x", 0, 100), hm.Count()
SPREAD = hm.Variance("x", 0, 100)
TWO = PrivacyUnit("u", 2)
FAULTS = {
    "sensitivity halved": (SUM, noise(halved), {}),
    "noise a thousandth short": (SUM, of_scale(0.999), {}),
    "sensitivity of one side": (hm.Sum("x", -100, 50), of_scale(0.5), {}),
    "clip skipped": (SUM, unclipped, {}),
    "clip skipped in Bernstein's sums": (SPREAD, unclipped, {}),
    "missing values add": (SUM, missing_counts, {}),
    "unit bound off by one row": (SUM, looser(1), {"unit": TWO}),
    "unit bound skipped": (COUNT, rows(unit=None), {"unit": TWO}),
    "unit bound skipped, noise for two rows": (SUM, rows(unit=None), {"unit": TWO}),
    "one group too many": (COUNT, more_groups, {"unit": PrivacyUnit("u", 1, 1), "by": OPS}),
    "filter is worth nothing to an exact count": (
        COUNT,
        noise(lambda m: DiscreteLaplace(0, m.epsilon)),
        {"where": "x > 3", "relation": "replace"},
    ),
    "replacement priced as removal": (
        hm.Histogram("x", [0, 50, 100]),
        noise(halved),
        {"relation": "replace"},
    ),
    "bins summed without the unit": (
        hm.Histogram("x", [0, 50, 100]),
        rows(unit=None),
        {"unit": PrivacyUnit("u", 1)},
    ),
    "each of three sums priced alone": (SPREAD, of_scale(1 / 3), {}),
}
ALL = pytest.mark.parametrize("fault", FAULTS)


@ALL
def test_a_planted_fault_is_caught(fault):
    query, edit, options = FAULTS[fault]
    found = verify(Broken(query, edit), schema=SCHEMA, price=Pure("0.7"), **options)
    assert not found.holds, found
    assert found.witness.moved
    assert "VIOLATED" in str(found)


@ALL
def test_its_correct_twin_passes(fault):
    query, _, options = FAULTS[fault]
    found = verify(Broken(query, lambda p: p), schema=SCHEMA, price=Pure("0.7"), **options)
    assert found.holds, found


def faster(factor):
    """A choice that heeds its scores more than it may."""

    def edit(chosen):
        if hasattr(chosen, "plan"):
            levels = tuple(
                tuple(replace(node, rate=node.rate * factor) for node in level)
                for level in chosen.plan.levels
            )
            return replace(chosen, plan=replace(chosen.plan, levels=levels))
        if hasattr(chosen, "points"):
            return replace(chosen, price=Pure(chosen.price.epsilon * factor))
        law = chosen.mechanism
        return replace(chosen, mechanism=type(law)(law.sensitivity, law.epsilon * factor))

    return edit


CHOICES = {
    "median": hm.Median("x", 0, 9),
    "quartiles": hm.Quantile("x", [0.25, 0.5, 0.75], 0, 9),
    "most common": hm.MostCommon("g", ["ops", "r&d", "hr"]),
    "choice": hm.Choose({"a": "x < 3", "b": "x > 2", "c": "x == 1"}),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("price", [Pure("0.7"), ZCDP("0.2")], ids=str)
def test_a_choice_that_heeds_its_scores_too_much_is_caught(name, price):
    """Four times, since no small table tries a choice to the last bit of its price."""
    query = CHOICES[name]
    assert verify(Broken(query, lambda chosen: chosen), schema=SCHEMA, price=price).holds
    found = verify(Broken(query, faster(4)), schema=SCHEMA, price=price)
    assert not found.holds, found
    assert found.witness.to_dict()["moved"]


@pytest.mark.parametrize("depth", ["tukey", "spatial"])
def test_a_depth_that_seems_to_move_one_way_is_caught(depth, monkeypatch):
    """Under replacement some places rise while others fall. Rows on the candidates show it."""
    query, schema = hm.DepthMedian(depth, [[0, 0], [1, 0], [0, 5]], 10), {"x": "real", "y": "real"}
    assert verify(query, schema=schema, relation="replace", price=1).holds
    kind = {"tukey": Halfspaces, "spatial": SpatialSums}[depth]
    monkeypatch.setattr(kind, "one_way", lambda self, replaced: True)
    assert not verify(query, schema=schema, relation="replace", price=1).holds


def test_a_threshold_that_is_too_low_is_caught(monkeypatch):
    """A key of one row alone is then shown more often than delta allows."""
    price = hm.Approximate(1, "1e-6")
    assert verify(COUNT, schema=SCHEMA, by="g", price=price).holds
    threshold = ThresholdLaplace.threshold
    monkeypatch.setattr(
        ThresholdLaplace, "threshold", property(lambda law: threshold.__get__(law) - 3)
    )
    found = verify(COUNT, schema=SCHEMA, by="g", price=price)
    assert found.loss == float("inf")
    assert not found.holds


def test_keys_of_more_groups_than_declared_are_caught(monkeypatch):
    """Each unit counts in one key alone, for the threshold; the tally lets it count in two."""
    price, unit = hm.Approximate(1, "1e-2"), PrivacyUnit("u", 1, 1)
    assert verify(COUNT, schema=SCHEMA, by="b", unit=unit, price=price).holds
    real = CountedKeys.of.__func__

    def loose(cls, *args, **options):
        found = real(cls, *args, **options)
        request = found.request
        bound = replace(request.tally.unit, groups=2)
        return replace(found, request=replace(request, tally=replace(request.tally, unit=bound)))

    monkeypatch.setattr(CountedKeys, "of", classmethod(loose))
    assert not verify(COUNT, schema=SCHEMA, by="b", unit=unit, price=price).holds


def test_the_loss_of_a_fault_is_exact():
    """Noise for half of the sensitivity costs twice the price, and two rows for one twice too."""
    found = verify(Broken(SUM, noise(halved)), schema=SCHEMA, price=1)
    assert found.loss == pytest.approx(2, rel=1e-9)  # half of an odd sensitivity
    off = verify(Broken(SUM, looser(1)), schema=SCHEMA, unit=TWO, price=Pure("0.5"))
    assert Fraction(off.loss).limit_denominator(10**6) == Fraction(3, 4)


class ForgetfulMean(hm.Mean):
    """The centred sum is priced by the nearer bound, not the farther one."""

    def _last(self, setting, price, centres, grid):
        prepared = super()._last(setting, price, centres, grid)
        outputs = []
        for output in prepared.outputs:
            if output.combine is not None:
                ((low, high),) = output.combine
                nearer = Fraction(min(-low, high), max(-low, high))
                mechanism = DiscreteLaplace(
                    round(output.mechanism.sensitivity * nearer), output.mechanism.epsilon
                )
                output = replace(output, mechanism=mechanism)
            outputs.append(output)
        return replace(prepared, outputs=tuple(outputs))


@pytest.mark.parametrize("by", [None, OPS])
def test_a_fault_in_the_second_stage_of_a_mean_is_caught(by):
    """It shows only after noisy answers that speak of many rows, which no small table has."""
    price = Pure("0.5")
    assert verify(hm.Mean("x", 0, 100), schema=SCHEMA, by=by, price=price).holds
    found = verify(ForgetfulMean("x", 0, 100), schema=SCHEMA, by=by, price=price)
    assert not found.holds
    assert found.share > 5


@pytest.mark.parametrize("price", [Pure(1), ZCDP("0.5"), GDP(1), hm.Approximate(1, 1e-6)], ids=str)
def test_full_price_to_each_query_is_caught(price, monkeypatch):
    """Composition forgotten: seen in the loss, and in what the measurements cost."""
    questions = {"n": COUNT, "h": hm.Histogram("x", [0, 50, 100])}
    assert verify(questions, schema=SCHEMA, price=price).holds
    monkeypatch.setattr(Together, "_split", lambda self, families: [1] * len(families))
    found = verify(questions, schema=SCHEMA, price=price)
    assert found.overspent
    assert found.share > 1.3
    assert not found.holds


@pytest.mark.parametrize("price", [ZCDP("0.5"), GDP(1), hm.Approximate(1, 1e-6)], ids=str)
def test_laplace_noise_where_gaussian_is_claimed_is_priced_as_such(price):
    """Noise of another family is converted by the proved theorems, or has no bound at all."""
    laplace = noise(lambda m: DiscreteLaplace(1, 2))
    found = verify(Broken(COUNT, laplace), schema=SCHEMA, price=price)
    assert not found.holds
    assert found.loss > 0


def test_gaussian_noise_has_no_pure_price():
    gaussian = noise(lambda m: hm.mechanisms.RoundedGaussian(1, Fraction(1, 1000)))
    found = verify(Broken(COUNT, gaussian), schema=SCHEMA, price=1)
    assert found.loss == float("inf")
    assert not found.holds


def test_a_source_in_which_units_displace_each_other_is_caught(monkeypatch):
    """Only the first three units are kept: whoever comes pushes somebody else out."""

    def displacing(sums, *rest):
        ranked = f"SELECT *, DENSE_RANK() OVER (ORDER BY u) AS place FROM ({sums}) q"
        return bounded(f"SELECT * EXCLUDE place FROM ({ranked}) w WHERE place <= 3", *rest)

    query = hm.Histogram("x", [0, 50, 100])
    assert verify(query, schema=SCHEMA, unit=TWO).holds
    monkeypatch.setattr(sys.modules[emit.__module__], "bounded", displacing)
    found = verify(query, schema=SCHEMA, unit=TWO)
    assert found.loss > 1.3
    assert not found.holds


def test_a_source_that_fails_by_what_is_in_the_rows_is_caught(monkeypatch):
    """Whether there is an answer is an answer."""
    real = Table.tally

    def failing(self, tally):
        answer = real(self, tally)
        if answer[0][0] == 0:
            raise RuntimeError
        return answer

    monkeypatch.setattr(Table, "tally", failing)
    found = verify(SUM, schema=SCHEMA)
    assert found.loss == float("inf")
    assert not found.holds
    assert "without bound" in str(found)


def test_a_unit_that_is_not_the_person_costs_as_many_times_the_price():
    """What a false unit would cost: k of the declared units behind one person, k times epsilon."""
    for unit in (None, "u"):
        found = verify(SUM, schema=SCHEMA, unit=unit, price=0.5, suppose=3)
        assert found.loss == pytest.approx(1.5)
        assert not found.holds
        assert "one person is 3 of them" in str(found)

"""The bound of one privacy unit, in exact integers: unit sums scaled down to an L1 norm.

Privacy: after it, one unit's vector has L1 norm at most `norm` in each group it keeps (or over
all groups), whatever its rows hold, and depends on its own rows alone. [Law 5 of the design]

The groups that a unit keeps are those that draw its smallest lots (`lots`), and, where these tie,
the smallest.
"""

from dataclasses import dataclass

from halfmask.plan import UnitBound
from halfmask.sources.sql.dialect import Dialect
from halfmask.sources.sql.lots import with_lots

__all__ = ["Shape", "bounded"]

_ROWS_PER_UNIT = 40
"""log2 of the rows that one unit can have: a million million."""

_DOUBLE = 48
"""log2 of the largest norm whose quotient a double gives to within a quarter (2^-50 of it)."""


@dataclass(frozen=True)
class Shape:
    """What the unbounded sums of units are sums over.

    sums: their columns, beside the unit and what is kept. They are narrower than the features,
      so these are made as late as may be.
    features: each by these columns.
    reach: the largest L1 norm of the features of one row.
    picks: whether a unit must choose among its groups.
    shared: the columns over whose rows the norm holds together; empty: each row on its own.
    unit: the unit as it draws lots; entries: what a group enters into them (`lots`).
    group: the column that a unit's groups are told apart by.
    cells: further columns within a group.
    grouped: False where there is one group only, and no column of it.
    """

    sums: tuple[str, ...]
    features: tuple[str, ...]
    reach: int
    unit: str
    picks: bool
    shared: str = ""
    group: str = "g"
    entries: tuple[str, ...] = ("g",)
    cells: tuple[str, ...] = ()
    grouped: bool = True

    @property
    def names(self) -> list[str]:
        """The columns of the features."""
        return [f"f{i}" for i in range(len(self.features))]

    @property
    def kept(self) -> list[str]:
        """The columns that a bounded row shows beside its features."""
        return [self.group, *self.cells] if self.grouped else []

    def vectors(self, sums: str) -> str:
        """Write the query (u, kept, f0, f1, ...) of what each unit's sums make."""
        features = [f"{f} AS {name}" for f, name in zip(self.features, self.names, strict=True)]
        return f"SELECT {', '.join(['u', *self.kept, *features])} FROM {sums}"


def bounded(sums: str, shape: Shape, bound: UnitBound, dialect: Dialect, salt: str) -> str:
    """Write the query (g, f0, f1, ...) of bounded sums, given the unbounded (u, g, ...)."""
    names = shape.names
    if shape.picks and bound.groups is not None:
        sums = _picked(sums, shape, bound.groups, salt, dialect)
    if len(names) == 1 and not shape.shared:
        vectors = shape.vectors(f"({sums}) s")
        scaled = _with(vectors, shape.kept, {"f0": _clamped("f0", bound.norm, dialect)})
    else:
        scaled = _scaled(sums, shape, bound.norm, dialect)
    listed = ", ".join(f"{dialect.total.format(name)} AS {name}" for name in names)
    if not shape.grouped:
        return f"SELECT 0 AS g, {listed} FROM ({scaled}) e"
    kept = ", ".join(shape.kept)
    return f"SELECT {kept}, {listed} FROM ({scaled}) e GROUP BY {kept}"


def _picked(sums: str, shape: Shape, most: int, salt: str, dialect: Dialect) -> str:
    """Keep `most` groups of each unit, with all of their cells."""
    listed = ["u", *shape.kept, *shape.sums]
    drawn = with_lots(sums, listed, shape.unit, shape.entries, salt, dialect)
    function = "DENSE_RANK" if shape.cells else "ROW_NUMBER"
    rank = f"{function}() OVER (PARTITION BY u ORDER BY h, {shape.group} NULLS LAST)"
    shown = ", ".join(listed)
    ranked = f"SELECT {shown}, {rank} AS m FROM ({drawn}) a"
    return f"SELECT {shown} FROM ({ranked}) b WHERE m <= {most}"


def _clamped(name: str, norm: int, dialect: Dialect) -> str:
    low, high = dialect.whole(-norm), dialect.whole(norm)
    return f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"


def _scaled(sums: str, shape: Shape, norm: int, dialect: Dialect) -> str:
    """Write f * norm / t rounded towards zero, where t is the unit's norm.

    Units inside the bound carry nulls through the division: it costs them nothing, and divides
    by no zero.
    """
    names = shape.names
    total = " + ".join(f"ABS({name})" for name in names)
    kept = [*shape.kept, *names]
    vectors = shape.vectors(f"({sums}) s")
    if shape.shared and dialect.windowed:
        length = f"{dialect.total.format(total)} OVER (PARTITION BY {shape.shared})"
        query = f"SELECT v.*, {length} AS t FROM ({vectors}) v"
    elif shape.shared:
        over, again = shape.shared, shape.vectors("a")
        lengths = (
            f"SELECT {over}, {dialect.total.format(total)} AS t FROM ({again}) v GROUP BY {over}"
        )
        joined = f"SELECT v.*, b.t FROM ({again}) v JOIN ({lengths}) b USING ({over})"
        query = f"{dialect.common.format('a', sums)} {joined}"
    else:
        query = f"SELECT {', '.join(kept)}, {total} AS t FROM ({vectors}) b"
    query = _with(query, kept, {"t": f"CASE WHEN t > {norm} THEN t END"})
    room = dialect.bits - 2 - _ROWS_PER_UNIT - shape.reach.bit_length()
    if dialect.guesses and norm.bit_length() <= min(_DOUBLE, room):
        return _quick(query, shape, norm, dialect)
    for place, digit in enumerate(_digits(norm, room)):
        query = _divided(query, shape, digit, 2**room if place else 0, dialect)
    whole = {f: f"CASE WHEN t IS NULL THEN {f} ELSE q{f} END" for f in names}
    return _with(query, shape.kept, whole)


def _quick(query: str, shape: Shape, norm: int, dialect: Dialect) -> str:
    """Guess the quotient in doubles, and correct it by exact integers.

    The ratio has five roundings, so for a norm of at most 2^48 it is off by less than a quarter;
    rounded to r it is off by less than one. So the quotient is r, or one nearer to zero where
    |r| * t passes |f| * norm.
    """
    kept = [*shape.kept, "t", *shape.names]
    ratios = {}
    for f in shape.names:
        product = f"{dialect.cast(f, dialect.double)} * {dialect.number(float(norm))}"
        ratio = f"ROUND({product} / {dialect.cast('t', dialect.double)})"
        ratios[f"r{f}"] = dialect.cast(ratio, dialect.integer)
    query = _with(query, kept, ratios)
    quotients = {
        f: f"CASE WHEN t IS NULL THEN {f} WHEN ABS(r{f}) * t <= ABS({f}) * {norm} THEN r{f} "
        f"WHEN r{f} < 0 THEN r{f} + 1 ELSE r{f} - 1 END"
        for f in shape.names
    }
    return _with(query, shape.kept, quotients)


def _digits(norm: int, width: int) -> list[int]:
    """Return the digits of the norm to the base 2^width, the highest first."""
    digits: list[int] = []
    while norm:
        norm, digit = divmod(norm, 2**width)
        digits.insert(0, digit)
    return digits


def _divided(query: str, shape: Shape, digit: int, base: int, dialect: Dialect) -> str:
    """Long division by one more digit of a large norm, so short that no product is too wide.

    Quotient q and remainder r have the sign of f, as division rounds towards zero.
    """
    names, held = shape.names, [*shape.kept, "t", *shape.names]
    kept = [*held, *(f"q{f}" for f in names if base)]
    rest = {f: f"r{f} * {base} + " if base else "" for f in names}
    quotient = {f: f"q{f} * {base} + " if base else "" for f in names}
    query = _with(query, kept, {f"m{f}": f"{rest[f]}{f} * {digit}" for f in names})
    divided = {f"q{f}": quotient[f] + dialect.divide.format(f"m{f}", "t") for f in names}
    remainder = {f"r{f}": dialect.remainder.format(f"m{f}", "t") for f in names}
    return _with(query, held, divided | remainder)


def _with(query: str, kept: list[str], added: dict[str, str]) -> str:
    listed = ", ".join([*kept, *(f"{expression} AS {name}" for name, expression in added.items())])
    return f"SELECT {listed} FROM ({query}) x"

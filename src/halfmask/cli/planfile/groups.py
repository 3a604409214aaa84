"""How a plan says by what its rows are grouped: `by`."""

from halfmask.cli.planfile.section import FLAG, LIST, TEXT, Section
from halfmask.plan import Filters, Keys

__all__ = ["grouping"]


def grouping(release: Section) -> Keys | Filters | str:
    """Return the public groups; a column's name alone where keys are to be found in the rows."""
    given = release.values["by"]
    return given if isinstance(given, str) else _keys(release.inside("by"))


def _keys(by: Section) -> Keys | Filters | str:
    if "filters" in by.values:
        by.only("filters")
        filters = by.inside("filters")
        texts = {label: filters.need(label, TEXT) for label in filters.values}
        with by.document.naming(by.place, by.values):
            return Filters(**texts)
    by.only("column", "keys", "missing", "other")
    if set(by.values) == {"column"}:
        return by.need("column", TEXT)
    values = [*by.need("keys", LIST)]
    if by.get("missing", FLAG):
        values.append(None)  # TOML has no null: rows without a key are asked for by name
    with by.document.naming(by.place, by.values):
        return Keys(by.need("column", TEXT), values, by.get("other", FLAG) or False)

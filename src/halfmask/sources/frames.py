"""Tables in memory as vectors: NumPy arrays, dicts of columns, pandas and polars frames.

pandas and polars are spoken to through the object that is given; neither is imported here, and
neither needs Arrow.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmask.errors import SourceError
from halfmask.plan import Kind
from halfmask.sources.vectors import Vector, of_array, of_cells, of_scalars

__all__ = ["vectors_of_array", "vectors_of_dict", "vectors_of_pandas", "vectors_of_polars"]

Declared = Mapping[str, Kind]
Vectors = dict[str, Vector]


def vectors_of_array(array: NDArray[Any], declared: Declared) -> Vectors:
    """Return the columns x0, x1, ... of an (n,) or (n, d) array, or a structured array's fields."""
    if array.dtype.names is not None and array.ndim == 1:
        columns = {name: array[name] for name in array.dtype.names}
    elif array.ndim == 1:
        columns = {"x0": array}
    elif array.ndim == 2:
        columns = {f"x{i}": array[:, i] for i in range(array.shape[1])}
    else:
        raise SourceError(
            f"source: an array of shape {array.ndim}-dimensional; give (n,) or (n, columns)"
        )
    return _kept((name, of_array(data, declared.get(name))) for name, data in columns.items())


def vectors_of_dict(columns: Mapping[str, Any], declared: Declared) -> Vectors:
    """Return the columns of a dict of arrays, series or lists; a list has no type: it is unread."""
    return _kept(
        (str(name), _column(data, declared.get(str(name)))) for name, data in columns.items()
    )


def _column(data: Any, declared: Kind | None) -> Vector | None:
    module = type(data).__module__.partition(".")[0]
    if module == "pandas":
        return _pandas_column(data, declared)
    if module == "polars":
        return _polars_column(data, declared)
    if isinstance(data, np.ndarray):
        if data.ndim != 1:
            raise SourceError("source: a column of the dict is no (n,) array; give one per column")
        return of_array(data, declared)
    if isinstance(data, list | tuple):
        kind = declared or "unread"
        return of_scalars(data) if kind == "unread" else of_cells(data, kind)
    raise SourceError(
        f"source: a column of the dict is a {type(data).__name__}; give an array or a list"
    )


def vectors_of_pandas(frame: Any, declared: Declared) -> Vectors:
    """Return the columns of a pandas frame; object columns are text unless declared otherwise."""
    names = [str(name) for name in frame.columns]
    _once(names)
    return _kept(
        (name, _pandas_column(frame.iloc[:, i], declared.get(name))) for i, name in enumerate(names)
    )


def _pandas_column(series: Any, declared: Kind | None) -> Vector | None:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return _categories(series, declared)
    if isinstance(dtype, np.dtype):
        return of_array(series.to_numpy(), declared)
    missing = series.isna().to_numpy(dtype=bool)
    filler = {"i": 0, "u": 0, "f": 0.0, "b": False}
    if dtype.kind in filler and hasattr(dtype, "numpy_dtype"):
        data = series.to_numpy(dtype=dtype.numpy_dtype, na_value=filler[dtype.kind])
        return of_array(data, declared, missing)
    if dtype.kind == "M":
        if str(dtype).startswith(("date32", "date64")):  # Arrow's dates
            series = series.astype("timestamp[ms][pyarrow]")
        local = series if getattr(dtype, "tz", None) is None else series.dt.tz_convert(None)
        unit = getattr(dtype, "unit", None) or np.datetime_data(dtype.numpy_dtype)[0]
        return of_array(local.to_numpy(dtype=f"datetime64[{unit}]"), declared)
    if dtype.kind in "OUT":
        scale = getattr(getattr(dtype, "pyarrow_dtype", None), "scale", None)  # of decimals alone
        kind = "text" if scale is None else _of_scale(scale)
        return of_cells(series.astype(object).tolist(), declared or kind)
    return None


def _of_scale(scale: int) -> Kind:
    """The kind of decimals: identifiers have no digit behind the point, and more than a double."""
    return "integer" if scale <= 0 else "real"


def _categories(series: Any, declared: Kind | None) -> Vector | None:
    """Take the labels, and the kind of the labels' own type, by the codes."""
    labels = _pandas_column(series.cat.categories.to_series(), declared)
    if labels is None:
        return None
    codes = series.cat.codes.to_numpy()
    missing = codes < 0
    if not len(labels.data):  # whose own type is arbitrary
        labels = of_cells([], declared or "text")
        return Vector(labels.kind, np.zeros(len(codes), labels.data.dtype), missing)
    if labels.missing is not None:
        missing = missing | labels.missing[codes]
    return Vector(labels.kind, labels.data[codes], missing, labels.cut)


def vectors_of_polars(frame: Any, declared: Declared) -> Vectors:
    """Return the columns of a polars frame by their types."""
    return _kept((s.name, _polars_column(s, declared.get(s.name))) for s in frame.get_columns())


def _polars_column(series: Any, declared: Kind | None) -> Vector | None:
    kind = str(series.dtype.base_type())
    polars = sys.modules["polars"]
    missing = series.is_null().to_numpy()
    if kind in ("String", "Categorical", "Enum"):
        return of_cells(series.cast(polars.String).to_list(), declared or "text")
    if kind == "Decimal":
        return of_cells(series.to_list(), declared or _of_scale(series.dtype.scale))
    if kind in ("Date", "Datetime"):
        unit = "D" if kind == "Date" else series.dtype.time_unit
        counts = series.to_physical().fill_null(0).to_numpy().astype("int64")
        return of_array(counts.astype(f"datetime64[{unit}]"), declared, missing)
    if kind == "Null":  # a column of nulls alone: its own type is not known
        return of_cells(series.to_list(), declared or "unread")
    if kind in ("Int128", "UInt128"):
        return of_cells(series.to_list(), declared or "integer")
    if kind == "Boolean" or series.dtype.is_numeric():
        return of_array(series.fill_null(value=_zero(kind)).to_numpy(), declared, missing)
    if kind == "Object":
        return of_cells(series.to_list(), declared or "text")
    return None


def _zero(kind: str) -> object:
    return False if kind == "Boolean" else 0


def _kept(columns: Iterable[tuple[str, Vector | None]]) -> Vectors:
    listed = list(columns)
    _once([name for name, _ in listed])
    kept = {name: vector for name, vector in listed if vector is not None}
    if not kept:
        raise SourceError("source: no column holds numbers, text, truth values or times")
    if len({len(vector.data) for vector in kept.values()}) > 1:
        raise SourceError("source: the columns have different lengths; give one value per row")
    return kept


def _once(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SourceError(f"source: two columns are named {name!r}; rename one of them")

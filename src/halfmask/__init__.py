"""halfmask: private statistics of tables about people.

A half mask hides who you are and leaves your mouth free to speak.

>>> import halfmask as hm
>>> staff = hm.open({"salary": [41_000, 52_500, 60_250]}, budget=2)
>>> pay = staff.ask(hm.Mean("salary", 0, 100_000), epsilon=0.5)   # spends, then reads
>>> 0 <= pay.value <= 100_000
True
>>> print(staff.remaining)
epsilon 1.5
"""

from halfmask import depth, errors, mechanisms, noise, plan, privacy
from halfmask.centres import (
    box_median,
    coordinatewise_median,
    robust_location,
    spatial_median,
)
from halfmask.curator import Curator, open
from halfmask.errors import (
    BudgetExhausted,
    HalfmaskError,
    Interrupted,
    InvalidQuery,
    LedgerError,
    PrivacyWarning,
    ReleaseFailed,
    SourceError,
)
from halfmask.foresight import epsilon_for
from halfmask.plan import OTHER, Filters, Keys, Periods, Public, Schema, col, where
from halfmask.privacy import GDP, ZCDP, Approximate, Ledger, Pure
from halfmask.procedures import (
    BoxMedian,
    CoordinateMedian,
    DepthCheck,
    DepthMedian,
    Filtered,
    KMeans,
    Location,
    Mean,
    RobustLocation,
    SignCovariance,
    SpatialMedian,
    TylerScatter,
)
from halfmask.queries import (
    AboveThreshold,
    Bounds,
    Choose,
    Correlation,
    Count,
    CountDistinct,
    Covariance,
    Histogram,
    LinearQueries,
    Marginals,
    Median,
    MostCommon,
    Prefixes,
    Quantile,
    Ranges,
    StandardDeviation,
    SuggestBounds,
    Sum,
    TopK,
    Variance,
)
from halfmask.release import GroupedRelease, Preview, Release
from halfmask.series import Series
from halfmask.simulation import Sweep, Trials, sweep, trials
from halfmask.sources import Join
from halfmask.version import __version__

__all__ = [
    "GDP",
    "OTHER",
    "ZCDP",
    "AboveThreshold",
    "Approximate",
    "Bounds",
    "BoxMedian",
    "BudgetExhausted",
    "Choose",
    "CoordinateMedian",
    "Correlation",
    "Count",
    "CountDistinct",
    "Covariance",
    "Curator",
    "DepthCheck",
    "DepthMedian",
    "Filtered",
    "Filters",
    "GroupedRelease",
    "HalfmaskError",
    "Histogram",
    "Interrupted",
    "InvalidQuery",
    "Join",
    "KMeans",
    "Keys",
    "Ledger",
    "LedgerError",
    "LinearQueries",
    "Location",
    "Marginals",
    "Mean",
    "Median",
    "MostCommon",
    "Periods",
    "Prefixes",
    "Preview",
    "PrivacyWarning",
    "Public",
    "Pure",
    "Quantile",
    "Ranges",
    "Release",
    "ReleaseFailed",
    "RobustLocation",
    "Schema",
    "Series",
    "SignCovariance",
    "SourceError",
    "SpatialMedian",
    "StandardDeviation",
    "SuggestBounds",
    "Sum",
    "Sweep",
    "TopK",
    "Trials",
    "TylerScatter",
    "Variance",
    "__version__",
    "box_median",
    "col",
    "coordinatewise_median",
    "depth",
    "epsilon_for",
    "errors",
    "mechanisms",
    "noise",
    "open",
    "plan",
    "privacy",
    "robust_location",
    "spatial_median",
    "sweep",
    "trials",
    "where",
]

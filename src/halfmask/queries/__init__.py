"""Queries: each meets the rows once, as a tally of exact integers, and is answered with noise.

count        rows, and privacy units; counts: of rows in parts, together
sum          the sum of a bounded column
histogram    rows in public bins
variance     variance and standard deviation
private_bounds   bounds that are bought; suggest_bounds: a table of them, once paid
quantile     quantiles and the median: their plan, grid and choice beside it
top          the most common values, and how often they occur
above        which of many counts or sums reach a threshold
choose       the choice of one candidate by the user's own score
covariance   covariance and correlation matrices; their body and reading beside it
consistency  released counts made to agree: trees, running counts, none below 0
series       running totals of a table that grows, released at every period's close
workload     many linear queries over public cells, answered through one strategy
moments      two-sided sums: the body that count, sum, mean and variance of a column share
found        keys that the rows hold: counted above a threshold, or kept
choosing     answers that are chosen, not made noisy
location     what is measured of points in many dimensions
setting      the public facts a query is asked in, and how far one unit reaches
grid         bounds, and the power-of-two grid between them
pricing      from a price to a mechanism
measurement  one question to the rows, its price and its noise; estimate: what it is read as
distribution the exact law of what a measurement lets out, for an auditor
prepared     sums with additive noise, the most common measurement; the protocol of queries
scaled, ratio, spread   how noisy integers are read as answers, with intervals
supposed     rows to suppose, where an error has no formula
tails        the tail of a sum of noises, for those intervals
"""

from halfmask.queries.above import AboveThreshold
from halfmask.queries.choose import Choose
from halfmask.queries.choosing import Chosen, selection_for
from halfmask.queries.consistency import agreeing, nonnegative_agreeing, rising
from halfmask.queries.count import Count, CountDistinct
from halfmask.queries.counts import Counts, PartCounts, SumOfCounts
from halfmask.queries.covariance import Correlation, Covariance
from halfmask.queries.distribution import Coarse, Distributed, Drawn, Noisy, Part
from halfmask.queries.estimate import Estimate
from halfmask.queries.found import CountedKeys, FoundCount, KeptKeys, groups_of
from halfmask.queries.grid import Range, native, written
from halfmask.queries.histogram import Histogram
from halfmask.queries.measurement import Measurement, Record, Scalar
from halfmask.queries.moments import Moments, MomentSums, term
from halfmask.queries.prepared import Expected, Number, Output, Prepared, Query
from halfmask.queries.pricing import mechanism_for, price_of, range_epsilon, strength
from halfmask.queries.private_bounds import Bounds, Tails, apart
from halfmask.queries.quantile import Median, Quantile
from halfmask.queries.quantile_grid import Bound
from halfmask.queries.ratio import Linear, Ratio, Term, checked
from halfmask.queries.series import Closings, Running, Totals
from halfmask.queries.setting import Reach, Setting
from halfmask.queries.spread import Spread
from halfmask.queries.suggest_bounds import SuggestBounds, Suggestion
from halfmask.queries.sum import Sum
from halfmask.queries.supposed import Supposed, Supposes
from halfmask.queries.top import MostCommon, TopK
from halfmask.queries.variance import StandardDeviation, Variance
from halfmask.queries.workload import LinearQueries, Marginals, Prefixes, Ranges

__all__ = [
    "AboveThreshold",
    "Bound",
    "Bounds",
    "Choose",
    "Chosen",
    "Closings",
    "Coarse",
    "Correlation",
    "Count",
    "CountDistinct",
    "CountedKeys",
    "Counts",
    "Covariance",
    "Distributed",
    "Drawn",
    "Estimate",
    "Expected",
    "FoundCount",
    "Histogram",
    "KeptKeys",
    "Linear",
    "LinearQueries",
    "Marginals",
    "Measurement",
    "Median",
    "MomentSums",
    "Moments",
    "MostCommon",
    "Noisy",
    "Number",
    "Output",
    "Part",
    "PartCounts",
    "Prefixes",
    "Prepared",
    "Quantile",
    "Query",
    "Range",
    "Ranges",
    "Ratio",
    "Reach",
    "Record",
    "Running",
    "Scalar",
    "Setting",
    "Spread",
    "StandardDeviation",
    "SuggestBounds",
    "Suggestion",
    "Sum",
    "SumOfCounts",
    "Supposed",
    "Supposes",
    "Tails",
    "Term",
    "TopK",
    "Totals",
    "Variance",
    "agreeing",
    "apart",
    "checked",
    "groups_of",
    "mechanism_for",
    "native",
    "nonnegative_agreeing",
    "price_of",
    "range_epsilon",
    "rising",
    "selection_for",
    "strength",
    "term",
    "written",
]

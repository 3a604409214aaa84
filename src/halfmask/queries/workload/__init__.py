"""Workloads: many linear queries over public cells, answered through one strategy.

load            workloads as matrices or ranges; cells that no query tells apart are merged
identity_plus   the optimised strategy for Laplace noise
gaussian        the optimal strategy for Gaussian noise
strategies      all strategies, as integer matrices with exact norms
choice          the one of least expected error, and its reach
measured        a workload fixed to a price
answers         least squares, and intervals
linear_queries, ranges, marginals   the questions
"""

from halfmask.queries.workload.answers import WorkloadAnswers, sum_half_widths
from halfmask.queries.workload.linear_queries import LinearQueries
from halfmask.queries.workload.marginals import Marginals
from halfmask.queries.workload.ranges import Prefixes, Ranges

__all__ = ["LinearQueries", "Marginals", "Prefixes", "Ranges", "WorkloadAnswers", "sum_half_widths"]

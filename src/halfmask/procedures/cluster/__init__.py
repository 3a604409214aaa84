"""Clusters of rows: the stages that find their centres, and `KMeans`, which asks them of a table.

rows     rows as integer vectors of a public length
cells    noisy sums over the rows of each cell
axes     the directions in which rows spread most
shares   how the price is spent
stages   how centres are found with these
grouping the free clustering of noisy cells
kmeans   `KMeans`: the query
"""

from halfmask.procedures.cluster.grouping import grouped
from halfmask.procedures.cluster.kmeans import KMeans
from halfmask.procedures.cluster.rows import Rows
from halfmask.procedures.cluster.shares import Shares
from halfmask.procedures.cluster.stages import Stages

__all__ = ["KMeans", "Rows", "Shares", "Stages", "grouped"]

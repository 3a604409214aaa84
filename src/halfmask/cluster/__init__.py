"""Private clustering, as estimators of scikit-learn (`pip install halfmask[cluster]`).

kmeans   `PrivateKMeans`: centres of clusters, for means or medians
payment  the price, charged before rows are looked at
shares   how it is spent
rows     rows as integer vectors of a public length
cells    noisy sums over the rows of each cell
axes     the directions in which rows spread most
stages   how centres are found with these
"""

from halfmask.cluster.kmeans import PrivateKMeans

__all__ = ["PrivateKMeans"]

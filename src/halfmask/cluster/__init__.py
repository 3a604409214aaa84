"""Private clustering, as estimators of scikit-learn (`pip install halfmask[cluster]`).

kmeans   `PrivateKMeans`: centres of clusters, for means or medians
medoids  `PrivateKMedoids`: items of a public catalogue as centres
centred  what both share
payment  the price, charged before rows are looked at
rows     tables as they are given
savings  what candidates save rows of their way to a medoid
"""

from importlib.util import find_spec

from halfmask.errors import HalfmaskError

if find_spec("sklearn") is None:
    raise HalfmaskError(
        "cluster: needs scikit-learn, which is not installed; pip install 'halfmask[cluster]'"
    )

from halfmask.cluster.kmeans import PrivateKMeans
from halfmask.cluster.medoids import PrivateKMedoids

__all__ = ["PrivateKMeans", "PrivateKMedoids"]

"""diffprivlib's k-means of rows in a file, as benchmarks/cluster.py asks for it.

Run: diffprivlib_kmeans.py FOLDER CLUSTERS EPSILON UPPER    (all columns lie from 0 to UPPER)

Reads FOLDER/rows.npy, writes FOLDER/centres.npy, prints CPU seconds of the fit. Epsilon is pure.
"""

import sys
import time
from pathlib import Path

import numpy as np
from diffprivlib.models import KMeans

folder, clusters, epsilon, upper = Path(sys.argv[1]), *map(float, sys.argv[2:5])
rows = np.load(folder / "rows.npy")
start = time.process_time()
model = KMeans(int(clusters), epsilon=epsilon, bounds=(0, upper)).fit(rows)
print(time.process_time() - start)
np.save(folder / "centres.npy", model.cluster_centers_)

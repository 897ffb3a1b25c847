"""Benchmarks of flagstone: one file per primitive, all of them run by ``python -m benchmarks``.

Everything is measured on one thread, ours and the peers' alike, so that ratios mean algorithms.
"""

import os

# Read by BLAS and OpenMP when they load, hence before anything is imported.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

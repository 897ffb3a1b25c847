"""
Rows that do not fit in memory, and Dask
========================================

The size of a flag does not depend on the number of rows, so rows can come in batches, in files, or
from many machines. Four ways to the same answer: all rows at once, in batches (``partial_fit``), as
merged flags of several files, and as a Dask array.
"""

# %%
# Files
# -----
# Eight files of 25,000 rows and 64 columns each, two of them sums of others, a few rows
# damaged.

import tempfile
from pathlib import Path

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from flagstone import Flag, IndexRule, LinearSpan, distributed
from flagstone.algebra.flag import merge_flags
from flagstone.plots import OKABE_ITO, style
from flagstone.tables import open_table

SEED, FILES, ROWS, COLUMNS = 2026, 8, 25_000, 64
folder = Path(tempfile.mkdtemp())
for number in range(FILES):
    random = np.random.RandomState(number)
    X = random.randint(0, 2, size=(ROWS, COLUMNS)).astype(np.uint8)
    X[:, 62] = X[:, 3] ^ X[:, 17] ^ X[:, 40]
    X[:, 63] = X[:, 5] ^ X[:, 62]
    X[random.random_sample(ROWS) < 0.001, 62] ^= 1
    np.save(folder / f"part-{number}.npy", X)

WINDOW = {"rule": IndexRule(t_min=0.004, t_max=0.008), "random_state": SEED}

# %%
# All at once, and in pieces
# --------------------------

files = [np.load(path, mmap_mode="r") for path in sorted(folder.glob("*.npy"))]
whole = LinearSpan(**WINDOW).fit(np.concatenate(files))
print(whole.formula_)

stream = LinearSpan(**WINDOW)
for rows in files:
    stream.partial_fit(rows)
print("in pieces, the same flag:", stream.flag_ == whole.flag_)

# %%
# A table of files reads itself in batches; nothing but one batch is in memory.

table = open_table(folder)
flag = Flag(COLUMNS)
for batch in table.rows(table.encoding(2)):
    flag.update(batch.matrix)
print(table, "the same flag:", flag == whole.flag_)

# %%
# Merged, and by Dask
# -------------------
# Each file makes its own flag, wherever it lies, and flags are merged along a fixed tree. That
# is another order of reading, so the flag is another one; the answer here is the same, and its
# certificate loses nothing to the partitions.

merged = merge_flags([Flag(COLUMNS).update(rows) for rows in files])
print("merged:", merged.n_shards, "shards,", len(merged.to_bytes()), "bytes")

with dask.config.set(scheduler="synchronous"):
    X = da.concatenate([da.from_array(rows, chunks=(ROWS, COLUMNS)) for rows in files])
    lazy = distributed.fit(LinearSpan(**WINDOW), X)
print(lazy.formula_)
print(lazy.finding_.partitions)
print("the same answer:", lazy.fingerprint_ == whole.fingerprint_)
print(lazy.finding_.promises)

# %%
# What has to travel
# ------------------
# The rows grow, the flag does not: this is all that a worker sends, and all that a checkpoint
# keeps.

seen = [1_000 * 2**k for k in range(8)] + [FILES * ROWS]
growing, sizes, total = Flag(COLUMNS), [], np.concatenate(files)
for before, until in zip([0, *seen], seen, strict=False):
    growing.update(total[before:until])
    sizes.append(len(growing.to_bytes()))

with style():
    fig, axis = plt.subplots(figsize=(6.5, 3), layout="constrained")
    axis.plot(
        seen,
        [m * COLUMNS for m in seen],
        "--s",
        color=OKABE_ITO["orange"],
        label="the rows, one byte per entry",
    )
    axis.plot(
        seen,
        [m * COLUMNS / 8 for m in seen],
        ":^",
        color=OKABE_ITO["grey"],
        label="the rows, packed",
    )
    axis.plot(seen, sizes, "-o", color=OKABE_ITO["blue"], label="their flag")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("rows read")
    axis.set_ylabel("bytes")
    axis.legend()
plt.show()

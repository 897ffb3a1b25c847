"""
CRC-32 of packets, and a test that it has not changed
=====================================================

Packets of a fixed length carry a CRC-32. A CRC is linear up to a constant, so packets obey 32
check equations, which can be found without knowing polynomial, reflection or initial value.
Once found, the equations serve as a regression test: it fails if a new build of the firmware
computes the check in a different way.
"""

# %%
# Packets
# -------
# Twelve bytes of telemetry, many of them constant or small, and the CRC-32 that zlib computes.
# A few packets are damaged.

import contextlib
import io
import tempfile
import zlib
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from flagstone import AffineSpan, IndexRule, load
from flagstone.cli import main
from flagstone.frames.digests import analyze
from flagstone.plots import OKABE_ITO, style

SEED, BYTES = 2026, 12


def packets(n: int, seed: int, crc=zlib.crc32) -> np.ndarray:
    """Return n packets as bytes, one in two hundred damaged."""
    random = np.random.RandomState(seed)
    data = random.randint(0, 256, size=(n, BYTES)).astype(np.uint8)
    data[:, 0], data[:, 1] = 0xA5, random.randint(0, 3, n)  # a header, and a kind of packet
    data[:, 2] = np.minimum(random.geometric(0.02, n), 255)
    check = np.array([crc(row.tobytes()) for row in data], dtype=">u4")
    rows = np.hstack([data, check.view(np.uint8).reshape(n, 4)])
    hit = np.flatnonzero(random.random_sample(n) < 0.005)
    rows[hit, random.randint(0, BYTES + 4, len(hit))] ^= np.uint8(0x10)
    return rows


good = packets(60_000, 1)
print(bytes(good[0]).hex(" "))

# %%
# Find it, name it
# ----------------

X = np.unpackbits(good, axis=1)
model = AffineSpan(rule=IndexRule(t_min=0.004, t_max=0.007), random_state=SEED).fit(X)
analysis = analyze(model.constraints_, X)
crc = analysis.digests[0]
print(f"{crc.name}: {crc.formula}")
print(f"{crc.rows_broken} of {crc.rows_verified:,} packets do not fit it")
print(model.guarantee_)

# %%
# A contract in the repository
# ----------------------------
# The finding goes into version control. The test runs one command on packets of the build under
# test: ``check`` counts the packets that break the contract, and exits with 4 if they are more
# than the tolerance. (``compare`` does the same for two findings.)

folder = Path(tempfile.mkdtemp())
model.finding_.save(folder / "contract.json")
print("fingerprint", load(folder / "contract.json").fingerprint[:16])


def other_start(data: bytes) -> int:
    """Return the CRC of a build that uses the wrong initial value."""
    return zlib.crc32(data, 0xFFFFFFFF)


def swapped(data: bytes) -> int:
    """Return the CRC of a build for a machine of the other byte order."""
    return int.from_bytes(zlib.crc32(data).to_bytes(4, "little"), "big")


BUILDS = {
    "1.0": zlib.crc32,
    "1.1": zlib.crc32,
    "1.2, other\ninitial value": other_start,
    "1.3": zlib.crc32,
    "1.4, bytes\nswapped": swapped,
}
COMMAND = "flagstone check contract.json build.hex --tolerance 0.02"
shares, codes = [], []
for number, (build, function) in enumerate(BUILDS.items()):
    rows = packets(2000, 100 + number, function)
    (folder / "build.hex").write_text("\n".join(bytes(row).hex() for row in rows) + "\n")
    bits = np.unpackbits(rows, axis=1)
    shares.append(float(np.mean(model.predict(bits) == -1)))
    print(f"\n$ {COMMAND}    # build {build.split(',')[0]}")
    said = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(said):
        try:
            main(COMMAND.split()[1:])
        except SystemExit as stop:
            codes.append(stop.code or 0)
    lines = said.getvalue().splitlines()  # between them: which equations, how many packets
    print(lines[0], lines[-1], sep="\n")
    print(f"(exit code {codes[-1]})")

# %%
# Or learn the rule of the build under test anew, and compare findings: bit for bit the same, or
# not.

for build in ("1.3", "1.4, bytes\nswapped"):
    bits = np.unpackbits(packets(60_000, 200, BUILDS[build]), axis=1)
    anew = AffineSpan(rule=IndexRule(t_min=0.004, t_max=0.007), random_state=SEED).fit(bits)
    said = "the same" if anew.fingerprint_ == model.fingerprint_ else "ANOTHER RULE"
    print(f"build {build.split(',')[0]}: {anew.fingerprint_[:16]}, {said}")

# %%
# What the test sees
# ------------------

with style():
    fig, axis = plt.subplots(figsize=(7, 3), layout="constrained")
    colors = [OKABE_ITO["vermillion"] if code else OKABE_ITO["blue"] for code in codes]
    bars = axis.bar(range(len(BUILDS)), [100 * share for share in shares], color=colors)
    for bar, share, code in zip(bars, shares, codes, strict=True):
        said = "fails, exit code 4" if code else "passes"
        axis.annotate(
            f"{100 * share:.1f} %\n{said}",
            (bar.get_x() + bar.get_width() / 2, bar.get_height()),
            ha="center",
            va="bottom",
            xytext=(0, 2),
            textcoords="offset points",
            fontsize=8,
        )
    axis.set_xticks(range(len(BUILDS)), [f"build {build}" for build in BUILDS])
    axis.set_ylabel("packets that break\nthe contract (%)")
    axis.set_ylim(0, 125)
    axis.grid(axis="x", visible=False)
plt.show()

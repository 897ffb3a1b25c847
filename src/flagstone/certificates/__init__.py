"""Promises from the data at hand: what fresh samples of the same source will do, at a confidence.

The bounds of `flagstone.guarantees` hold for every distribution, before any row is seen, and ask
for millions of rows. Real data have a gap: some directions are frequent, the others rare. A
certificate proves *from the rows* that fresh samples find the same gap, and so the same space
(docs/theory/certificates.md).

===============  ==============================================================================
module           what it does
===============  ==============================================================================
`plan`           decides on pilot rows what to look at
`spaces`         nested spaces of the pilot; where rows lie among them
`pieces`         cuts rows into independent pieces whose sets add up
`collector`      one pass over the certifying rows: counts, pieces; merges over shards
`evidence`       from the pieces seen to sums of fresh ones
`bands`          the same for histograms, by bands of counts
`claims`         everything that is proven of each space, with δ shared out
`window`         from certified spaces to ρ for a window of thresholds
`certificate`    `Certificate`, the outcome as a value
`certifier`      `Certifier`, the way through all of it
===============  ==============================================================================
"""

from flagstone.certificates.bands import Bands
from flagstone.certificates.certifier import Certifier
from flagstone.certificates.collector import Collector
from flagstone.certificates.evidence import Evidence, rates
from flagstone.certificates.pieces import Cut, Cutter
from flagstone.certificates.plan import Plan, pilot_rows, pilot_share
from flagstone.certificates.spaces import NestedSpaces
from flagstone.certificates.window import (
    Bounds,
    CertifiedSpace,
    heavy_window,
    index_window,
    mean_failure,
)
from flagstone.guarantees.certificate import Certificate

__all__ = [
    "Bands",
    "Bounds",
    "Certificate",
    "CertifiedSpace",
    "Certifier",
    "Collector",
    "Cut",
    "Cutter",
    "Evidence",
    "NestedSpaces",
    "Plan",
    "heavy_window",
    "index_window",
    "mean_failure",
    "pilot_rows",
    "pilot_share",
    "rates",
]

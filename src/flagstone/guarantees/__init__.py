"""Every bound, length of a window and sample size that flagstone promises, and nothing else.

One function per statement of docs/theory; the numbers S1, S2, … are the statements' numbers there.
Letters: d = `dim`, m = `n_rows`, T = `length` of the window, k = `start`, R = `shards`.

===================  ==========================================================================
module               statements
===================  ==========================================================================
`paper`              the paper's T_max and m: printed, and with the corrected sensitivity
`rules`              both rules: the paper's Algorithm 1 with sharper bounds, and the index rule
`contamination`      outliers: containment, binomial tail, two adversaries
`sample`             what the flag of one sample shows: coverage, margin
`coverage`           what the answer misses of the distribution; PAC sizes over every field
`gap`                rows that suffice for a distribution with a stated gap
`binomial`           tails and Clopper–Pearson bounds, for those two and for certificates
`learners`           sizes for the parity learner, and for the pure-DP learner, for comparison
`planning`           rows needed under each analysis, as a table
`promise`            `Guarantee`: what is proven for one fit, certified by its data, measured; and
                     `Window`: where thresholds are drawn from
`certificate`        `Certificate`: what a second look at the rows certifies
===================  ==========================================================================
"""

from flagstone.guarantees.certificate import Certificate
from flagstone.guarantees.contamination import (
    adaptive_adversary_rho,
    adversary_length,
    blind_adversary_rho,
    check_contamination,
    containment_failure,
    outlier_start,
    outlier_start_for_failure,
)
from flagstone.guarantees.coverage import (
    contains_failure,
    counted_certificate,
    coverage_certificate,
    coverage_rows,
    future_coverage,
    pac_rows,
    pac_start,
    values_certificate,
)
from flagstone.guarantees.each import each_length, each_rho, each_rows
from flagstone.guarantees.gap import gap_rho, gap_rows
from flagstone.guarantees.learners import (
    generalization_rows,
    parity_error,
    parity_failure,
    parity_rows,
)
from flagstone.guarantees.paper import paper_gap, paper_length, paper_rows
from flagstone.guarantees.planning import Plan, PlanRow, plan
from flagstone.guarantees.private import (
    PrivateSizes,
    private_rows,
    private_sizes,
    private_span_rho,
    private_span_rows,
    private_span_start,
)
from flagstone.guarantees.promise import (
    Asked,
    Certified,
    Counted,
    Guarantee,
    Measured,
    Proven,
    Setup,
    Window,
)
from flagstone.guarantees.rules import (
    heavy_length,
    heavy_length_for_eps,
    heavy_proves,
    heavy_rho,
    heavy_rows,
    heavy_uncovered,
    index_constant,
    index_length,
    index_length_for_eps,
    index_proves,
    index_rho,
    index_rows,
    index_uncovered,
)
from flagstone.guarantees.sample import (
    heavy_margin,
    index_margin,
    rows_in_first_sets,
    uncovered_bracket,
)

__all__ = [
    "Asked",
    "Certificate",
    "Certified",
    "Counted",
    "Guarantee",
    "Measured",
    "Plan",
    "PlanRow",
    "PrivateSizes",
    "Proven",
    "Setup",
    "Window",
    "adaptive_adversary_rho",
    "adversary_length",
    "blind_adversary_rho",
    "check_contamination",
    "containment_failure",
    "contains_failure",
    "counted_certificate",
    "coverage_certificate",
    "coverage_rows",
    "each_length",
    "each_rho",
    "each_rows",
    "future_coverage",
    "gap_rho",
    "gap_rows",
    "generalization_rows",
    "heavy_length",
    "heavy_length_for_eps",
    "heavy_margin",
    "heavy_proves",
    "heavy_rho",
    "heavy_rows",
    "heavy_uncovered",
    "index_constant",
    "index_length",
    "index_length_for_eps",
    "index_margin",
    "index_proves",
    "index_rho",
    "index_rows",
    "index_uncovered",
    "outlier_start",
    "outlier_start_for_failure",
    "pac_rows",
    "pac_start",
    "paper_gap",
    "paper_length",
    "paper_rows",
    "parity_error",
    "parity_failure",
    "parity_rows",
    "plan",
    "private_rows",
    "private_sizes",
    "private_span_rho",
    "private_span_rows",
    "private_span_start",
    "rows_in_first_sets",
    "uncovered_bracket",
    "values_certificate",
]

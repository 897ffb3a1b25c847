"""Every bound, length of a window and sample size that flagstone promises, and nothing else.

One function per statement of docs/theory; the numbers S1, S2, … are the statements' numbers there.
Letters: d = `dim`, m = `n_rows`, T = `length` of the window, k = `start`, R = `shards`.

=============  ================================================================================
module         statements
=============  ================================================================================
`rules`        both rules: the paper's Algorithm 1 with sharper bounds, and the index rule; single
               equations; margins and coverage of one flag; outliers
`coverage`     what the answer misses of the distribution, from the rows at hand
`planning`     rows needed: `plan`, PAC sizes over every field, sizes for a stated gap
`paper`        the paper's sizes, printed and corrected; its parity learner; private learners
`promise`      `Guarantee`: what is proven for one fit, certified by its data, measured; `Window`:
               where thresholds are drawn from; `Certificate`: what a second pass certifies
`binomial`     tails and Clopper–Pearson bounds
`exact`        arithmetic without rounding, and checks of arguments
=============  ================================================================================
"""

from flagstone.guarantees.coverage import (
    contains_failure,
    counted_certificate,
    coverage_certificate,
    future_coverage,
    values_certificate,
)
from flagstone.guarantees.paper import (
    PrivateSizes,
    generalization_rows,
    paper_gap,
    paper_length,
    paper_rows,
    parity_error,
    parity_failure,
    parity_rows,
    private_rows,
    private_sizes,
    private_span_rho,
    private_span_rows,
    private_span_start,
)
from flagstone.guarantees.planning import (
    Plan,
    PlanRow,
    coverage_rows,
    each_rows,
    gap_rho,
    gap_rows,
    pac_rows,
    pac_start,
    plan,
)
from flagstone.guarantees.promise import (
    Asked,
    Certificate,
    Certified,
    Counted,
    Guarantee,
    Measured,
    Proven,
    Setup,
    Window,
)
from flagstone.guarantees.rules import (
    RuleBounds,
    adaptive_adversary_rho,
    adversary_length,
    blind_adversary_rho,
    check_contamination,
    containment_failure,
    each_length,
    each_rho,
    heavy_length,
    heavy_length_for_eps,
    heavy_margin,
    heavy_proves,
    heavy_rho,
    heavy_rows,
    heavy_uncovered,
    index_constant,
    index_length,
    index_length_for_eps,
    index_margin,
    index_proves,
    index_rho,
    index_rows,
    index_uncovered,
    outlier_start,
    outlier_start_for_failure,
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
    "RuleBounds",
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

"""How many rows a promise needs: `plan` for each analysis as a table, and the sizes by themselves.

Proofs: docs/theory/certificates.md, S35, S36 and S37; docs/theory/single.md, S44.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from flagstone.algebra.fields import FieldLike, as_field
from flagstone.guarantees.binomial import binomial_above, binomial_below, binomial_least
from flagstone.guarantees.exact import Share, at_least, check_share, exact, positive, smallest
from flagstone.guarantees.paper import generalization_rows, paper_length, paper_rows
from flagstone.guarantees.rules import (
    bounds_of,
    check_contamination,
    each_length,
    outlier_start,
    outlier_start_for_failure,
)
from flagstone.markup import card, table

#: The analysis of single equations.
EACH = "index, each equation"


@dataclass(frozen=True)
class PlanRow:
    """One analysis: rows needed, and the length T and first threshold of the window at that size.

    `rows` is None where the analysis promises nothing for what was asked.
    """

    analysis: str
    rows: int | None
    length: int | None
    t_min: int


@dataclass(frozen=True)
class Plan:
    """Rows needed for a promise, by the paper's and by our analysis. Printable; see `plan`."""

    dim: int
    rho: float
    eps: float
    delta: float | None
    field: str
    contamination: float
    entries: tuple[PlanRow, ...]
    generalization_rows: int | None

    def __getitem__(self, analysis: str) -> PlanRow:
        """The line of one analysis, by its name."""
        for entry in self.entries:
            if entry.analysis == analysis:
                return entry
        raise KeyError(f"no analysis {analysis!r}; there are {[e.analysis for e in self.entries]}")

    def __iter__(self) -> Iterator[PlanRow]:
        """The lines, in order."""
        return iter(self.entries)

    @property
    def rows(self) -> int | None:
        """The rows needed by the rule used by default."""
        return self["index"].rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self) | {"entries": [asdict(entry) for entry in self.entries]}

    def _title(self) -> str:
        asked = f"rho = {self.rho:g}, eps = {self.eps:g}"
        if self.delta is not None:
            asked += f", delta = {self.delta:g}"
        if self.contamination:
            asked += f", contamination = {self.contamination:g}"
        return f"Rows of dimension {self.dim} over {self.field}: {asked}"

    def _notes(self) -> list[str]:
        future = " (for future rows: delta)" if self.delta is None else ""
        notes = [
            "for every distribution, with independent rows: two samples disagree with probability "
            f"at most rho; at most eps of the rows of a sample are left out{future}"
        ]
        if self.contamination and self.delta is None:
            notes.append(
                "damaged rows, fewer than first t, add nothing to the answer; at exactly the "
                "stated share about half of all samples have more (with delta there is room)"
            )
        if self.delta is not None:
            notes.append(
                "ours: with probability 1 - delta at most eps of future rows lie outside the "
                "answer: the error of a parity rule, of an affine span, of a subspace"
            )
            if self.generalization_rows is None:
                notes.append(
                    "paper: counts the linear rules, which are infinitely many over "
                    f"{self.field}, so that it gives no delta"
                )
            else:
                notes.append(
                    "paper: half of eps for rows left out, half for generalization, which alone "
                    f"needs {_number(self.generalization_rows)} rows"
                )
        each = self.entries[-1].analysis == EACH
        if each:
            notes.append(
                f"{EACH}: for any equation or row fixed in advance; the coins draw how many of "
                "these rows are used, more than half of them (draw_rows)"
            )
        if self.contamination and self.delta is not None:
            notes.append(
                "first t leaves room for more damaged rows than the stated share, since about half "
                "of all samples have more: pass it as t_min, and t_max = first t + T - 1"
            )
        if any(entry.rows is None for entry in self.entries) and self.contamination:
            heavy = "d(d+1)/2" if self.delta is None else "d²"
            notes.append(
                "–: not proven for any number of rows (the paper has no statement on outliers; "
                f"ours need contamination × d < eps, for the heavy rule × {heavy}"
                + f", for {EACH} × 2d" * each
                + ")"
            )
        notes.append(
            "paper, heavy: Algorithm 1 of the paper, with its bounds as printed (the proof uses "
            "half the true sensitivity; S16 proves the theorem), corrected, and sharper; "
            "index: the default rule"
        )
        return notes

    def _cells(self) -> list[tuple[str, str, str, str]]:
        lines = [("analysis", "rows needed", "length T", "first t")]
        for entry in self.entries:
            known = entry.rows is not None
            first = _number(entry.t_min) if known else "–"
            lines.append((entry.analysis, _number(entry.rows), _number(entry.length), first))
        return lines

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(line[i]) for line in cells) for i in range(4)]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in cells
        ]
        lines.insert(1, "  ".join("─" * width for width in widths))
        return "\n".join([self._title(), "", *lines, "", *(f"· {n}" for n in self._notes())])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        notes = table([(f"· {note}",) for note in self._notes()])
        return card(self._title(), table(body, head=head), notes)


def _number(value: int | None) -> str:
    """An integer for people: grouped digits, or two significant ones and a power of ten."""
    if value is None:
        return "–"
    if value < 10**12:
        return f"{value:,}"
    power = len(str(value)) - 1
    lead = math.ceil(Fraction(value, 10 ** (power - 1)))
    if lead == 100:
        lead, power = 10, power + 1
    return f"{lead / 10:g} × 10^{power}"


def plan(
    dim: int,
    rho: float,
    eps: float = 0.1,
    delta: float | None = None,
    field: FieldLike = 2,
    contamination: float = 0.0,
    each: bool = False,
) -> Plan:
    """Rows that prove a promise, by the paper's analysis and by that of this library.

    Parameters
    ----------
    dim : int
        Dimension of the whole rows: for (x, y) one more than the features.
    rho : float
        Allowed probability that two samples give different answers.
    eps : float, default 0.1
        Allowed share of the rows that the answer may leave out.
    delta : float, optional
        Then `eps` is about future rows: with probability 1 - delta the answer (a parity rule,
        an affine span, a subspace of the positive rows) is wrong on at most eps of them.
    field : field specification, default 2
        Only matters for the paper's analysis with `delta`, which counts the linear rules.
    contamination : float, default 0.0
        Largest share of rows that may be outliers; with `delta`, the probability that a row is one,
        and samples may have more of them.
    each : bool, default False
        Whether to plan for single equations, too: two samples agree on any equation, or row, that
        is fixed in advance, with probability 1 - rho. `rows` are then those to draw from
        (``IndexRule(draw_rows=…, t_max=t_min + length - 1)``).

    Returns
    -------
    Plan
        `print` it, read `plan["index"].rows`, or call `to_dict()`. Four analyses: "paper
        (printed)", "paper (corrected)", "heavy (sharp)", "index"; with ``each`` also "index, each
        equation".

    Examples
    --------
    >>> print(plan(20, rho=0.05, eps=0.1))
    Rows of dimension 20 over GF(2): rho = 0.05, eps = 0.1
    <BLANKLINE>
    analysis              rows needed         length T  first t
    ─────────────────  ──────────────  ───────────────  ───────
    paper (printed)       1.4 × 10^15  339,967,130,492        1
    paper (corrected)     2.5 × 10^15  604,386,009,763        1
    heavy (sharp)      53,760,000,000       25,600,000        1
    index                 205,332,000        1,026,660        1
    <BLANKLINE>
    · for every distribution, with independent rows: two samples disagree with probability at most \
rho; at most eps of the rows of a sample are left out (for future rows: delta)
    · paper, heavy: Algorithm 1 of the paper, with its bounds as printed (the proof uses half the \
true sensitivity; S16 proves the theorem), corrected, and sharper; index: the default rule
    """
    d, r, e = positive("dim", dim), check_share("rho", rho), check_share("eps", eps)
    c, F = check_contamination(contamination), as_field(field)
    general = None if delta is None else generalization_rows(d, eps, delta, order=F.order)

    def papers(corrected: bool) -> int | None:
        if c or (delta is not None and general is None):
            return None
        rows = paper_rows(d, rho, e if delta is None else e / 2, corrected=corrected)
        return max(rows, general or 0)

    def entry(analysis: str, rows: int | None, length: Callable[[int, int], float]) -> PlanRow:
        """The line of an analysis; ``length`` is T for m rows and a start k."""
        if rows is None:
            return PlanRow(analysis, None, None, 1)
        k = outlier_start(rows, c) if delta is None else pac_start(rows, c, delta)
        return PlanRow(analysis, rows, math.ceil(length(rows, k)), k + 1)

    def ours(analysis: str, rule: str) -> PlanRow:
        bounds = bounds_of(rule)
        if delta is None:
            rows = bounds.rows(d, rho, eps, contamination=c)
        else:
            rows = pac_rows(d, rho, eps, delta, rule=rule, contamination=c)
        return entry(analysis, rows, lambda m, k: bounds.promised_length(d, rho, m, start=k))

    printed, corrected = papers(corrected=False), papers(corrected=True)
    entries = [
        entry("paper (printed)", printed, lambda m, k: paper_length(d, rho, m)),
        entry("paper (corrected)", corrected, lambda m, k: paper_length(d, rho, m, corrected=True)),
        ours("heavy (sharp)", "heavy"),
        ours("index", "index"),
    ]
    if each:
        rows = each_rows(d, rho, eps, delta, contamination=c)
        entries.append(entry(EACH, rows, lambda m, k: each_length(rho)))
    return Plan(
        dim=d,
        rho=float(r),
        eps=float(e),
        delta=None if delta is None else float(delta),
        field=F.name,
        contamination=c,
        entries=tuple(entries),
        generalization_rows=general,
    )


def coverage_rows(dim: int, threshold: int, eps: Share, delta: Share) -> int:
    """Rows with which P[v ∉ V_t] ≤ ε at confidence 1 - δ: P[Bin(m, ε) < d·t] ≤ δ (S36).

    For every distribution over every field; `threshold` is the largest t that can be drawn.

    Examples
    --------
    >>> m = coverage_rows(10, 100, 0.1, 0.05)
    >>> binomial_below(m, 0.1, 1000) <= 0.05 < binomial_below(m - 1, 0.1, 1000)
    True
    """
    entries = positive("dim", dim) * positive("threshold", threshold)
    e, share = float(check_share("eps", eps)), float(check_share("delta", delta))
    return smallest(lambda m: binomial_below(m, e, entries) <= share, start=entries)


def pac_start(n_rows: int, contamination: Share, delta: Share) -> int:
    """k, the outliers to allow for: more than k of m i.i.d. rows with probability ≤ δ/2 (S37).

    Examples
    --------
    A share of 10 % is exceeded by half of all samples; this start hardly ever:

    >>> from flagstone.guarantees import outlier_start
    >>> outlier_start(1000, 0.1), pac_start(1000, 0.1, 0.01), pac_start(1000, 0.0, 0.01)
    (100, 125, 0)
    """
    share = check_share("delta", delta)
    if not contamination:
        return 0
    return outlier_start_for_failure(n_rows, float(contamination), float(share / 2))


def pac_rows(
    dim: int,
    rho: Share,
    eps: Share,
    delta: Share,
    *,
    rule: str = "index",
    start: int = 0,
    contamination: Share = 0.0,
) -> int | None:
    """Rows with which an answer is ρ-replicable and (ε, δ)-PAC, every field (S37).

    A parity rule is right on all of U*, an affine span and a subspace rule accept all of it: what
    they get wrong lies outside. So no half of ε goes to generalization, and the number of rules
    plays no role: the bound holds over QQ, too. With outliers, a row being one with probability
    `contamination`, the window begins after `pac_start`, half of δ pays for more of them, and ε
    counts them as rows to be covered: None if that cannot be, which happens when
    d·contamination ≥ ε (heavy rule: d²·contamination).

    Examples
    --------
    >>> from flagstone.guarantees import parity_rows
    >>> f"{pac_rows(21, 0.05, 0.1, 0.05):.2g} instead of {parity_rows(21, 0.05, 0.1, 0.05):.2g}"
    '2.4e+08 instead of 4.8e+08'
    >>> pac_rows(5, 0.1, 0.2, 0.05, contamination=0.05) is None
    True
    """
    d, e, share = positive("dim", dim), check_share("eps", eps), check_share("delta", delta)
    k0, c = at_least("start", start, 0), exact(check_contamination(contamination))
    bounds = bounds_of(rule)
    each = bounds.per_set(d)  # rows that one more threshold may leave out
    if c * each >= e:
        return None
    miss = float(share / 2 if c else share)

    def enough(m: int) -> bool:
        k = max(k0, pac_start(m, float(c), delta))
        T = bounds.promised_length(d, rho, m, start=k)
        return binomial_below(m, float(e), each * math.ceil(k + T)) <= miss

    return smallest(enough)


def each_rows(
    dim: int,
    rho: Share,
    eps: Share,
    delta: Share | None = None,
    *,
    contamination: Share = 0.0,
) -> int | None:
    """Rows 2M to collect, of which the coins use more than M, for S44 and coverage 1 - ε.

    Without delta, of the rows used at most ε lie outside: d(k+T-1) ≤ ε(M+1). With delta, of future
    rows, as in `pac_rows`. None where no number of rows is enough.

    Examples
    --------
    >>> each_rows(20, 0.05, 0.1)
    426398
    >>> each_rows(10, 0.1, 0.1, contamination=0.01) is None  # 2·d·contamination < eps is needed
    True
    """
    d, e, T = positive("dim", dim), check_share("eps", eps), each_length(rho)
    c = exact(check_contamination(contamination))
    if 2 * d * c >= e:
        return None
    if delta is None:
        return 2 * smallest(lambda M: d * (math.ceil(2 * c * M) + T - 1) <= e * (M + 1))
    miss = float(check_share("delta", delta) / (2 if c else 1))

    def enough(M: int) -> bool:
        k = pac_start(2 * M, float(c), delta)
        return binomial_below(M + 1, float(e), d * (k + T)) <= miss

    return 2 * smallest(enough)


def gap_rho(
    rank: int,
    t_min: int,
    t_max: int,
    n_rows: int,
    *,
    p_in: Share,
    p_out: Share,
    shards: int = 1,
) -> float:
    """Two samples disagree with at most this probability, for t in {t_min..t_max} (S35).

    2·(P[Bin(m, p_in) < r·t_max + (R-1)(r-1)] + P[Bin(m, p_out) ≥ t_min]), for a distribution with a
    gap: V is a space of dimension r = `rank`; `p_in` is the least probability, over the hyperplanes
    U of V, that a row lies in V but not in U; `p_out` the probability that it lies outside V.

    Notes
    -----
    **Guarantees**

    For flags in arrival order, merged or not. Each sample gives V itself with probability at least
    1 minus half of the value. A value ≥ 1 says nothing.

    Examples
    --------
    >>> gap_rho(34, 101, 160, 50_000, p_in=0.2, p_out=0.0005) < 1e-6
    True
    """
    r, m = at_least("rank", rank, 0), positive("n_rows", n_rows)
    first, last = positive("t_min", t_min), at_least("t_max", t_max, t_min)
    lost = (positive("shards", shards) - 1) * (r - 1)
    inside = binomial_below(m, float(check_share("p_in", p_in)), r * last + lost) if r else 0.0
    return 2 * (inside + binomial_above(m, float(check_share("p_out", p_out)), first - 1))


def gap_rows(rank: int, rho: Share, *, p_in: Share, p_out: Share) -> int | None:
    """Rows with which some threshold is proven ρ-replicable (S35); None unless p_in > r·p_out.

    When p_in ≥ 4r·p_out these are O(r·ln(1/ρ)/p_in) rows, where every distribution at once takes
    6.6·d³/(ρ²ε).

    Examples
    --------
    >>> gap_rows(34, 0.01, p_in=0.2, p_out=0.0005)
    827
    >>> gap_rows(34, 0.01, p_in=0.2, p_out=0.02) is None
    True
    """
    r, asked = at_least("rank", rank, 0), float(check_share("rho", rho))
    inner, outer = check_share("p_in", p_in), check_share("p_out", p_out)
    if inner <= r * outer:
        return None

    def enough(m: int) -> bool:
        t = 1 + binomial_least(m, float(outer), asked / 4)  # one half of ρ for each side
        return gap_rho(r, t, t, m, p_in=p_in, p_out=p_out) <= asked

    return smallest(enough)

"""A second look at the rows of an answer: what they certify about fresh samples."""

from __future__ import annotations

from dataclasses import replace

from flagstone.certificates import Certifier, pilot_rows
from flagstone.errors import InputError
from flagstone.fields import Rows
from flagstone.finding import Finding
from flagstone.flag import Flag
from flagstone.guarantees import Guarantee
from flagstone.guarantees.coverage import SHARE_OF_PASS
from flagstone.guarantees.exact import Share, check_share
from flagstone.histogram import Histogram
from flagstone.repeats import Repeats

__all__ = ["Certification"]


class Certification:
    """One pass over the rows of a finding, in the order of the fit.

    The first tenth, the pilot, decides what to look at; the other rows certify it
    (docs/theory/certificates.md, S30 to S38). Memory: a few flags.

    Parameters
    ----------
    finding : Finding
        With promises for rows that were counted one by one.
    confidence : float, default 0.99

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import Coins, Flag, IndexRule, SpanQuestion, ask
    >>> random = np.random.RandomState(1)
    >>> X = random.randint(0, 2, size=(5000, 3))
    >>> X[:, 2] = X[:, 0] ^ X[:, 1] ^ (random.random_sample(5000) < 0.01)
    >>> rule = IndexRule(t_min=101, t_max=600)
    >>> finding = ask(Flag(3).update(X), SpanQuestion(), rule, Coins(7))
    >>> promises = Certification(finding).update(finding.field.rows(X)).certified().promises
    >>> print(promises.certificate)
    certified at 99.2 % confidence, from 4500 rows: two samples of 5000 rows agree with probability
    ≥ 0.9995; a fresh one gives this space with probability ≥ 1 - 2e-87; at most 1.62 % of the rows
    to come lie outside
    """

    def __init__(self, finding: Finding, *, confidence: Share = 0.99) -> None:
        promises = finding.promises
        if promises is None or finding.flag is None:
            raise InputError("a bare answer has no window and no flag: there is nothing to certify")
        self._finding, self._promises = finding, promises
        self.confidence = float(check_share("confidence", confidence))
        self._pilot: Flag | Histogram = (Histogram if promises.in_values else Flag)(
            finding.flag.dim, finding.field
        )
        self._certifier: Certifier | None = None
        self._repeats = Repeats()
        self.n_rows = 0

    def update(self, rows: Rows) -> Certification:
        """Take more lifted rows, in the order of the fit, and return self."""
        m = self._promises.n_rows
        self._repeats.update(self._finding.field.matrix(rows))
        self.n_rows += len(rows)
        if self._certifier is None:
            left = pilot_rows(m) - self._pilot.n_rows
            self._pilot.update(rows[:left])
            rows = rows[left:]
            if self._pilot.n_rows == pilot_rows(m) < m:
                window = self._promises.window
                self._certifier = Certifier.plan(
                    self._pilot,
                    m,
                    rule=window.rule,
                    t_min=window.t_min,
                    t_max=window.t_max,
                    confidence=1 - SHARE_OF_PASS * (1 - self.confidence),
                )
        if self._certifier is not None and len(rows):
            self._certifier.update(rows)
        return self

    def forecast(self, factor: float) -> float | None:
        """Return the rho that so many times the rows, like these, would certify; None for none."""
        return None if self._certifier is None else self._certifier.forecast(factor)

    def certified(self) -> Finding:
        """Return the finding with what all its rows certify."""
        promises = self._promises
        if self.n_rows != promises.n_rows:
            raise InputError(
                f"an answer is certified on the rows of its fit: {promises.n_rows:,} of them, got "
                f"{self.n_rows:,}"
            )
        return replace(self._finding, promises=self._certified(promises))

    def _certified(self, promises: Guarantee) -> Guarantee:
        if self._repeats.beyond_chance and not promises.withheld:
            return promises.withhold(f"rows repeat in runs: {self._repeats}")
        if self._certifier is None or promises.withheld:
            return promises
        flag, subspace = self._finding.flag, self._finding.subspace
        assert flag is not None
        assert subspace is not None
        certificate = self._certifier.certificate(
            subspace,
            threshold=promises.threshold,
            rho=promises.rho_asked or 0.05,
            runs=promises.n_shards,
        )
        return replace(promises, certificate=certificate, confidence=self.confidence).with_coverage(
            flag.counts.tolist(), subspace.dim
        )

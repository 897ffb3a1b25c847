"""LinearEquations: a small system equivalent to a large one."""

from __future__ import annotations

from typing import Any

from flagstone.algebra.fields import Array
from flagstone.answers import Contradiction, LinearSystem
from flagstone.coins import Coins
from flagstone.errors import BottomError, Parameter
from flagstone.estimators._base import SpanEstimator
from flagstone.estimators.contracts import documented
from flagstone.estimators.labels import label_vector
from flagstone.question import EquationsQuestion
from flagstone.tables.memory import decimal_fractions


@documented
class LinearEquations(SpanEstimator):
    """A small system of equations that most of the given ones follow from.

    Fit on equations ⟨a_i, x⟩ = b_i, given as X (the rows a_i) and y (the b_i). The kept system
    has at most n_features + 1 equations, comes out the same on a fresh sample with the
    probability that ``guarantee_`` reports, and each of its solutions satisfies all but an ε
    of the given equations: the synthetic linear equations of [NST26]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    answer_ : LinearSystem
        The kept equations, as a value: prints, compares, solves itself.
    is_feasible_ : bool
    solution_ : array of shape (n_features,) or None
        The lexicographically smallest solution (free unknowns 0 over QQ).
    formula_ : str
        The kept equations, one per line.
    fingerprint_ : str
        SHA-256 of the kept system.
    {attributes}

    Notes
    -----
    **Guarantees**

    - The kept equations are consequences of the given ones; when these have a common
      solution, so has the kept system.
    - Every solution of the kept system satisfies all covered equations; coverage and
      replicability as stated by ``guarantee_``.
    - When the kept system has no solution it contains 0 = 1, and :meth:`contradiction` derives
      that from at most n_features + 1 of the given equations.

    See Also
    --------
    ParityClassifier : One solution, chosen by published coins.

    References
    ----------
    {references}

    Examples
    --------
    >>> import numpy as np
    >>> from flagstone import LinearEquations
    >>> A = np.random.RandomState(0).randint(0, 2, size=(900, 3))
    >>> b = A[:, 0] ^ A[:, 2]                             # the solution x = (1, 0, 1)
    >>> fitted = LinearEquations(random_state=2026).fit(A, b)
    >>> print(fitted.formula_)
    x0 = 1
    x1 = 0
    x2 = 1
    >>> fitted.solve().tolist()
    [1, 0, 1]
    """

    def _labels(self, y: Any, n_rows: int) -> Array:
        values = label_vector(y, n_rows, type(self).__name__)
        if self._field.order is None:
            values = decimal_fractions(values, "y")
        return self._field.elements(values)

    @property
    def _question(self) -> EquationsQuestion:
        return EquationsQuestion()

    @property
    def answer_(self) -> LinearSystem:
        """The kept equations, as a value: they print, compare and solve themselves."""
        answer = self._ask().answer
        assert isinstance(answer, LinearSystem)
        return answer

    @property
    def _emptiness(self) -> list[str | Parameter]:
        if self.is_feasible_ or self.is_empty_:
            return super()._emptiness
        more = "more " if self._rule().contamination else ""
        advice = [f"; contradiction(X, y) shows which clash; if some are wrong, allow for {more}"]
        return [*super()._emptiness, *advice, "wrong rows with ", Parameter("contamination")]

    @property
    def is_feasible_(self) -> bool:
        """Whether the kept system has a solution."""
        return self.answer_.is_feasible

    @property
    def solution_(self) -> Array | None:
        """The lexicographically smallest solution; None when there is none."""
        return self.answer_.solve() if self.is_feasible_ else None

    def solve(self, choice: str = "lexmin") -> Array:
        """Return a solution: the lexicographically smallest, or a uniform one by the coins.

        Raises
        ------
        BottomError
            When the kept system has no solution.
        """
        if not self.is_feasible_:
            raise BottomError(
                "the kept equations have no solution: they include 0 = 1; contradiction(X, y) "
                "shows which of the given ones clash"
            )
        return self.answer_.solve(choice=choice, coins=Coins(self.random_state_))

    def contradiction(self, X: Any = None, y: Any = None) -> Contradiction | None:
        """Derive 0 = 1 when the kept system is infeasible; None when it is feasible.

        Parameters
        ----------
        X, y : optional
            The given equations. With them the derivation uses their row numbers, without
            them the rows of ``answer_``, whose last equation then reads 0 = 1.
        """
        system = self.answer_
        if system.is_feasible or X is None:
            return system.contradiction
        return system.derive_contradiction(*self._given(X, y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

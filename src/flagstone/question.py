"""Question: what a row consists of, and how a subspace is read as an answer.

===============  ================  ====================================  ======================
kind             rows              verb                                  estimator
===============  ================  ====================================  ======================
``span``         (x)               ``constraints --linear``              :class:`LinearSpan`
``constraints``  (x, 1)            ``constraints``                       :class:`AffineSpan`
``parity``       (x, y), (x, 1, y) ``learn``                             :class:`ParityClassifier`
``equations``    (x, y)            ``equations``                         :class:`LinearEquations`
``subspace``     (x), (x, 1), or 0 ``subspace``                          :class:`SubspaceClassifier`
===============  ================  ====================================  ======================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from flagstone.algebra import (
    AffineSubspace,
    Array,
    Field,
    Flag,
    Level,
    Plateau,
    Rows,
    Subspace,
    append_column,
    append_ones,
    keep_rows,
)
from flagstone.answers import (
    Answer,
    Constraints,
    LinearSystem,
    ParityRule,
    VectorCoins,
    check_choice,
)
from flagstone.errors import FormatError, InputError

Names: TypeAlias = "Sequence[str] | None"


@dataclass(frozen=True)
class Question:
    """What is asked of rows: one of the subclasses.

    Attributes
    ----------
    kind : str
        Its name in files, in JSON and in fingerprints.
    verb, estimator : str
        Who asks it on the command line, and in Python.
    labelled : bool
        Whether rows come with a label.
    answer_type : type of Answer

    Examples
    --------
    >>> from flagstone import GF, Coins, Subspace
    >>> question = ParityQuestion(intercept=True)
    >>> print(question.row, question.dim(20))
    (x, 1, y) 22
    >>> F = GF(2)
    >>> F.array(question.lift(F, F.rows([[0, 1]]), F.elements([1]))).tolist()
    [[0, 1, 1, 1]]
    >>> V = Subspace.span([[0, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1]])  # y = 1 + x0
    >>> print(question.read(V, Coins(7)))
    y = x0 ⊕ 1
    """

    kind: ClassVar[str]
    verb: ClassVar[str]
    estimator: ClassVar[str]
    labelled: ClassVar[bool] = False
    answer_type: ClassVar[type[Answer]] = Constraints

    @property
    def ones(self) -> bool:
        """Whether the row contains a constant 1."""
        return False

    @property
    def row(self) -> str:
        """What a row consists of: (x), (x, 1), (x, y) or (x, 1, y)."""
        return f"(x{', 1' if self.ones else ''}{', y' if self.labelled else ''})"

    def dim(self, n_features: int) -> int:
        """Return the dimension D of the rows, from the number of features."""
        return n_features + self.ones + self.labelled

    def check(self, field: Field) -> None:
        """Refuse what cannot be asked over the field."""

    def lift(self, field: Field, rows: Rows, labels: Array | None = None) -> Rows:
        """Return the rows whose span is taken."""
        if self.ones:
            rows = append_ones(field, rows)
        if not self.labelled:
            return rows
        if labels is None:
            raise InputError(f"the question {self.kind!r} needs a label for each row")
        return append_column(field, rows, labels)

    def read(
        self, V: Subspace, coins: VectorCoins | None = None, names: Names = None, target: str = "y"
    ) -> Answer:
        """Read the answer off the span V* of lifted rows; coins decide what V* leaves open.

        The equations of V*, or, if the row contains a 1, of {x : (x, 1) ∈ V*}.
        """
        space = AffineSubspace.from_homogeneous(V) if self.ones else V
        return Constraints.from_subspace(space, names=names)

    def has_answer(self, V: Subspace) -> bool:
        """Say whether the answer that is read off V* is not ⊥."""
        return True

    def misfits(
        self, answer: Any, rows: Rows, labels: Array | None, outside: Array | None
    ) -> Array | None:
        """Say for each row whether it breaks the answer; None if there is nothing to break.

        ``outside`` says for each row whether it lies outside V*, if V* is known.
        """
        return ~answer.check(rows) if outside is None else outside

    def predict(self, answer: Any, rows: Rows) -> Array:
        """Return for each row an element: the label, or 1 if the row fits and 0 if not."""
        # as numbers first: over QQ the elements are objects, and True would stay True
        return np.asarray(answer.check(rows)).astype(np.uint8).astype(answer.field.dtype)

    #: Whether only rows outside V* can break the answer.
    errs_outside: ClassVar[bool] = True
    #: What the answer is: "equations" of V*, a "rule" that is one, the "system" V* itself.
    about: ClassVar[str] = "equations"
    #: Whether, where no direction was kept, the coins alone make up what is predicted.
    coins_decide: ClassVar[bool] = False

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON values; :func:`question_from_dict` reads them back."""
        return {"kind": self.kind, **asdict(self), "row": self.row}


@dataclass(frozen=True)
class SpanQuestion(Question):
    """In which linear span do nearly all rows lie, that is, which equations Ax = 0 hold?"""

    kind: ClassVar[str] = "span"
    verb: ClassVar[str] = "constraints"
    estimator: ClassVar[str] = "LinearSpan"


@dataclass(frozen=True)
class ConstraintsQuestion(Question):
    """Which check equations Ax = b do the rows obey?"""

    kind: ClassVar[str] = "constraints"
    verb: ClassVar[str] = "constraints"
    estimator: ClassVar[str] = "AffineSpan"

    @property
    def ones(self) -> bool:
        return True


@dataclass(frozen=True)
class ParityQuestion(Question):
    """Which linear function of the features is the label?

    Parameters
    ----------
    intercept : bool
        Whether it may have a constant.
    choice : {"sparsest", "lexmin", "uniform"}
        Which function, where several fit V*.
    """

    kind: ClassVar[str] = "parity"
    about: ClassVar[str] = "rule"
    verb: ClassVar[str] = "learn"
    estimator: ClassVar[str] = "ParityClassifier"
    labelled: ClassVar[bool] = True
    answer_type: ClassVar[type[Answer]] = ParityRule
    coins_decide: ClassVar[bool] = True

    intercept: bool = False
    choice: str = "sparsest"

    @property
    def ones(self) -> bool:
        return self.intercept

    def check(self, field: Field) -> None:
        """Refuse a choice that does not exist over the field."""
        check_choice(self.choice, field)

    def read(
        self, V: Subspace, coins: VectorCoins | None = None, names: Names = None, target: str = "y"
    ) -> ParityRule:
        """Algorithm 2 after its first line (:meth:`ParityRule.from_subspace`)."""
        return ParityRule.from_subspace(
            V,
            coins=coins,
            choice=self.choice,
            fit_intercept=self.intercept,
            names=names,
            target=target,
        )

    def has_answer(self, V: Subspace) -> bool:
        """Say whether some rule fits V*: it does not contain the label alone."""
        return not V.contains(np.eye(V.ambient_dim, dtype=int)[-1:]).any()

    def first_rule(
        self, flag: Flag, ends: Sequence[tuple[int, Level]], start: int | float = 0
    ) -> Plateau | None:
        """Return the first plateau after threshold ``start`` whose space has a rule.

        ``ends`` are those of a rule of selection. None if the space lacks more than the label, as
        its rule may be one of few rows; or if the plateau is none.
        """
        end, dim = 0, flag.dim
        for last, level in ends:
            if end >= start and self.has_answer(flag.span_at(level.first)):
                found = Plateau(level.dim, end + 1, last)
                return None if level.dim < dim - 1 or found.breadth <= 1 else found
            end, dim = last, level.dim
        return None

    def misfits(
        self, answer: Any, rows: Rows, labels: Array | None, outside: Array | None
    ) -> Array | None:
        """Rows whose label is not the predicted one; None for ⊥."""
        return None if answer.is_bottom else np.asarray(answer.predict(rows) != labels)

    def predict(self, answer: ParityRule, rows: Rows) -> Array:
        """The value of the rule."""
        return answer.predict(rows)


@dataclass(frozen=True)
class EquationsQuestion(Question):
    """Which few equations do nearly all of the given ones (features and label) follow from?"""

    kind: ClassVar[str] = "equations"
    verb: ClassVar[str] = "equations"
    estimator: ClassVar[str] = "LinearEquations"
    about: ClassVar[str] = "system"
    labelled: ClassVar[bool] = True
    answer_type: ClassVar[type[Answer]] = LinearSystem

    def read(
        self, V: Subspace, coins: VectorCoins | None = None, names: Names = None, target: str = "y"
    ) -> LinearSystem:
        """V* itself, written as equations."""
        return LinearSystem.from_subspace(V, names=names)

    def misfits(
        self, answer: Any, rows: Rows, labels: Array | None, outside: Array | None
    ) -> Array | None:
        """Equations that do not follow from the kept ones."""
        if outside is None:
            outside = ~answer.span.contains(self.lift(answer.field, rows, labels))
        return outside

    def predict(self, answer: LinearSystem, rows: Rows) -> Array:
        """Equations have no label to predict."""
        raise InputError("a system of equations predicts nothing; check rows against it instead")


@dataclass(frozen=True)
class SubspaceQuestion(Question):
    """In which subspace do the positive examples lie? Negative ones count as zero rows.

    Parameters
    ----------
    affine : bool
        Whether it may miss the origin.
    """

    kind: ClassVar[str] = "subspace"
    verb: ClassVar[str] = "subspace"
    estimator: ClassVar[str] = "SubspaceClassifier"
    labelled: ClassVar[bool] = True
    errs_outside: ClassVar[bool] = False

    affine: bool = False

    @property
    def ones(self) -> bool:
        return self.affine

    @property
    def row(self) -> str:
        """The positive rows, and zeros in place of the negative ones."""
        return "(x, 1) or 0" if self.affine else "(x) or 0"

    def dim(self, n_features: int) -> int:
        """No row contains the label itself."""
        return n_features + self.ones

    def lift(self, field: Field, rows: Rows, labels: Array | None = None) -> Rows:
        """Blank the negative rows out, so that their number stays the same in both runs."""
        if labels is None or (len(labels) and not np.isin(labels, (field.zero, field.one)).all()):
            raise InputError(
                "the question 'subspace' needs a label for each row, 1 for positive examples and 0 "
                "for negative ones"
            )
        if self.ones:
            rows = append_ones(field, rows)
        return keep_rows(field, rows, np.asarray(labels != 0, dtype=bool))

    def misfits(
        self, answer: Any, rows: Rows, labels: Array | None, outside: Array | None
    ) -> Array | None:
        """Positive rows outside the subspace, and negative ones inside."""
        return np.asarray(answer.check(rows) != (labels != 0))


QUESTIONS: dict[str, type[Question]] = {
    question.kind: question
    for question in (
        SpanQuestion,
        ConstraintsQuestion,
        ParityQuestion,
        EquationsQuestion,
        SubspaceQuestion,
    )
}


def question_from_dict(data: Mapping[str, Any]) -> Question:
    """Read what :meth:`Question.to_dict` wrote."""
    try:
        kind = QUESTIONS[data["kind"]]
        question = kind(**{k: v for k, v in data.items() if k not in ("kind", "row")})
        for name, value in asdict(question).items():
            if type(value) is not type(getattr(kind, name)):
                raise TypeError(f"{name} = {value!r}")
    except (KeyError, TypeError) as error:
        raise FormatError(f"the question cannot be read ({error})") from error
    return question

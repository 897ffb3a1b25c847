"""Model and SummaryFile: what a run found, and what a run saw, with all it takes to repeat it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from flagstone.answers import Constraints, LinearSystem, ParityRule
from flagstone.errors import FlagstoneError, FormatError, InputError
from flagstone.fields import Array
from flagstone.flag import Flag
from flagstone.guarantees import Guarantee
from flagstone.histogram import Histogram
from flagstone.models._container import read_document, write_document
from flagstone.models._layout import LAYOUTS, Layout
from flagstone.models._span import SpanAnswer, subspace_from_dict, subspace_to_dict
from flagstone.subspace import Subspace
from flagstone.tables.encodings import Encoding

__all__ = ["Answer", "Model", "SummaryFile", "load", "save"]

Answer: TypeAlias = "ParityRule | Constraints | LinearSystem | SpanAnswer"

_ANSWERS: dict[str, tuple[str, Any]] = {
    "parity-rule": ("learn", ParityRule),
    "constraints": ("constraints", Constraints),
    "linear-system": ("equations", LinearSystem),
    "span": ("span", SpanAnswer),
}


@dataclass(frozen=True)
class Model:
    """An answer with everything needed to apply, judge and repeat it.

    Attributes
    ----------
    verb : str
        learn, span, constraints or equations.
    answer : ParityRule, Constraints, LinearSystem or SpanAnswer
    layout : Layout
        What the rows of the span hold beside the features.
    encoding : Encoding or None
        How a table becomes rows; None if the answer did not come from a table.
    subspace : Subspace or None
        The replicable span behind the answer.
    guarantee : Guarantee or None
        What is proven.
    levels : tuple of (dimension, sets, first set)
        The flag as a staircase.
    details : mapping
        seed, command, sources, what was measured: plain values for people and reports.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from flagstone import ParityRule
    >>> from flagstone.models import load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rule.json"
    >>> save(path, ParityRule([0, 1, 1], 1))
    >>> print(load(path).answer)
    y = x1 ⊕ x2 ⊕ 1
    """

    verb: str
    answer: Answer
    layout: Layout
    encoding: Encoding | None = None
    subspace: Subspace | None = None
    guarantee: Guarantee | None = None
    levels: tuple[tuple[int, int, int], ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Any) -> Model:
        """Wrap a bare answer (or a Subspace) as a model."""
        if isinstance(answer, Subspace):
            answer = SpanAnswer(answer)
        for verb, kind in _ANSWERS.values():
            if isinstance(answer, kind):
                return cls(verb, answer, LAYOUTS[verb])
        raise InputError(
            "a model is a ParityRule, Constraints, LinearSystem or Subspace, got "
            f"{type(answer).__name__}"
        )

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the answer: what two people compare."""
        return self.answer.fingerprint()

    @property
    def is_bottom(self) -> bool:
        """Whether the answer is ⊥: no rule, or equations that contradict each other."""
        if isinstance(self.answer, ParityRule):
            return self.answer.is_bottom
        return not isinstance(self.answer, SpanAnswer) and self.answer.is_contradictory

    @property
    def is_nothing_kept(self) -> bool:
        """Whether rows showed directions, but none was kept: the span behind the answer is {0}.

        The answer then says nothing about the rows; a rule is a draw of the coins alone.
        """
        return self.subspace is not None and self.subspace.dim == 0 and len(self.levels) > 0

    def fits(self, matrix: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say of each encoded row (features, then the label if any) whether the answer holds."""
        if isinstance(self.answer, ParityRule):
            return self.answer.check(matrix[:, :-1], matrix[:, -1])
        if isinstance(self.answer, LinearSystem):
            return self._system().contains(matrix)
        return self.answer.check(matrix)

    def _system(self) -> Subspace:
        """Return the span of the kept equations (a, b)."""
        assert isinstance(self.answer, LinearSystem)
        if self.subspace is not None:
            return self.subspace
        A, b = self.answer.matrix, self.answer.rhs
        rows = np.concatenate([A, b[:, np.newaxis]], axis=1)
        return Subspace.span(rows, self.answer.field, self.answer.dim + 1)

    def to_content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "verb": self.verb,
            "answer": self.answer.to_dict(),
            "fingerprint": self.fingerprint,
            "layout": self.layout.to_dict(),
            "encoding": None if self.encoding is None else self.encoding.to_dict(),
            "subspace": None if self.subspace is None else subspace_to_dict(self.subspace),
            "guarantee": None if self.guarantee is None else self.guarantee.to_dict(),
            "levels": [list(level) for level in self.levels],
            "details": dict(self.details),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any], name: str = "this model") -> Model:
        """Read the JSON form."""
        try:
            verb, kind = _ANSWERS[content["answer"]["kind"]]
            encoding, subspace = content["encoding"], content["subspace"]
            guarantee = content["guarantee"]
            model = cls(
                verb,
                kind.from_dict(content["answer"]),
                Layout.from_dict(content["layout"]),
                None if encoding is None else Encoding.from_dict(encoding),
                None if subspace is None else subspace_from_dict(subspace),
                None if guarantee is None else Guarantee.from_dict(guarantee),
                tuple((int(a), int(b), int(c)) for a, b, c in content["levels"]),
                dict(content["details"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, FlagstoneError) as error:
            raise FormatError(f"{name}: no valid model ({error})") from error
        if model.fingerprint != content.get("fingerprint"):
            raise FormatError(f"{name}: its answer does not have the fingerprint it states")
        return model


@dataclass(frozen=True)
class SummaryFile:
    """A flag or histogram with what its rows are: enough to merge it and to answer from it."""

    summary: Flag | Histogram
    layout: Layout
    encoding: Encoding | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Flag or histogram."""
        return "flag" if isinstance(self.summary, Flag) else "histogram"

    def to_content(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "summary": self.kind,
            "bytes": base64.b64encode(self.summary.to_bytes()).decode(),
            "layout": self.layout.to_dict(),
            "encoding": None if self.encoding is None else self.encoding.to_dict(),
            "details": dict(self.details),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any], name: str = "this file") -> SummaryFile:
        """Read the JSON form."""
        try:
            kind: Any = {"flag": Flag, "histogram": Histogram}[content["summary"]]
            encoding = content["encoding"]
            return cls(
                kind.from_bytes(base64.b64decode(content["bytes"], validate=True)),
                Layout.from_dict(content["layout"]),
                None if encoding is None else Encoding.from_dict(encoding),
                dict(content["details"]),
            )
        except (KeyError, TypeError, ValueError, binascii.Error, FlagstoneError) as error:
            raise FormatError(f"{name}: no valid flag ({error})") from error


def save(path: str | Path, thing: Any, *, overwrite: bool = False) -> None:
    """Write a model, an answer, a flag or a histogram to a file, atomically.

    Parameters
    ----------
    path : str or Path
    thing : Model, SummaryFile, ParityRule, Constraints, LinearSystem, Subspace, Flag, Histogram
    overwrite : bool
        Replace a file that exists; refused otherwise.
    """
    if isinstance(thing, (Flag, Histogram)):
        thing = SummaryFile(thing, Layout())
    if not isinstance(thing, (Model, SummaryFile)):
        thing = Model.of(thing)
    kind = "model" if isinstance(thing, Model) else "summary"
    write_document(path, kind, thing.to_content(), overwrite=overwrite)


def load(path: str | Path) -> Model | SummaryFile:
    """Read what :func:`save` wrote.

    Raises
    ------
    FormatError
        The file is foreign, damaged, or written by a newer flagstone.
    """
    kind, content = read_document(path)
    if kind == "model":
        return Model.from_content(content, str(path))
    if kind == "summary":
        return SummaryFile.from_content(content, str(path))
    raise FormatError(f"{path}: a flagstone {kind}, which is neither a model nor a flag")

"""Protocol: everything that two labs agree on before they look at their rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from flagstone.coins import Coins
from flagstone.encoding import Encoding
from flagstone.errors import FlagstoneError, FormatError, InputError
from flagstone.guarantees.exact import check_share, positive
from flagstone.guarantees.promise import CONFIDENCE
from flagstone.question import Question, question_from_dict
from flagstone.rules import SpanRule, rule_named

#: The options of reading that findings and protocols remember, and what each must be.
READING = {
    "format": str,
    "delimiter": str,
    "header": bool,
    "bit_order": str,
    "length": int,
}

#: The parts of a protocol that are JSON values as they are.
_PLAIN = ("seed", "rule", "t_min", "t_max", "max_rows", "confidence")


def _is_size(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdigit() and 0 < int(text) < 1 << 63


@dataclass(frozen=True)
class Protocol:
    """A question, a window, a seed and a number of rows, fixed in advance and published.

    All who run it on fresh rows of the same source run the same thing. A promise holds for runs
    that share all of it; so nothing in it may be chosen on the rows it is then applied to.

    Parameters
    ----------
    question : Question
    encoding : Encoding
        Field, columns and their encoders.
    seed : str
    t_min, t_max : int or float
        The window; fractions of the rows serve any number of them.
    rule : {"index", "heavy"}
    max_rows : int, optional
        How many rows a run takes: the first ones. Promises are for equal numbers.
    confidence : float
    reading : mapping
        How files are read: format, delimiter, header, bit_order, length.
    partition : str
        Which rows are summarized together: "none" (all), "files", or a number of bytes.

    Examples
    --------
    >>> from flagstone.question import SpanQuestion
    >>> from flagstone.encoding import Encoding
    >>> from flagstone.algebra.fields import GF
    >>> columns = Encoding.plain(GF(2), ["a", "b", "c"])
    >>> protocol = Protocol(SpanQuestion(), columns, "2026", 0.012, 0.018, max_rows=10_000)
    >>> print(protocol.to_rule().window(3, 10_000), protocol.fingerprint[:16])
    {121..180} b3ea6637cc26147a
    >>> Protocol.from_dict(protocol.to_dict()) == protocol
    True
    """

    question: Question
    encoding: Encoding
    seed: str
    t_min: int | float
    t_max: int | float
    rule: str = "index"
    max_rows: int | None = None
    confidence: float = CONFIDENCE
    reading: Mapping[str, Any] = field(default_factory=dict)
    partition: str = "none"

    def __post_init__(self) -> None:
        self.to_rule()
        Coins(self.seed)
        check_share("confidence", self.confidence)
        if self.max_rows is not None:
            positive("max_rows", self.max_rows)
        if self.partition not in ("none", "files") and not _is_size(self.partition):
            raise InputError(
                f'a protocol\'s partition is "none", "files" or a number of bytes, got '
                f"{self.partition!r}"
            )
        numbers = (self.t_min, self.t_max, self.confidence, self.max_rows or 1)
        if type(self.seed) is not str or any(type(n) not in (int, float) for n in numbers):
            raise InputError("a protocol has a seed of text, and plain numbers for all the others")
        if self.question.labelled != (self.encoding.label is not None):
            raise InputError("its columns have a label that is not asked for, or lack one that is")
        self.question.check(self.encoding.field)

    def to_rule(self) -> SpanRule:
        """Return the rule with its window."""
        return rule_named(self.rule, t_min=self.t_min, t_max=self.t_max)

    @property
    def parameters(self) -> dict[str, Any]:
        """The same as parameters of an estimator, for the first ``max_rows`` rows.

        ``LinearSpan(**protocol.parameters).fit(X[: protocol.max_rows])``
        """
        question: dict[str, Any] = self.question.to_dict()
        renamed = {"intercept": "fit_intercept", "choice": "choice", "affine": "affine"}
        return {
            "field": self.encoding.field.name,
            "rule": self.to_rule(),
            "random_state": self.seed,
            "certify": self.confidence,
            **({"degree": self.encoding.degree} if self.encoding.degree > 1 else {}),
            **{renamed[key]: value for key, value in question.items() if key in renamed},
        }

    @property
    def fingerprint(self) -> str:
        """64 hex digits over all of it: two labs compare them."""
        text = json.dumps(self._plain(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(f"flagstone protocol v2\n{text}".encode()).hexdigest()

    def _plain(self) -> dict[str, Any]:
        return {
            "question": self.question.to_dict(),
            "encoding": self.encoding.to_dict(),
            **{name: getattr(self, name) for name in _PLAIN},
            "reading": dict(self.reading),
            "partition": self.partition,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return self._plain() | {"fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "this protocol") -> Protocol:
        """Read the form that :meth:`to_dict` writes; anything else is refused with a reason."""
        try:
            known = {"question", "encoding", "reading", "partition", *_PLAIN}
            if lacking := sorted(known - data.keys()):
                raise FormatError(f"it lacks {', '.join(lacking)}")
            reading = dict(data["reading"])
            for key, value in reading.items():
                if key not in READING or type(value) is not READING[key]:
                    raise FormatError(f"it cannot be read with {key} = {value!r}")
            found = cls(
                question=question_from_dict(data["question"]),
                encoding=Encoding.from_dict(data["encoding"]),
                reading=reading,
                partition=data["partition"],
                **{name: data[name] for name in _PLAIN},
            )
            if found.to_dict() != dict(data):
                raise FormatError("its parts contradict each other")
        except (LookupError, TypeError, ValueError, AttributeError, FlagstoneError) as error:
            raise FormatError(f"{name}: no valid protocol ({error})") from error
        return found

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the protocol to a file that ``--protocol`` takes; it may replace another one."""
        from flagstone.store import save

        save(path, self, overwrite=overwrite)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

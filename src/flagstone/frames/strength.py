"""How strong a check is, what speaks for it, and what should be captured next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flagstone.algebra import Array, Subspace
from flagstone.answers import Constraints
from flagstone.frames.digests import Digest, Solved
from flagstone.frames.digests.digest import broken_by
from flagstone.frames.digests.frame import rank
from flagstone.frames.digests.rules import Sum
from flagstone.frames.ruler import place_text
from flagstone.wording import counted

#: The most groups of bits varying together that are listed.
_LISTED = 3


@dataclass(frozen=True)
class Strength:
    """How many frames pass a check that are not meant to.

    Attributes
    ----------
    bits : int
        Independent equations of the digests: a random frame passes with probability 2^-bits.
    constant_bits : int
        Further bits that are constant in the capture, which only ``--strict`` looks at.
    zeros_pass, ones_pass : bool
        Whether a frame of all zeros, or of all ones, passes the digests.

    Examples
    --------
    >>> rule = Solved((2,), np.array([[1, 1, 0]]), np.array([0]))
    >>> parity = Digest("parity", "even parity", ("x2",), {}, "", 2, rule)
    >>> print(Strength.of([parity], 3, Constraints([[1, 0, 0]], [1])))
    1 bit against random frames (1 of 2 passes); all-zeros passes; all-ones fails; constants: 1 bit
    """

    bits: int
    constant_bits: int
    zeros_pass: bool
    ones_pass: bool

    @classmethod
    def of(cls, digests: Sequence[Digest], n_bits: int, answer: Any = None) -> Strength:
        """Measure digests of frames with this many bits."""
        extreme = np.array([[0] * n_bits, [1] * n_bits], dtype=np.uint8)
        zeros, ones = (not broken for broken in broken_by(digests, extreme).tolist())
        constants = 0
        if isinstance(answer, Constraints) and not answer.is_bottom:
            constants = int((answer.matrix.sum(axis=1) == 1).sum())
        return cls(_bits(digests), constants, zeros, ones)

    def __str__(self) -> str:
        verb = {True: "passes", False: "fails"}
        return (
            f"{counted(self.bits, 'bit')} against random frames (1 of {odds(self.bits)} passes); "
            f"all-zeros {verb[self.zeros_pass]}; all-ones {verb[self.ones_pass]}"
            + (f"; constants: {counted(self.constant_bits, 'bit')}" if self.constant_bits else "")
        )


def _bits(digests: Sequence[Digest]) -> int:
    masks = [digest.rule.masks for digest in digests if isinstance(digest.rule, Solved)]
    others = sum(len(d.columns) for d in digests if not isinstance(d.rule, Solved))
    return others + (rank(np.concatenate(masks)) if masks else 0)


def bits_between(frames: Any, own: Sequence[Digest], others: Sequence[Digest]) -> int | None:
    """Return how many bits digests still check on frames of another kind; None: none can pass.

    Parameters
    ----------
    frames : Constraints
        What these frames obey: their constant bits count.
    own : sequence of Digest
        The digests that they carry.
    others : sequence of Digest
        The digests that are asked for. A frame passes with probability 2^-bits, if its other bits
        are random, and sums with other parameters agree by chance.
    """
    constants = frames.matrix.sum(axis=1) == 1
    known = [np.concatenate([frames.matrix, frames.rhs[:, np.newaxis]], axis=1)[constants]]
    known += [digest.rule.equations for digest in own if isinstance(digest.rule, Solved)]
    added = [digest.rule.equations for digest in others if isinstance(digest.rule, Solved)]
    both = Subspace.span(np.concatenate([*known, *added]).astype(np.uint8))
    if both.dim and both.pivots[-1] == both.ambient_dim - 1:
        return None  # 0 = 1: no frame obeys both
    bits = both.dim - rank(np.concatenate(known).astype(np.uint8))
    for digest in others:
        if isinstance(digest.rule, Sum):
            sums = [d.rule for d in own if isinstance(d.rule, Sum)]
            alike = [
                rule for rule in sums if replace(rule, constant=digest.rule.constant) == digest.rule
            ]
            if any(rule != digest.rule for rule in alike):
                return None  # the same sum with another constant
            bits += 0 if alike else len(digest.columns)
        elif not isinstance(digest.rule, Solved):  # constants by cases: equal, or by chance
            equal = digest.rule.to_dict() in [d.rule.to_dict() for d in own]
            bits += 0 if equal else len(digest.columns)
    return bits


def odds(bits: int) -> str:
    """Return how many random frames there are for each one that passes a check of these bits.

    >>> odds(8), odds(40)
    ('256', '2^40')
    """
    return f"{1 << bits:,}" if bits < 34 else f"2^{bits}"


@dataclass(frozen=True)
class Unseen:
    """Data bits whose part in the digest no frame shows: what should be captured next.

    Attributes
    ----------
    constant : tuple of int
        Data bits that never varied.
    together : tuple of tuples of int
        Data bits that always varied together.

    Examples
    --------
    >>> print(Unseen.of(np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 1, 1, 1]]), checks=[3]))
    byte 0 bit 7 never varied; byte 0 bits 6..5 varied only together
    """

    constant: tuple[int, ...]
    together: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, rows: Array, checks: Sequence[int]) -> Unseen:
        """Look at frames without damage, apart from their check bits."""
        groups: dict[bytes, list[int]] = {}
        moved = np.ascontiguousarray((rows ^ rows[:1]).T)
        for i in sorted({*range(rows.shape[1])} - {*checks}):
            groups.setdefault(moved[i].tobytes(), []).append(i)
        constant = groups.pop(bytes(moved[0].nbytes), [])
        together = [tuple(group) for group in groups.values() if len(group) > 1]
        return cls(tuple(constant), tuple(together))

    def __str__(self) -> str:
        parts = [f"{place_text(self.constant)} never varied"] if self.constant else []
        few = [place_text(group) for group in self.together[:_LISTED]]
        if few:
            more = len(self.together) - len(few)
            also = f", and {more} more groups" if more else ""
            parts.append(f"{'; '.join(few)}{also} varied only together")
        return "; ".join(parts)

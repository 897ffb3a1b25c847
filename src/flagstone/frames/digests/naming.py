"""Naming: from the equations of frames to the digests that they carry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache

import numpy as np

from flagstone.frames.digests.crc import crc_of
from flagstone.frames.digests.digest import Digest, hex_text, holds, number
from flagstone.frames.digests.frame import Frame, rank
from flagstone.frames.digests.layers import windows
from flagstone.frames.digests.lfsr import folded, lfsr_of
from flagstone.frames.digests.parities import parities_inside, parity_of, shifted_of, xor_of
from flagstone.frames.digests.registers import Register, layouts, registers, swapped_layouts
from flagstone.frames.digests.rules import Solved

#: Places of a check that are tried in each alignment; digests of a frame that are named.
_TRIED, _MOST = 96, 4
#: Places times columns, at most: of long frames, the places at the end are tried.
_WORK = 10_000
#: In long frames, how many places at either end are tried; from a few rows, which takes longer.
_NEAR, _NEAREST = 8, 2
#: A second digest is looked for only where frames have this many free bits, and at bytes.
_SECOND = 24
#: The narrowest register that is told from a parity.
_NARROWEST = 3
#: A digest with fewer check bits is compared with those in less likely places.
_WIDE = 8
#: A field in another code has so few data bits for each of its own.
_SPARSE = 2
#: Widths of checks that stand at bytes or nibbles, even where some of their bits do not vary, and
#: of others, that begin at a byte, or end the frame.
_WIDTHS, _ODD_WIDTHS = (32, 24, 16, 8, 4), tuple(w for w in range(31, 4, -1) if w % 8)
#: Of digests that explain as many bits, the plainest is meant.
_KINDS = ("xor", "parity", "crc", "lfsr", "keys")

Namer = Callable[[Frame, tuple[int, ...]], Digest | None]


def name_check(frame: Frame, columns: Sequence[int]) -> Digest | None:
    """Name the digest that stands in these columns; None rather than a wrong name.

    A name is given only where it explains every check bit of every frame that obeys, and where
    the frames determine more bits of the map than chance would. The simplest is tried first:
    XOR and parities, then CRCs, LFSR digests, and keys that start again with every byte.
    """
    chosen = tuple(columns)
    return _plain(frame, chosen) or _folded(frame, chosen)


def _folded(frame: Frame, columns: tuple[int, ...]) -> Digest | None:
    return folded(frame, columns) if len(columns) >= _WIDE and not frame.is_long else None


@lru_cache(maxsize=1024)  # a thorough search asks again for the checks at bytes
def _plain(frame: Frame, chosen: tuple[int, ...]) -> Digest | None:
    simple = xor_of(frame, chosen) or parity_of(frame, chosen)
    if simple is not None or len(chosen) < _NARROWEST:
        return simple
    found: list[Register] = []
    if len(chosen) <= 32:
        for layout in layouts(frame, chosen):
            found += registers(frame, layout)
    named = crc_of(frame, chosen, found) or lfsr_of(frame, chosen, found)
    if named is None and len(chosen) == 8:
        named = shifted_of(frame, chosen) or crc_of(
            frame, chosen, [r for o in swapped_layouts(frame, chosen) for r in registers(frame, o)]
        )
    return named


def name_frame(frame: Frame, taken: Set[int] = frozenset(), thorough: bool = True) -> list[Digest]:
    """Name the digests of a frame, from the outermost one in.

    A digest may cover the check bits of another. So the best one is named first, and what it
    explains is taken away before the next. ``taken`` are columns that hold no check. Unless
    ``thorough``, checks are looked for at bytes alone. Of a long frame, one digest is named.
    """
    found: list[Digest] = []
    left = frame
    while len(found) < _MOST and len(left.own) > left.n_free:
        if found and (left.n_free < _SECOND or frame.is_long):
            break
        named = _outermost(left, taken, thorough and not found)
        if named is None:
            break
        found.append(named)
        rule = _solved(named)
        checks = [i for digest in found for i in _solved(digest).columns if frame.varies[i]]
        # without what was taken away, a name may fit that does not fit these frames
        if not frame.solvable(checks) or not holds(frame, rule):
            return found[:-1]
        left = left.without([*rule.columns, *_repeated(left, rule.columns)])
    return found


def name_register(frame: Frame, taken: Set[int] = frozenset()) -> Digest | None:
    """Name a register, or XOR of nibbles, over all other columns: what a few rows can show.

    Where few rows are known, any few columns seem to settle the check: no smaller range is tried.
    """
    ends = (
        range(end - w, end)
        for w in _WIDTHS[:4]
        for end in _ends(frame, range(frame.dim, w, -8), _NEAREST)
    )
    odd = (
        range(start, start + w)
        for w in (() if frame.is_long else _ODD_WIDTHS)
        for start in (frame.dim - w, frame.dim - w - 8, 0)
        if start >= 0 and w < frame.dim
    )
    for columns in map(tuple, (*ends, *odd)):
        if taken.isdisjoint(columns) and 2 * int(frame.varies[list(columns)].sum()) >= len(columns):
            found = [r for o in layouts(frame, columns, True) for r in registers(frame, o)]
            digest = crc_of(frame, columns, found) or lfsr_of(frame, columns, found)
            if digest is not None:
                return digest
    nibble = tuple(range(frame.dim - 4, frame.dim))
    return xor_of(frame, nibble) if taken.isdisjoint(nibble) else None


def _repeated(frame: Frame, columns: Sequence[int]) -> list[int]:
    """Return the columns that repeat all of these, some way on."""
    D = frame.directions
    shifts = [
        shift
        for shift in range(1 - frame.dim, frame.dim)
        if shift and 0 <= columns[0] + shift and columns[-1] + shift < frame.dim
    ]
    again = [[i + shift for i in columns] for shift in shifts]
    return [i for other in again if (D[:, other] == D[:, list(columns)]).all() for i in other]


def _explained(frame: Frame, rule: Solved) -> int:
    """Count the check bits behind which there is more than constants and copies."""
    first = {pair.columns[1]: pair.columns[0] for pair in frame.pairs}
    used = {first.get(i, i) for i in np.flatnonzero(rule.matrix.any(axis=0)).tolist()}
    new = 0
    for column, relation in zip(rule.columns, rule.relations, strict=True):
        if not frame.varies[column] or first.get(column, column) in used:
            continue
        terms = [first.get(i, i) for i in relation.columns if frame.varies[i]]
        new += sum(count % 2 for count in Counter(terms).values()) > 2
    return new


def explains(frame: Frame, digest: Digest) -> bool:
    """Say whether a digest is more than constants, copies, and a field in another code.

    Half of its check bits must be; of an XOR of bytes, two.
    """
    rule, w = _solved(digest), len(digest.columns)
    if digest.kind == "xor":
        return 2 * _explained(frame, rule) >= min(w, 4)
    used = rule.matrix[:, frame.varies]
    n_data, n_checks = used.any(axis=0).sum(), frame.varies[list(rule.columns)].sum()
    is_code = n_data <= w and used.sum() <= _SPARSE * n_checks  # the Gray code, say
    return not is_code and 2 * _explained(frame, rule) >= w


def _outermost(frame: Frame, taken: Set[int], thorough: bool) -> Digest | None:
    """Name one digest: wide ones first, then parities inside bytes, then a single parity bit.

    Keys that no register makes are named only where nothing else fits: poor payloads have many.
    """
    seen = list(_seen(frame))
    for name in (_plain, _folded):
        first: Digest | None = None
        for part, places, words in seen:
            groups = _places(part, {i for i, place in enumerate(places) if place in taken})
            best = _best(part, groups, name, thorough)
            if best is None:
                continue
            named = _spread(best, places, frame.dim, words)
            if first is None:
                first = named
            elif best.kind == "crc" and named.columns == first.columns:
                return named
            # which may be a CRC that covers constant bits at the end, too
            appended = {"bytes_not_in_frame", "bits_not_in_frame"} & {*best.parameters}
            if best.kind != "lfsr" and not appended:
                break
        if first is not None:
            return first
    inside = parities_inside(frame)
    if inside is not None and taken.isdisjoint(_solved(inside).columns):
        return inside
    for part, places, words in seen:
        for columns in windows(part)[:_TRIED]:
            digest = _plain(part, columns) if len(columns) < _NARROWEST else None
            if digest is not None and taken.isdisjoint(places[i] for i in columns):
                return _spread(digest, places, frame.dim, words)
    return None


def _best(
    frame: Frame, groups: Sequence[Sequence[tuple[int, ...]]], name: Namer, thorough: bool
) -> Digest | None:
    """Return the digest that explains the most bits; of several, the plainest, of most, last.

    Check bits that are constant are a reason to look for it in less likely places, too.
    """
    found: list[tuple[tuple[int, ...], Digest]] = []
    certain = False
    for alignment, places in enumerate(groups):
        for columns in places:
            digest, w = name(frame, columns), len(columns)
            if digest is None or not explains(frame, digest):
                continue
            odd, kind = "catalogued" not in digest.parameters, _KINDS.index(digest.kind)
            # an XOR may stand in any of its bytes: the last one is meant; what holds for a wide
            # check holds for parts of it, too
            xor = digest.kind == "xor"
            varying = w if xor else int(frame.varies[list(columns)].sum())
            used = np.flatnonzero(_solved(digest).matrix.any(axis=0))
            inside = not xor and used[0] < columns[0] and columns[-1] < used[-1]
            order = (-varying, kind, odd, -w, -len(used), alignment, inside, -columns[-1])
            found.append((order, digest))
            certain |= varying == w >= _WIDE
            ends = columns[-1] == frame.own[-1] and digest.kind in ("xor", "crc")
            if ends and varying == w >= _WIDE:  # none left is wider or later
                return min(found, key=lambda pair: pair[0])[1]
        if certain or not (thorough or found):
            break
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _places(frame: Frame, taken: Set[int]) -> list[list[tuple[int, ...]]]:
    """Return where a check may stand: at bytes or an end of the frame, at nibbles, anywhere.

    Before the last come those of a width that is no whole number of bytes.

    A check may have bits that are constant, or copy a data bit, where the payload is poor; half of
    them must not.
    """
    own = set(frame.own)
    found = {columns for columns in windows(frame) if len(columns) >= _NARROWEST}
    for phase in {frame.dim % 8, 0}:
        for width in _WIDTHS:
            step = min(width, 8)
            last = frame.dim - (frame.dim - phase) % step
            for end in _ends(frame, range(last, width - 1, -step), _NEAR):
                columns = tuple(range(end - width, end))
                if 2 * len(own.intersection(columns)) >= width and frame.solvable(columns):
                    found.add(columns)
    odd = set(() if frame.is_long else _odd_places(frame.dim)) - found
    found |= {c for c in odd if 2 * len(own.intersection(c)) >= len(c) and frame.solvable(c)}
    groups: list[list[tuple[int, ...]]] = [[], [], [], []]
    last = frame.own[-1]
    for columns in sorted(found, key=lambda c: (c[-1] < last, -len(c), -c[-1])):
        if taken.isdisjoint(columns):
            places = (columns[0], columns[0] - frame.dim % 8, columns[-1] + 1 - frame.dim)
            ends = columns[-1] + 1 in (frame.dim, last + 1)
            whole = ends or any(place % 8 == 0 for place in places)
            n = 2 if columns in odd else 0 if whole else 1 if columns[0] % 4 == 0 else 3
            groups[n].append(columns)
    return [group[: min(_TRIED, max(_NEAR, _WORK // frame.dim))] for group in groups]


def _ends(frame: Frame, ends: Sequence[int], near: int) -> Sequence[int]:
    """Return where checks may end: in a long frame, near its ends alone."""
    is_cut = frame.is_long and len(ends) > 2 * near
    return [*ends[:near], *ends[-near:]] if is_cut else ends


def _odd_places(dim: int) -> Iterator[tuple[int, ...]]:
    """Return places for checks that are no whole number of bytes wide, as far as these go."""
    for width in _ODD_WIDTHS:
        left = dim - width
        for start in dict.fromkeys([left, *range(left % 8, left, 8), *range(0, left, 8)]):
            yield tuple(range(start, start + width))


def _seen(frame: Frame) -> Iterator[tuple[Frame, Sequence[int], str]]:
    """Return frames to look at, with their columns and words for them: what repeats, is once."""
    if not frame.own:
        return
    for phase in (0, 1):
        first, second = (
            list(range(phase + i, frame.dim - (frame.dim - phase) % 2, 2)) for i in (0, 1)
        )
        if len(first) > 8 and (frame.directions[:, first] == frame.directions[:, second]).all():
            yield frame.seen(first), first, "the first bit of each pair"
            yield frame.seen(second), second, "the second bit of each pair"
            return
    end = min(frame.dim, -(-(frame.own[-1] + 1) // 8) * 8)
    if end < frame.dim:  # a frame that is repeated in the row: the copies explain nothing
        yield frame.seen(range(end)), range(end), ""
    yield frame, range(frame.dim), ""


def _spread(digest: Digest, places: Sequence[int], dim: int, words: str) -> Digest:
    """Return a digest of some columns as one of the whole row."""
    rule = _solved(digest)
    matrix = np.zeros((len(rule.columns), dim), dtype=np.uint8)
    matrix[:, list(places)] = rule.matrix
    columns = tuple(places[i] for i in rule.columns)
    digest = replace(digest, rule=Solved(columns, matrix, rule.constant))
    if words:
        digest = replace(
            digest,
            parameters={**digest.parameters, "bits": words},
            formula=f"{digest.formula}, in {words}",
        )
    return digest


def _solved(digest: Digest) -> Solved:
    rule = digest.rule
    assert isinstance(rule, Solved)
    return rule


def key_stream(frame: Frame, solved: Solved) -> Digest:
    """Return check bits without a name: what each data bit adds, in hexadecimal."""
    w = len(solved.columns)
    keys = {
        frame.names[i]: hex_text(number(column), w)
        for i, column in enumerate(solved.matrix.T.tolist())
        if any(column)
    }
    constant = hex_text(number(solved.constant), w)
    others = [i for i in range(frame.dim) if i not in set(solved.columns)]
    return Digest(
        "linear",
        None,
        tuple(frame.names[i] for i in solved.columns),
        {"keys": keys, "constant": constant},
        f"the XOR of {len(keys)} keys, one for each data bit that is 1"
        + (f", ⊕ {constant}" if solved.constant.any() else ""),
        w * rank(frame.directions[:, others]),
        solved,
    )

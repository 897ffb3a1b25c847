"""Sums: checks that are additive, not linear, found on the rows themselves.

Of a sum with carries only the lowest bit is linear over GF(2), so equations show one bit of it.
The sum itself is seen at once when it is tried: the difference of check and sum is constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from flagstone.algebra import Array
from flagstone.frames.digests.digest import Digest, hex_text, names_of, span_text
from flagstone.frames.digests.frame import rank
from flagstone.frames.digests.registers import CERTAIN
from flagstone.frames.digests.rules import Cases, Sum, case_of, units

#: Rows that candidates are tried on before the best are tried on all, and before these.
_SCREEN, _FIRST = 64, 12
#: A sum must fit this share of the rows, and this much less than the best one in its place.
_SHARE, _CLOSE = 0.85, 0.02
#: Of fewer than four bits, it must fit this share: fields agree with narrow sums more often.
_NARROW_SHARE = 0.92
#: What varies in fewer of the rows that fit is taken for damage.
_RARE = 0.005
#: log2 of the number of sums that are tried, at most.
_CANDIDATES = 21
#: The most sums of one frame that are named.
_MOST = 2
#: Two units are opposite if their sum is the same in this share of at least this many rows.
_OPPOSITE, _COMPARED = 0.95, 512
#: Of frames with more bits, less is tried.
_LONG = 256

#: Width of the check, of what is added, and whether the lower half of the check stands first.
_KINDS = (
    *((8, unit, False) for unit in (8, 4, 6, 3, 2)),
    (8, 4, True),
    *((unit, unit, False) for unit in (6, 4, 3, 2)),
    (4, 2, False),
    *((16, unit, little) for unit in (8, 16) for little in (False, True)),
)
_WORDS = {4: "nibbles", 8: "bytes", 16: "16-bit words"}


def name_sums(names: Sequence[str], X: Array, cases: Sequence[int] = ()) -> list[Digest]:
    """Name checks that are sums with carries; none where there is none.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    X : array of shape (n_rows, d)
        Rows of bits: the first of many will do, the digest counts all.
    cases : sequence of int
        Columns on which the constant depends.
    """
    if len(X) < 4:
        return []
    screen, same = X[:: max(1, len(X) // _SCREEN)][:_SCREEN], None
    if cases:
        numbers = case_of(X, cases)
        order = np.argsort(numbers, kind="stable")[: 4 * _SCREEN]
        screen, same = X[order], numbers[order][1:] == numbers[order][:-1]
    narrowest = (_CANDIDATES + CERTAIN) / (len(X) - 1)  # no narrower check could convince
    found = []
    for rule in _candidates(screen, same, narrowest):
        if not {*rule.checks} & {*cases}:
            fitted = Cases.fitted(rule, cases, X) if cases else rule
            found.append(_Fit(rule, X, ~fitted.broken(X)))
    found = [fit for fit in found if fit.convinces]
    # damage outside of what a sum covers does not break it: that is no reason to cover less
    most: dict[tuple[int, int], int] = {}
    for fit in found:
        most[fit.rule.check] = max(most.get(fit.rule.check, 0), fit.n_fit)
    found = [fit for fit in found if fit.n_fit >= most[fit.rule.check] - _CLOSE * len(X)]
    kept: list[_Fit] = []
    for fit in sorted(found, key=_order):
        if not any(_same(fit, other) for other in kept) and (fit.rule.width >= 8 or not kept):
            kept.append(fit)
    return [_described(names, fit.rule, fit.evidence) for fit in kept[:_MOST]]


def _same(fit: _Fit, other: _Fit) -> bool:
    """Say whether two sums are one: of bytes that add up to a constant each may be the check."""
    checks = [{*one.rule.checks} for one in (fit, other)]
    within = checks[0] <= {*other.rule.columns} and checks[1] <= {*fit.rule.columns}
    return within or bool(checks[0] & checks[1]) or fit.columns == other.columns


class _Fit:
    """A sum, and how well it fits rows."""

    def __init__(self, rule: Sum, X: Array, fits: Array) -> None:
        self.rule, self.n_fit = rule, int(fits.sum())
        self.evidence, self.convinces, self.columns = 0, False, frozenset[int]()
        if self.n_fit < max(4, (_SHARE if rule.width >= 4 else _NARROW_SHARE) * len(X)):
            return
        good = X[fits]
        moves = (good != good[0]).any(axis=0)
        check, data = list(rule.checks), rule.columns
        # what hardly ever varies may be damage that cancels out
        often = np.minimum(good.mean(axis=0), 1 - good.mean(axis=0)) > _RARE
        self.columns = frozenset(np.flatnonzero(often).tolist()).intersection([*check, *data])
        totals = rule.added(good)
        entering = _entering(totals, rule.modulus)
        # a constant byte before a sum of 8 bits is no part of it
        parts = moves[check].reshape(-1, min(8, rule.width)).any(axis=1)
        rest = int(moves.sum() - moves[[*check, *data]].sum())
        # two fields and their sum, or a difference, are no check of a frame that holds more
        n_units = len(entering)
        if not parts.all() or n_units < 2 or (rest and (n_units < 3 or rule.width < 8)):
            return
        n_rows = len(np.unique(totals[:, entering], axis=0))
        read = np.array(data).reshape(-1, rule.unit)[entering].ravel()
        n_free = rank(good[1:, read] ^ good[0, read])
        share = self.n_fit / len(X)  # the chance that as many rows fit is 2 to the minus this:
        bits = (rule.width * share - _entropy(share)) * min(n_rows - 1, 4 * n_free)
        self.evidence = max(0, int(bits))
        enough = bits >= _CANDIDATES + CERTAIN and rule.width * n_free >= CERTAIN + rule.width
        self.convinces = enough and not _copies(good, check, data)


def _entering(totals: Array, modulus: int) -> list[int]:
    """Return the units that vary, without opposite ones, whose sum is constant."""
    few = totals[:_COMPARED]
    left = np.flatnonzero((totals != totals[0]).mean(axis=0) > _RARE).tolist()
    kept = []
    while left:
        first = left.pop()
        for other in left:
            both = (few[:, first] + few[:, other]) % modulus
            if np.bincount(both).max() >= _OPPOSITE * len(few):
                left.remove(other)
                break
        else:
            kept.append(first)
    return sorted(kept)


def _entropy(share: float) -> float:
    """Return the bits that say of a row whether it is one of this share."""
    return -sum(p * math.log2(p) for p in (share, 1 - share) if p)


def _copies(X: Array, check: Sequence[int], data: Sequence[int]) -> bool:
    """Say whether half of the check bits equal data bits, or their opposite.

    A byte and its complement add up to a constant without being a check.
    """
    shapes = [column.tobytes() for column in np.ascontiguousarray((X ^ X[0]).T)]
    shown = {shapes[i] for i in data}
    return 2 * sum(shapes[i] in shown for i in check) >= len(check)


def _order(fit: _Fit) -> tuple[int, ...]:
    """The widest check, the last place, then the plainest formula, then the most data."""
    rule = fit.rule
    length = rule.data[1] - rule.data[0]
    odd = rule.modulus & rule.modulus - 1
    constant = rule.constant != 0 and rule.width >= 8  # a narrow one is 0 by chance
    swapped = rule.little and rule.width == 8
    strange = (rule.xor != 0, rule.turned, swapped, odd != 0, constant, rule.sign < 0)
    return (-rule.width, -rule.check[0], *map(int, strange), -length, rule.unit, -fit.n_fit)


def _candidates(X: Array, same: Array | None, narrowest: float) -> Iterator[Sum]:
    """Return the sums whose difference to the check is one constant in most of a few rows.

    Bytes are counted from the first bit, and so that they end with the last one.
    """
    for phase, turned in product(dict.fromkeys([0, X.shape[1] % 8]), (False, True)):
        Y = X[:, phase:]
        for width, unit, little in _KINDS:
            if width < narrowest:
                continue
            step = 4 if unit == 4 else min(width, 8)
            starts: Sequence[int] = range(0, Y.shape[1] - width + 1, step)
            if Y.shape[1] > _LONG:  # of long frames, only checks near an end, of bytes
                starts = [*starts[:4], *starts[-4:]] if unit >= 8 and not turned else []
            for start in starts:
                end = start + width
                check = units(Y[:, start:end], width, little, turned)
                if (check == check[0]).all():
                    continue
                places, totals = _totals(Y, start, end, unit, little and unit == 16, turned)
                for sign, modulus, i, constant, zero, xor in _constants(check, totals, width, same):
                    data = (places[i][0] + phase, places[i][1] + phase)
                    where = (start + phase, end + phase)
                    given = (where, width, data, unit, sign, modulus, constant, little, zero)
                    yield Sum(*given, turned, xor)


def _constants(
    check: Array, totals: Array, width: int, same: Array | None
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Return sign, modulus, place, constant, how 0 is written, and what is added bit by bit."""
    ones = (1 << width) - 1
    # modulo 3 a field counts like its negative twice: copies and differences add up to a constant
    moduli = [1 << width, *([ones] if width > 2 else [])]
    below = np.count_nonzero(check < 100)  # damage may have made a check larger
    moduli += [100] if width == 8 and below >= (_SHARE - 0.1) * len(check) else []
    # with end-around carry 0 is written in one way: the other must be rare
    either = [
        zero
        for zero, other in ((ones, 0), (0, ones))
        if np.count_nonzero(check != other) >= (_SHARE - 0.1) * len(check)
    ]
    for sign, modulus in product((1, -1), moduli):
        # a sum is 0 only where all data are, so its complement is never all ones
        zeros = either[::sign] if modulus == ones else [0]
        if not zeros:
            continue
        found = _common(check, totals, lambda c, t: (c - sign * t) % modulus, same)  # noqa: B023
        for (i, constant), zero in product(found, zeros):
            yield sign, modulus, i, constant, zero, 0
    for i, xor in _common(check, totals, lambda c, t: c ^ t % (1 << width), same):
        if xor:
            yield 1, 1 << width, i, 0, 0, xor


def _totals(
    X: Array, start: int, end: int, unit: int, little: bool, turned: bool
) -> tuple[list[tuple[int, int]], Array]:
    """Return what a sum may cover, and the sums: what ends at the check or begins the frame.

    Likewise what begins after the check or ends the frame, and all around it.
    """
    first, last = start % unit, end + (X.shape[1] - end) // unit * unit
    places: list[tuple[int, int]] = []
    totals: list[Array] = []
    for low, high in ((first, start), (end, last)):
        added = units(X[:, low:high], unit, little, turned)
        n = added.shape[1]
        places += [(low, low + unit * (i + 1)) for i in range(n)]
        places += [(high - unit * (i + 1), high) for i in range(n - 1)]
        totals += [added.cumsum(axis=1), added[:, ::-1].cumsum(axis=1)[:, : max(0, n - 1)]]
    if first == 0 and start and last > end:
        places.append((0, last))
        before, after = (
            units(part, unit, little, turned) for part in (X[:, :start], X[:, end:last])
        )
        totals.append((before.sum(axis=1) + after.sum(axis=1))[:, np.newaxis])
    return places, np.concatenate(totals, axis=1)


def _common(
    check: Array, totals: Array, residual: Callable[[Array, Array], Array], same: Array | None
) -> list[tuple[int, int]]:
    """Return the sums most of whose residuals are one, with it; the first few rows show it.

    With ``same``, most of those that are the same as before, where this says that they may be.
    """
    found: dict[int, int] = {}
    if same is not None:
        values = residual(check, totals)
        equal = (values[1:] == values[:-1])[same]
        likely = np.flatnonzero(equal.mean(axis=0) >= _SHARE - 0.15) if len(equal) else ()
        return [(int(i), 0) for i in likely]
    few = residual(check[:_FIRST], totals[:_FIRST])
    equals = np.count_nonzero(few[:4, np.newaxis] == few, axis=1)
    for k, i in np.argwhere(equals >= 0.6 * len(few)).tolist():
        values = residual(check[:, 0], totals[:, i])
        if np.count_nonzero(values == few[k, i]) >= (_SHARE - 0.1) * len(values):
            found.setdefault(i, int(few[k, i]))
    return sorted(found.items())


def _described(names: Sequence[str], rule: Sum, bits: int) -> Digest:
    carry = rule.modulus == (1 << rule.width) - 1
    data = span_text(names, rule.columns)
    unit = _WORDS.get(rule.unit, f"{rule.unit}-bit units")
    start, xorout = hex_text(rule.constant, rule.width), hex_text(rule.xor, rule.width)
    sign = "−" if rule.sign < 0 else "+"
    head = f"{start} {sign} " if rule.constant or rule.sign < 0 else ""
    name = f"{'minus the ' if rule.sign < 0 else ''}sum of {unit}, {rule.width} bits"
    name += ", with end-around carry" if carry else ", modulo 100" if rule.modulus == 100 else ""
    if rule.little and rule.width == 8:
        name += ", low nibble first"
    formula = f"additive, not linear: {head}sum of the {unit} of {data}, modulo {rule.modulus}"
    if carry:
        formula += f" (0 written as {hex_text(rule.zero, rule.width)})"
    if rule.xor:
        formula += f", then ⊕ {xorout}"
    if rule.little:
        formula += f", lowest {'nibble' if rule.width == 8 else 'byte'} first"
    if rule.turned:
        formula += ", lowest bit first"
    return Digest(
        "sum",
        name,
        tuple(names[i] for i in rule.checks),
        {
            "width": rule.width,
            "unit": rule.unit,
            "sign": rule.sign,
            "modulus": rule.modulus,
            "constant": start,
            "xorout": xorout,
            "carry": "end-around" if carry else "dropped",
            "byte_order": ("little" if rule.little else "big") if rule.width > 8 else None,
            "nibbles_swapped": rule.little and rule.width == 8,
            "order": "lowest bit first" if rule.turned else "as written",
            "data": names_of(names, rule.columns),
        },
        formula,
        bits,
        rule,
    )

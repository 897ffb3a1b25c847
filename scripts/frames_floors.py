"""How often ``flagstone frames`` finds the digest of a random capture, and how often a false one.

    python -m scripts.frames_floors --captures 300 --free 300

Every capture comes from a random secret: a CRC of 4 to 32 bits, an LFSR digest, a sum, an XOR, a
digest of nibbles, or a CRC followed by a sum; 100 to 5,000 frames, up to 5 % of them damaged;
uniform, sensor-like or counting payloads, often with a constant id. What is found is held against
fresh frames: all valid ones must be accepted, and damaged ones rejected. Captures without a digest
have awkward fields instead. The seed fixes everything.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flagstone import Coins, IndexRule
from flagstone.algebra.fields import Array
from flagstone.frames.digests import Digest, frame_code
from flagstone.frames.study import study
from flagstone.tables import Place

#: Shares that a run must reach: right (at least), wrong place and false names (at most), seconds.
RIGHT, WRONG_PLACE, FALSE_NAMES, SECONDS = 0.97, 0.01, 0.005, 1.0
#: How many fresh frames are tried.
FRESH = 400
KINDS = ("crc", "crc", "crc", "lfsr", "sum", "xor", "nibbles", "crc+sum")
PAYLOADS = ("uniform", "sensor", "counter")

Check = Callable[[Array], Array]


@dataclass(frozen=True)
class Secret:
    """A digest: bits of data in, frames out.

    Attributes
    ----------
    text : str
        What it is, for people.
    places : tuple of (first bit, one after the last)
        Where checks stand.
    build : callable
        From the payload, shape (n, 8·bytes), to frames.
    anywhere : bool
        Whether every unit is as good a check as this one: of an XOR, or of units with a fixed sum.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    build: Check
    n_bytes: int
    anywhere: bool = False

    def valid(self, frames: Array) -> Array:
        """Say of each frame whether its checks are right."""
        rest = [i for i in range(frames.shape[1]) if not any(a <= i < b for a, b in self.places)]
        return np.asarray((self.build(frames[:, rest]) == frames).all(axis=1))


def as_bits(values: Array, width: int) -> Array:
    """Return numbers as rows of bits, the highest first."""
    shifts = np.arange(width - 1, -1, -1, dtype=np.uint64)
    return (values.astype(np.uint64)[:, np.newaxis] >> shifts & np.uint64(1)).astype(np.uint8)


def as_units(bits: Array, size: int) -> Array:
    """Return rows of bits as numbers of ``size`` bits each."""
    parts = bits.reshape(len(bits), -1, size).astype(np.int64)
    return np.asarray(parts @ (1 << np.arange(size - 1, -1, -1)))


def reflected(bits: Array, size: int = 8) -> Array:
    """Return the bits with every group of ``size`` turned around."""
    return bits.reshape(len(bits), -1, size)[:, :, ::-1].reshape(bits.shape)


def crc(bits: Array, width: int, poly: int, init: int) -> Array:
    """Return the register of a CRC after these bits, the first one first."""
    register = np.full(len(bits), init, dtype=np.uint64)
    mask, top = np.uint64((1 << width) - 1), np.uint64(width - 1)
    for bit in bits.T.astype(np.uint64):
        out = (register >> top ^ bit) & np.uint64(1)
        register = (register << np.uint64(1) & mask) ^ out * np.uint64(poly)
    return register


def lfsr(bits: Array, width: int, generator: int, key: int) -> Array:
    """Return the digest of radio decoders: a key that rolls right, added for each bit that is 1."""
    total = np.zeros(len(bits), dtype=np.uint64)
    for bit in bits.T.astype(np.uint64):
        total ^= bit * np.uint64(key)
        key = key >> 1 ^ (generator if key & 1 else 0)
    return total


def payload(
    rng: np.random.Generator, kind: str, n: int, n_bytes: int, id_byte: int | None
) -> Array:
    """Return rows of data bits."""
    data = rng.integers(0, 256, (n, n_bytes))
    if kind == "sensor":
        degrees = 200 + np.cumsum(rng.integers(-3, 4, n)) // 2 % 400
        data[:, 0] = rng.integers(0, 256)
        data[:, 1] = (rng.random(n) < 0.1) << 7 | rng.integers(0, 3, n) << 4 | degrees >> 8
        data[:, 2] = degrees & 255
        data[:, 3] = 40 + np.cumsum(rng.integers(-1, 2, n)) % 40
        for i in range(4, n_bytes):
            data[:, i] = rng.integers(0, 1 << rng.integers(1, 9), n)
    elif kind == "counter":
        count = rng.integers(0, 1 << 16) + np.arange(n)
        data[:, 0], data[:, 1] = count >> 8 & 255, count & 255
        for i in range(2, n_bytes):
            data[:, i] = rng.integers(0, 1 << rng.integers(2, 9), n)
    if id_byte is not None:
        data = np.concatenate([np.full((n, 1), id_byte), data[:, : n_bytes - 1]], axis=1)
    return np.unpackbits(data.astype(np.uint8), axis=1)


def _crc_bits(rng: np.random.Generator, width: int) -> tuple[str, Check]:
    poly = int(rng.integers(0, 1 << width)) | 1
    init, xorout = (int(v) for v in rng.integers(0, 1 << width, 2))
    reflect = bool(rng.integers(0, 2))
    little = bool(rng.integers(0, 2)) and width in (16, 24, 32)

    def check(bits: Array) -> Array:
        value = crc(reflected(bits) if reflect else bits, width, poly, init)
        out = as_bits(value, width)
        out = (out[:, ::-1] if reflect else out) ^ as_bits(np.array([xorout]), width)
        return out.reshape(len(out), -1, 8)[:, ::-1].reshape(out.shape) if little else out

    text = f"CRC-{width} poly {poly:#x} init {init:#x} xorout {xorout:#x}"
    return f"{text}{' reflected' * reflect}{' little' * little}", check


def _lfsr_bits(rng: np.random.Generator, width: int) -> tuple[str, Check]:
    generator = int(rng.integers(0, 1 << width)) | 1 << (width - 1)
    key, final = int(rng.integers(1, 1 << width)), int(rng.integers(0, 1 << width))
    if key == (key >> 1 ^ (generator if key & 1 else 0)):
        return _lfsr_bits(rng, width)  # a key that stays the same is a parity
    order = rng.integers(0, 3)

    def check(bits: Array) -> Array:
        turned = bits if order == 0 else bits[:, ::-1] if order == 1 else reflected(bits)[:, ::-1]
        return as_bits(lfsr(turned, width, generator, key) ^ np.uint64(final), width)

    return f"LFSR-{width} generator {generator:#x} key {key:#x} order {order}", check


def _added(rng: np.random.Generator, width: int, unit: int, xor: bool) -> tuple[str, Check]:
    constant, sign = int(rng.integers(0, 1 << width)), int(rng.choice([1, 1, -1]))

    def check(bits: Array) -> Array:
        units = as_units(bits, unit)
        if xor:
            return as_bits(np.bitwise_xor.reduce(units, axis=1) ^ constant, width)
        return as_bits((constant + sign * units.sum(axis=1)) % (1 << width), width)

    word = "XOR" if xor else "sum" if sign > 0 else "minus sum"
    return f"{word} of {unit} bits in {width}, constant {constant:#x}", check


def draw_secret(rng: np.random.Generator, kind: str) -> Secret:
    """Return a random digest of this kind, in a random place."""
    n_bytes = int(rng.integers(4, 10))
    if kind in ("crc", "crc+sum"):
        width = 8 if kind == "crc+sum" else int(rng.integers(4, 33))
        text, check = _crc_bits(rng, width)
    elif kind == "lfsr":
        width = int(rng.choice([8, 16]))
        text, check = _lfsr_bits(rng, width)
    elif kind == "nibbles":
        width = int(rng.choice([4, 8]))
        text, check = _added(rng, width, 4, width == 4 and bool(rng.integers(0, 2)))
    else:
        width = 8 if kind == "xor" else int(rng.choice([8, 8, 16]))
        text, check = _added(rng, width, 8, kind == "xor")
    place = n_bytes if kind == "crc+sum" else int(rng.choice([n_bytes] * 3 + [0, n_bytes - 1]))
    start = 8 * place
    places = [(start, start + width)]
    total = 8 * n_bytes + width

    def build(bits: Array) -> Array:
        frames = np.concatenate([bits[:, :start], check(bits), bits[:, start:]], axis=1)
        if kind != "crc+sum":
            return frames
        added = as_units(frames, 8).sum(axis=1) & 255
        return np.concatenate([frames, as_bits(added, 8)], axis=1)

    if kind == "crc+sum":
        places.append((total, total + 8))
        text += ", then a sum"
    anywhere = kind in ("sum", "xor", "nibbles") and not text.startswith("sum")
    anywhere |= "poly 0x1 " in text  # x^w + 1: an XOR
    return Secret(f"{text}, at bit {start} of {total}", tuple(places), build, n_bytes, anywhere)


def damage(rng: np.random.Generator, frames: Array, share: float) -> Array:
    """Return the frames, a share of them with one to four flipped bits."""
    hit = np.flatnonzero(rng.random(len(frames)) < share)
    frames = frames.copy()
    for i in hit:
        frames[i, rng.choice(frames.shape[1], rng.integers(1, 5), replace=False)] ^= 1
    return frames


@dataclass(frozen=True)
class Capture:
    """Frames of one secret, fresh ones, and what they were drawn from."""

    secret: Secret
    rows: Array
    fresh: Array
    text: str


def draw_capture(seed: int, number: int, kind: str | None = None) -> Capture:
    """Return the capture with this number."""
    rng = np.random.default_rng([seed, number])
    kind = kind or KINDS[number % len(KINDS)]
    secret = draw_secret(rng, kind)
    shape = PAYLOADS[int(rng.integers(0, len(PAYLOADS)))]
    id_byte = int(rng.integers(0, 256)) if rng.integers(0, 2) else None
    n = int(100 * 50 ** rng.random())
    share = float(rng.choice([0, 0, 0.01, 0.02, 0.05]))
    data = payload(rng, shape, n + FRESH, secret.n_bytes, id_byte)
    frames = secret.build(data)
    rows = damage(rng, frames[:n], share)
    text = f"{shape}{'' if id_byte is None else ' with id'}, {n} frames, {share:.0%} damaged"
    return Capture(secret, rows, frames[n:], f"{kind}: {secret.text}; {text}")


def draw_free(seed: int, number: int) -> tuple[str, Array]:
    """Return frames without a digest, with awkward fields."""
    rng = np.random.default_rng([seed, 1 << 20, number])
    n, n_bytes = int(100 * 50 ** rng.random()), int(rng.integers(5, 11))
    shape = PAYLOADS[int(rng.integers(0, len(PAYLOADS)))]
    id_byte = int(rng.integers(0, 256)) if rng.integers(0, 2) else None
    data = np.packbits(payload(rng, shape, n, n_bytes, id_byte), axis=1).astype(np.int64)
    words = [shape]
    for _ in range(int(rng.integers(1, 4))):
        a, b, c = rng.choice(n_bytes, 3, replace=False)
        word = str(rng.choice(["complemented", "subtracted", "copied", "gray", "bcd", "swapped"]))
        x = data[:, a]
        fields = {
            "complemented": 255 - x,
            "subtracted": int(rng.integers(0, 256)) - x if rng.integers(0, 2) else x - data[:, c],
            "copied": x,
            "gray": x ^ x >> 1,
            "bcd": x % 100 // 10 << 4 | x % 10,
            "swapped": x >> 4 | (x & 15) << 4,
        }
        data[:, b] = fields[word] & 255
        words.append(word)
    share = float(rng.choice([0, 0, 0.01, 0.02, 0.05]))
    rows = damage(rng, np.unpackbits(data.astype(np.uint8), axis=1), share)
    return f"{', '.join(words)}; {n} frames of {n_bytes} bytes, {share:.0%} damaged", rows


def analyzed(rows: Array) -> tuple[list[Digest], float]:
    """Return the digests that the default analysis finds, and the seconds of the processor."""
    places = [Place("capture", i + 1, i + 1) for i in range(len(rows))]
    begun = time.process_time()
    found = study(rows, places, IndexRule(), Coins(1))
    digests = found.digests
    return digests, time.process_time() - begun


def accepted(digests: Sequence[Digest], frames: Array) -> Array:
    """Say of each frame whether the Python code that is generated for the digests accepts it."""
    if not digests:
        return np.zeros(len(frames), dtype=bool)
    space: dict[str, Any] = {}
    exec(frame_code(frames.shape[1], digests, "python"), space)
    packed = np.packbits(frames, axis=1)
    return np.array([space["check_frame"](row.tobytes()) for row in packed])


@dataclass(frozen=True)
class Outcome:
    """What became of one capture."""

    text: str
    right: bool
    wrong_place: bool
    digests: tuple[str, ...]
    seconds: float
    rows: int


def judged(capture: Capture, seed: int = 0) -> Outcome:
    """Analyze a capture and hold what is found against fresh frames."""
    digests, seconds = analyzed(capture.rows)
    rng = np.random.default_rng(seed)
    spoiled = damage(rng, capture.fresh, 1.0)
    right = bool(accepted(digests, capture.fresh).all())
    right &= bool((accepted(digests, spoiled) == capture.secret.valid(spoiled)).all())
    true = {i for a, b in capture.secret.places for i in range(a, b)}
    claimed = {int(name[1:]) for d in digests if d.name for name in d.columns}
    said = tuple(f"{d.name} in {d.columns[0]}..{d.columns[-1]}: {d.formula}" for d in digests)
    wrong = not claimed <= true and not capture.secret.anywhere
    return Outcome(capture.text, right, wrong, said, seconds, len(capture.rows))


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for and say whether the floors hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--captures", type=int, default=200)
    parser.add_argument("--free", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", choices=sorted(set(KINDS)))
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(arguments)
    outcomes = []
    for number in range(options.captures):
        outcome = judged(draw_capture(options.seed, number, options.only))
        outcomes.append(outcome)
        if options.verbose and (not outcome.right or outcome.wrong_place):
            print(f"#{number} {'right' if outcome.right else 'WRONG'} {outcome.text}")
            print(
                "".join(f"      {text[:150]}\n" for text in outcome.digests or ("nothing",)), end=""
            )
    false, slow = 0, []
    for number in range(options.free):
        text, rows = draw_free(options.seed, number)
        digests, seconds = analyzed(rows)
        slow.append(seconds)
        if any(digest.name for digest in digests):
            false += 1
            if options.verbose:
                print(f"free #{number} {text}")
                print(
                    "".join(
                        f"      {d.name} in {d.columns[0]}: {d.formula[:120]}\n" for d in digests
                    ),
                    end="",
                )
    times = [o.seconds for o in outcomes if 1500 <= o.rows <= 2500] or [o.seconds for o in outcomes]
    missed = Counter(o.text.split(":")[0] for o in outcomes if not o.right)
    n = max(1, len(outcomes))
    right, wrong = sum(o.right for o in outcomes) / n, sum(o.wrong_place for o in outcomes) / n
    named = false / max(1, options.free)
    median = float(np.median(times)) if times else 0.0
    print(f"functionally right {right:.2%} of {len(outcomes)} (missed: {dict(missed)})")
    print(f"wrong place        {wrong:.2%}")
    print(f"false names        {named:.2%} of {options.free}")
    print(f"median seconds     {median:.2f} (about 2,000 frames)")
    print(f"without digest     {np.median(slow or [0]):.2f} seconds")
    good = right >= RIGHT and wrong <= WRONG_PLACE and named <= FALSE_NAMES and median <= SECONDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

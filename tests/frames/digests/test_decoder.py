"""Lines of a decoder say of every frame what the named digest says: compiled, and run on rows."""

import shutil
import subprocess

import numpy as np
import pytest

from flagstone.frames.digests import decoder_code, name_check
from flagstone.frames.digests.catalogue import CATALOGUE, Known
from tests.frames.digests import oracle
from tests.frames.digests.test_naming import named, xor

#: The routines by their documented meaning, one bit at a time.
ROUTINES = """
#include <stdint.h>
#include <stdio.h>
#define DECODE_FAIL_MIC (-1)
static unsigned turn(unsigned x, int w)
{
    unsigned y = 0;
    for (int i = 0; i < w; ++i)
        y |= (x >> i & 1) << (w - 1 - i);
    return y;
}
static unsigned any_crc(uint8_t const *b, unsigned n, int w, int lsb, unsigned poly, unsigned init)
{
    unsigned crc = init;
    for (unsigned k = 0; k < 8 * n; ++k) {
        unsigned bit = b[k / 8] >> (lsb ? k % 8 : 7 - k % 8) & 1;
        unsigned out = (crc >> (w - 1) & 1) ^ bit;
        crc = (crc << 1 & ((1u << w) - 1)) ^ (out ? poly : 0);
    }
    return lsb ? turn(crc, w) : crc;
}
#define ROUTINE __attribute__((unused)) static uint16_t
typedef uint8_t const *bytes;
ROUTINE crc4(bytes b, unsigned n, unsigned p, unsigned i) { return any_crc(b, n, 4, 0, p, i); }
ROUTINE crc7(bytes b, unsigned n, unsigned p, unsigned i) { return any_crc(b, n, 7, 0, p, i); }
ROUTINE crc8(bytes b, unsigned n, unsigned p, unsigned i) { return any_crc(b, n, 8, 0, p, i); }
ROUTINE crc8le(bytes b, unsigned n, unsigned p, unsigned i) { return any_crc(b, n, 8, 1, p, i); }
ROUTINE crc16(bytes b, unsigned n, unsigned p, unsigned i) { return any_crc(b, n, 16, 0, p, i); }
ROUTINE crc16lsb(bytes b, unsigned n, unsigned p, unsigned i)
{
    return any_crc(b, n, 16, 1, turn(p, 16), turn(i, 16));
}
ROUTINE lfsr_digest16(bytes b, unsigned n, unsigned gen, unsigned key)
{
    unsigned sum = 0;
    for (unsigned k = 0; k < 8 * n; ++k) {
        sum ^= b[k / 8] >> (7 - k % 8) & 1 ? key : 0;
        key = key >> 1 ^ (key & 1 ? gen : 0);
    }
    return sum;
}
ROUTINE lfsr_digest8(bytes b, unsigned n, unsigned gen, unsigned key)
{
    return lfsr_digest16(b, n, gen, key);
}
ROUTINE lfsr_digest8_reverse(bytes b, unsigned n, unsigned gen, unsigned key)
{
    uint8_t turned[64];
    for (unsigned k = 0; k < n; ++k)
        turned[k] = b[n - 1 - k];
    return lfsr_digest16(turned, n, gen, key);
}
ROUTINE xor_bytes(bytes b, unsigned n)
{
    unsigned x = 0;
    while (n--)
        x ^= b[n];
    return x;
}
ROUTINE parity8(unsigned x) { return __builtin_popcount(x) & 1; }
__attribute__((unused)) static int add_bytes(bytes b, unsigned n)
{
    int x = 0;
    while (n--)
        x += b[n];
    return x;
}
__attribute__((unused)) static int add_nibbles(bytes b, unsigned n)
{
    int x = 0;
    while (n--)
        x += (b[n] >> 4) + (b[n] & 15);
    return x;
}
"""


def program(number, code):
    return f"static int check{number}(uint8_t *b)\n{{\n{code}\n    return 0;\n}}\n"


def crc(name, **changes):
    known = next(k for k in CATALOGUE if k.name == name)._replace(**changes)
    return lambda data: oracle.crc(data, known), known.width


def nibbles(data):
    return sum((b >> 4) + (b & 15) for b in data)


CASES = {
    "crc8(": crc("CRC-8/NRSC-5"),
    "crc8le(": crc("CRC-8/ROHC"),
    "crc8le( uncatalogued": crc("CRC-8/ROHC", init=0x35, xorout=0x5A),
    "crc16(": crc("CRC-16/GENIBUS"),
    "crc16lsb(": crc("CRC-16/IBM-SDLC"),
    "crc16lsb( uncatalogued": crc("CRC-16/MODBUS", init=0x1234),
    "crc4(": crc("CRC-4/INTERLAKEN"),
    "lfsr_digest8(": (lambda d: 0x5A ^ oracle.lfsr(d, 8, 0x98, 0x3E), 8),
    "lfsr_digest8_reverse(": (lambda d: oracle.lfsr(d[::-1], 8, 0x98, 0x25), 8),
    "lfsr_digest16(": (lambda d: oracle.lfsr(d, 16, 0x8810, 0x5412), 16),
    "lfsr_digest8((uint8_t[]){xor_bytes(": (
        lambda d: oracle.lfsr(d, 8, 0x98, 0x3E, restart=True),
        8,
    ),
    "xor_bytes(": (lambda d: xor(d) ^ 0xA5, 8),
    "(xor_bytes(": (lambda d: xor([b >> 4 ^ b & 15 for b in d]), 4),
    "add_bytes(": (lambda d: sum(d) + 0x5A & 255, 8),
    "- (add_bytes(": (lambda d: -sum(d) & 255, 8),
    "add_nibbles(": (lambda d: nibbles(d) & 255, 8),
    "add_nibbles( low nibble first": (lambda d: nibbles(d) << 4 & 0xF0 | nibbles(d) >> 4 & 15, 8),
    "% 100": (lambda d: sum(d) % 100, 8),
    "add_nibbles( 4 bits": (lambda d: nibbles(d) & 15, 4),
    "add_bytes( 16 bits": (lambda d: sum(d), 16),
    "(b[4] ^ b[5]) != 0xff": (lambda d: d[-1] ^ 0xFF, 8),
}


def frames(function, width, n_bytes=5):
    rng = np.random.default_rng(width)
    payload = oracle.skewed(rng, 250, n_bytes)
    X = oracle.frames(payload, [function(d) for d in payload.tolist()], width)
    return oracle.damaged(rng, X, 0.02)[0]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_every_routine_says_what_the_digest_says(tmp_path):
    parts, calls, expected, rows = [], [], [], []
    for number, (routine, (function, width)) in enumerate(CASES.items()):
        X = frames(function, width)
        analysis = named(X)[0]
        (digest,) = analysis.checks
        code, left = decoder_code(analysis.layers.names, [digest])
        assert left == []
        assert routine.split(" ")[0] in code if "(" in routine.split(" ")[0] else routine in code
        parts.append(program(number, code))
        size = -(-X.shape[1] // 8)
        calls.append(
            f"    for (int i = 0; i < {len(X)} && fread(b, 1, {size}, stdin) == {size}; ++i)\n"
            f'        putchar(check{number}(b) ? "1"[0] : "0"[0]);\n'
        )
        rows.append(np.packbits(X, axis=1).tobytes())
        wrong = digest.rule.broken(X).reshape(len(X), -1).any(axis=1)
        assert 0 < wrong.sum() < 0.1 * len(X)
        expected.append("".join("1" if bad else "0" for bad in wrong))
    body = "int main(void)\n{\n    uint8_t b[64];\n" + "".join(calls) + "    return 0;\n}\n"
    (tmp_path / "decoder.c").write_text(ROUTINES + "".join(parts) + body)
    words = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "decoder", "decoder.c"]
    subprocess.run(words, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "decoder"], input=b"".join(rows), capture_output=True)
    assert done.stdout.decode() == "".join(expected)


def test_a_published_frame_of_a_sensor_whose_bytes_enter_last_first():
    """The frames of two thermometers, as their decoders document them."""
    for text in ("e800293017aa55aa83", "25202ca00daa55aabb", "8a002f3051aa55aab3"):
        frame = bytes.fromhex(text)
        assert oracle.lfsr(frame[7::-1], 8, 0x98, 0x25) == frame[8]


def test_bytes_that_begin_between_bytes_are_extracted_first():
    X = frames(*crc("CRC-8/SMBUS"))
    X = np.hstack([np.ones((len(X), 3), dtype=np.uint8), X])
    analysis, digests = named(X)
    code, _ = decoder_code(analysis.layers.names, digests)
    assert "bitbuffer_extract_bytes(bitbuffer, row, 3, b, 48);" in code
    assert "crc8(&b[0], 5, 0x07, 0x00) != b[5]" in code


def test_an_xor_of_bytes_around_the_check_is_compared_as_a_whole():
    payload = oracle.skewed(np.random.default_rng(5), 250, 4)
    check = np.bitwise_xor.reduce(payload, axis=1, keepdims=True)
    X = np.unpackbits(np.hstack([payload[:, :2], check, payload[:, 2:]]), axis=1)
    frame = named(X, 0)[0].frame
    code, _ = decoder_code(frame.names, [name_check(frame, range(16, 24))])
    assert "if ((xor_bytes(&b[0], 2) ^ xor_bytes(&b[3], 2)) != b[2]) {" in code


def test_what_has_no_routine_is_handed_back():
    known = Known("", 12, 0x5A7, 0x123, False, False, 0x456, 0)
    analysis, digests = named(frames(lambda d: oracle.crc(d, known), 12))
    assert decoder_code(analysis.layers.names, digests) == ("", digests)


def test_a_check_whose_place_holds_the_last_bits():
    """As in some weather sensors: the last nibble enters where the CRC stands."""
    known = Known("", 4, 0x3, 0, False, False, 0, 0)
    rng = np.random.default_rng(6)
    bits = np.unpackbits(oracle.skewed(rng, 600, 5), axis=1)

    def bitwise(row):
        order = [*range(8), *range(36, 40), *range(12, 36)]
        register = 0
        for i in order:
            out = register >> 3 ^ int(row[i])
            register = register << 1 & 15 ^ (known.poly if out else 0)
        return [register >> 3 - j & 1 for j in range(4)]

    bits[:, 8:12] = [bitwise(row) for row in bits]
    analysis, (digest,) = named(bits, 0)
    assert digest.columns == ("x8", "x9", "x10", "x11")
    assert digest.name == "CRC-4 with polynomial 0x3"
    assert digest.parameters["place_of_check"] == oracle.columns(36, 39)
    assert digest.rows_broken == 0
    assert decoder_code(analysis.layers.names, [digest])[1] == [digest]

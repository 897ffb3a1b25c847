"""Write the frames of examples: frames.txt and sensor.hex.

frames.txt: 600 frames of 16 bits, extended Hamming(16, 11) code words; six have two flipped bits.
sensor.hex: 400 frames of a thermometer with drifting readings: id, channel and battery,
temperature, humidity, CRC-8 (polynomial 0x31) of the bytes before it; five have a flipped bit.
The files are committed; this script documents how they came to be.
"""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent.parent / "examples"


def code_words(number: int, damaged: int) -> np.ndarray:
    """Return code words as a 0/1 array of shape (number, 16)."""
    random = np.random.RandomState(2026)
    bits = np.zeros((number, 16), dtype=np.uint8)
    data = [i for i in range(1, 16) if i & (i - 1)]
    bits[:, data] = random.randint(0, 2, size=(number, len(data)))
    for check in (1, 2, 4, 8):
        covered = [i for i in range(1, 16) if i & check and i != check]
        bits[:, check] = bits[:, covered].sum(axis=1) % 2
    bits[:, 0] = bits.sum(axis=1) % 2
    for row in random.choice(number, damaged, replace=False):
        bits[row, random.choice(16, 2, replace=False)] ^= 1
    return bits


def crc8(data: bytes) -> int:
    """Return the CRC-8 with polynomial 0x31."""
    register = 0
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register << 1 ^ 0x31) & 0xFF if register & 0x80 else register << 1
    return register


def readings(number: int, damaged: int) -> list[bytes]:
    """Return frames of a thermometer, one a minute."""
    random = np.random.RandomState(2027)
    temperature, humidity, out = 215, 55, []
    for _ in range(number):
        temperature += int(random.randint(-3, 4))
        humidity = min(99, max(20, humidity + int(random.randint(-1, 2))))
        battery = int(random.random_sample() < 0.9)
        status = battery << 7 | int(random.randint(0, 3)) << 4 | temperature >> 8 & 0xF
        data = bytes([0x5A, status, temperature & 0xFF, humidity])
        out.append(data + bytes([crc8(data)]))
    for row in random.choice(number, damaged, replace=False):
        place = int(random.randint(0, 40))
        frame = bytearray(out[row])
        frame[place // 8] ^= 0x80 >> place % 8
        out[row] = bytes(frame)
    return out


if __name__ == "__main__":
    rows = code_words(600, 6)
    (FOLDER / "frames.txt").write_text("".join("".join(map(str, row)) + "\n" for row in rows))
    (FOLDER / "sensor.hex").write_text("".join(f.hex() + "\n" for f in readings(400, 5)))

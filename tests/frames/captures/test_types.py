"""Types of frames in one capture: told apart where they are there, and never by damage."""

import numpy as np
import pytest

from flagstone import Coins, Flag, IndexRule, ask
from flagstone.frames.captures import message_types
from flagstone.frames.captures import types as types_module
from flagstone.question import ConstraintsQuestion
from tests.frames.captures.frames import DAMAGE, damaged, device, drifting, mixed

RULE = IndexRule(contamination=0.01)
SMBUS = {"crc": "CRC-8/SMBUS", "ident": 0x8A}


def types_of(X, rule=RULE, seed=1):
    lifted = np.hstack([X, np.ones((len(X), 1), dtype=np.uint8)])
    finding = ask(Flag(X.shape[1] + 1).update(lifted), ConstraintsQuestion(), rule, Coins(seed))
    wrong = np.flatnonzero(~finding.answer.check(X))
    return finding, message_types(finding, X, rule, Coins(seed)), wrong


@pytest.mark.parametrize("repeat", [1, 3])
@pytest.mark.parametrize("share", [0.5, 0.3])
def test_two_devices_are_told_apart_by_a_bit(share, repeat):
    rng = np.random.default_rng(1)
    k = int(share * 900)
    one, two = device(rng, 900 - k, repeat=repeat), device(rng, k, **SMBUS, repeat=repeat)
    X = damaged(rng, mixed(rng, one, two, repeat=repeat))
    finding, types, _ = types_of(X)
    assert len(finding.answer) == 16
    assert [found.told_by for found in types] == ["x8 = 0", "x8 = 1"]
    for found, clean in zip(types, (one, two), strict=True):
        assert len(found.answer) == 24
        assert found.answer.check(clean).all()
        assert len(found.rows) > 0.97 * len(clean)
        assert found.answer.check(X[found.rows]).all()
    assert not set(types[0].rows) & set(types[1].rows)


def test_four_devices():
    rng = np.random.default_rng(2)
    kinds = [("CRC-8/MAXIM-DOW", 0x51), ("CRC-8/SMBUS", 0x8A)]
    kinds += [("CRC-8/AUTOSAR", 0x13), ("CRC-8/DARC", 0x70)]
    captures = [device(rng, 350, *kind) for kind in kinds]
    _, types, _ = types_of(damaged(rng, mixed(rng, *captures)))
    assert len(types) == 4
    for clean in captures:
        assert sum(found.answer.check(clean).all() for found in types) == 1


def test_devices_of_one_model_are_one_type():
    """Other constants in a few bits, and the same check: nothing would be won."""
    rng = np.random.default_rng(3)
    X = damaged(rng, mixed(rng, device(rng, 500), device(rng, 400, ident=0x8A)))
    finding, types, _ = types_of(X)
    assert [found.answer for found in types] == [finding.answer]


def test_a_habit_of_the_payload_is_no_type():
    """Where one bit is 0, twelve others are, too; where it is 1, they vary."""
    rng = np.random.default_rng(10)
    bits = rng.integers(0, 2, (1000, 24), dtype=np.uint8)
    bits[:, 8:20] &= bits[:, :1]
    check = np.bitwise_xor.reduce(np.packbits(bits, axis=1), axis=1)
    X = np.hstack([bits, np.unpackbits(check[:, np.newaxis], axis=1)])
    finding, types, _ = types_of(X)
    assert [found.answer for found in types] == [finding.answer]


@pytest.mark.parametrize("start", [120, 250, 505, 760])
def test_a_drifting_sensor_is_one_type(start):
    """A reading that passes a power of two turns over its high bits: a habit, and no type."""
    for seed in range(6):
        rng = np.random.default_rng([seed, start])
        reading = np.clip(start + np.cumsum(rng.integers(-2, 3, 600)), 0, 1023)
        humid = np.clip(55 + np.cumsum(rng.integers(-1, 2, 600)), 20, 99)
        head = np.full(600, 0x2D)
        data = np.stack([head, reading >> 8, reading & 255, humid], axis=1).astype(np.uint8)
        check = np.bitwise_xor.reduce(data, axis=1, keepdims=True)
        X = np.unpackbits(np.hstack([data, check]), axis=1)
        _, types, _ = types_of(damaged(rng, X, 0.01), seed=seed)
        assert len(types) == 1


@pytest.mark.parametrize(("seed", "spare"), [(1, 1), (75, 1), (26, 2), (39, 3)])
def test_two_drifting_devices_are_no_three(seed, spare):
    """Readings that leave the usual range of a type keep its check: no type of their own."""
    rng = np.random.default_rng([seed, spare])
    one = drifting(rng, 300, "CRC-8/NRSC-5", 0x7B, spare=spare)
    two = drifting(rng, 300, "CRC-8/SMBUS", 0xC4, spare=spare)
    X = np.where(rng.random((300, 1)) < 0.7, one, two)
    _, types, _ = types_of(damaged(rng, X), seed=seed)
    assert len(types) == 2


def test_a_rare_device_with_another_check():
    rng = np.random.default_rng(4)
    rare = device(rng, 45, **SMBUS, repeat=3)
    X = damaged(rng, mixed(rng, device(rng, 1455, repeat=3), rare, repeat=3))
    finding, (first, second), wrong = types_of(X)
    assert first.answer == finding.answer
    assert first.told_by == ""
    assert second.told_by.startswith("the constants of type 1, but x8 = 1, x9 = 0")
    assert "too few rows to say more" in second.told_by
    assert second.answer.check(rare).all()
    assert (second.answer.matrix.sum(axis=1) == 1).all()
    assert len(wrong) > len(second.rows) >= 40


def test_a_rare_device_with_the_same_check_is_no_type():
    rng = np.random.default_rng(5)
    X = np.concatenate([device(rng, 1500), device(rng, 12, ident=0x8A)])
    finding, types, _ = types_of(X)
    assert [found.answer for found in types] == [finding.answer]


def test_damaged_rows_of_a_second_type_are_no_third():
    """They have its constants, and break its check in many ways."""
    rng = np.random.default_rng(9)
    second = device(rng, 200, **SMBUS)
    hurt = second[:20].copy()
    for i, row in enumerate(hurt):
        row[16 + i : 24 + i : 3] ^= 1
    X = mixed(rng, device(rng, 4000), second[20:], hurt)
    _, types, _ = types_of(X, IndexRule(contamination=0.02))
    assert [len(found.rows) for found in types] == [4000, 180]
    assert len(types[1].answer) == 24


def test_rows_with_equations_of_their_own():
    """No constant of the first type differs; the second one is another subspace."""
    rng = np.random.default_rng(6)
    bits = rng.integers(0, 2, (3000, 16), dtype=np.uint8)
    first = np.hstack([bits[:2900], bits[:2900] ^ np.roll(bits[:2900], 3, axis=1)])
    few = bits[2900:] * np.repeat([1, 0], 8).astype(np.uint8)
    second = np.hstack([few, few ^ np.roll(few, 5, axis=1) ^ np.roll(few, 1, axis=1)])
    X = np.concatenate([first, second])
    _, types, _ = types_of(X, IndexRule(t_min=40, t_max=45))
    assert [found.told_by for found in types] == ["", "equations of its own"]
    assert types[1].answer.check(second).mean() > 0.9
    assert len(types[1].answer) >= 24


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("n", [60, 300, 1500])
def test_damage_is_no_type(how, n):
    """At most one of a thousand captures of one type may be said to hold two."""
    for seed in range(6):
        rng = np.random.default_rng([seed, n])
        X = device(rng, n, repeat=1 + 2 * (seed % 2), skewed=False)
        _, types, _ = types_of(damaged(rng, X, 0.02, how), seed=seed)
        assert len(types) == 1


def test_a_window_past_a_side_leaves_rows_together():
    """A threshold by hand may lie past the last set of a small type."""
    rng = np.random.default_rng(7)
    X = mixed(rng, device(rng, 480), device(rng, 120, **SMBUS))
    _, apart, _ = types_of(X, IndexRule(t_min=4, t_max=4))
    assert [len(found.rows) for found in apart] == [480, 120]
    finding, together, _ = types_of(X, IndexRule(t_min=6, t_max=6))
    assert [found.answer for found in together] == [finding.answer]


def test_a_constant_bit_that_is_wrong_again_and_again_is_damage():
    rng = np.random.default_rng(8)
    X = device(rng, 1500)
    X[:40, 3] ^= 1
    finding, types, _ = types_of(X)
    assert [found.answer for found in types] == [finding.answer]


def test_the_first_rows_are_looked_at(monkeypatch):
    monkeypatch.setattr(types_module, "MOST_ROWS", 300)
    rng = np.random.default_rng(1)
    X = mixed(rng, device(rng, 450), device(rng, 450, **SMBUS))
    _, types, _ = types_of(X)
    assert max(int(one.rows.max()) for one in types) < 300

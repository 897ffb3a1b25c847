"""Coins: every bit of every draw is fixed by the seed's text and the draw's name."""

import hashlib
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstone.algebra.fields import GF
from flagstone.coins import Coins, fresh_seed
from flagstone.errors import InputError

texts = st.text(max_size=12)


class Scheme:
    """The documented scheme, written a second time from its description alone."""

    def __init__(self, seed, name):
        self.head = b"flagstone coins v1"
        for text in (str(seed), name):
            data = text.encode("utf-8")
            self.head += len(data).to_bytes(8, "big") + data

    def stream(self, length):
        blocks = -(-length // 32)
        return b"".join(
            hashlib.sha256(self.head + i.to_bytes(8, "big")).digest() for i in range(blocks)
        )[:length]

    def uniform(self):
        return Fraction(int.from_bytes(self.stream(8), "big") >> 11, 2**53)

    def integers(self, n, how_many):
        if n == 1:
            return [0] * how_many
        bits = len(bin(n - 1)) - 2
        size = -(-bits // 8)
        found, start = [], 0
        while len(found) < how_many:
            word = self.stream(start + size)[start:]
            start += size
            candidate = int(bin(int.from_bytes(word, "big"))[2:].zfill(8 * size)[:bits], 2)
            if candidate < n:
                found.append(candidate)
        return found


@given(seed=texts | st.integers(), name=texts)
def test_uniform_follows_the_documented_scheme(seed, name):
    u = Coins(seed).uniform(name)
    assert Fraction(u) == Scheme(seed, name).uniform()
    assert 0 <= u < 1


@given(seed=texts | st.integers(), name=texts, n=st.integers(1, 300) | st.integers(1, 2**70))
def test_integers_follow_the_documented_scheme(seed, name, n):
    assert Coins(seed).integers(name, n) == Scheme(seed, name).integers(n, 1)[0]


@given(
    seed=texts | st.integers(),
    name=texts,
    order=st.sampled_from([2, 3, 4, 5, 8, 9, 251, 256, 65521, 65536, 65537, 2**31 - 1]),
    length=st.integers(0, 40),
)
def test_vectors_follow_the_documented_scheme(seed, name, order, length):
    v = Coins(seed).vector(name, order, length)
    assert v.dtype == GF(order).dtype
    assert v.tolist() == Scheme(seed, name).integers(order, length)


def test_frozen_vectors():
    """Published seeds must mean the same draws for ever: never edit these numbers."""
    coins = Coins(2026)
    assert coins.uniform("threshold") == 0.7988430992125699
    assert Coins("").uniform("") == 0.049464939298230814
    assert Coins("σ·7").uniform("größe") == 0.3169160917770275
    assert coins.integers("threshold", 6) == 4
    assert coins.integers("threshold", 10**6) == 837647
    assert coins.integers("threshold", 10**30) == 201619723745946452778358397895
    assert "".join(map(str, coins.vector("ties", 2, 24))) == "101010010011010001010100"
    assert "".join(map(str, coins.vector("ties", 5, 12))) == "114221221221"
    assert coins.vector("ties", 256, 6).tolist() == [248, 35, 214, 36, 156, 73]
    assert coins.vector("ties", 65521, 5).tolist() == [63523, 54820, 40009, 21161, 15198]
    assert coins.vector("ties", 2**31 - 1, 4).tolist() == [
        2081549074,
        1311025492,
        498040285,
        678172961,
    ]


@given(number=st.integers())
def test_the_text_of_the_seed_counts(number):
    assert Coins(number) == Coins(str(number)) == Coins(np.int64(7) if number == 7 else number)
    assert Coins(number).uniform("a") == Coins(str(number)).uniform("a")


def test_names_and_seeds_do_not_run_together():
    """Lengths are part of the hash: ("ab", "c") is not ("a", "bc")."""
    draws = {
        Coins(seed).uniform(name)
        for seed, name in [("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc")]
    }
    assert len(draws) == 4


def test_draws_are_stateless():
    coins = Coins("lab")
    first = coins.uniform("x"), coins.integers("y", 100)
    coins.vector("z", 2, 1000)
    assert (coins.uniform("x"), coins.integers("y", 100)) == first
    assert pickle.loads(pickle.dumps(coins)) == coins
    assert hash(Coins(7)) == hash(Coins("7"))
    with pytest.raises(AttributeError):
        coins.seed = "other"


def test_words_that_lie_across_two_blocks_of_the_stream():
    """Three bytes do not divide a block of 32: the eleventh word begins in one and ends in two."""
    for order in (65537, 16_777_213):
        drawn = Coins("lab").vector("wide", order, 50).tolist()
        assert drawn == Scheme("lab", "wide").integers(order, 50)


def test_coins_of_coins_are_the_same_coins():
    coins = Coins("a seed")
    assert Coins(coins) == coins
    assert repr(coins) == "Coins('a seed')"
    assert coins != "a seed"
    assert Coins(7) != Coins(8)


def test_longer_vectors_extend_shorter_ones():
    coins = Coins(1)
    assert coins.vector("r", 3, 100)[:10].tolist() == coins.vector("r", 3, 10).tolist()


def test_integers_are_unbiased():
    """Chi-square on 3 cells; 3 divides no power of 2, so folding words would show.

    With 9000 fixed draws the statistic is a constant: it is below the 99.9 % point, 13.8.
    """
    counts = np.bincount([Coins(i).integers("die", 3) for i in range(9000)], minlength=3)
    assert ((counts - 3000.0) ** 2 / 3000).sum() < 13.8


@pytest.mark.parametrize("seed", [1.5, None, True, np.True_, b"7", [1]])
def test_seeds_that_have_no_text_are_refused(seed):
    with pytest.raises(InputError, match="seed must be"):
        Coins(seed)


@pytest.mark.parametrize("n", [0, -3, 2.0, "6", None])
def test_bad_bounds_are_refused(n):
    with pytest.raises(InputError, match="positive integer"):
        Coins(1).integers("die", n)


def test_other_misuse_is_refused():
    with pytest.raises(InputError, match="no uniform vector over QQ"):
        Coins(1).vector("r", "QQ", 3)
    with pytest.raises(InputError, match="named by text"):
        Coins(1).uniform(3)
    with pytest.raises(InputError):
        Coins(1).vector("r", 2, -1)


def test_fresh_seeds_differ_and_are_text():
    seeds = {fresh_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(isinstance(seed, str) for seed in seeds)
    assert max(map(int, seeds)) < 2**63  # the parameters of other programs hold them


def test_seeds_that_cannot_be_published_are_refused():
    with pytest.raises(InputError, match="valid Unicode"):
        Coins("\ud800")

"""The private learner: exact output distributions, and the noisy choice."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from flagstone import GF, BottomError, Finding, InputError, load
from flagstone.paper import PrivateParityClassifier
from flagstone.paper import private_learner as private
from flagstone.store import save


class Walk:
    """Every outcome of a randomized function, with its exact probability.

    Runs the function again and again, each time along the next branch of its tree of random
    draws; a draw takes the first branch when it is met for the first time.
    """

    def __init__(self):
        self.path = []

    def outcomes(self, function):
        total = defaultdict(Fraction)
        while True:
            self.place, self.probability = 0, Fraction(1)
            result = function(self)
            total[result] += self.probability
            while self.path and self.path[-1][0] == self.path[-1][1] - 1:
                self.path.pop()
            if not self.path:
                assert sum(total.values()) == 1
                return dict(total)
            taken, width = self.path[-1]
            self.path[-1] = (taken + 1, width)

    def _branch(self, probabilities):
        if self.place == len(self.path):
            self.path.append((0, len(probabilities)))
        taken = self.path[self.place][0]
        self.place += 1
        self.probability *= probabilities[taken]
        return taken

    def coin(self, p):
        return bool(self._branch([1 - p, p]))

    def below(self, n):
        return self._branch([Fraction(1, n)] * n)

    def subset(self, n, p):
        return np.array([self.coin(p) for _ in range(n)], dtype=bool)

    def vector(self, name, field, length):
        q = field.order
        draws = [self._branch([Fraction(1, q)] * q) for _ in range(length)]
        return np.array(draws, dtype=field.dtype)


def distribution(rows, field, alpha, width, fit_intercept=False):
    """Return the exact law of the base learner's answer on rows (x, y)."""
    table = np.array(rows, dtype=np.uint8).reshape(len(rows), width)

    def run(source):
        rule = private.base_learner(
            field.rows(table, dim=width), field, alpha, source, fit_intercept=fit_intercept
        )
        return None if rule.is_bottom else (*rule.coef.tolist(), rule.intercept)

    return Walk().outcomes(run)


def exp_from_below(alpha):
    """Return the sum of the first terms of e^α, which is less than it."""
    return sum(alpha**i / math.factorial(i) for i in range(80))


def neighbours(domain, n):
    """Yield all pairs of data sets of n rows that differ in one row, up to the order of rows."""
    for rest in itertools.combinations_with_replacement(domain, n - 1):
        for a, b in itertools.permutations(domain, 2):
            yield (*rest, a), (*rest, b)


def law_cache(field, alpha, width):
    laws = {}

    def law(rows):
        key = tuple(sorted(rows))  # rows are kept independently: order plays no part
        if key not in laws:
            laws[key] = distribution(key, field, alpha, width)
        return laws[key]

    return law


@pytest.mark.parametrize(
    ("order", "d", "n", "alpha"),
    [
        (2, 1, 1, Fraction(1)),
        (2, 1, 2, Fraction(1, 10)),
        (2, 1, 3, Fraction(2)),
        (2, 2, 1, Fraction(1, 2)),
        (2, 2, 2, Fraction(2)),
        (2, 2, 3, Fraction(1)),
        (3, 1, 3, Fraction(1)),
        (3, 1, 2, Fraction(3)),
        (5, 1, 2, Fraction(1, 2)),
        (2, 1, 2, Fraction(5)),
    ],
)
def test_exact_privacy_of_the_base_learner(order, d, n, alpha):
    """Never above e^α, in exact numbers; and near it, so that no row is kept too rarely."""
    field, bound = GF(order), exp_from_below(alpha)
    law = law_cache(field, alpha, d + 1)
    worst = Fraction(0)
    for one, two in neighbours(list(itertools.product(range(order), repeat=d + 1)), n):
        p, q = law(one), law(two)
        assert p.keys() == q.keys(), "an answer possible on one side only is no privacy at all"
        worst = max(worst, *(p[answer] / q[answer] for answer in p))
    assert worst <= bound
    assert worst > Fraction(999_999, 10**6) * bound, "the rate is tight"


def test_the_bound_is_not_idle():
    """Keeping rows with probability 3/4 would break the promise for α = 1: the test sees it."""
    field = GF(2)
    law = law_cache(field, Fraction(3), 2)
    worst = max(
        float(law(one)[w] / law(two)[w])
        for one, two in neighbours(list(itertools.product(range(2), repeat=2)), 2)
        for w in law(one)
    )
    assert worst > math.exp(1)


def test_order_of_rows_plays_no_part_and_the_law_is_known():
    field, alpha = GF(2), Fraction(1)
    rows = [(1, 0), (1, 1)]
    law = distribution(rows, field, alpha, 2)
    assert law == distribution(rows[::-1], field, alpha, 2)
    p = private.keep_rate(alpha, 2)
    assert law[None] == Fraction(1, 2) + p * p / 2
    assert law[0, 0] == law[1, 0] == (1 - p) * p / 2 + (1 - p) ** 2 / 4


def test_with_an_intercept_the_bound_holds_as_well():
    field, alpha = GF(2), Fraction(1)
    domain = [(x, 1, y) for x in range(2) for y in range(2)]
    laws = {
        rows: distribution(rows, field, alpha, 3, fit_intercept=True)
        for rows in itertools.product(domain, repeat=2)
    }
    for (a, b), (c, e) in itertools.product(laws, repeat=2):
        if a == c or b == e:
            for answer, p in laws[a, b].items():
                assert p <= laws[c, e][answer] * exp_from_below(alpha)


# -- the noisy choice --------------------------------------------------------------------------


def choice_law(scores, alpha, reach=150):
    """Return P(argmin of scores + noise), by summing the law P(z) ∝ exp(−|z|·α/2) up to reach."""
    z = np.arange(-reach, reach + 1)
    mass = np.exp(-np.abs(z) * alpha / 2)
    mass /= mass.sum()
    above = np.cumsum(mass[::-1])[::-1]  # P(noise ≥ z)

    def at_least(k):
        return np.where(
            k < -reach, 1.0, np.where(k > reach, 0.0, above[np.clip(k + reach, 0, 2 * reach)])
        )

    law = []
    for i, score in enumerate(scores):
        value = score + z
        wins = mass.copy()
        for j, other in enumerate(scores):
            if j != i:  # a tie goes to the first
                wins = wins * at_least(value - other + (1 if j < i else 0))
        law.append(wins.sum())
    return np.array(law)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_exact_privacy_of_the_choice(alpha):
    for scores in itertools.product(range(3), repeat=3):
        law = choice_law(scores, alpha)
        assert math.isclose(law.sum(), 1, rel_tol=1e-9)
        for shift in itertools.product((-1, 0, 1), repeat=3):
            other = choice_law(np.add(scores, shift), alpha)
            assert (law <= other * math.exp(alpha) * (1 + 1e-9)).all()


def test_integer_laplace_is_drawn_exactly():
    """The walk gives the law of exp-coins up to the depth it is cut at."""

    class Cut(Exception):
        pass

    class Shallow(Walk):
        def coin(self, p):
            if self.place >= 14:
                raise Cut
            return super().coin(p)

    def run(source):
        try:
            return private._exp_coin(Fraction(1, 2), source)
        except Cut:
            return "cut"

    law = Shallow().outcomes(run)
    assert law["cut"] < Fraction(1, 10**9)
    assert abs(float(law[True]) - math.exp(-0.5)) <= float(law["cut"]) + 1e-12

    source = private.SeededSource(np.random.default_rng(0))
    draws = np.array([private.integer_laplace(Fraction(1, 2), source) for _ in range(4000)])
    ratio = math.exp(-0.5)
    zero = (1 - ratio) / (1 + ratio)
    # Five standard deviations of a binomial share: fails by chance once in a million.
    tolerance = 5 * math.sqrt(zero * (1 - zero) / len(draws))
    assert abs(np.mean(draws == 0) - zero) < tolerance
    assert abs(np.mean(draws == 1) - zero * ratio) < tolerance
    assert abs(np.mean(draws == -1) - zero * ratio) < tolerance


@pytest.mark.parametrize("gamma", [Fraction(2, 3), Fraction(3, 2)])
def test_the_geometric_law_is_exact(gamma):
    """Walk the draw with exponential coins as branches: their probabilities are exact inputs."""
    reach = 12

    class Law(Walk):
        def outcomes_of(self, monkeypatch):
            monkeypatch.setattr(private, "_exp_coin", lambda g, source: source.exp_coin(g))
            return self.outcomes(self.run)

        def exp_coin(self, g):
            p = Fraction(math.exp(-g))
            return bool(self._branch([1 - p, p]))

        def run(self, source):
            try:
                return private._geometric(gamma, source)
            except RecursionError:
                return None

        def _branch(self, probabilities):
            if self.place >= reach:
                raise RecursionError
            return super()._branch(probabilities)

    with pytest.MonkeyPatch.context() as patch:
        law = Law().outcomes_of(patch)
    cut = float(law[None])
    assert cut < 0.02
    for n in range(5):
        exact = math.exp(-gamma * n) * -math.expm1(-gamma)
        assert float(law[n]) <= exact + 1e-12
        assert float(law[n]) >= exact - cut


def test_draws_take_as_long_for_small_alpha_as_for_large():
    class Counted(private.SeededSource):
        coins = 0

        def coin(self, p):
            self.coins += 1
            return super().coin(p)

    for gamma in (Fraction(1), Fraction(1, 10**9), Fraction(5e-324)):
        source = Counted(np.random.default_rng(0))
        draws = [private.integer_laplace(gamma, source) for _ in range(200)]
        assert source.coins < 30 * len(draws)
        mean = sum(abs(z) for z in draws) * gamma / len(draws)
        assert 0.5 < mean < 1.5


@pytest.mark.parametrize("source", [private.RandomSource(), None])
def test_whole_numbers_below_any_bound(source):
    source = source or private.SeededSource(np.random.default_rng(0))
    assert source.below(1) == 0
    assert {source.below(5) for _ in range(200)} == set(range(5))
    assert 2**1000 < max(source.below(2**1074 + 1) for _ in range(50)) <= 2**1074


def test_the_choice_follows_its_law():
    source = private.SeededSource(np.random.default_rng(2))
    scores, n = [2, 0, 1], 4000
    drawn = [private.noisy_argmin(scores, Fraction(1), source) for _ in range(n)]
    law = choice_law(scores, 1.0)
    share = np.bincount(drawn, minlength=3) / n
    assert (np.abs(share - law) < 5 * np.sqrt(law * (1 - law) / n)).all()


def test_large_scales_of_the_exponential_coin():
    source = private.SeededSource(np.random.default_rng(1))
    heads = np.mean([private._exp_coin(Fraction(5, 2), source) for _ in range(4000)])
    assert abs(heads - math.exp(-2.5)) < 5 * math.sqrt(math.exp(-2.5) / 4000)


# -- the estimator -----------------------------------------------------------------------------


def planted(n, seed):
    X = np.random.RandomState(seed).randint(0, 2, size=(n, 4))
    return X, X[:, 0] ^ X[:, 2]


def test_it_learns_with_enough_rows_and_its_randomness_is_secret():
    X, y = planted(3000, 0)
    model = PrivateParityClassifier(alpha=1.0, classes=[0, 1])
    answers = [model.fit(X, y).formula_ for _ in range(6)]
    assert answers.count("y = x0 ⊕ x2") >= 4
    small = [model.fit(X[:14], y[:14]).formula_ for _ in range(12)]
    assert len(set(small)) > 1, "two runs draw fresh randomness"
    assert model.__sklearn_tags__().non_deterministic


def test_it_exposes_nothing_else_of_the_data():
    X, y = planted(500, 0)
    model = PrivateParityClassifier(classes=[0, 1], random_state=0).fit(X, y)
    assert set(vars(model)) - set(model.get_params()) == {
        "_answer",
        "n_features_in_",
        "_coder",
        "_fallback",
    }
    for name in ("flag_", "margin_", "guarantee_", "finding_", "partial_fit", "measure"):
        assert not hasattr(model, name)
    public = {n for n in dir(model) if n.endswith("_") and not n.startswith("_")}
    assert public == {
        "classes_",
        "coef_",
        "formula_",
        "intercept_",
        "is_bottom_",
        "n_features_in_",
        "answer_",
    }
    assert model.classes_.tolist() == [0, 1]


def test_bottom_and_fallback():
    X = np.array([[1, 0]] * 400)
    y = np.array([0, 1] * 200)
    model = PrivateParityClassifier(alpha=2.0, random_state=1).fit(X, y)
    assert model.is_bottom_
    with pytest.raises(BottomError):
        model.predict(X)
    y[:390] = 1
    y[390:] = 0
    model.set_params(on_bottom="majority").fit(X, np.tile([1, 1, 1, 0], 100))
    assert set(model.predict(X)) <= {0, 1}


def test_labels_rows_and_intercepts():
    X, y = planted(4000, 0)
    names = np.array(["no", "yes"])
    model = PrivateParityClassifier(alpha=2.0, fit_intercept=True, random_state=2)
    model.fit(X, names[1 - y])
    assert model.formula_ == "y = x0 ⊕ x2 ⊕ 1  # 'no' is 0, 'yes' is 1"
    assert (model.predict(X) == names[1 - y]).all()
    with pytest.raises(InputError, match="does not go with"):
        PrivateParityClassifier(classes=[0, 1]).fit([[1]], [5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha must be positive"),
        ({"alpha": -3.0}, "alpha must be positive"),
        ({"alpha": float("nan")}, "alpha must be a finite number"),
        ({"alpha": "much"}, "alpha must be a finite number"),
        ({"alpha": "1"}, "alpha must be a finite number, got '1'"),
        ({"alpha": True}, "alpha must be a finite number, got True"),
        ({"delta": float("inf")}, "delta must be a number"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False"),
        ({"delta": 1.0}, "delta must lie strictly between"),
        ({"field": "QQ"}, "field must be finite"),
        ({"on_bottom": "guess"}, "on_bottom must be"),
        ({"out_of_field": "drop"}, "out_of_field must be"),
        ({"random_state": "seven"}, "random_state must be None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        PrivateParityClassifier(**parameters).fit([[0, 1]], [1])


def test_numbers_of_every_kind_and_size():
    X, y = planted(60, 0)
    for alpha in (1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 3), 5e-324):
        PrivateParityClassifier(alpha=alpha).fit(X, y)
    PrivateParityClassifier(delta=5e-324).fit(X, y)


def test_sizes_of_blocks():
    assert private.blocks_needed(Fraction(5e-324)) == 2591
    assert private.blocks_needed(Fraction(1, 20)) == 13
    blocks = private.split(30, 13)
    assert [b.stop - b.start for b in blocks] == [2] * 13 + [4]


@pytest.mark.parametrize("order", [2, 3, 256])
@pytest.mark.parametrize("alpha", [Fraction(1, 10**9), Fraction(1), Fraction(7, 2), Fraction(500)])
def test_the_rate_is_the_largest_that_is_private_rounded_down(alpha, order):
    p = private.keep_rate(alpha, order)
    assert (p * 2**64).denominator == 1
    assert 0 < p < 1
    assert 1 + order * p / (1 - p) <= exp_from_below(alpha)
    more = p + Fraction(1, 2**64)
    assert more == 1 or 1 + order * more / (1 - more) > float(exp_from_below(alpha)) * (1 - 1e-15)


def test_a_fit_that_fails_keeps_the_old_one():
    X = np.random.RandomState(0).randint(0, 2, size=(60, 3))
    model = PrivateParityClassifier(random_state=1).fit(X, X[:, 0] ^ X[:, 1])
    before = dict(vars(model))
    with pytest.raises(InputError):
        model.fit(X[:, :2], ["a", "b", "c"] * 20)
    assert vars(model) == before


def test_its_answer_is_saved_and_loaded(tmp_path):
    X = np.random.RandomState(0).randint(0, 2, size=(1200, 6))
    model = PrivateParityClassifier(2.0, 0.3, classes=[0, 1], random_state=1).fit(X, X[:, 0])
    save(tmp_path / "private.json", model.answer_)
    assert load(tmp_path / "private.json") == Finding.of(model.answer_)

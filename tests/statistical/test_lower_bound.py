"""S45: the identity behind the lower bound, by quadrature with exact multinomials."""

import itertools
import math

import numpy as np
import pytest


def psi(h):
    """0 up to 1/2, slope 4 up to 3/4, then 1."""
    return np.clip(4 * h - 2, 0, 1)


def slope(h):
    return np.where((h > 0.5) & (h < 0.75), 4.0, 0.0)


# Learners: from counts of the points and the shown labels to a word of labels.


def elimination(counts, labels):
    return tuple(z if n else 0 for n, z in zip(counts, labels, strict=True))


def thresholded(t):
    def learner(counts, labels):
        return tuple(z if n >= t else 0 for n, z in zip(counts, labels, strict=True))

    return learner


def constant(counts, labels):
    return (0,) * len(labels)


def first_only(counts, labels):
    return (labels[0] if counts[0] else 0, *([0] * (len(labels) - 1)))


def by_total(counts, labels):
    return elimination(counts, labels) if sum(counts) > 1 else constant(counts, labels)


LEARNERS = {
    "elimination": elimination,
    "seen twice": thresholded(2),
    "seen thrice": thresholded(3),
    "constant": constant,
    "first only": first_only,
    "by total": by_total,
}


def outcomes(learner, m, u, z):
    """h_w and its gradient in u: P[output w] for counts of d points, multinomial in m rows."""
    d = len(z)
    p = [x * x / (4 * m) for x in u]
    rest = 1 - sum(p)
    found = {}
    for counts in itertools.product(range(m + 1), repeat=d):
        total = sum(counts)
        if total > m:
            continue
        ways = math.factorial(m) // math.factorial(m - total)
        ways /= math.prod(math.factorial(n) for n in counts)
        chance = (
            ways * rest ** (m - total) * math.prod(q**n for q, n in zip(p, counts, strict=True))
        )
        gradient = []
        for i, x in enumerate(u):
            # the score of u_i, times the chance
            others = math.prod(
                q**n for j, (q, n) in enumerate(zip(p, counts, strict=True)) if j != i
            )
            here, dp = counts[i], x / (2 * m)
            up = ways * rest ** (m - total) * others * (here * p[i] ** (here - 1) if here else 0.0)
            down = (m - total) * rest ** (m - total - 1) if m > total else 0.0
            gradient.append(dp * (up - ways * down * others * p[i] ** here))
        w = learner(counts, z)
        h, grad = found.get(w, (0.0, np.zeros(d)))
        found[w] = h + chance, grad + gradient
    return found


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(("d", "m", "points"), [(1, 6, 200), (2, 4, 26)])
def test_the_two_sides_of_the_integration_by_parts_agree(name, d, m, points):
    """E Σ_w ψ(h_w) Σ_i χ_i = E Σ_w ψ′(h_w) Σ_i (s − u_i) χ_i ∂_i h_w, u uniform, z uniform."""
    s = math.sqrt(4 * m * 0.5 / d)  # so that Σ p_i ≤ 1/2
    grid = (np.arange(points) + 0.5) * s / points
    left = right = 0.0
    for u in itertools.product(grid, repeat=d):
        for z in itertools.product((0, 1), repeat=d):
            for w, (h, gradient) in outcomes(LEARNERS[name], m, u, z).items():
                chi = np.array([1 if a == b else -1 for a, b in zip(w, z, strict=True)])
                left += float(psi(h)) * chi.sum()
                right += float(slope(h)) * ((s - np.array(u)) * chi * gradient).sum()
    left, right = (value / (points * 2) ** d for value in (left, right))
    assert left == pytest.approx(right, abs=0.03 * max(1.0, abs(left)))
    if name in ("elimination", "by total"):
        assert left > 0.05  # both sides say something


@pytest.mark.parametrize(("d", "share"), [(40, 0.111), (68, 0.062), (100, 0.034), (400, 0.0)])
def test_few_points_are_wrong_from_68_points_on(d, share):
    """The ⌈d/4⌉ smallest of d squares of uniform numbers seldom sum to d/400 or less."""
    rng, few, seen = np.random.RandomState(1), -(-d // 4), []
    for _ in range(20):
        squares = np.partition(rng.random_sample((2000, d)) ** 2, few - 1, axis=1)
        seen.append((squares[:, :few].sum(axis=1) <= d / 400).mean())
    assert np.mean(seen) == pytest.approx(share, abs=0.005)
    assert (np.mean(seen) < 1 / 15) == (d >= 68)
    rho = delta = 1 / 40
    failing = 4 * rho + 4 * delta / 3 + 1 / 15  # then the sum of χ is at least −d
    assert (1 - failing) / 2 - failing >= 1 / 5 - 1e-12


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_information_of_u_is_at_most_two(d):
    """Σ over outcomes of score·scoreᵀ = I + vvᵀ/(m p_0), v = u/2: its norm is 1/p_0."""
    m, rng = 3, np.random.RandomState(d)
    for _ in range(5):
        u = rng.uniform(0.05, 1, size=d) * math.sqrt(2 * m / d)
        information = np.zeros((d, d))
        found = outcomes(lambda counts, labels: counts, m, u.tolist(), (0,) * d)
        for h, gradient in found.values():
            information += np.outer(gradient, gradient) / h
        p0 = 1 - (u**2).sum() / (4 * m)
        v = u / 2
        assert information == pytest.approx(np.eye(d) + np.outer(v, v) / (m * p0))
        assert np.linalg.eigvalsh(information).max() == pytest.approx(1 / p0)
        assert p0 >= 0.5

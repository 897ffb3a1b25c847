// Arithmetic of GF(p), p < 2^31, for rows and for panels.
//
// A row or panel that is worked on holds *lanes* wider than the field's elements, so that products
// are subtracted without a remainder. Invariant: a lane stands for its value modulo p and is below
// `bound`, a multiple of p. After at most kRun products of elements were subtracted, one addition
// of `bound` to the lanes that became negative restores it; bound >= kRun (p - 1)^2 and
// 2 bound <= 2^bits make sure that it does. Only elements that are read are reduced modulo p.
#pragma once

#include "simd.h"

namespace flagstone::FLAGSTONE_VERSION {

// Lanes of 16, 32 or 64 bits, unsigned; a negative lane is one that wrapped around.
template <class Lane_>
class Prime {
  public:
    using Lane = Lane_;
    using Cell = std::conditional_t<sizeof(Lane) == 8, std::uint32_t, Lane>;

    static constexpr bool kWide = sizeof(Lane) == 8;
    static constexpr unsigned kBits = 8 * sizeof(Lane);
    static constexpr std::size_t kLanes = kWide ? 16 : 32;  // rows per panel
    static constexpr std::size_t kGroup = 4;                // rows subtracted at once
    static constexpr std::size_t kRun = kWide ? 2 : kGroup;

    static bool fits(std::uint64_t p) { return (p - 1) * (p - 1) <= greatest_bound(p) / kRun; }

    explicit Prime(std::uint32_t p)
        : p_(p),
          bound_(greatest_bound(p)),
          reciprocal_(kWide ? 0 : (std::uint64_t{1} << kBits % 64) / p),
          inverse_(1.0 / p) {}

    std::uint64_t order() const { return p_; }

    // Elements to lanes, and lanes to elements.

    void lift(const Cell *elements, std::size_t n, Lane *w) const {
        for (std::size_t i = 0; i < n; ++i) w[i] = elements[i];
    }

    Cell value(Lane w) const {
        if constexpr (kWide) {
            // The quotient is below 2^50, so that it is off by one at most.
            const auto quotient = std::int64_t(double(std::int64_t(w)) * inverse_);
            auto r = std::int64_t(w) - quotient * std::int64_t(p_);
            r += r < 0 ? std::int64_t(p_) : 0;
            return Cell(r >= std::int64_t(p_) ? r - std::int64_t(p_) : r);
        } else {
            using Double = std::conditional_t<sizeof(Lane) == 4, std::uint64_t, std::uint32_t>;
            const Lane quotient = Lane(Double(w) * reciprocal_ >> kBits);  // short by one at most
            const Lane r = Lane(w - quotient * p_);
            return r < Lane(r - p_) ? r : Lane(r - p_);
        }
    }

    void values(const Lane *w, std::size_t n, Cell *elements) const {
        const Prime field = *this;  // which no element overlaps
        for (std::size_t i = 0; i < n; ++i) elements[i] = field.value(w[i]);
    }

    // Let equal values be equal lanes.
    void settle(Lane *w, std::size_t n) const {
        const Prime field = *this;
        for (std::size_t i = 0; i < n; ++i) w[i] = field.value(w[i]);
    }

    // w -= c x
    void subtract(Lane *w, Cell c, const Cell *x, std::size_t n) const {
        const Lane bound = bound_;
        for (std::size_t i = 0; i < n; ++i) {
            const Lane v = Lane(w[i] - Lane(c) * Lane(x[i])), lifted = Lane(v + bound);
            w[i] = kWide ? (v >> (kBits - 1) ? lifted : v) : smaller(v, lifted);
        }
    }

    Cell negate(Cell a) const { return a ? Cell(p_ - a) : 0; }

    Cell multiply(Cell a, Cell b) const { return value(Lane(Lane(a) * Lane(b))); }

    // Euclid's algorithm; a is not 0.
    Cell inverse(Cell a) const {
        auto r = std::int32_t(p_), s = std::int32_t(a);
        std::int32_t x = 0, y = 1;  // x a = r, y a = s modulo p
        while (s > 1) {
            const std::int32_t quotient = r / s, rest = r - quotient * s;
            const std::int32_t z = x - quotient * y;
            r = s, s = rest, x = y, y = z;
        }
        return Cell(y < 0 ? y + std::int32_t(p_) : y);
    }

    // Blocks: kLanes lanes, one column of a panel. See Tables for fields that prepare multiples.

    std::size_t group() const { return kGroup; }
    std::size_t multiples() const { return 0; }
    void prepare(const Lane *, Lane *) const {}

    // Subtract from each given column of a panel the products of up to kGroup rows' elements there
    // with as many blocks of factors.
    void subtract_rows(Lane *panel, const std::uint32_t *columns, std::size_t n_columns,
                       Matrix<const Cell> rows, const Lane *factors, const Lane *) const {
        if (rows.rows == kGroup)
            return subtract_all<kGroup>(panel, columns, n_columns, rows, factors);
        for (std::size_t k = 0; k < rows.rows; ++k)
            subtract_all<1>(panel, columns, n_columns, rows.part(k, 1), factors + k * kLanes);
    }

  private:
    // The greatest multiple of p up to half of the lanes' range.
    static constexpr Lane greatest_bound(std::uint64_t p) {
        const std::uint64_t half = std::uint64_t{1} << (kBits - 1);
        return Lane(half - half % p);
    }

    template <std::size_t n>
    void subtract_all(Lane *panel, const std::uint32_t *columns, std::size_t n_columns,
                      Matrix<const Cell> rows, const Lane *factors) const {
        using Vector = Lanes<Lane, kLanes * sizeof(Lane)>;
        constexpr std::size_t width = sizeof(Vector) / sizeof(Lane);
        const Vector bound = Vector{} + bound_;
        for (std::size_t i = 0; i < n_columns; ++i) {
            Lane *block = panel + columns[i] * kLanes;
            Vector x[n];
            for (std::size_t k = 0; k < n; ++k) x[k] = broadcast<Vector>(rows[k][columns[i]]);
            for (std::size_t b = 0; b < kLanes; b += width) {
                Vector w = load<Vector>(block + b);
                for (std::size_t k = 0; k < n; ++k) {
                    const Vector a = load<Vector>(factors + k * kLanes + b);
                    if constexpr (!kWide) {
                        w -= a * x[k];
                    } else {
                        w -= product_of_halves(a, x[k]);
                        if (k % kRun == kRun - 1 || k == n - 1)
                            w += bound & Vector(Lanes<std::int64_t, sizeof(Vector)>(w) < 0);
                    }
                }
                if constexpr (!kWide) w = smaller(w, Vector(w + bound));
                store(block + b, w);
            }
        }
    }

    template <class Vector>
    static Vector broadcast(Cell x) {
        if constexpr (kWide) {  // in both halves of a lane: the upper one is not read
            using Halves = Lanes<Cell, sizeof(Vector)>;
            const Halves halves = Halves{} + x;
            return load<Vector>(&halves);
        } else {
            return Vector{} + x;
        }
    }

    Lane p_, bound_;
    Lane reciprocal_;
    double inverse_;
};

}  // namespace flagstone::FLAGSTONE_VERSION

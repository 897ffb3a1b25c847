// Arithmetic of GF(p^k), k > 1, p^k <= 2^16, for rows and for panels.
//
// Rows hold elements as integers: products go through discrete logarithms to g, the class of x, and
// sums in odd characteristic through Zech's logarithms, log(1 + g^n).
//
// A panel holds the base-p digits of elements in *planes*, one after another, of 8 or 16 bits
// (characteristic 2: one plane with all digits, and sums are exclusive ors). To multiply a block of
// factors by many elements, the multiples by all polynomials in a few digits are written down
// first, for each group of digits ("four Russians"). Each product is then a sum of at most 4 of
// them, one for each group, without any arithmetic modulo p. Planes keep the invariant of prime.h:
// a digit is below `bound`, a multiple of p.
#pragma once

#include <stdexcept>

#include "simd.h"

namespace flagstone::FLAGSTONE_VERSION {

template <class Plane_, bool kBinary>
class Tables {
  public:
    using Cell = std::uint16_t;
    using Lane = Cell;
    using Plane = Plane_;

    static constexpr std::size_t kLanes = 32;  // rows per panel

    // Whether planes are wide enough for the digits, and the digits few enough for a product.
    static bool fits(std::uint32_t p, unsigned k) {
        if (kBinary) return k <= 8 * sizeof(Plane);
        const Groups groups(p, k);
        return groups.number * groups.rows() * (p - 1) <= kHalf - kHalf % p && 2 * p <= kHalf;
    }

    Tables(std::uint32_t p, unsigned k, const std::uint32_t *polynomial)
        : p_(p), k_(k), q_(p), planes_(kBinary ? 1 : k), groups_(p, k), bound_(0) {
        for (unsigned t = 1; t < k; ++t) q_ *= p;
        for (unsigned t = 0; t < k; ++t) {
            low_[t] = (p - polynomial[t]) % p;
            modulus_ |= polynomial[t] % 2 << t;
        }
        build_logarithms();
        build_parts();
        if (kBinary) return;
        bound_ = Plane(kHalf - kHalf % p);
        for (greatest_ = p; 2 * greatest_ < bound_;) greatest_ *= 2;
        for (highest_bit_ = 1; 2 * highest_bit_ < p;) highest_bit_ *= 2;
        remainders_ = Buffer<Plane>(bound_);
        for (std::uint32_t a = 0; a < bound_; ++a) remainders_[a] = Plane(a % p);
    }

    std::uint64_t order() const { return q_; }

    // Single elements, and lanes of rows, which are elements here.

    Lane lift(Cell a) const { return a; }
    Cell value(Lane w) const { return w; }

    Lane subtract(Lane w, Cell c, Cell x) const {
        const Cell y = multiply(c, x);
        if constexpr (kBinary) return w ^ y;
        return add(w, negate(y));
    }

    Cell negate(Cell a) const { return kBinary ? a : exp_[log_[a] + (q_ - 1) / 2]; }
    Cell multiply(Cell a, Cell b) const { return exp_[log_[a] + log_[b]]; }

    Cell inverse(Cell a) const { return exp_[q_ - 1 - log_[a]]; }

    // Blocks: one column of a panel, planes_ times kLanes digits.

    std::size_t block() const { return planes_ * kLanes; }
    std::size_t group() const { return groups_.rows(); }                 // rows subtracted at once
    std::size_t multiples() const { return groups_.entries * block(); }  // room that one row takes

    void fill(const Cell *elements, Plane *block) const {
        if constexpr (kBinary) {
            for (std::size_t b = 0; b < kLanes; ++b) block[b] = Plane(elements[b]);
            return;
        }
        const std::uint32_t p = p_, reciprocal = 65536 / p;
        std::uint32_t rest[kLanes], digits[kLanes];
        for (std::size_t b = 0; b < kLanes; ++b) rest[b] = elements[b];
        for (std::size_t t = 0; t < planes_; ++t, block += kLanes) {
            for (std::size_t b = 0; b < kLanes; ++b) {
                std::uint32_t quotient = rest[b] * reciprocal >> 16;  // short by one at most
                quotient += rest[b] - quotient * p >= p;
                digits[b] = rest[b] - quotient * p;
                rest[b] = quotient;
            }
            for (std::size_t b = 0; b < kLanes; ++b) block[b] = Plane(digits[b]);
        }
    }

    Cell read(const Plane *block, std::size_t b) const {
        if constexpr (kBinary) return block[b];
        std::uint32_t a = 0;
        for (std::size_t t = planes_; t-- > 0;) a = a * p_ + remainders_[block[t * kLanes + b]];
        return Cell(a);
    }

    void settle(Plane *block) const {
        if constexpr (kBinary) return;
        const std::uint32_t greatest = greatest_, p = p_;
        for (const Plane *end = block + this->block(); block != end; block += kWidth) {
            Vector w = load<Vector>(block);
            for (std::uint32_t multiple = greatest; multiple >= p; multiple /= 2)
                w = smaller(w, Vector(w - (Vector{} + Plane(multiple))));
            store(block, w);
        }
    }

    // Write down the multiples of a settled block of factors, group by group.
    void prepare(const Plane *factors, Plane *multiples) const {
        Plane power[kMostDigits * kLanes];  // x^t times the factors
        std::memcpy(power, factors, block() * sizeof(Plane));
        Plane *first = multiples, *end = multiples;  // of the group so far
        const std::size_t size = block();
        for (std::size_t t = 0; t < k_; ++t) {
            if (t > 0) multiply_by_x(power);
            if (t % groups_.digits == 0) {
                first = end;
                std::memset(first, 0, size * sizeof(Plane));
                end += size;
            }
            const std::size_t before = std::size_t(end - first);
            for (Plane *stop = first + p_ * before; end != stop; end += size)
                add_blocks(end - before, power, end);
        }
    }

    // Subtract from each given column of a panel the products of n <= group() rows' elements there
    // with n blocks of factors, whose multiples are given.
    void subtract_rows(Plane *panel, const std::uint32_t *columns, std::size_t n_columns,
                       const Cell *const *rows, std::size_t n, const Plane *,
                       const Plane *multiples) const {
        const bool all = n == group();
        const auto subtract =
            groups_.number == 1 ? (all ? &Tables::subtract_all<1, 4> : &Tables::subtract_all<1, 1>)
            : groups_.number == 2
                ? (all ? &Tables::subtract_all<2, 2> : &Tables::subtract_all<2, 1>)
            : groups_.number == 3 ? &Tables::subtract_all<3, 1>
                                  : &Tables::subtract_all<4, 1>;
        for (std::size_t k = 0; k < n; k += all ? n : 1)
            (this->*subtract)(panel, columns, n_columns, rows + k,
                              multiples + k * this->multiples());
    }

  private:
    using Vector = Lanes<Plane, kLanes * sizeof(Plane)>;
    static constexpr std::size_t kWidth = sizeof(Vector) / sizeof(Plane);
    static constexpr std::size_t kMostDigits = 16;
    static constexpr std::uint32_t kHalf = std::uint32_t{1} << (8 * sizeof(Plane) - 1);

    // How the digits of an element are grouped: at most 4 groups, of few values each.
    struct Groups {
        Groups(std::uint32_t p, unsigned k) {
            for (std::size_t values = p * p; values <= 27; values *= p) ++digits;
            if (digits < (k + 3) / 4) digits = (k + 3) / 4;
            number = (k + digits - 1) / digits;
            for (std::size_t t = 0, values = 1; t < k; ++t) {
                values *= p;
                if ((t + 1) % digits != 0 && t + 1 < k) continue;
                entries += values;
                values = 1;
            }
        }
        std::size_t rows() const { return number == 3 ? 1 : 4 / number; }  // that 4 lookups serve

        std::size_t digits = 1;   // in a group
        std::size_t number;       // of groups
        std::size_t entries = 0;  // values of all groups together
    };

    template <std::size_t number, std::size_t n>
    void subtract_all(Plane *panel, const std::uint32_t *columns, std::size_t n_columns,
                      const Cell *const *rows, const Plane *multiples) const {
        const Vector bound = Vector{} + bound_;
        const std::size_t of_row = this->multiples(), size = block();
        for (std::size_t i = 0; i < n_columns; ++i) {
            Plane *block = panel + columns[i] * size;
            const Plane *terms[number * n];
            for (std::size_t k = 0; k < n; ++k) {
                const std::uint64_t parts = parts_[rows[k][columns[i]]];
                for (std::size_t g = 0; g < number; ++g)
                    terms[k * number + g] =
                        multiples + k * of_row + (parts >> 16 * g & 0xffff) * kLanes;
            }
            for (std::size_t b = 0; b < size; b += kWidth) {
                Vector w = load<Vector>(block + b);
                for (const Plane *term : terms) {
                    const Vector x = load<Vector>(term + b);
                    w = kBinary ? w ^ x : w - x;
                }
                if constexpr (!kBinary) w = smaller(w, Vector(w + bound));
                store(block + b, w);
            }
        }
    }

    // x + y, all of them settled; p in every lane.
    static Vector sum(const Vector &x, const Vector &y, const Vector &p) {
        if constexpr (kBinary) return x ^ y;
        const Vector total = x + y;
        return smaller(total, Vector(total - p));
    }

    void add_blocks(const Plane *x, const Plane *y, Plane *result) const {
        const Vector p = Vector{} + Plane(p_);
        const Plane *end = x + block();
        for (; x != end; x += kWidth, y += kWidth, result += kWidth)
            store(result, sum(load<Vector>(x), load<Vector>(y), p));
    }

    void multiply_by_x(Plane *block) const {
        if constexpr (kBinary) {
            const Plane modulus = Plane(modulus_ | 1u << k_), top = Plane(1u << (k_ - 1));
            for (std::size_t b = 0; b < kLanes; ++b)
                block[b] = Plane(block[b] + block[b]) ^ (block[b] >= top ? modulus : Plane(0));
            return;
        }
        const Vector p = Vector{} + Plane(p_);
        for (std::size_t b = 0; b < kLanes; b += kWidth) {
            const Vector top = load<Vector>(block + (k_ - 1) * kLanes + b);
            for (std::size_t t = k_; t-- > 0;) {
                Vector w{};  // low_[t] times the top digit, by doubling and adding
                for (std::uint32_t bit = highest_bit_; bit > 0 && low_[t] > 0; bit /= 2) {
                    if (bit < highest_bit_) w = sum(w, w, p);
                    if (low_[t] & bit) w = sum(w, top, p);
                }
                if (t > 0) w = sum(w, load<Vector>(block + (t - 1) * kLanes + b), p);
                store(block + t * kLanes + b, w);
            }
        }
    }

    // Sum in odd characteristic: g^i + g^j = g^i (1 + g^(j - i)).
    Cell add(Cell a, Cell b) const {
        if (a == 0 || b == 0) return a | b;
        const std::uint32_t i = log_[a], j = log_[b];
        return exp_[i + zech_[j >= i ? j - i : j + (q_ - 1) - i]];
    }

    void build_logarithms() {
        exp_ = Buffer<Cell>(4 * q_);  // 0 from 2 (q - 1) on, which is the logarithm of 0
        log_ = Buffer<std::uint32_t>(q_);
        log_[0] = 2 * (q_ - 1);
        zech_ = Buffer<std::uint32_t>(q_);
        std::uint32_t element = 1;
        for (std::uint32_t i = 0; i < q_ - 1; ++i) {
            if (element == 0 || (element == 1 && i > 0))
                throw std::invalid_argument("the polynomial must be primitive");
            exp_[i] = exp_[i + q_ - 1] = Cell(element);
            log_[element] = i;
            const std::uint32_t top = element / (q_ / p_), rest = element % (q_ / p_) * p_;
            element = 0;
            for (std::uint32_t t = 0, place = 1; t < k_; ++t, place *= p_)
                element += (rest / place + top * low_[t]) % p_ * place;
        }
        for (std::uint32_t i = 0; i < q_ - 1; ++i) {
            const std::uint32_t a = exp_[i], more = a % p_ == p_ - 1 ? a - (p_ - 1) : a + 1;
            zech_[i] = log_[more];
        }
    }

    // Which multiple of each group makes up the product by x: where it begins, 16 bits per group.
    void build_parts() {
        parts_ = Buffer<std::uint64_t>(q_);
        for (std::uint32_t a = 0; a < q_; ++a) {
            std::uint64_t entry = 0, base = 0, values = 1, g = 0;
            for (std::uint32_t t = 0, rest = a; t < k_; ++t, rest /= p_) {
                entry += rest % p_ * values;
                values *= p_;
                if ((t + 1) % groups_.digits != 0 && t + 1 < k_) continue;
                parts_[a] |= (base + entry) * planes_ << 16 * g++;
                base += values, entry = 0, values = 1;
            }
        }
    }

    std::uint32_t p_, k_, q_;
    std::size_t planes_;
    Groups groups_;
    Plane bound_;
    std::uint32_t greatest_ = 0;           // multiple of p by a power of two below `bound`
    std::uint32_t highest_bit_ = 0;        // of digits
    Buffer<Plane> remainders_;             // of all that a digit in a plane can be
    std::uint32_t low_[kMostDigits] = {};  // x^k = the sum of low_[t] x^t
    std::uint32_t modulus_ = 0;            // its bits, in characteristic 2
    Buffer<Cell> exp_;
    Buffer<std::uint32_t> log_, zech_;
    Buffer<std::uint64_t> parts_;
};

}  // namespace flagstone::FLAGSTONE_VERSION

// Arithmetic of GF(p^k), k > 1, p^k <= 2^16, for rows and for panels.
//
// Elements are multiplied by their discrete logarithms to g, the class of x. *Lanes* hold the k
// base-p digits of an element side by side, in fields of `width` bits, so that one addition adds
// all digits. Invariant: a field is below 4p, and 8p <= 2^(width - 1); so four settled lanes can be
// added before fields from 4p on lose 4p, and the highest bit of a field is free to tell which
// these are. In characteristic 2 a lane is the element, and sums are exclusive ors.
//
// To multiply a block of factors by many elements, the multiples by all polynomials in a few digits
// are written down first, for each group of digits ("four Russians"). Each product is then a sum of
// at most 4 of them, one for each group, without any arithmetic modulo p.
#pragma once

#include <stdexcept>

#include "simd.h"

namespace flagstone::FLAGSTONE_VERSION {

template <class Lane_, bool kBinary>
class Tables {
  public:
    using Cell = std::uint16_t;
    using Lane = Lane_;

    static constexpr unsigned kBits = 8 * sizeof(Lane);
    static constexpr std::size_t kLanes = 32;  // rows per panel

    // Whether lanes have room for the digits.
    static bool fits(std::uint32_t p, unsigned k) {
        return k <= kBits && (kBinary || std::uint64_t{1} << (kBits / k - 1) >= 8 * p);
    }

    Tables(std::uint32_t p, unsigned k, const std::uint32_t *polynomial)
        : p_(p), k_(k), q_(p), width_(kBinary ? 1 : kBits / k) {
        for (unsigned t = 1; t < k; ++t) q_ *= p;
        for (std::size_t values = p * p; values <= 27; values *= p) ++digits_;
        digits_ = digits_ < (k + 3) / 4 ? (k + 3) / 4 : digits_;
        for (unsigned t = 0; t < k; ++t) ones_ = Lane(ones_ | Lane{1} << t * width_);
        for (unsigned t = 0; t < k; t += digits_) values_[groups_] = 1, ++groups_;
        for (unsigned t = 0; t < k; ++t) values_[t / digits_] *= p;
        find_logarithms(polynomial);
        find_digits();
    }

    std::uint64_t order() const { return q_; }

    // Elements to lanes, and lanes to elements.

    void lift(const Cell *elements, std::size_t n, Lane *w) const {
        const Lane *powers = powers_.data();
        const std::uint32_t *log = log_.data();
        for (std::size_t i = 0; i < n; ++i)
            w[i] = kBinary ? Lane(elements[i]) : powers[log[elements[i]]];
    }

    void values(Lane *w, std::size_t n, Cell *elements) const {
        settle(w, n);
        for (std::size_t i = 0; i < n; ++i) elements[i] = kBinary ? Cell(w[i]) : 0;
        if (kBinary) return;
        const Lane digit = Lane((Lane{1} << width_) - 1);
        const std::uint32_t p = p_;
        for (unsigned shift = width_ * k_; shift > 0;) {
            shift -= width_;
            for (std::size_t i = 0; i < n; ++i)
                elements[i] = Cell(elements[i] * p + (w[i] >> shift & digit));
        }
    }

    Cell value(Lane w) const {
        Cell a;
        values(&w, 1, &a);
        return a;
    }

    // Let equal values be equal lanes.
    void settle(Lane *w, std::size_t n) const {
        for (std::uint32_t multiple = 8 * p_; !kBinary && multiple >= p_; multiple /= 2) {
            const Lowering lowered = lowering(multiple);
            for (std::size_t i = 0; i < n; ++i) w[i] = lowered(w[i]);
        }
    }

    // w -= c x. Not inlined: its loop needs all registers.
    [[gnu::noinline]] void subtract(Lane *w, Cell c, const Cell *x, std::size_t n) const {
        const Lowering lowered = lowering(4 * p_);
        const Lane *multiples = powers_.data() + log_[negate(c)];
        const std::uint32_t *log = log_.data();
        for (std::size_t i = 0; i < n; ++i) w[i] = lowered(sum(w[i], multiples[log[x[i]]]));
    }

    Cell negate(Cell a) const { return kBinary ? a : exp_[log_[a] + (q_ - 1) / 2]; }
    Cell multiply(Cell a, Cell b) const { return exp_[log_[a] + log_[b]]; }
    Cell inverse(Cell a) const { return exp_[q_ - 1 - log_[a]]; }

    // Blocks: kLanes lanes, one column of a panel.

    std::size_t group() const { return groups_ == 3 ? 1 : 4 / groups_; }  // rows subtracted at once
    std::size_t multiples() const {                                       // room that one row takes
        return kLanes * (values_[0] + values_[1] + values_[2] + values_[3]);
    }

    // Write down the multiples of a settled block of factors, negated, group by group.
    void prepare(const Lane *factors, Lane *multiples) const {
        const Lowering lowered = lowering(p_);
        Lane power[kLanes];  // minus x^t times the factors
        for (std::size_t b = 0; b < kLanes; ++b)
            power[b] = kBinary ? factors[b] : lowered(Lane(lowered.multiple - factors[b]));
        Lane *end = multiples;
        for (unsigned t = 0, k = k_, digits = digits_; t < k; ++t) {
            if (t > 0) multiply_by_x(power);
            if (t % digits == 0) {
                multiples = end;
                std::memset(multiples, 0, kLanes * sizeof(Lane));
                end += kLanes;
            }
            const std::size_t before = std::size_t(end - multiples);
            for (const Lane *stop = multiples + p_ * before; end != stop; end += kLanes)
                for (std::size_t b = 0; b < kLanes; b += kWidth) {
                    const auto more = sum(load<Vector>(end - before + b), load<Vector>(power + b));
                    store(end + b, lowered(more));
                }
        }
    }

    // Subtract from each given column of a panel the products of up to group() rows' elements there
    // with as many blocks of factors, whose multiples are given.
    void subtract_rows(Lane *panel, const std::uint32_t *columns, std::size_t n_columns,
                       Matrix<const Cell> rows, const Lane *, const Lane *multiples) const {
        const bool all = rows.rows == group();
        const auto add =
            groups_ == 1   ? (all ? &Tables::add_multiples<1, 4> : &Tables::add_multiples<1, 1>)
            : groups_ == 2 ? (all ? &Tables::add_multiples<2, 2> : &Tables::add_multiples<2, 1>)
            : groups_ == 3 ? &Tables::add_multiples<3, 1>
                           : &Tables::add_multiples<4, 1>;
        for (std::size_t k = 0, n = all ? group() : 1; k < rows.rows; k += n)
            (this->*add)(panel, columns, n_columns, rows.part(k, n),
                         multiples + k * this->multiples());
    }

  private:
    using Vector = Lanes<Lane, kLanes * sizeof(Lane)>;
    static constexpr std::size_t kWidth = sizeof(Vector) / sizeof(Lane);

    template <std::size_t groups, std::size_t n>
    void add_multiples(Lane *panel, const std::uint32_t *columns, std::size_t n_columns,
                       Matrix<const Cell> rows, const Lane *multiples) const {
        const Lowering lowered = lowering(4 * p_);
        const std::uint64_t *parts_of = parts_.data();
        const std::size_t of_row = this->multiples();
        for (std::size_t i = 0; i < n_columns; ++i) {
            const Lane *terms[groups * n];
            for (std::size_t k = 0; k < n; ++k) {
                const std::uint64_t parts = parts_of[rows[k][columns[i]]];
                for (std::size_t g = 0; g < groups; ++g)
                    terms[k * groups + g] = multiples + k * of_row + (parts >> 16 * g & 0xffff);
            }
            Lane *block = panel + columns[i] * kLanes;
            for (std::size_t b = 0; b < kLanes; b += kWidth) {
                Vector w = load<Vector>(block + b);
                for (const Lane *term : terms) w = sum(w, load<Vector>(term + b));
                store(block + b, lowered(w));
            }
        }
    }

    template <class V>
    static V sum(const V &x, const V &y) {
        return kBinary ? V(x ^ y) : V(x + y);
    }

    // Fields that reach a multiple of p lose it.
    struct Lowering {
        Lane multiple, tops;  // in all fields; their highest bits
        unsigned shift;

        template <class V>
        V operator()(const V &w) const {
            if constexpr (kBinary) return w;
            const V reached = V((w + (V{} + Lane(tops - multiple))) & (V{} + tops));
            return V(w - (V(reached - (reached >> shift)) & (V{} + multiple)));
        }
    };
    Lowering lowering(std::uint32_t multiple) const {
        return {Lane(multiple * ones_), Lane(ones_ << (width_ - 1)), width_ - 1};
    }

    void multiply_by_x(Lane *block) const {
        const unsigned last = width_ * (k_ - 1), greatest = p_ - 1;
        const Lane top = Lane(Lane(-1) << last), next = Lane(1u << width_ % kBits);
        Lane highest[kLanes];  // digits
        for (std::size_t b = 0; b < kLanes; ++b) {
            highest[b] = block[b] & top;
            const Lane rest = block[b] ^ highest[b];
            block[b] = kBinary ? Lane(rest + rest) : Lane(rest * next);
        }
        for (unsigned j = 0; greatest >> j > 0; ++j) {
            const Lane bit = Lane(Lane{1} << (last + j)), wrap = wraps_[j];
            for (std::size_t b = 0; b < kLanes; ++b)
                block[b] = sum(block[b], highest[b] & bit ? wrap : Lane{0});
        }
        settle(block, kLanes);
    }

    void find_logarithms(const std::uint32_t *polynomial) {
        exp_ = Buffer<Cell>(4 * q_);  // 0 from 2 (q - 1) on, which is the logarithm of 0
        log_ = Buffer<std::uint32_t>(q_);
        log_[0] = 2 * (q_ - 1);
        std::uint32_t element = 1;
        for (std::uint32_t i = 0; i < q_ - 1; ++i) {
            if (element == 0 || (element == 1 && i > 0))
                throw std::invalid_argument("the polynomial must be primitive");
            exp_[i] = exp_[i + q_ - 1] = Cell(element);
            log_[element] = i;
            const std::uint32_t top = element / (q_ / p_), rest = element % (q_ / p_) * p_;
            element = 0;
            for (std::uint32_t t = 0, place = 1; t < k_; ++t, place *= p_)
                element += (rest / place + top * (p_ - polynomial[t])) % p_ * place;
        }
    }

    void find_digits() {
        powers_ = Buffer<Lane>(4 * q_);
        parts_ = Buffer<std::uint64_t>(q_);
        for (std::uint32_t a = 0; a < q_; ++a) {
            std::uint32_t rest = a, first = 0;
            Lane &lane = powers_[log_[a]];
            for (unsigned t = 0; t < k_; ++t, rest /= p_)
                lane = Lane(lane | Lane(rest % p_) << t * width_);
            if (a > 0) powers_[log_[a] + q_ - 1] = lane;
            rest = a;
            for (unsigned g = 0; g < groups_; rest /= values_[g], first += values_[g], ++g)
                parts_[a] |= std::uint64_t(kLanes * (first + rest % values_[g])) << 16 * g;
        }
        wraps_[0] = powers_[k_];
        for (unsigned j = 1; (p_ - 1) >> j > 0; ++j)
            wraps_[j] = lowering(p_)(sum(wraps_[j - 1], wraps_[j - 1]));
    }

    std::uint32_t p_, k_, q_;
    unsigned width_;                // of a field
    unsigned digits_ = 1;           // in a group: as many as have few values, at most 4 groups
    unsigned groups_ = 0;           // of digits
    std::uint32_t values_[4] = {};  // of the groups
    Lane ones_ = 0;                 // the lowest bits of all fields
    Lane wraps_[8];                 // x^k times powers of 2
    Buffer<std::uint64_t> parts_;   // where the multiple of each group is, in 16 bits
    Buffer<Cell> exp_;              // powers of g
    Buffer<Lane> powers_;           // the same as lanes
    Buffer<std::uint32_t> log_;
};

}  // namespace flagstone::FLAGSTONE_VERSION

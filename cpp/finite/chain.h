// The echelon chain: how a counted flag over GF(p) or GF(p^k) is held.
//
// Method. Basis rows x_0, x_1, ... stand in order of falling count, each with a pivot column.
// Invariant: x_i is 1 in its pivot column, and every later row is 0 there; V_j is the span of the
// x_i of count >= j (docs/theory/flag.md, S2). Reducing v through the chain from the front finds
// its coordinates one after another, and the last row needed is the one of smallest count in the
// support of v. The exchange of S2 (v replaces that row, with one more in count) is only about the
// span of the rows up to each count. So v may first be reduced by the rows of larger count, and may
// replace any row of its *class* (the rows of equal count) in its support: it replaces the first
// that it hits, and only the rows of the class before that one must be cleared in its pivot column.
//
// The chain spans the whole space: at first it consists of unit vectors of count 0. The last class
// spans the space with the others, whatever its rows are. So they are not held; `dump` makes unit
// vectors of them. A row outside of the span of all rows so far replaces one of count 0.
//
// Cost. Reduction takes O(d) operations for each row of the chain, O(d^2) in all; so does the
// exchange at worst.
#pragma once

#include "views.h"

namespace flagstone::FLAGSTONE_VERSION {

// A is the arithmetic: Prime or Tables.
template <class A>
class Chain {
  public:
    using Cell = typename A::Cell;
    using Lane = typename A::Lane;

    Chain(const A &field, std::size_t dim)
        : field(&field), dim(dim), pivots_(dim), counts_(dim), w_(dim) {
        for (std::size_t i = 0; i < dim; ++i) pivots_[i] = std::uint32_t(i);
    }

    const A *field;
    std::size_t dim;

    const Cell *row(std::size_t i) const { return rows_.data() + i * dim; }
    Matrix<const Cell> rows(std::size_t first, std::size_t n) const { return {row(first), n, dim}; }
    // Those of count 0 rise.
    const std::uint32_t *pivots() const { return pivots_.data(); }
    std::int64_t &count(std::size_t i) { return counts_[i]; }
    std::int64_t count(std::size_t i) const { return counts_[i]; }

    // The first of the positions up to `end` whose count is at most `level`.
    std::size_t class_start(std::int64_t level, std::size_t end) const {
        std::size_t low = 0;
        while (low < end) {
            const std::size_t middle = (low + end) / 2;
            if (counts_[middle] > level)
                low = middle + 1;
            else
                end = middle;
        }
        return low;
    }

    std::size_t rank() const { return class_start(0, dim); }

    // The first position of the last class: rows are held, and reduce others, up to here.
    std::size_t stop() const { return dim > 0 ? class_start(counts_[dim - 1], dim) : 0; }

    // Let u replace row f of its class, which begins at `start`, and lead it. u is reduced through
    // the rows before `start`, and 0 in the pivots of those from there to f.
    void promote(std::size_t f, std::size_t start, Cell *u) {
        const bool held = counts_[dim - 1] != counts_[start];
        if (!held && (start + 1) * dim > rows_.size()) grow(start);
        const std::uint32_t column = pivots_[f];
        const Cell inverse = field->inverse(u[column]);
        for (std::size_t j = 0; j < dim; ++j) u[j] = field->multiply(inverse, u[j]);
        for (std::size_t i = f; i-- > start;) {
            pivots_[i + 1] = pivots_[i];
            if (!held) continue;
            Cell *from = rows_.data() + i * dim, *to = from + dim;
            const Cell c = from[column];
            if (c == 0) {
                std::memcpy(to, from, dim * sizeof(Cell));
                continue;
            }
            field->lift(from, dim, w_.data());
            field->subtract(w_.data(), c, u, dim);
            field->values(w_.data(), dim, to);
        }
        std::memcpy(rows_.data() + start * dim, u, dim * sizeof(Cell));
        pivots_[start] = column;
    }

  private:
    // Have room for more than n rows.
    void grow(std::size_t n) {
        Buffer<Cell> rows(smaller(2 * n + 8, dim) * dim);
        if (n > 0) std::memcpy(rows.data(), rows_.data(), n * dim * sizeof(Cell));
        rows_ = static_cast<Buffer<Cell> &&>(rows);
    }

    Buffer<Cell> rows_;
    Buffer<std::uint32_t> pivots_;  // their columns
    Buffer<std::int64_t> counts_;
    Buffer<Lane> w_;  // a row that is worked on
};

}  // namespace flagstone::FLAGSTONE_VERSION

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
// In a chain of full rank, the last class spans the whole space with the others, whatever its rows
// are. They are not kept up to date; `dump` makes unit vectors of them.
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
        : field(&field), dim(dim), pivots_(dim), order_(dim), counts_(dim), w_(dim) {
        for (std::size_t i = 0; i < dim; ++i) pivots_[i] = std::uint32_t(i);
    }

    const A *field;
    std::size_t dim;

    std::size_t size() const { return size_; }
    bool full() const { return size_ == dim; }
    Cell *row(std::size_t i) { return rows_.data() + order_[i] * dim; }
    const Cell *row(std::size_t i) const { return rows_.data() + order_[i] * dim; }
    // Those of the rows, then the other columns.
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

    // Rows must be reduced up to here: through the last class only if it does not fill the space.
    std::size_t stop() const {
        return full() && dim > 0 ? class_start(counts_[dim - 1], dim) : size_;
    }

    // Put u, reduced through the whole chain and not 0 in `column`, at the end, with count 0.
    void append(const Cell *u, std::size_t column) {
        if ((size_ + 1) * dim > rows_.size()) grow();
        order_[size_] = std::uint32_t(size_);
        std::size_t place = size_;
        while (pivots_[place] != column) ++place;
        pivots_[place] = pivots_[size_];
        pivots_[size_] = std::uint32_t(column);
        counts_[size_] = 0;
        scale(u, u[column], row(size_++));
    }

    // Let u replace row f of its class, which begins at `start`, and lead it. u is reduced through
    // the rows before `start`, and 0 in the pivots of those from there to f.
    void promote(std::size_t f, std::size_t start, const Cell *u) {
        const std::uint32_t slot = order_[f], column = pivots_[f];
        const bool read = !full() || counts_[dim - 1] != counts_[start];
        scale(u, u[column], row(f));
        for (std::size_t i = f; i-- > start;) {
            if (read && row(i)[column] != 0) {
                field->lift(row(i), dim, w_.data());
                field->subtract(w_.data(), row(i)[column], rows_.data() + slot * dim, dim);
                field->values(w_.data(), dim, row(i));
            }
            order_[i + 1] = order_[i];
            pivots_[i + 1] = pivots_[i];
        }
        order_[start] = slot;
        pivots_[start] = column;
    }

  private:
    void grow() {
        const std::size_t n = 2 * size_ + 8 < dim ? 2 * size_ + 8 : dim;
        Buffer<Cell> rows(n * dim);
        if (size_ > 0) std::memcpy(rows.data(), rows_.data(), size_ * dim * sizeof(Cell));
        rows_ = static_cast<Buffer<Cell> &&>(rows);
    }

    // result = u / c
    void scale(const Cell *u, Cell c, Cell *result) const {
        const Cell inverse = field->inverse(c);
        for (std::size_t j = 0; j < dim; ++j) result[j] = field->multiply(inverse, u[j]);
    }

    std::size_t size_ = 0;
    Buffer<Cell> rows_;                     // by slot
    Buffer<std::uint32_t> pivots_, order_;  // by position: pivot column, slot
    Buffer<std::int64_t> counts_;           // by position
    Buffer<Lane> w_;                        // a row that is worked on
};

}  // namespace flagstone::FLAGSTONE_VERSION

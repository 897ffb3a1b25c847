// Panels: many rows reduced through an echelon chain at once.
//
// Method. A panel holds kLanes rows side by side, one block of memory for each column, so that
// vector instructions run across rows. To reduce it through the chain, take the coordinates of all
// rows from the block of a pivot column; subtract the products of these with the chain's row from
// the blocks of all other columns; several rows of the chain at once, so that a block is loaded and
// stored once for all. Columns whose pivots were passed are not of use any more: the others stand
// last among the chain's pivots.
//
// Cost. For rows that fill the space evenly, d^2 / 3 products each, 8 to 32 of them per
// instruction.
#pragma once

#include "finite/chain.h"

namespace flagstone::FLAGSTONE_VERSION {

template <class A>
class Panel {
  public:
    using Cell = typename A::Cell;
    using Lane = typename A::Lane;
    static constexpr std::size_t kLanes = A::kLanes;

    // Has room for this many columns, and for factors of this many rows.
    Panel(const A &field, std::size_t n_columns, std::size_t n_factors, Pacer &pacer)
        : field_(field),
          pacer_(pacer),
          n_columns_(n_columns),
          blocks_(n_columns * kLanes),
          factors_((n_factors + 1) * kLanes),
          multiples_(field.group() * field.multiples()),
          gathered_(n_columns) {}

    // Hold n <= kLanes rows that stand one after another, from column `first` on; zeros elsewhere.
    void fill(const Cell *rows, std::size_t n, std::size_t first = 0) {
        Cell elements[kLanes] = {};
        blocks_.clear();
        for (std::size_t j = first; j < n_columns_; ++j, ++rows) {
            for (std::size_t b = 0; b < n; ++b) elements[b] = rows[b * (n_columns_ - first)];
            field_.lift(elements, kLanes, blocks_.data() + j * kLanes);
        }
    }

    // Take factor i of all rows from a column.
    void take_factor(std::size_t i, std::size_t column) {
        std::memcpy(factor(i), blocks_.data() + column * kLanes, kLanes * sizeof(Lane));
        field_.settle(factor(i), kLanes);
    }

    // Factor i of all rows, settled.
    Lane *factor(std::size_t i) { return factors_.data() + i * kLanes; }

    // The elements of row b in these columns.
    void read(std::size_t b, const std::uint32_t *columns, std::size_t n, Cell *elements) {
        const Lane *row = blocks_.data() + b;
        Lane *gathered = gathered_.data();
        for (std::size_t i = 0; i < n; ++i) gathered[i] = row[columns[i] * kLanes];
        field_.values(gathered, n, elements);
    }

    // Subtract in these columns the products of factors first, first + 1, ... with rows.
    void subtract(std::size_t first, Matrix<const Cell> rows, const std::uint32_t *columns,
                  std::size_t n_columns) {
        for (std::size_t i = 0, n; i < rows.rows; i += n) {
            n = smaller(rows.rows - i, field_.group());
            for (std::size_t k = 0; k < n; ++k) prepare(first + i + k, k);
            subtract_group(first + i, rows.part(i, n), 0, columns, n_columns);
        }
    }

    // Clear the panel in the pivot columns of the first `stop` rows of a chain; the factors become
    // the coordinates.
    void clear(const Chain<A> &chain, std::size_t stop) {
        const std::uint32_t *pivots = chain.pivots();
        for (std::size_t i = 0, n; i < stop; i += n) {
            n = smaller(stop - i, field_.group());
            for (std::size_t k = 0; k < n; ++k) {
                take_factor(i + k, pivots[i + k]);
                prepare(i + k, k);
                subtract_group(i + k, chain.rows(i + k, 1), k, pivots + i + k + 1, n - k - 1);
            }
            subtract_group(i, chain.rows(i, n), 0, pivots + i + n, chain.dim - i - n);
        }
    }

    // Clear only the rows b with wanted[b] (0 or all bits), in the pivot column of row i of the
    // chain; keep their coordinates as factor `slot`.
    void clear_some(const Chain<A> &chain, std::size_t i, const Lane *wanted, std::size_t slot) {
        take_factor(slot, chain.pivots()[i]);
        keep(factor(slot), wanted);
        subtract(slot, chain.rows(i, 1), chain.pivots() + i, chain.dim - i);
    }

    // The class of each row, by its count: -1 for zero rows. The panel was cleared up to `stop`;
    // leave each row's residual at the start of its class, or minus that, in the panel.
    void find_classes(const Chain<A> &chain, std::size_t stop, std::int64_t *levels) {
        const std::uint32_t *pivots = chain.pivots();
        Lane alive[kLanes] = {};
        for (std::size_t t = stop; t < chain.dim; ++t) {
            Lane *block = blocks_.data() + pivots[t] * kLanes;
            field_.settle(block, kLanes);
            for (std::size_t b = 0; b < kLanes; ++b) alive[b] |= block[b];
        }
        std::size_t begins[kLanes], lowest = stop;
        for (std::size_t b = 0; b < kLanes; ++b) {
            begins[b] = stop;
            levels[b] = chain.count(stop);
            alive[b] = Lane(-(alive[b] != 0));
            if (alive[b]) continue;
            levels[b] = -1;
            std::size_t end = stop;
            while (end > 0 && factor(end - 1)[b] == 0) --end;
            if (end == 0) continue;
            levels[b] = chain.count(end - 1);
            begins[b] = chain.class_start(levels[b], end - 1);
            if (begins[b] < lowest) lowest = begins[b];
        }
        if (lowest == stop) return;
        // Nothing is left of the others, so what was subtracted since is minus the residual.
        for (std::size_t t = lowest; t < chain.dim; ++t)
            keep(blocks_.data() + pivots[t] * kLanes, alive);
        for (std::size_t i = lowest; i < stop; ++i) {
            Lane since[kLanes];
            for (std::size_t b = 0; b < kLanes; ++b) since[b] = Lane(-(begins[b] <= i));
            keep(factor(i), since);
        }
        for (std::size_t i = lowest, n; i < stop; i += n) {
            n = smaller(stop - i, field_.group());
            subtract(i, chain.rows(i, n), pivots + i, chain.dim - i);
        }
    }

  private:
    void prepare(std::size_t i, std::size_t k) {
        field_.prepare(factor(i), multiples_.data() + k * field_.multiples());
    }

    // With factors i, i + 1, ..., whose multiples stand from k on.
    void subtract_group(std::size_t i, Matrix<const Cell> rows, std::size_t k,
                        const std::uint32_t *columns, std::size_t n_columns) {
        if (n_columns == 0) return;
        pacer_.did(rows.rows * n_columns * kLanes * sizeof(Lane) / 8);
        field_.subtract_rows(blocks_.data(), columns, n_columns, rows, factor(i),
                             multiples_.data() + k * field_.multiples());
    }

    // Let the other rows be 0 in a block.
    static void keep(Lane *block, const Lane *wanted) {
        for (std::size_t b = 0; b < kLanes; ++b) block[b] &= wanted[b];
    }

    const A &field_;
    Pacer &pacer_;
    std::size_t n_columns_;
    Buffer<Lane> blocks_;     // by column
    Buffer<Lane> factors_;    // of all rows of the panel, by row of the chain; and of one more
    Buffer<Lane> multiples_;  // see Tables::prepare
    Buffer<Lane> gathered_;
};

}  // namespace flagstone::FLAGSTONE_VERSION

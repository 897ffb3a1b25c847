// Panels: many rows reduced through an echelon chain at once, with the result of one after another.
//
// Method. A panel holds kLanes rows side by side, one block of memory for each column, so that
// vector instructions run across rows. To reduce it through the chain, take the coordinates of all
// rows from the block of a pivot column; subtract the products of these with the chain's row from
// the blocks of all other columns; several rows of the chain at once, so that a block is loaded and
// stored once for all. Columns whose pivots were passed are not of use any more: the others stand
// last among the chain's pivots.
//
// Insertion reduces a panel through the chain of its start. The exchanges that its rows then make,
// in their order, need little correction: an exchange in a class changes neither the span nor the
// pivot columns of that class with those before it, and the residual of a row at the start of its
// class depends on these alone. So a residual stands, unless an earlier row left the *same* class:
// that row is subtracted. Only if nothing is left then does the row belong to another class than it
// seemed; the panel ends before it.
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
    using Plane = typename A::Plane;
    static constexpr std::size_t kLanes = A::kLanes;

    // Has room for this many columns, and for factors of this many rows.
    Panel(const A &field, std::size_t n_columns, std::size_t n_factors, Pacer &pacer)
        : field_(field),
          pacer_(pacer),
          n_columns_(n_columns),
          size_(field.block()),
          blocks_(n_columns * size_),
          factors_((n_factors + 1) * size_),
          multiples_(field.group() * field.multiples()),
          n_factors_(n_factors) {}

    // Hold n <= kLanes rows that stand one after another, and zero rows.
    void fill(const Cell *rows, std::size_t n) { transpose(rows, n, n_columns_, blocks_.data()); }

    void fill_with_zeros() { blocks_.clear(); }

    // Take the factors from n rows that stand one after another.
    void fill_factors(const Cell *rows, std::size_t n) {
        transpose(rows, n, n_factors_, factors_.data());
    }

    // Take factor i of all rows from a column.
    void take_factor(std::size_t i, std::size_t column) {
        Plane *factor = factors_.data() + i * size_;
        std::memcpy(factor, blocks_.data() + column * size_, size_ * sizeof(Plane));
        field_.settle(factor);
    }

    Cell factor(std::size_t i, std::size_t b) const {
        return field_.read(factors_.data() + i * size_, b);
    }

    // The element of row b.
    Cell read(std::size_t column, std::size_t b) const {
        return field_.read(blocks_.data() + column * size_, b);
    }

    // Subtract in these columns the products of factors first, first + 1, ... with rows(first), ...
    template <class Rows>
    void subtract(std::size_t first, std::size_t end, const std::uint32_t *columns,
                  std::size_t n_columns, const Rows &rows) {
        const Cell *group[kMostGroup];
        while (first < end) {
            const std::size_t n = smaller(end - first, field_.group());
            for (std::size_t k = 0; k < n; ++k) {
                group[k] = rows(first + k);
                prepare(first + k, k);
            }
            subtract_group(first, group, n, 0, columns, n_columns);
            first += n;
        }
    }

    // Clear the panel in the pivot columns of the first `stop` rows of a chain; the factors become
    // the coordinates.
    void clear(const Chain<A> &chain, std::size_t stop) {
        const std::uint32_t *pivots = chain.pivots();
        const Cell *group[kMostGroup];
        for (std::size_t i = 0, n; i < stop; i += n) {
            n = smaller(stop - i, field_.group());
            for (std::size_t k = 0; k < n; ++k) {
                group[k] = chain.row(i + k);
                take_factor(i + k, pivots[i + k]);
                prepare(i + k, k);
                subtract_group(i + k, group + k, 1, k, pivots + i + k + 1, n - k - 1);
            }
            subtract_group(i, group, n, 0, pivots + i + n, chain.dim - i - n);
        }
    }

    // Clear only the rows b with wanted[b] (0 or all bits), in the pivot column of row i of the
    // chain; keep their coordinates as factor `slot`.
    void clear_some(const Chain<A> &chain, std::size_t i, const Plane *wanted, std::size_t slot) {
        take_factor(slot, chain.pivots()[i]);
        keep(factors_.data() + slot * size_, wanted);
        const auto row = [&](std::size_t) { return chain.row(i); };
        subtract(slot, slot + 1, chain.pivots() + i, chain.dim - i, row);
    }

    // The number of the class of each row, by its count: -1 for zero rows, 0 for rows outside of
    // the chain. The panel was cleared up to `stop`; leave each row's residual at the start of its
    // class, or minus that, in the panel.
    void find_classes(const Chain<A> &chain, std::size_t stop, std::int64_t *levels) {
        const std::uint32_t *pivots = chain.pivots();
        Plane alive[kLanes];
        find_nonzero(pivots + stop, chain.dim - stop, alive);
        std::size_t begins[kLanes], lowest = stop;
        for (std::size_t b = 0; b < kLanes; ++b) {
            begins[b] = stop;
            levels[b] = chain.full() ? chain.count(stop) : 0;
            if (alive[b]) continue;
            levels[b] = -1;
            std::size_t end = stop;
            while (end > 0 && factor(end - 1, b) == 0) --end;
            if (end == 0) continue;
            levels[b] = chain.count(end - 1);
            begins[b] = chain.class_start(levels[b], end - 1);
            if (begins[b] < lowest) lowest = begins[b];
        }
        if (lowest == stop) return;
        // Nothing is left of the others, so what was subtracted since is minus the residual.
        for (std::size_t t = lowest; t < chain.dim; ++t)
            keep(blocks_.data() + pivots[t] * size_, alive);
        for (std::size_t i = lowest; i < stop; ++i) {
            Plane since[kLanes];
            for (std::size_t b = 0; b < kLanes; ++b) since[b] = Plane(-(begins[b] <= i));
            keep(factors_.data() + i * size_, since);
        }
        for (std::size_t i = lowest, n; i < stop; i += n) {
            n = smaller(stop - i, field_.group());
            subtract(i, i + n, pivots + i, chain.dim - i,
                     [&](std::size_t k) { return chain.row(k); });
        }
    }

  private:
    static constexpr std::size_t kMostGroup = 4;

    void prepare(std::size_t i, std::size_t k) {
        field_.prepare(factors_.data() + i * size_, multiples_.data() + k * field_.multiples());
    }

    // With factors i, i + 1, ..., whose multiples stand from k on.
    void subtract_group(std::size_t i, const Cell *const *rows, std::size_t n, std::size_t k,
                        const std::uint32_t *columns, std::size_t n_columns) {
        if (n_columns == 0) return;
        pacer_.did(n * n_columns * size_ / 8);
        field_.subtract_rows(blocks_.data(), columns, n_columns, rows, n,
                             factors_.data() + i * size_,
                             multiples_.data() + k * field_.multiples());
    }

    void transpose(const Cell *rows, std::size_t n, std::size_t n_columns, Plane *blocks) const {
        Cell elements[kLanes] = {};
        for (std::size_t j = 0; j < n_columns; ++j) {
            for (std::size_t b = 0; b < n; ++b) elements[b] = rows[b * n_columns + j];
            field_.fill(elements, blocks + j * size_);
        }
    }

    // nonzero[b]: all bits if row b is not 0 in these columns, else 0.
    void find_nonzero(const std::uint32_t *columns, std::size_t n, Plane *nonzero) {
        std::memset(nonzero, 0, kLanes * sizeof(Plane));
        for (std::size_t i = 0; i < n; ++i) {
            Plane *block = blocks_.data() + columns[i] * size_;
            field_.settle(block);
            for (std::size_t t = 0; t < size_; t += kLanes)
                for (std::size_t b = 0; b < kLanes; ++b) nonzero[b] |= block[t + b];
        }
        for (std::size_t b = 0; b < kLanes; ++b) nonzero[b] = Plane(-(nonzero[b] != 0));
    }

    // Let the other rows be 0 in a block.
    void keep(Plane *block, const Plane *wanted) const {
        for (std::size_t t = 0; t < size_; t += kLanes)
            for (std::size_t b = 0; b < kLanes; ++b) block[t + b] &= wanted[b];
    }

    const A &field_;
    Pacer &pacer_;
    std::size_t n_columns_, size_;  // size of a block
    Buffer<Plane> blocks_;          // by column
    Buffer<Plane> factors_;         // of all rows of the panel, by row of the chain
    Buffer<Plane> multiples_;       // see Tables::prepare
    std::size_t n_factors_;
};

// Insert rows that stand one after another, each weights[i] times; null: once.
template <class A>
class Insertion {
  public:
    using Cell = typename A::Cell;
    static constexpr std::size_t kLanes = A::kLanes;

    Insertion(Chain<A> &chain, Pacer &pacer)
        : chain_(chain), panel_(*chain.field, chain.dim, chain.dim, pacer), u_(chain.dim) {}

    void insert(const Cell *rows, std::size_t n, const std::int64_t *weights) {
        for (std::size_t r = 0; r < n;) {
            const std::size_t some = smaller(n - r, kLanes);
            if (singles_ == 0 && some >= kFewest) {
                const std::size_t done =
                    insert_panel(rows + r * chain_.dim, some, weights ? weights + r : nullptr);
                r += done;
                if (done < kFewest)  // after each such panel again, wait for longer
                    singles_ = wait_ = wait_ < kLanes ? 2 * wait_ : kLanes;
                else
                    wait_ = 1;
                continue;
            }
            const std::int64_t weight = weights ? weights[r] : 1;
            if (weight > 0) chain_.insert(rows + r * chain_.dim, weight);
            ++r;
            if (singles_ > 0) --singles_;
        }
    }

  private:
    static constexpr std::size_t kFewest = 4;  // a panel for fewer rows is not worth it

    // Insert rows up to the first that needs another panel; return how many.
    std::size_t insert_panel(const Cell *rows, std::size_t n, const std::int64_t *weights) {
        std::int64_t levels[kLanes];
        const std::size_t stop = chain_.stop();
        panel_.fill(rows, n);
        panel_.clear(chain_, stop);
        panel_.find_classes(chain_, stop, levels);
        for (std::size_t b = 0; b < n; ++b) {
            const std::int64_t level = levels[b], weight = weights ? weights[b] : 1;
            if (level < 0 || weight <= 0) continue;
            const std::size_t start = chain_.class_start(level, chain_.size());
            if (start > 0 && chain_.count(start - 1) - level < weight) return b;
            const std::size_t f = first_hit(b, level, start);
            if (f == chain_.dim) return b;
            if (level == 0)
                chain_.append(u_.data(), chain_.pivots()[f]);
            else
                chain_.promote(f, start, u_.data());
            chain_.count(start) += weight;
            typename A::Plane later[kLanes], any = 0;  // rows of the same class
            for (std::size_t c = 0; c < kLanes; ++c)
                any |= later[c] = -(c > b && levels[c] == level);
            if (any) panel_.clear_some(chain_, start, later, chain_.dim);
        }
        return n;
    }

    // Let u be row b of the panel, and return the first position in its class where it is not 0,
    // dim if there is none.
    std::size_t first_hit(std::size_t b, std::int64_t level, std::size_t start) {
        const std::size_t dim = chain_.dim;
        const std::uint32_t *pivots = chain_.pivots();
        std::size_t f = dim;
        std::memset(u_.data(), 0, dim * sizeof(Cell));
        for (std::size_t t = dim; t-- > start;) {
            u_[pivots[t]] = panel_.read(pivots[t], b);
            if (u_[pivots[t]] != 0 && (level == 0 || chain_.count(t) == level)) f = t;
        }
        return f;
    }

    Chain<A> &chain_;
    Panel<A> panel_;
    Buffer<Cell> u_;
    std::size_t singles_ = 0, wait_ = 1;  // rows to insert one by one before the next panel
};

// Append to a chain what is left of each row after reduction, as long as anything is; the pivot is
// the first column that is not 0. Coordinates, where wanted, are by row and position, dim per row.
template <class A>
void append_rows(Chain<A> &chain, const typename A::Cell *rows, std::size_t n,
                 typename A::Cell *coordinates, Pacer &pacer) {
    const std::size_t dim = chain.dim;
    Panel<A> panel(*chain.field, dim, dim, pacer);
    Buffer<typename A::Cell> u(dim);
    for (std::size_t r = 0; r < n; r += A::kLanes) {
        if (chain.full() && !coordinates) return;
        const std::size_t some = smaller(n - r, A::kLanes);
        panel.fill(rows + r * dim, some);
        panel.clear(chain, chain.size());
        for (std::size_t b = 0; b < some && !chain.full(); ++b) {
            std::memset(u.data(), 0, dim * sizeof(u[0]));
            std::size_t column = dim;
            for (std::size_t t = chain.size(); t < dim; ++t) {
                const std::size_t j = chain.pivots()[t];
                u[j] = panel.read(j, b);
                if (u[j] != 0 && j < column) column = j;
            }
            if (column == dim) continue;
            chain.append(u.data(), column);
            typename A::Plane later[A::kLanes];  // itself included, for its own coordinate
            for (std::size_t c = 0; c < A::kLanes; ++c) later[c] = -(c >= b);
            panel.clear_some(chain, chain.size() - 1, later, chain.size() - 1);
        }
        for (std::size_t b = 0; coordinates && b < some; ++b)
            for (std::size_t i = 0; i < chain.size(); ++i)
                coordinates[(r + b) * dim + i] = panel.factor(i, b);
    }
}

}  // namespace flagstone::FLAGSTONE_VERSION

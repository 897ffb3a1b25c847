// Linear algebra and flags over one finite field, made of chains and panels (chain.h, panel.h).
//
// Each function takes the rows in panels; all products are panels times rows. rref appends the rows
// to a chain, and the rows of the chain, from the last on, to another one, in O(m d r) products for
// m rows of rank r; merge (docs/theory/flag.md, S5) is two chains, in O(d^3).
#include <stdexcept>
#include <type_traits>

#include "field.h"
#include "finite/insertion.h"
#include "finite/prime.h"
#include "finite/tables.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

// Calls f with the entries as numbers of their type.
template <class Function>
void typed(void *entries, unsigned bytes, const Function &f) {
    if (bytes == 1) return f(static_cast<std::uint8_t *>(entries));
    if (bytes == 2) return f(static_cast<std::uint16_t *>(entries));
    f(static_cast<std::uint32_t *>(entries));
}

// n rows from `first` on as cells of the arithmetic.
template <class A>
Buffer<typename A::Cell> cells(const A &field, Entries X, std::size_t first, std::size_t n) {
    Buffer<typename A::Cell> result(n * X.columns);
    typed(const_cast<void *>(X.data), X.bytes, [&](const auto *entries) {
        std::decay_t<decltype(*entries)> largest = 0;
        entries += first * X.columns;
        for (std::size_t i = 0; i < n * X.columns; ++i) {
            largest = entries[i] > largest ? entries[i] : largest;
            result[i] = static_cast<typename A::Cell>(entries[i]);
        }
        if (largest >= field.order()) throw std::invalid_argument("an element is not in the field");
    });
    return result;
}

template <class A>
Buffer<typename A::Cell> cells(const A &field, Entries X) {
    return cells(field, X, 0, X.rows);
}

// Let f(cells, first, n) have the rows in portions, of whole panels.
template <class A, class Function>
void for_portions(const A &field, Entries X, const Function &f) {
    const std::size_t portion =
        ((std::size_t{1} << 18) / (X.columns + 1) / A::kLanes + 1) * A::kLanes;
    for (std::size_t r = 0; r < X.rows; r += portion) {
        const std::size_t n = smaller(X.rows - r, portion);
        f(cells(field, X, r, n).data(), r, n);
    }
}

// Write row i of n elements.
template <class Cell>
void write(const NewEntries &to, std::size_t i, const Cell *elements, std::size_t n) {
    typed(to.data, to.bytes, [=](auto *entries) {
        using Entry = std::decay_t<decltype(*entries)>;
        for (std::size_t j = 0; j < n; ++j) entries[i * n + j] = static_cast<Entry>(elements[j]);
    });
}

template <class A>
class FlagOf final : public Flag {
  public:
    explicit FlagOf(Chain<A> chain) : chain_(static_cast<Chain<A> &&>(chain)) {}

    std::size_t rank() const override { return chain_.rank(); }
    std::unique_ptr<Flag> copy() const override { return std::make_unique<FlagOf>(*this); }
    void reset() override { chain_ = Chain<A>(*chain_.field, chain_.dim); }
    std::int64_t least_count() const override {
        return chain_.dim > 0 ? chain_.count(chain_.dim - 1) : 0;
    }
    std::int64_t largest_count() const override { return chain_.dim > 0 ? chain_.count(0) : 0; }

    void insert(Entries rows, const std::int64_t *weights, Pause pause) override {
        Pacer pacer(pause);
        Insertion<A> insertion(chain_, pacer);
        for_portions(*chain_.field, rows, [&](const auto *cells, std::size_t r, std::size_t n) {
            insertion.insert(cells, n, weights ? weights + r : nullptr);
        });
    }

    void dump(NewEntries basis, std::int64_t *counts) const override {
        const std::size_t dim = chain_.dim, rank = chain_.rank(), stop = chain_.stop();
        for (std::size_t i = 0; i < rank; ++i) {
            counts[i] = chain_.count(i);
            Buffer<typename A::Cell> unit(dim);
            unit[chain_.pivots()[i]] = 1;
            write(basis, i, i < stop ? chain_.row(i) : unit.data(), dim);
        }
    }

  private:
    Chain<A> chain_;
};

template <class A>
class FieldOf final : public Field {
  public:
    using Cell = typename A::Cell;

    template <class... Arguments>
    explicit FieldOf(Arguments... arguments) : field_(arguments...) {}

    std::unique_ptr<Flag> flag(std::size_t dim) const override {
        return std::make_unique<FlagOf<A>>(Chain<A>(field_, dim));
    }

    // A second chain takes the rows of the first from the last to the first: each is cleared in the
    // pivot columns of those after it.
    std::size_t rref(std::size_t dim, Entries M, NewEntries R, std::int64_t *pivots,
                     Pause pause) const override {
        Pacer pacer(pause);
        Chain<A> chain(field_, dim), reduced(field_, dim);
        Insertion<A> insertion(chain, pacer);
        for_portions(field_, M, [&](const auto *cells, std::size_t, std::size_t n) {
            insertion.append(cells, n);
        });
        const std::size_t rank = chain.rank();
        Buffer<Cell> backwards(rank * dim);
        for (std::size_t i = 0; i < rank; ++i)
            std::memcpy(&backwards[(rank - 1 - i) * dim], chain.row(i), dim * sizeof(Cell));
        Insertion<A>(reduced, pacer).append(backwards.data(), rank);
        Buffer<std::size_t> positions(dim);  // plus one, by pivot column
        for (std::size_t i = 0; i < rank; ++i) positions[reduced.pivots()[i]] = i + 1;
        for (std::size_t column = 0, i = 0; column < dim; ++column) {
            if (positions[column] == 0) continue;
            write(R, i, reduced.row(positions[column] - 1), dim);
            pivots[i++] = std::int64_t(column);
        }
        return rank;
    }

    void reduce(Entries X, Entries R, const std::int64_t *pivots, NewEntries result,
                Pause pause) const override {
        const auto rows = cells(field_, R);
        const auto pivot = [&](std::size_t i) { return std::size_t(pivots[i]); };
        clear_columns(X, 0, {rows.data(), R.rows, R.columns}, pivot, result, pause);
    }

    // x_i stands behind zeros, which the columns of W, negated, are subtracted from.
    void dot(Entries X, Entries W, NewEntries result, Pause pause) const override {
        const auto rows = cells(field_, W);
        Buffer<Cell> turned(rows.size());
        for (std::size_t i = 0; i < W.rows; ++i)
            for (std::size_t j = 0; j < W.columns; ++j)
                turned[j * W.rows + i] = field_.negate(rows[i * W.columns + j]);
        const auto pivot = [&](std::size_t i) { return W.rows + i; };
        clear_columns(X, W.rows, {turned.data(), W.columns, W.rows}, pivot, result, pause);
    }

    // The common basis of two chains: every y, by falling count, is written in the chain of X,
    // extended by what lies outside; multiples of earlier y's are subtracted until the last
    // position in its support differs from theirs; y takes the place of the row there. On this
    // basis counts add up.
    std::size_t merge(std::size_t dim, CountedBasis X, CountedBasis Y, NewEntries Z,
                      std::int64_t *cz, Pause pause) const override {
        Pacer pacer(pause);
        const std::size_t n_x = X.rows.rows, n_y = Y.rows.rows;
        const auto x = cells(field_, X.rows), y = cells(field_, Y.rows);
        Chain<A> chain(field_, dim);
        Insertion<A> insertion(chain, pacer);
        insertion.append(x.data(), n_x);
        if (chain.rank() != n_x) fail_dependent();
        Buffer<Cell> coordinates(n_y * dim);
        insertion.append(y.data(), n_y, coordinates.data());
        const std::size_t size = chain.rank(), width = size + dim;
        Buffer<Cell> backwards(n_y * width);  // coordinates, the last one first, then the vector
        for (std::size_t r = 0; r < n_y; ++r) {
            for (std::size_t i = 0; i < size; ++i)
                backwards[r * width + size - 1 - i] = coordinates[r * dim + i];
            std::memcpy(&backwards[r * width + size], &y[r * dim], dim * sizeof(Cell));
        }
        Chain<A> claims(field_, width);
        Insertion<A>(claims, pacer).append(backwards.data(), n_y);
        if (claims.rank() != n_y) fail_dependent();
        Buffer<const Cell *> basis(size);
        Buffer<std::int64_t> counts(size);
        for (std::size_t i = 0; i < size; ++i) {
            basis[i] = chain.row(i);
            counts[i] = i < n_x ? X.counts[i] : 0;
        }
        for (std::size_t r = 0; r < n_y; ++r) {
            const std::size_t i = size - 1 - claims.pivots()[r];
            basis[i] = claims.row(r) + size;
            counts[i] += Y.counts[r];
        }
        Buffer<std::size_t> order(size);
        sort_by_count(counts.data(), size, true, order.data());
        for (std::size_t i = 0; i < size; ++i) {
            write(Z, i, basis[order[i]], dim);
            cz[i] = counts[order[i]];
        }
        return size;
    }

  private:
    // Writes rows x_i, which begin in column `first` after zeros, minus multiples of other rows, by
    // their elements in the columns pivot(0), pivot(1), ...
    template <class Pivot>
    void clear_columns(Entries X, std::size_t first, Matrix<const Cell> rows, const Pivot &pivot,
                       NewEntries result, Pause pause) const {
        Pacer pacer(pause);
        const std::size_t width = rows.columns;
        Buffer<std::uint32_t> columns(width);
        for (std::size_t j = 0; j < width; ++j) columns[j] = std::uint32_t(j);
        Panel<A> panel(field_, first + X.columns, rows.rows, pacer);
        Buffer<Cell> left(width);
        for_portions(field_, X, [&](const auto *cells, std::size_t begin, std::size_t n) {
            for (std::size_t r = 0; r < n; r += A::kLanes) {
                const std::size_t some = smaller(n - r, A::kLanes);
                panel.fill(cells + r * X.columns, some, first);
                for (std::size_t i = 0; i < rows.rows; ++i) panel.take_factor(i, pivot(i));
                panel.subtract(0, rows, columns.data(), width);
                for (std::size_t b = 0; b < some; ++b) {
                    panel.read(b, columns.data(), width, left.data());
                    write(result, begin + r + b, left.data(), width);
                }
            }
        });
    }

    A field_;
};

template <class A, class... Arguments>
std::unique_ptr<Field> field_of(Arguments... arguments) {
    return std::make_unique<FieldOf<A>>(arguments...);
}

}  // namespace

std::unique_ptr<Field> finite_field(std::uint32_t p, unsigned k, const std::uint32_t *polynomial) {
    if (k == 1) {
        if (Prime<std::uint16_t>::fits(p)) return field_of<Prime<std::uint16_t>>(p);
        if (Prime<std::uint32_t>::fits(p)) return field_of<Prime<std::uint32_t>>(p);
        return field_of<Prime<std::uint64_t>>(p);
    }
    if (p == 2 && k <= 8) return field_of<Tables<std::uint8_t, true>>(p, k, polynomial);
    if (p == 2) return field_of<Tables<std::uint16_t, true>>(p, k, polynomial);
    if (Tables<std::uint16_t, false>::fits(p, k))
        return field_of<Tables<std::uint16_t, false>>(p, k, polynomial);
    if (Tables<std::uint32_t, false>::fits(p, k))
        return field_of<Tables<std::uint32_t, false>>(p, k, polynomial);
    return field_of<Tables<std::uint64_t, false>>(p, k, polynomial);
}

}  // namespace flagstone::FLAGSTONE_VERSION

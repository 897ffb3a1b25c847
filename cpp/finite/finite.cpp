// Linear algebra and flags over one finite field, made of chains and panels (chain.h, panel.h).
//
// Each function takes the rows in panels; all products are panels times rows. rref appends the rows
// to a chain and clears its rows with the later ones, in O(m d r) products for m rows of rank r;
// merge (docs/theory/flag.md, S5) is two chains and a product, in O(d^3).
#include <stdexcept>
#include <type_traits>

#include "field.h"
#include "finite/panel.h"
#include "finite/prime.h"
#include "finite/tables.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

template <class From, class To>
void copy_elements(const void *from, std::size_t first, std::size_t n, To *to,
                   std::uint64_t order) {
    const From *source = static_cast<const From *>(from) + first;
    From largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        largest = source[i] > largest ? source[i] : largest;
        to[i] = To(source[i]);
    }
    if (largest >= order) throw std::invalid_argument("an element is not in the field");
}

// The given rows as cells of the arithmetic.
template <class A>
Buffer<typename A::Cell> cells(const A &field, Entries X, std::size_t first, std::size_t n) {
    Buffer<typename A::Cell> result(n * X.columns);
    const std::size_t start = first * X.columns;
    if (X.bytes == 1)
        copy_elements<std::uint8_t>(X.data, start, result.size(), result.data(), field.order());
    else if (X.bytes == 2)
        copy_elements<std::uint16_t>(X.data, start, result.size(), result.data(), field.order());
    else
        copy_elements<std::uint32_t>(X.data, start, result.size(), result.data(), field.order());
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

void write(const NewEntries &to, std::size_t i, std::uint32_t element) {
    if (to.bytes == 1)
        static_cast<std::uint8_t *>(to.data)[i] = std::uint8_t(element);
    else if (to.bytes == 2)
        static_cast<std::uint16_t *>(to.data)[i] = std::uint16_t(element);
    else
        static_cast<std::uint32_t *>(to.data)[i] = element;
}

Buffer<std::uint32_t> all_columns(std::size_t n) {
    Buffer<std::uint32_t> columns(n);
    for (std::size_t j = 0; j < n; ++j) columns[j] = std::uint32_t(j);
    return columns;
}

// Products of n rows of `length` coefficients with the rows that `row` names, of `width` elements.
template <class A, class Row, class Write>
void multiply(const A &field, const typename A::Cell *coefficients, std::size_t n,
              std::size_t length, const Row &row, std::size_t width, const Write &write_element,
              Pacer &pacer) {
    Panel<A> panel(field, width, length, pacer);
    const Buffer<std::uint32_t> columns = all_columns(width);
    for (std::size_t r = 0; r < n; r += A::kLanes) {
        const std::size_t some = smaller(n - r, A::kLanes);
        panel.fill_factors(coefficients + r * length, some);
        panel.fill_with_zeros();
        panel.subtract(0, length, columns.data(), width, row);
        for (std::size_t b = 0; b < some; ++b)
            for (std::size_t j = 0; j < width; ++j)
                write_element(r + b, j, field.negate(panel.read(j, b)));
    }
}

// Clear every row of a chain in the pivot columns of the later ones.
template <class A>
void clear_backwards(Chain<A> &chain, Pacer &pacer) {
    const std::size_t dim = chain.dim;
    Panel<A> panel(*chain.field, dim, dim, pacer);
    Buffer<typename A::Cell> rows(A::kLanes * dim);
    for (std::size_t end = chain.size(), n; end > 0; end -= n) {
        n = smaller(end, A::kLanes);
        const std::size_t first = end - n;
        for (std::size_t b = 0; b < n; ++b)
            std::memcpy(rows.data() + b * dim, chain.row(first + b), dim * sizeof(rows[0]));
        panel.fill(rows.data(), n);
        // Those from `end` on are cleared, so that subtracting one does not change another's
        // factor.
        for (std::size_t i = end; i < chain.size(); ++i) panel.take_factor(i, chain.pivots()[i]);
        panel.subtract(end, chain.size(), chain.pivots(), dim,
                       [&](std::size_t i) { return chain.row(i); });
        for (std::size_t b = n; b-- > 0;) {
            for (std::size_t j = 0; j < dim; ++j) chain.row(first + b)[j] = panel.read(j, b);
            typename A::Plane before[A::kLanes];
            for (std::size_t c = 0; c < A::kLanes; ++c) before[c] = -(c < b);
            if (b > 0) panel.clear_some(chain, first + b, before, dim);
        }
    }
}

template <class A>
class FlagOf final : public Flag {
  public:
    explicit FlagOf(Chain<A> chain) : chain_(static_cast<Chain<A> &&>(chain)) {}

    std::size_t rank() const override { return chain_.size(); }
    std::unique_ptr<Flag> copy() const override { return std::make_unique<FlagOf>(*this); }
    void reset() override { chain_ = Chain<A>(*chain_.field, chain_.dim); }
    std::int64_t least_count() const override {
        return chain_.full() && chain_.dim > 0 ? chain_.count(chain_.dim - 1) : 0;
    }
    std::int64_t largest_count() const override { return chain_.size() > 0 ? chain_.count(0) : 0; }

    void insert(Entries rows, const std::int64_t *weights, Pause pause) override {
        Pacer pacer(pause);
        Insertion<A> insertion(chain_, pacer);
        for_portions(*chain_.field, rows, [&](const auto *cells, std::size_t r, std::size_t n) {
            insertion.insert(cells, n, weights ? weights + r : nullptr);
        });
    }

    void dump(NewEntries basis, std::int64_t *counts) const override {
        const std::size_t dim = chain_.dim;
        for (std::size_t i = 0; i < chain_.size(); ++i) {
            counts[i] = chain_.count(i);
            const bool unit = chain_.full() && counts[i] == chain_.count(dim - 1);
            for (std::size_t j = 0; j < dim; ++j)
                write(basis, i * dim + j, unit ? chain_.pivots()[i] == j : chain_.row(i)[j]);
        }
    }

  private:
    Chain<A> chain_;
};

template <class A>
class FieldOf final : public Field {
  public:
    template <class... Arguments>
    explicit FieldOf(Arguments... arguments) : field_(arguments...) {}

    std::unique_ptr<Flag> flag(std::size_t dim) const override {
        return std::make_unique<FlagOf<A>>(Chain<A>(field_, dim));
    }

    std::unique_ptr<Flag> load(std::size_t, CountedBasis basis, Pause pause) const override {
        Pacer pacer(pause);
        return std::make_unique<FlagOf<A>>(chain_of(basis, pacer));
    }

    std::size_t rref(std::size_t, Entries M, NewEntries R, std::int64_t *pivots,
                     Pause pause) const override {
        Pacer pacer(pause);
        Chain<A> chain(field_, M.columns);
        for_portions(field_, M, [&](const auto *cells, std::size_t, std::size_t n) {
            append_rows(chain, cells, n, nullptr, pacer);
        });
        clear_backwards(chain, pacer);
        Buffer<std::size_t> position(M.columns);  // plus one, by pivot column
        for (std::size_t i = 0; i < chain.size(); ++i) position[chain.pivots()[i]] = i + 1;
        std::size_t rank = 0;
        for (std::size_t column = 0; column < M.columns; ++column) {
            if (position[column] == 0) continue;
            const auto *row = chain.row(position[column] - 1);
            for (std::size_t j = 0; j < M.columns; ++j) write(R, rank * M.columns + j, row[j]);
            pivots[rank++] = std::int64_t(column);
        }
        return rank;
    }

    void reduce(Entries X, Entries R, const std::int64_t *pivots, NewEntries result,
                Pause pause) const override {
        Pacer pacer(pause);
        const std::size_t dim = X.columns;
        const auto rows = cells(field_, R);
        const Buffer<std::uint32_t> columns = all_columns(dim);
        Panel<A> panel(field_, dim, R.rows, pacer);
        for_portions(field_, X, [&](const auto *cells, std::size_t first, std::size_t n) {
            for (std::size_t r = 0; r < n; r += A::kLanes) {
                const std::size_t some = smaller(n - r, A::kLanes);
                panel.fill(cells + r * dim, some);
                for (std::size_t i = 0; i < R.rows; ++i)
                    panel.take_factor(i, std::size_t(pivots[i]));
                panel.subtract(0, R.rows, columns.data(), dim,
                               [&](std::size_t i) { return rows.data() + i * dim; });
                for (std::size_t b = 0; b < some; ++b)
                    for (std::size_t j = 0; j < dim; ++j)
                        write(result, (first + r + b) * dim + j, panel.read(j, b));
            }
        });
    }

    void dot(Entries X, Entries W, NewEntries result, Pause pause) const override {
        Pacer pacer(pause);
        const auto rows = cells(field_, W);
        Buffer<typename A::Cell> columns(rows.size());  // of W, one after another
        for (std::size_t i = 0; i < W.rows; ++i)
            for (std::size_t j = 0; j < W.columns; ++j)
                columns[j * W.rows + i] = rows[i * W.columns + j];
        for_portions(field_, X, [&](const auto *cells, std::size_t first, std::size_t n) {
            multiply(
                field_, cells, n, X.columns,
                [&](std::size_t j) { return columns.data() + j * W.rows; }, W.rows,
                [&](std::size_t i, std::size_t j, std::uint32_t a) {
                    write(result, (first + i) * W.rows + j, a);
                },
                pacer);
        });
    }

    // The common basis of two chains: every y, by falling count, is written in the chain of X,
    // extended by what lies outside; multiples of earlier y's are subtracted until the last
    // position in its support differs from theirs; y takes the place of the row there. On this
    // basis counts add up.
    std::size_t merge(std::size_t dim, CountedBasis X, CountedBasis Y, NewEntries Z,
                      std::int64_t *cz, Pause pause) const override {
        Pacer pacer(pause);
        const std::size_t n_y = Y.rows.rows;
        Chain<A> chain = chain_of(X, pacer);
        const auto y = cells(field_, Y.rows);
        Buffer<typename A::Cell> coordinates(n_y * dim);
        append_rows(chain, y.data(), n_y, coordinates.data(), pacer);
        const std::size_t size = chain.size();
        Buffer<typename A::Cell> backwards(n_y * size);  // the last position first
        for (std::size_t r = 0; r < n_y; ++r)
            for (std::size_t i = 0; i < size; ++i)
                backwards[r * size + size - 1 - i] = coordinates[r * dim + i];
        Chain<A> claims(field_, size);
        append_rows<A>(claims, backwards.data(), n_y, nullptr, pacer);
        if (claims.size() != n_y) fail_dependent();
        for (std::size_t r = 0; r < n_y; ++r) {
            const std::size_t i = size - 1 - claims.pivots()[r];
            chain.count(i) += Y.counts[r];
            claims.count(r) = std::int64_t(i);
            std::memcpy(backwards.data() + r * size, claims.row(r), size * sizeof(backwards[0]));
        }
        Buffer<std::int64_t> counts(size);
        for (std::size_t i = 0; i < size; ++i) counts[i] = chain.count(i);
        Buffer<std::size_t> order(size), places(size);
        sort_by_count(counts.data(), size, true, order.data());
        for (std::size_t k = 0; k < size; ++k) places[order[k]] = k;
        for (std::size_t i = 0; i < size; ++i) {
            cz[places[i]] = chain.count(i);
            for (std::size_t j = 0; j < dim; ++j) write(Z, places[i] * dim + j, chain.row(i)[j]);
        }
        multiply(
            field_, backwards.data(), n_y, size,
            [&](std::size_t i) { return chain.row(size - 1 - i); }, dim,
            [&](std::size_t r, std::size_t j, std::uint32_t a) {
                write(Z, places[std::size_t(claims.count(r))] * dim + j, a);
            },
            pacer);
        return size;
    }

  private:
    Chain<A> chain_of(CountedBasis basis, Pacer &pacer) const {
        Chain<A> chain(field_, basis.rows.columns);
        const auto rows = cells(field_, basis.rows);
        append_rows<A>(chain, rows.data(), basis.rows.rows, nullptr, pacer);
        if (chain.size() != basis.rows.rows) fail_dependent();
        for (std::size_t i = 0; i < chain.size(); ++i) chain.count(i) = basis.counts[i];
        return chain;
    }

    A field_;
};

}  // namespace

std::unique_ptr<Field> finite_field(std::uint32_t p, unsigned k, const std::uint32_t *polynomial) {
    if (k == 1) {
        if (Prime<std::uint16_t>::fits(p))
            return std::make_unique<FieldOf<Prime<std::uint16_t>>>(p);
        if (Prime<std::uint32_t>::fits(p))
            return std::make_unique<FieldOf<Prime<std::uint32_t>>>(p);
        return std::make_unique<FieldOf<Prime<std::uint64_t>>>(p);
    }
    if (p == 2) {
        if (k <= 8) return std::make_unique<FieldOf<Tables<std::uint8_t, true>>>(p, k, polynomial);
        return std::make_unique<FieldOf<Tables<std::uint16_t, true>>>(p, k, polynomial);
    }
    if (Tables<std::uint8_t, false>::fits(p, k))
        return std::make_unique<FieldOf<Tables<std::uint8_t, false>>>(p, k, polynomial);
    return std::make_unique<FieldOf<Tables<std::uint16_t, false>>>(p, k, polynomial);
}

}  // namespace flagstone::FLAGSTONE_VERSION

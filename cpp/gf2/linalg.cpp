// Linear algebra over GF(2) on packed rows.
//
// Everything but `merge` is built on one product: to each result, add the rows that the bits of a
// name select (gf2/product.h).
#include "gf2/flag.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

constexpr std::size_t kNone = SIZE_MAX;

Packed packed(Entries rows) { return {static_cast<const Word *>(rows.data), rows.rows, rows.columns}; }

bool bit(const Word *row, std::size_t column) { return row[column / 64] >> (column % 64) & 1; }

void set_bit(Word *row, std::size_t column) { row[column / 64] |= Word(1) << (column % 64); }

void copy(Word *target, const Word *source, std::size_t width) {
    std::memcpy(target, source, width * sizeof(Word));
}

// Make the bits past the last column zero.
void trim(Word *row, std::size_t dim) {
    if (dim % 64 != 0) row[dim / 64] &= (Word(1) << (dim % 64)) - 1;
}

// The first column of a row that is 1.
std::size_t first_bit(const Word *row, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k)
        if (row[k]) return 64 * k + lowest_bit(row[k]);
    return kNone;
}

// Calls work(first, n) for some rows at a time, so that there are pauses.
template <class Work>
void in_portions(std::size_t n, std::size_t words_per_row, Pause pause, const Work &work) {
    Pacer pacer(pause);
    for (std::size_t first = 0, some; first < n; first += some) {
        some = smaller((std::size_t(1) << 24) / (words_per_row + 1) + 1, n - first);
        work(first, some);
        pacer.did(some * (words_per_row + 1));
    }
}

// Reduced row echelon form.
//
// Invariant: `form` is the reduced echelon form of the rows so far, the row with pivot p at index
// p; the other rows are zero. A portion of further rows is reduced by one product, with the rows
// themselves as names. What is left goes into `form` row by row. So n rows of rank r and d columns
// take about n·r·d/512 steps on words for the products, and r²·d/64 for the rows that are new.
std::size_t reduced_form(Packed rows, Matrix<Word> form, std::int64_t *pivots, Pause pause) {
    const std::size_t width = rows.columns;
    // Few rows at first, which are likely to be new; at most as many as fit in the second-level cache.
    const std::size_t most = smaller<std::size_t>(8192, 256 + 32768 / width);
    Buffer<Word> left(smaller(most, rows.rows) * width);
    Buffer<std::size_t> fresh(form.rows);  // pivots that were found after the product
    std::size_t rank = 0, end = 0;         // `end`: past the last pivot
    // Adds a row whose first 1 is in column `pivot`, if the target has a 1 there. No branch: it is
    // unpredictable.
    const auto clear_column = [width](std::size_t pivot, Word *target, const Word *row) {
        const Word mask = Word(0) - Word(bit(target, pivot));
        for (std::size_t k = pivot / 64; k < width; ++k) target[k] ^= row[k] & mask;
    };
    Pacer pacer(pause);
    for (std::size_t first = 0, size; first < rows.rows && rank < form.rows; first += size) {
        size = smaller(smaller(most, 64 + first), rows.rows - first);
        copy(left.data(), rows[first], size * width);
        const Matrix<Word> rest{left.data(), size, width};
        multiply_add(rest, {rows[first], size, width}, {form.data, end, width});
        std::size_t n_fresh = 0;
        for (std::size_t i = 0; i < size; ++i) {
            Word *row = rest[i];
            trim(row, form.rows);
            for (std::size_t t = 0; t < n_fresh; ++t)
                clear_column(fresh[t], row, form[fresh[t]]);
            const std::size_t pivot = first_bit(row, width);
            if (pivot == kNone) continue;
            for (std::size_t p = 0; p < end; ++p)
                clear_column(pivot, form[p], row);
            copy(form[pivot], row, width);
            fresh[n_fresh++] = pivot;
            if (pivot >= end) end = pivot + 1;
            pacer.did((end + n_fresh) * (width + 8));
        }
        rank += n_fresh;
        pacer.did(size * (end / 32 + 1) * width);
    }
    rank = 0;
    for (std::size_t p = 0; p < end; ++p)
        if (bit(form[p], p)) {
            pivots[rank] = std::int64_t(p);
            if (rank < p) copy(form[rank], form[p], width);
            ++rank;
        }
    return rank;
}

// One product, with the rows themselves as names: pivot columns name their basis rows.
void clear_pivots(Packed rows, Packed basis, const std::int64_t *pivots, Matrix<Word> result,
                  Pause pause) {
    const std::size_t width = rows.columns;
    std::size_t end = 0;
    for (std::size_t j = 0; j < basis.rows; ++j)
        if (std::size_t(pivots[j]) >= end) end = std::size_t(pivots[j]) + 1;
    Buffer<Word> named(end * width);
    for (std::size_t j = 0; j < basis.rows; ++j)
        add(named.data() + std::size_t(pivots[j]) * width, basis[j], width);
    in_portions(rows.rows, 16 * width * width, pause, [&](std::size_t first, std::size_t n) {
        copy(result[first], rows[first], n * width);
        multiply_add(result.part(first, n), rows.part(first, n), {named.data(), end, width});
    });
}

// A few functionals one by one; more by a product with their transposed matrix.
void products(Packed rows, Packed functionals, Matrix<Byte> result, Pause pause) {
    const std::size_t width = rows.columns, number = functionals.rows;
    if (number < 6 + 2 * width) {
        in_portions(rows.rows, width * number, pause, [&](std::size_t first, std::size_t n) {
            for (std::size_t i = first; i < first + n; ++i)
                for (std::size_t j = 0; j < number; ++j) {
                    Word sum = 0;
                    for (std::size_t k = 0; k < width; ++k) sum ^= rows[i][k] & functionals[j][k];
                    result[i][j] = Byte(__builtin_parityll(sum));
                }
        });
        return;
    }
    const std::size_t words = (number + kVectorBits - 1) / kVectorBits * kVectorWords;
    Buffer<Word> columns(64 * width * words);
    for (std::size_t j = 0; j < number; ++j)
        for (std::size_t k = 0; k < width; ++k)
            for (Word rest = functionals[j][k]; rest; rest &= rest - 1)
                set_bit(columns.data() + (64 * k + lowest_bit(rest)) * words, j);
    in_portions(rows.rows, width * (number / 4 + 1), pause, [&](std::size_t first, std::size_t n) {
        Buffer<Word> bits(n * words);
        multiply_add({bits.data(), n, words}, rows.part(first, n),
                     {columns.data(), 64 * width, words});
        for (std::size_t i = 0; i < n; ++i) {
            const Word *row = bits.data() + i * words;
            std::size_t j = 0;
            for (; j + 8 <= number; j += 8)
                store(result[first + i] + j, spread_bits(Byte(row[j / 64] >> j % 64)));
            for (; j < number; ++j) result[first + i][j] = bit(row, j);
        }
    });
}

// Rows of two halves. The row at index p, if it is not zero, has its first 1 in column p.
class Halves {
  public:
    Halves(std::size_t dim, std::size_t width) : rows_(2 * width * dim), width_(width) {}

    Word *operator[](std::size_t p) { return rows_.data() + 2 * width_ * p; }
    bool has(std::size_t p) { return bit((*this)[p], p); }

    // Add rows to a row until its first 1 is in a column without a row; return that column, kNone
    // if the first half is zero then.
    std::size_t reduce(Word *row) {
        std::size_t p = first_bit(row, width_);
        for (; p != kNone && has(p); p = first_bit(row, width_)) add(row, (*this)[p], 2 * width_);
        return p;
    }

  private:
    Buffer<Word> rows_;
    std::size_t width_;
};

// The merge of two flags: docs/theory/flag.md, S5.
//
// `x` comes by falling count and is extended, with count 0, by the parts of y outside its span. By
// elimination, each y gets coordinates in this basis. By falling count, each y then claims the last
// element of its support, which has the smallest count; if another y has claimed it, that one is
// added first. A claimed element is exchanged for the vector that claims it, and the counts add up:
// so the basis becomes adapted to both flags. O(d) additions of rows for each x and y.
std::size_t merge_bases(std::size_t dim, CountedBasis first, CountedBasis second, Word *Z,
                        std::int64_t *cz, Pause pause) {
    const Packed x = packed(first.rows), y = packed(second.rows);
    const std::size_t width = x.columns;
    Halves echelon(dim, width);  // (vector, its coordinates, the last one first)
    Halves claims(dim, width);   // (coordinates, vector)
    Buffer<Word> row(2 * width), claim(2 * width);
    Word *const vector = row.data(), *const coordinates = vector + width;
    Pacer pacer(pause);
    std::size_t rank = 0;
    for (; rank < x.rows; ++rank) {
        copy(vector, x[rank], width);
        trim(vector, dim);
        std::memset(coordinates, 0, width * sizeof(Word));
        set_bit(coordinates, dim - 1 - rank);
        const std::size_t p = echelon.reduce(vector);
        if (p == kNone) fail_dependent();
        copy(echelon[p], vector, 2 * width);
        pacer.did(dim * width);
    }
    Buffer<std::int64_t> counts(dim);
    for (std::size_t i = 0; i < rank; ++i) counts[i] = first.counts[i];
    for (std::size_t i = 0; i < y.rows; ++i) {
        copy(vector, y[i], width);
        trim(vector, dim);
        std::memset(coordinates, 0, width * sizeof(Word));
        const std::size_t p = echelon.reduce(vector);
        if (p != kNone) {
            copy(echelon[p], vector, width);
            set_bit(echelon[p] + width, dim - 1 - rank);
            set_bit(coordinates, dim - 1 - rank++);
        }
        copy(claim.data(), coordinates, width);
        copy(claim.data() + width, y[i], width);
        const std::size_t q = claims.reduce(claim.data());
        if (q == kNone) fail_dependent();
        copy(claims[q], claim.data(), 2 * width);
        counts[dim - 1 - q] += second.counts[i];
        pacer.did(dim * width);
    }
    Buffer<std::size_t> order(rank);
    sort_by_count(counts.data(), rank, true, order.data());
    for (std::size_t i = 0; i < rank; ++i, Z += width) {
        const std::size_t element = order[i], q = dim - 1 - element;
        copy(Z, claims.has(q) ? claims[q] + width : x[element], width);
        trim(Z, dim);
        cz[i] = counts[element];
    }
    return rank;
}

class Gf2Field final : public Field {
  public:
    std::unique_ptr<Flag> flag(std::size_t dim) const override {
        return std::make_unique<CountedFlag>(dim);
    }

    std::size_t rref(std::size_t dim, Entries M, NewEntries R, std::int64_t *pivots,
                     Pause pause) const override {
        return reduced_form(packed(M), {static_cast<Word *>(R.data), dim, M.columns}, pivots,
                            pause);
    }

    void reduce(Entries X, Entries R, const std::int64_t *pivots, NewEntries result,
                Pause pause) const override {
        clear_pivots(packed(X), packed(R), pivots,
                     {static_cast<Word *>(result.data), X.rows, X.columns}, pause);
    }

    void dot(Entries X, Entries W, NewEntries result, Pause pause) const override {
        products(packed(X), packed(W), {static_cast<Byte *>(result.data), X.rows, W.rows}, pause);
    }

    std::size_t merge(std::size_t dim, CountedBasis X, CountedBasis Y, NewEntries Z,
                      std::int64_t *cz, Pause pause) const override {
        return merge_bases(dim, X, Y, static_cast<Word *>(Z.data), cz, pause);
    }
};

}  // namespace

std::unique_ptr<Field> gf2_field() { return std::make_unique<Gf2Field>(); }

}  // namespace flagstone::FLAGSTONE_VERSION

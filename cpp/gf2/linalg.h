// What the linear algebra over GF(2) offers. A packed row is `columns` words of 64 bits.
//
// Bindings have checked that all arguments fit together. Functions that may take long call `pause`
// every few milliseconds; it may throw. The others treat each row alone, and may be called for a
// portion of the rows at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "views.h"

namespace flagstone {

// A counted basis: the rows of an adapted basis, by falling count (docs/theory/flag.md, S2).
template <class T, class Count>
struct CountedRows {
    Matrix<T> rows;
    Count *counts;
};

struct LinalgKernels {
    using Word = std::uint64_t;
    using Rows = Matrix<const Word>;

    // Reduced row echelon form of the span of `rows`; bits past the last column are ignored. The
    // first rows of `form`, which has a row for each column and is zero, become its rows, and
    // `pivots` their pivots, rising. Returns the rank.
    std::size_t (*rref)(Rows rows, Matrix<Word> form, std::int64_t *pivots, void (*pause)());

    // result = rows minus the combinations of basis rows that cancel their pivot columns.
    void (*reduce)(Rows rows, Rows basis, const std::int64_t *pivots, Matrix<Word> result);

    // result[i] ^= sum of rows[j] over the bits j of names[i]; bits without a row add nothing.
    void (*multiply_add)(Rows names, Rows rows, Matrix<Word> result);

    // result[i][j] = <rows[i], functionals[j]>, 0 or 1.
    void (*dot)(Rows rows, Rows functionals, Matrix<std::uint8_t> result);

    // The merge of two flags (S5), into zeroed room for a row and a count for each column; bits
    // past the last column are ignored. Returns the number of rows, or SIZE_MAX if the rows of a
    // flag are linearly dependent.
    std::size_t (*merge)(CountedRows<const Word, const std::int64_t> x,
                         CountedRows<const Word, const std::int64_t> y,
                         CountedRows<Word, std::int64_t> z, void (*pause)());
};

}  // namespace flagstone

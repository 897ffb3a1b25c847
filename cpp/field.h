// What fields offer: counted flags and linear algebra over GF(2), GF(p) and GF(p^k).
//
// Rows are arrays of *entries*. Over GF(2) an entry is a word of 64 columns; bits past the last
// column are ignored. Over GF(p), p < 2^31, and GF(p^k), p^k <= 2^16, an entry is one element, an
// integer 0..q-1 in the smallest unsigned type for q-1; for k > 1 its base-p digits are the
// coefficients of a polynomial, lowest first. Kernels check that every entry is below q.
//
// Kernels throw std::invalid_argument for what their bindings cannot check, and whatever `Pause`
// throws. What they write to is zero at first, and has room for all of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "views.h"

namespace flagstone {

struct Entries {
    const void *data;
    std::size_t rows, columns;  // in entries
    unsigned bytes;             // of an entry
};

struct NewEntries {
    void *data;
    unsigned bytes;
};

// An adapted basis: its rows by falling count (docs/theory/flag.md, S2).
struct CountedBasis {
    Entries rows;
    const std::int64_t *counts;  // positive
};

// Writes 0, ..., n - 1 in the order of their counts, falling or rising; those of equal count keep
// theirs. In field_bindings.cpp, once for all versions.
void sort_by_count(const std::int64_t *counts, std::size_t n, bool falling, std::size_t *order);

// Throws what is wrong with rows of a basis that are linearly dependent. Likewise.
[[noreturn]] void fail_dependent();

// A counted flag (docs/theory/flag.md, S2). Not to be used by two threads at once.
class Flag {
  public:
    virtual ~Flag();  // in field_bindings.cpp, once for all versions
    virtual std::size_t rank() const = 0;
    virtual std::unique_ptr<Flag> copy() const = 0;
    // Inserts rows in their order, each weights[i] times if that is positive; without weights
    // (null), once. After a pause that throws, some rows are missing.
    virtual void insert(Entries rows, const std::int64_t *weights, Pause pause) = 0;
    // Writes an adapted basis of rank() rows, and its counts, falling.
    virtual void dump(NewEntries basis, std::int64_t *counts) const = 0;
    // Back to the flag of no rows.
    virtual void reset() = 0;
    // Of all elements of a basis of the whole space; outside of the rows' span they have count 0.
    virtual std::int64_t least_count() const = 0;
    virtual std::int64_t largest_count() const = 0;
};

// One field. Never changes; flags refer to it and must not outlive it. Rows have `dim` columns.
class Field {
  public:
    virtual ~Field();
    virtual std::unique_ptr<Flag> flag(std::size_t dim) const = 0;
    // Writes the non-zero rows of the reduced row echelon form and their pivots; returns the rank.
    // Over GF(2) there must be room for `dim` rows.
    virtual std::size_t rref(std::size_t dim, Entries M, NewEntries R, std::int64_t *pivots,
                             Pause pause) const = 0;
    // Writes X minus the combinations of R, reduced echelon, that clear its pivot columns.
    virtual void reduce(Entries X, Entries R, const std::int64_t *pivots, NewEntries result,
                        Pause pause) const = 0;
    // Writes the products <x_i, w_j>, over GF(2) as bytes.
    virtual void dot(Entries X, Entries W, NewEntries result, Pause pause) const = 0;
    // Writes an adapted basis of the merge of two flags (S5) and its counts; returns its size.
    virtual std::size_t merge(std::size_t dim, CountedBasis X, CountedBasis Y, NewEntries Z,
                              std::int64_t *cz, Pause pause) const = 0;
};

}  // namespace flagstone

// Linear algebra and counted flags over GF(p), p < 2^31, and GF(p^k), p^k <= 2^16.
//
// An element is an integer 0..q-1; for k > 1 its base-p digits are the coefficients of a
// polynomial, lowest first. Arrays hold elements in the smallest unsigned type for q-1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "poll.h"

namespace flagstone {

// Rows of field elements of `bytes` bytes each. Kernels check that every element is below q and
// throw std::invalid_argument otherwise.
struct Elements {
    const void *data;
    std::size_t rows;
    std::size_t columns;
    unsigned bytes;
};

// Where elements are written to; there must be room for all of the rows.
struct NewElements {
    void *data;
    unsigned bytes;
};

// Thrown out of a kernel when `Poll` returned true.
struct Interrupted {};

// A counted flag (docs/theory/flag.md, S2). Not to be used by two threads at once.
class FiniteFlag {
  public:
    virtual ~FiniteFlag();
    virtual std::size_t rank() const = 0;
    virtual std::size_t nbytes() const = 0;
    virtual std::unique_ptr<FiniteFlag> copy() const = 0;
    // Insert rows in their order, each weights[i] times; without weights (null), once.
    virtual void insert(Elements rows, const std::int64_t *weights, Poll poll) = 0;
    // Write an adapted basis of rank() rows, and its counts, falling.
    virtual void dump(NewElements basis, std::int64_t *counts) const = 0;
};

struct CountedBasis {
    Elements rows;
    const std::int64_t *counts;  // falling, positive
};

// The arithmetic of one field. Never changes; flags refer to it and must not outlive it.
class FiniteField {
  public:
    virtual ~FiniteField();
    virtual std::unique_ptr<FiniteFlag> flag(std::size_t dim) const = 0;
    virtual std::unique_ptr<FiniteFlag> load(CountedBasis basis, Poll poll) const = 0;
    // Write the non-zero rows of the reduced row echelon form and their pivots; return the rank.
    virtual std::size_t rref(Elements M, NewElements R, std::int64_t *pivots, Poll poll) const = 0;
    // Write X minus the combinations of R, reduced echelon, that clear its pivot columns.
    virtual void reduce(Elements X, Elements R, const std::int64_t *pivots, NewElements result,
                        Poll poll) const = 0;
    // Write the products <x_i, w_j>.
    virtual void dot(Elements X, Elements W, NewElements result, Poll poll) const = 0;
    // Write the counted basis of the merge of two flags (S5); return its size.
    virtual std::size_t merge(CountedBasis X, CountedBasis Y, NewElements Z, std::int64_t *cz,
                              Poll poll) const = 0;
};

struct FiniteKernels {
    // The field GF(p^k); `polynomial` holds the k + 1 coefficients of a monic primitive polynomial
    // below p, constant term first (not read if k = 1). p is prime. Throws std::invalid_argument
    // if the polynomial is not primitive.
    std::unique_ptr<FiniteField> (*field)(std::uint32_t p, unsigned k,
                                          const std::uint32_t *polynomial);
};

}  // namespace flagstone

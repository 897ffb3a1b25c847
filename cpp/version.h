// Versions of the kernels: the same sources, compiled for different processors.
//
// CMake compiles every kernel with FLAGSTONE_VERSION set to `portable`, `avx2` or `avx512`, which
// is the namespace that its code lives in. A version's functions stand in one table, `Kernels`.
#pragma once

#include <type_traits>

#include "field.h"
#include "text/text.h"

namespace flagstone {

struct Kernels {
    std::unique_ptr<Field> (*gf2_field)();
    // The field GF(p^k); `polynomial` holds the k + 1 coefficients of a monic primitive polynomial
    // below p, constant term first (not read if k = 1). p is prime.
    std::unique_ptr<Field> (*finite_field)(std::uint32_t p, unsigned k,
                                           const std::uint32_t *polynomial);
    // Pack entries, and return whether all of them are 0 or 1; otherwise the result means nothing.
    // `pack_rows` is for rows whose entries are close to each other, `pack_columns` for columns.
    bool (*pack_rows)(Column first_row, std::ptrdiff_t row_stride, std::size_t columns,
                      Matrix<std::uint64_t> result, Pause pause);
    bool (*pack_columns)(const Column *columns, std::size_t n_columns, Matrix<std::uint64_t> result,
                         Pause pause);
    void (*parse_digits)(Text text, const Form *forms, std::size_t n_forms, TextRows &found,
                         Pause pause);
};

#ifdef FLAGSTONE_VERSION
namespace FLAGSTONE_VERSION {
template <class Pointer>
using Function = std::remove_pointer_t<Pointer>;
Function<decltype(Kernels::gf2_field)> gf2_field;
Function<decltype(Kernels::finite_field)> finite_field;
Function<decltype(Kernels::pack_rows)> pack_rows;
Function<decltype(Kernels::pack_columns)> pack_columns;
Function<decltype(Kernels::parse_digits)> parse_digits;
}  // namespace FLAGSTONE_VERSION
#endif

namespace portable {
Kernels kernels();
}
namespace avx2 {
Kernels kernels();
}
namespace avx512 {
Kernels kernels();
}

}  // namespace flagstone

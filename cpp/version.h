// Versions of the kernels: the same sources, compiled for different processors.
//
// CMake compiles every kernel with FLAGSTONE_VERSION set to `portable`, `avx2` or `avx512`, which
// is the namespace that its code lives in. A version's functions stand in one table, `Kernels`.
#pragma once

#include "field.h"
#include "gf2/packing.h"
#include "text/text.h"

namespace flagstone {

struct Kernels {
    std::unique_ptr<Field> (*gf2_field)();
    // The field GF(p^k); `polynomial` holds the k + 1 coefficients of a monic primitive polynomial
    // below p, constant term first (not read if k = 1). p is prime.
    std::unique_ptr<Field> (*finite_field)(std::uint32_t p, unsigned k,
                                           const std::uint32_t *polynomial);
    PackingKernels packing;
    void (*parse_digits)(Text text, Notation notation, TextRows &found);
};

#ifdef FLAGSTONE_VERSION
namespace FLAGSTONE_VERSION {
std::unique_ptr<Field> gf2_field();
std::unique_ptr<Field> finite_field(std::uint32_t p, unsigned k, const std::uint32_t *polynomial);
PackingKernels packing_kernels();
void parse_digits(Text text, Notation notation, TextRows &found);
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

// Versions of the kernels: the same sources, compiled for different processors.
//
// CMake compiles every kernel with FLAGSTONE_VERSION set to `portable`, `avx2` or `avx512`, which
// is the namespace that its code lives in. A version's functions stand in one table, `Kernels`.
#pragma once

#include "finite/finite.h"
#include "gf2/linalg.h"
#include "gf2/packing.h"
#include "text/text.h"

namespace flagstone {

class Gf2Flag;

struct Kernels {
    Gf2Flag *(*new_gf2_flag)(std::size_t dim);
    LinalgKernels linalg;
    FiniteKernels finite;
    PackingKernels packing;
    TextKernels text;
};

#ifdef FLAGSTONE_VERSION
namespace FLAGSTONE_VERSION {
Gf2Flag *new_gf2_flag(std::size_t dim);
LinalgKernels linalg_kernels();
FiniteKernels finite_kernels();
PackingKernels packing_kernels();
TextKernels text_kernels();
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

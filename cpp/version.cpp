#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

Kernels kernels() {
    return {new_gf2_flag, linalg_kernels(), finite_kernels(), packing_kernels(), text_kernels()};
}

}  // namespace flagstone::FLAGSTONE_VERSION

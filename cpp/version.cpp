#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

Kernels kernels() {
    return {gf2_field, finite_field, packing_kernels(), parse_digits};
}

}  // namespace flagstone::FLAGSTONE_VERSION

#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

Kernels kernels() { return {gf2_field, finite_field, pack_rows, pack_columns, parse_digits}; }

}  // namespace flagstone::FLAGSTONE_VERSION

// Packing of 0/1 entries into 64-bit words; column j is bit j mod 64 of word j div 64.
#pragma once

#include "views.h"

namespace flagstone {

// Unsigned entries of 1, 2, 4 or 8 bytes, `stride` bytes apart.
struct Column {
    const unsigned char *data;
    std::ptrdiff_t stride;
    std::size_t size;

    Column from(std::size_t i) const { return {data + std::ptrdiff_t(i) * stride, stride, size}; }
};

struct PackingKernels {
    // Pack entries, and return whether all of them are 0 or 1; otherwise the result means nothing.
    // `pack_rows` is for rows whose entries are close to each other, `pack_columns` for columns.
    bool (*pack_rows)(Column first_row, std::ptrdiff_t row_stride, std::size_t columns,
                      Matrix<std::uint64_t> result, Pause pause);
    bool (*pack_columns)(const Column *columns, std::size_t n_columns,
                         Matrix<std::uint64_t> result, Pause pause);
    // How many columns reach up to the last bit of each row (0 if it has none).
    void (*lengths)(Matrix<const std::uint64_t> rows, std::int64_t *result);
};

}  // namespace flagstone

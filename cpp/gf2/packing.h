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

// A table whose rows and columns are any number of bytes apart; `first_row` is its first row.
struct StridedTable {
    Column first_row;
    std::size_t rows, columns;
    std::ptrdiff_t row_stride;

    Column row(std::size_t i) const {
        return {first_row.data + std::ptrdiff_t(i) * row_stride, first_row.stride, first_row.size};
    }
    Column column(std::size_t j) const {
        return {first_row.from(j).data, row_stride, first_row.size};
    }
};

struct PackingKernels {
    // Pack entries, and return whether all of them are 0 or 1; otherwise the result means nothing.
    // `pack_rows` is for rows whose entries are close to each other, `pack_columns` for columns.
    bool (*pack_rows)(const StridedTable &table, Matrix<std::uint64_t> result);
    bool (*pack_columns)(const Column *columns, std::size_t n_columns,
                         Matrix<std::uint64_t> result);
    // How many columns reach up to the last bit of each row (0 if it has none).
    void (*lengths)(Matrix<const std::uint64_t> rows, std::int64_t *result);
};

}  // namespace flagstone

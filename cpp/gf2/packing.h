// Packing of 0/1 entries into 64-bit words and back; column j is bit j mod 64 of word j div 64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flagstone {

constexpr std::size_t words_of(std::size_t columns) {
    return columns > 0 ? (columns - 1) / 64 + 1 : 1;
}

// A column of unsigned entries of 1, 2, 4 or 8 bytes, `stride` bytes apart.
struct Column {
    const unsigned char *data;
    std::ptrdiff_t stride;
    std::size_t size;
};

// A table of such entries, whose rows and columns are any number of bytes apart.
struct Entries {
    const unsigned char *data;
    std::size_t rows, columns, size;
    std::ptrdiff_t row_stride, column_stride;

    Column column(std::size_t j) const {
        return {data + static_cast<std::ptrdiff_t>(j) * column_stride, row_stride, size};
    }
};

// A table of `rows` packed rows.
template <class Word>
struct Packed {
    Word *words;
    std::size_t rows, width;

    Word *operator[](std::size_t i) const { return words + i * width; }
};

struct PackingKernels {
    // Pack entries, and return whether all of them are 0 or 1; otherwise the result means nothing.
    // `pack_rows` is for rows whose entries are close to each other, `pack_columns` for columns.
    bool (*pack_rows)(const Entries &entries, Packed<std::uint64_t> result);
    bool (*pack_columns)(const Column *columns, std::size_t n_columns,
                         Packed<std::uint64_t> result);
    // The first `dim` columns as bytes 0 and 1.
    void (*unpack)(Packed<const std::uint64_t> rows, std::size_t dim, unsigned char *result);
    // places[k] for each row, where k columns reach up to its last bit (0 if it has none). False,
    // as soon as a row reaches beyond the places.
    bool (*place_bytes)(Packed<const std::uint64_t> rows, const std::uint8_t *places,
                        std::size_t n_places, std::uint8_t *result);
    bool (*place_numbers)(Packed<const std::uint64_t> rows, const std::int64_t *places,
                          std::size_t n_places, std::int64_t *result);
    // So many columns, from `first` on.
    void (*columns_from)(Packed<const std::uint64_t> rows, std::size_t first, std::size_t n_columns,
                         Packed<std::uint64_t> result);
};

}  // namespace flagstone

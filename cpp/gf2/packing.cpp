// Packing: 64 neighbouring bytes become a word by a few operations (`bits_of_bytes`).
//
// Method. Entries of other types, or that are not neighbours, are first brought to bytes, some rows
// at a time, which stay in the first cache. Columns that are far from each other in memory are put
// together eight at a time, as the bits of a byte for every row, and eight such bytes are a word.
// Invariant. If all entries are 0 or 1, the words hold them, and 0 past the last column; otherwise
// the words mean nothing.
// Cost. One pass over the entries; the words of a row are written once.
#include "gf2/packing.h"

#include "simd.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

// Bytes that are packed at a time, and rows whose columns are.
constexpr std::size_t kPortion = 1 << 14, kRows = 2048;

std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

// The low bytes of entries; returns whether all entries are 0 or 1.
template <class T>
bool narrow_entries(const Byte *from, std::ptrdiff_t stride, std::size_t n, Byte *to) {
    T seen = 0;
    if (stride == sizeof(T) && reinterpret_cast<std::uintptr_t>(from) % alignof(T) == 0) {
        const T *entries = reinterpret_cast<const T *>(from);
        for (std::size_t i = 0; i < n; ++i) {  // neighbours: many at a time
            seen |= entries[i];
            to[i] = static_cast<Byte>(entries[i]);
        }
    } else {
        for (std::size_t i = 0; i < n; ++i, from += stride) {
            T entry;
            std::memcpy(&entry, from, sizeof entry);
            seen |= entry;
            to[i] = static_cast<Byte>(entry);
        }
    }
    return seen <= 1;
}

bool narrow(const Column &column, std::size_t n, Byte *to) {
    const auto run = column.size == 1   ? narrow_entries<std::uint8_t>
                     : column.size == 2 ? narrow_entries<std::uint16_t>
                     : column.size == 4 ? narrow_entries<std::uint32_t>
                                        : narrow_entries<std::uint64_t>;
    return run(column.data, column.stride, n, to);
}

// The low bits of rows of bytes, one after the other. Returns whether all bytes are 0 or 1.
bool pack_bytes(const Byte *bytes, std::size_t columns, Packed<Word> result) {
    const std::size_t full = columns / 64, rest = columns % 64;
    Vector seen{};
    const auto low_bits = [&seen](const Byte *from) {
        for (int i = 0; i < 64; i += kVectorBytes) seen |= load<Vector>(from + i);
        return bits_of_bytes(from, 0);
    };
    for (std::size_t i = 0; i < result.rows; ++i, bytes += rest) {
        Word *row = result[i];
        for (std::size_t k = 0; k < full; ++k, bytes += 64) row[k] = low_bits(bytes);
        if (rest == 0) continue;
        Byte last[64] = {};
        std::memcpy(last, bytes, rest);
        row[full] = low_bits(last);
    }
    Word all[kVectorWords], any = 0;
    store(all, seen);
    for (const Word word : all) any |= word;
    return (any & every_byte(0xfe)) == 0;
}

bool pack_rows(const Entries &entries, Packed<Word> result) {
    const auto [data, n_rows, columns, size, row_stride, column_stride] = entries;
    const bool together = row_stride == column_stride * static_cast<std::ptrdiff_t>(columns);
    const bool are_bytes = together && size == 1 && column_stride == 1;
    const std::size_t most = smaller(n_rows, kPortion / columns + 1);
    Buffer<Byte> room(are_bytes ? 0 : most * columns);
    bool fits = true;
    for (std::size_t first = 0; first < n_rows; first += most) {
        const std::size_t n = smaller(most, n_rows - first);
        const Byte *row = data + static_cast<std::ptrdiff_t>(first) * row_stride;
        const Byte *bytes = are_bytes ? row : room.data();
        if (together && !are_bytes) {
            fits &= narrow({row, column_stride, size}, n * columns, room.data());
        } else if (!together) {
            for (std::size_t i = 0; i < n; ++i, row += row_stride)
                fits &= narrow({row, column_stride, size}, columns, room.data() + i * columns);
        }
        fits &= pack_bytes(bytes, columns, {result[first], n, result.width});
    }
    return fits;
}

// One word of each row, from up to 64 columns: eight at a time, as the bits of a byte.
bool pack_word(const Column *columns, std::size_t n_columns, std::size_t n_rows, Word *words) {
    bool fits = true;
    for (std::size_t first = 0; first < n_columns; first += 8) {
        Byte bits[8][kRows], octets[kRows];
        for (std::size_t j = 0; j < 8; ++j) {
            if (first + j < n_columns)
                fits &= narrow(columns[first + j], n_rows, bits[j]);
            else
                std::memset(bits[j], 0, n_rows);
        }
        for (std::size_t i = 0; i < n_rows; ++i) {
            Byte octet = bits[7][i];
            for (int j = 6; j >= 0; --j) octet = static_cast<Byte>(octet + octet) | bits[j][i];
            octets[i] = octet;
        }
        for (std::size_t i = 0; i < n_rows; ++i)
            words[i] = (first > 0 ? words[i] : 0) | static_cast<Word>(octets[i]) << first;
    }
    return fits;
}

bool pack_columns(const Column *columns, std::size_t n_columns, Packed<Word> result) {
    bool fits = true;
    for (std::size_t first = 0; first < result.rows; first += kRows) {
        const std::size_t n = smaller(kRows, result.rows - first);
        for (std::size_t k = 0; k < result.width; ++k) {
            const std::size_t mine = smaller(64, n_columns - 64 * k);
            Column part[64];
            for (std::size_t j = 0; j < mine; ++j) {
                part[j] = columns[64 * k + j];
                part[j].data += static_cast<std::ptrdiff_t>(first) * part[j].stride;
            }
            Word words[kRows];
            fits &= pack_word(part, mine, n, words);
            for (std::size_t i = 0; i < n; ++i) result[first + i][k] = words[i];
        }
    }
    return fits;
}

void unpack(Packed<const Word> rows, std::size_t dim, Byte *result) {
    for (std::size_t i = 0; i < rows.rows; ++i, result += dim) {
        const Byte *octets = reinterpret_cast<const Byte *>(rows[i]);
        for (std::size_t o = 0; o < dim / 8; ++o) {
            const Word eight = spread_bits(octets[o]);
            std::memcpy(result + 8 * o, &eight, 8);
        }
        if (dim % 8) {
            const Word eight = spread_bits(octets[dim / 8]);
            std::memcpy(result + dim / 8 * 8, &eight, dim % 8);
        }
    }
}

template <class T>
bool place(Packed<const Word> rows, const T *places, std::size_t n_places, T *result) {
    for (std::size_t i = 0; i < rows.rows; ++i) {
        std::size_t k = rows.width - 1;
        while (k > 0 && rows[i][k] == 0) --k;
        const std::size_t length = 64 * k + bit_length(rows[i][k]);
        if (length >= n_places) return false;
        result[i] = places[length];
    }
    return true;
}

void columns_from(Packed<const Word> rows, std::size_t first, std::size_t n_columns,
                  Packed<Word> result) {
    const std::size_t skipped = first / 64, shift = first % 64, last = result.width - 1;
    const Word mine = n_columns > 0 ? ~Word{0} >> (64 * result.width - n_columns) : 0;
    for (std::size_t i = 0; i < rows.rows; ++i) {
        for (std::size_t k = 0; k <= last; ++k) {
            const std::size_t at = skipped + k;
            const Word low = at < rows.width ? rows[i][at] : 0;
            const Word high = at + 1 < rows.width ? rows[i][at + 1] : 0;
            result[i][k] = low >> shift | (high << 1) << (63 - shift);
        }
        result[i][last] &= mine;
    }
}

}  // namespace

PackingKernels packing_kernels() {
    return {pack_rows,           pack_columns,        unpack,
            place<std::uint8_t>, place<std::int64_t>, columns_from};
}

}  // namespace flagstone::FLAGSTONE_VERSION

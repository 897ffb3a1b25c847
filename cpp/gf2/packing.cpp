// Packing: 64 neighbouring bytes become a word by a few operations (`bits_of_bytes`).
//
// Method. Entries of other types, or that are not neighbours, are first brought to bytes, a row at a
// time. Columns that are far from each other in memory are put together eight at a time, as the bits
// of a byte for every row, and eight such bytes are a word.
// Invariant. If all entries are 0 or 1, the words hold them, and 0 past the last column; otherwise
// the words mean nothing.
// Cost. One pass over the entries; the words of a row are written once.
#include "simd.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

// Rows whose columns are packed at a time.
constexpr std::size_t kRows = 2048;

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

// The low bits of bytes; `seen` becomes the union of all bytes.
void pack_bytes(const Byte *bytes, std::size_t n, Word *words, Vector &seen) {
    Byte last[64] = {};
    for (std::size_t k = 0; k < n; k += 64) {
        const Byte *from = bytes + k;
        if (n - k < 64) from = static_cast<Byte *>(std::memcpy(last, from, n - k));
        for (int i = 0; i < 64; i += kVectorBytes) seen |= load<Vector>(from + i);
        *words++ = bits_of_bytes(from);
    }
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

}  // namespace

bool pack_rows(Column row, std::ptrdiff_t row_stride, std::size_t columns, Matrix<Word> result,
               Pause pause) {
    const bool are_bytes = row.size == 1 && row.stride == 1;
    Buffer<Byte> room(are_bytes ? 0 : columns);
    Pacer pacer(pause);
    Vector seen{};
    bool fits = true;
    for (std::size_t i = 0; i < result.rows; ++i, row.data += row_stride) {
        if (!are_bytes) fits &= narrow(row, columns, room.data());
        pack_bytes(are_bytes ? row.data : room.data(), columns, result[i], seen);
        pacer.did(columns);
    }
    Word any = 0;
    for (std::size_t i = 0; i < kVectorWords; ++i) any |= seen[i];
    return fits && (any & every_byte(0xfe)) == 0;
}

bool pack_columns(const Column *columns, std::size_t n_columns, Matrix<Word> result, Pause pause) {
    Pacer pacer(pause);
    bool fits = true;
    for (std::size_t first = 0; first < result.rows; first += kRows) {
        const std::size_t n = smaller(kRows, result.rows - first);
        for (std::size_t k = 0; k < result.columns; ++k) {
            const std::size_t mine = smaller<std::size_t>(64, n_columns - 64 * k);
            Column part[64];
            for (std::size_t j = 0; j < mine; ++j) part[j] = columns[64 * k + j].from(first);
            Word words[kRows];
            fits &= pack_word(part, mine, n, words);
            for (std::size_t i = 0; i < n; ++i) result[first + i][k] = words[i];
            pacer.did(n * mine);
        }
    }
    return fits;
}

}  // namespace flagstone::FLAGSTONE_VERSION

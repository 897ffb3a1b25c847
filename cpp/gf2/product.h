// Products of matrices over GF(2), by the method of the four Russians.
//
// Method: the rows of B are taken four at a time. All 16 sums of four rows are put into a table, and
// four bits of a row of A say which of them is added to the row of C. Columns are taken a vector at
// a time, so that 16 tables, for a word of A, stay in the first cache together.
// Cost, for A with n rows and k columns and B with w vectors a row: w·(k/4)·(n + 16) additions of
// vectors.
// (M. Albrecht, G. Bard, W. Hart: Efficient multiplication of dense matrices over GF(2), 2010.)
#pragma once

#include "simd.h"

namespace flagstone::FLAGSTONE_VERSION {

// Packed rows; row i starts at words + i · stride.
struct ConstBitRows {
    const Word *words;
    std::size_t stride;

    const Word *operator[](std::size_t i) const { return words + i * stride; }
};
struct BitRows {
    Word *words;
    std::size_t stride;

    Word *operator[](std::size_t i) const { return words + i * stride; }
    operator ConstBitRows() const { return {words, stride}; }
};

// target += source; both have this many words.
inline void add(Word *target, const Word *source, std::size_t width) {
    for (std::size_t w = 0; w < width; ++w) target[w] ^= source[w];
}

// All sums of four rows of B from `first` on; rows from `end` on count as zero.
template <class V>
inline void sums(V *table, ConstBitRows B, std::size_t first, std::size_t end) {
    table[0] = V{};
    for (std::size_t i = 0; i < 4; ++i) {
        const V row = first + i < end ? load<V>(B[first + i]) : V{};
        for (std::size_t j = 0; j < std::size_t(1) << i; ++j) table[(1 << i) + j] = table[j] ^ row;
    }
}

// Adds the part of A·B that comes from the columns of A from `column` on, those of a `Bits` at a
// time, and returns the first column that is left. C and B are one V wide.
template <class Bits, class V>
std::size_t add_tables(BitRows C, ConstBitRows A, ConstBitRows B, std::size_t n, std::size_t k,
                       std::size_t column) {
    constexpr std::size_t kTables = 2 * sizeof(Bits), kBits = 8 * sizeof(Bits);
    alignas(64) V tables[kTables][16];
    for (; column + (kBits > 8 ? kBits : 1) <= k; column += kBits) {
        for (std::size_t t = 0; t < kTables; ++t) sums(tables[t], B, column + t * 4, k);
        const unsigned char *a = reinterpret_cast<const unsigned char *>(A.words) + column / 8;
        for (std::size_t i = 0; i < n; ++i, a += 8 * A.stride) {
            const auto bits = load<Bits>(a);
            V sum = load<V>(C[i]);
            for (std::size_t t = 0; t < kTables; ++t) sum ^= tables[t][bits >> 4 * t & 15];
            store(C[i], sum);
        }
    }
    return column;
}

// C += A·B with C and B one V wide; A has n rows, of which the first k columns are used.
template <class V>
void multiply_add_strip(BitRows C, ConstBitRows A, ConstBitRows B, std::size_t n, std::size_t k) {
    const std::size_t column = add_tables<Word, V>(C, A, B, n, k, 0);
    add_tables<Byte, V>(C, A, B, n, k, column);
}

// C += A·B: A is n × k bits, B is k × width words, C is n × width words. C overlaps neither.
// Fastest if `width` is a multiple of kVectorWords.
inline void multiply_add(BitRows C, ConstBitRows A, ConstBitRows B, std::size_t n, std::size_t k,
                         std::size_t width) {
    std::size_t word = 0;
    for (; word + kVectorWords <= width; word += kVectorWords)
        multiply_add_strip<Vector>({C.words + word, C.stride}, A, {B.words + word, B.stride}, n, k);
    for (; word < width; ++word)
        multiply_add_strip<Word>({C.words + word, C.stride}, A, {B.words + word, B.stride}, n, k);
}

}  // namespace flagstone::FLAGSTONE_VERSION

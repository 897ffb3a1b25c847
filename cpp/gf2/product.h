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

using Packed = Matrix<const Word>;

// target += source; both have this many words.
inline void add(Word *target, const Word *source, std::size_t width) {
    for (std::size_t w = 0; w < width; ++w) target[w] ^= source[w];
}

// All sums of four rows of B from `first` on; rows past the last count as zero.
template <class V>
inline void sums(V *table, Packed B, std::size_t first) {
    table[0] = V{};
    for (std::size_t i = 0; i < 4; ++i) {
        const V row = first + i < B.rows ? load<V>(B[first + i]) : V{};
        for (std::size_t j = 0; j < std::size_t(1) << i; ++j) table[(1 << i) + j] = table[j] ^ row;
    }
}

// Adds the part of A·B that comes from the columns of A from `column` on, those of a `Bits` at a
// time, and returns the first column that is left. Of C and B, one V of each row is used.
template <class Bits, class V>
std::size_t add_tables(Matrix<Word> C, Packed A, Packed B, std::size_t column) {
    constexpr std::size_t kTables = 2 * sizeof(Bits), kBits = 8 * sizeof(Bits);
    alignas(64) V tables[kTables][16];
    for (; column + (kBits > 8 ? kBits : 1) <= B.rows; column += kBits) {
        for (std::size_t t = 0; t < kTables; ++t) sums(tables[t], B, column + t * 4);
        const unsigned char *a = reinterpret_cast<const unsigned char *>(A.data) + column / 8;
        for (std::size_t i = 0; i < A.rows; ++i, a += 8 * A.columns) {
            const auto bits = load<Bits>(a);
            V sum = load<V>(C[i]);
            for (std::size_t t = 0; t < kTables; ++t) sum ^= tables[t][bits >> 4 * t & 15];
            store(C[i], sum);
        }
    }
    return column;
}

// C += A·B in one V of each row of C and B, from this word on.
template <class V>
void multiply_add_strip(Matrix<Word> C, Packed A, Packed B, std::size_t word) {
    C.data += word;
    B.data += word;
    const std::size_t column = add_tables<Word, V>(C, A, B, 0);
    add_tables<Byte, V>(C, A, B, column);
}

// C += A·B, where row i of A names with its bits the rows of B whose sum is added to row i of C.
// C overlaps neither. Fastest if its rows are whole vectors.
inline void multiply_add(Matrix<Word> C, Packed A, Packed B) {
    std::size_t word = 0;
    for (; word + kVectorWords <= C.columns; word += kVectorWords)
        multiply_add_strip<Vector>(C, A, B, word);
    for (; word < C.columns; ++word) multiply_add_strip<Word>(C, A, B, word);
}

}  // namespace flagstone::FLAGSTONE_VERSION

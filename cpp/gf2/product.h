// Products of matrices over GF(2), by the method of the four Russians.
//
// Method: the rows of B are taken K at a time. All 2^K sums of K rows are put into a table, and K
// bits of a row of A say which of them is added to the row of C. Columns are taken a vector at a
// time, so that several tables stay in the first cache together.
// Cost, for A with n rows and k columns and B with w vectors a row: w·(k/K)·(n + 2^K) additions of
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
    ConstBitRows from(std::size_t row) const { return {words + row * stride, stride}; }
};
struct BitRows {
    Word *words;
    std::size_t stride;

    Word *operator[](std::size_t i) const { return words + i * stride; }
    BitRows from(std::size_t row) const { return {words + row * stride, stride}; }
    operator ConstBitRows() const { return {words, stride}; }
};

// target += source, of so many words.
inline void add(Word *target, const Word *source, std::size_t width) {
    for (std::size_t w = 0; w < width; ++w) target[w] ^= source[w];
}

// All sums of the rows [first, first + K) of B; rows from `end` on count as zero.
template <std::size_t K, class V>
inline void sums(V *table, ConstBitRows B, std::size_t first, std::size_t end) {
    table[0] = V{};
    for (std::size_t i = 0; i < K; ++i) {
        const V row = first + i < end ? load<V>(B[first + i]) : V{};
        for (std::size_t j = 0; j < std::size_t(1) << i; ++j) table[(1 << i) + j] = table[j] ^ row;
    }
}

// `Bytes` bytes as a number, read as one or two words of 1, 2, 4 or 8 bytes.
template <std::size_t Bytes>
inline Word load_bytes(const unsigned char *from) {
    if constexpr (Bytes == 6)
        return load_bytes<4>(from) | load_bytes<2>(from + 4) << 32;
    else if constexpr (Bytes == 3)
        return load_bytes<2>(from) | load_bytes<1>(from + 2) << 16;
    else if constexpr (Bytes == 8)
        return load<std::uint64_t>(from);
    else if constexpr (Bytes == 4)
        return load<std::uint32_t>(from);
    else if constexpr (Bytes == 2)
        return load<std::uint16_t>(from);
    else
        return *from;
}

// Adds the part of A·B that comes from the columns of A from `column` on, T·K of them at a time,
// and returns the first column that is left. C and B are one V wide.
template <std::size_t K, std::size_t T, class V>
std::size_t add_tables(BitRows C, ConstBitRows A, ConstBitRows B, std::size_t n, std::size_t k,
                       std::size_t column) {
    constexpr std::size_t kBytes = K * T / 8;
    static_assert(kBytes * 8 == K * T, "a pass reads whole bytes of A");
    alignas(64) V tables[T][1 << K];
    for (; kBytes == 1 ? column < k : column + 8 * kBytes <= k; column += 8 * kBytes) {
        for (std::size_t t = 0; t < T; ++t) sums<K>(tables[t], B, column + t * K, k);
        const unsigned char *a = reinterpret_cast<const unsigned char *>(A.words) + column / 8;
        for (std::size_t i = 0; i < n; ++i, a += 8 * A.stride) {
            const Word bits = load_bytes<kBytes>(a);
            V sum = load<V>(C[i]);
            for (std::size_t t = 0; t < T; ++t) sum ^= tables[t][bits >> t * K & ((1 << K) - 1)];
            store(C[i], sum);
        }
    }
    return column;
}

// C += A·B with C and B one V wide; A has n rows, of which the first k columns are used.
template <class V>
void multiply_add_strip(BitRows C, ConstBitRows A, ConstBitRows B, std::size_t n, std::size_t k) {
    std::size_t column = 0;
    if (n >= 256)
        column = add_tables<6, (sizeof(V) > 32 ? 4 : 8), V>(C, A, B, n, k, column);
    else
        column = add_tables<4, 16, V>(C, A, B, n, k, column);
    column = add_tables<4, 4, V>(C, A, B, n, k, column);
    add_tables<4, 2, V>(C, A, B, n, k, column);
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

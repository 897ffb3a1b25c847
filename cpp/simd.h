// Vectors of bits and bytes, and products of 8 × 8 tiles of bits: the only header with intrinsics.
//
// Everything above it is written with `Vector`, `Lanes` and `Tile` and knows no instruction set.
// GCC and Clang compile the operators of vectors for any processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "views.h"
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
#if !defined(__GNUC__) && !defined(__clang__)
#error "build with GCC or Clang (on Windows: clang-cl)"
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "byte k of a word must hold its bits 8k to 8k + 7"
#endif

namespace flagstone::FLAGSTONE_VERSION {

using Word = std::uint64_t;
using Byte = unsigned char;

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif
constexpr std::size_t kVectorBits = 8 * kVectorBytes, kVectorWords = kVectorBytes / 8;

typedef Word Vector __attribute__((vector_size(kVectorBytes)));

// A vector of integers T, of at most `most` bytes.
template <class T, std::size_t most>
struct LanesOf {
    static constexpr std::size_t bytes = most < kVectorBytes ? most : kVectorBytes;
    typedef T type __attribute__((vector_size(bytes)));
};
template <class T, std::size_t most>
using Lanes = typename LanesOf<T, most>::type;

constexpr Word every_byte(Byte byte) { return byte * Word(0x0101010101010101); }

// Memory that need not lie on a boundary of V, which is a Word, a Vector or another number.
template <class V>
inline V load(const void *from) {
    V v;
    std::memcpy(&v, from, sizeof(V));
    return v;
}
template <class V>
inline void store(void *to, const V &v) {
    std::memcpy(to, &v, sizeof(V));
}

// The same word in all places.
template <class V>
inline V broadcast(Word word) {
    return V{} + word;
}

// Adds a sum to those words that have some of these bits, but not `all`.
inline Vector add_where_some(const Vector &words, Word bits, Word all, const Vector &sum) {
    const Vector found = words & bits, not_some = broadcast<Vector>(all);
    return words ^ (sum & ~Vector((found == 0) | (found == not_some)));
}

// All bits set in the words that have this bit (or none, if it is 0), no bits in the others.
inline Vector words_with(const Vector &words, Word bit) {
    return Vector{} - ((Vector{} - (words & bit)) >> 63);
}

// Eight bytes that are 0 or 1 as neighbouring bits, by one multiplication: 2^(8i) 2^(56 - 7i) =
// 2^(56 + i), and no two other terms meet above bit 55.
inline Word gather_bits(Word ones) { return (ones * 0x0102040810204080) >> 56; }

// Eight bits as eight bytes 0 and 1.
inline Word spread_bits(Byte bits) {
    const Word marked = bits * every_byte(1) & 0x8040201008040201;
    return (marked + every_byte(0x7f)) >> 7 & every_byte(1);
}

// The lowest bits of 64 bytes, that of byte i as bit i.
inline Word bits_of_bytes(const Byte *bytes) {
    Word found = 0;
#if defined(__AVX512BW__)
    found = _mm512_test_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(1));
#elif defined(__SSE2__)
    for (int i = 0; i < 64; i += 16)
        found |= Word(_mm_movemask_epi8(load<__m128i>(bytes + i) << 7)) << i;
#else
    for (int i = 0; i < 64; i += 8)
        found |= gather_bits(load<Word>(bytes + i) & every_byte(1)) << i;
#endif
    return found;
}

// Eight sums of two bytes each, which are in the given places.
inline Word sum_pairs(const Byte *bytes, const std::uint32_t *places) {
    Word sums = 0;
    for (int i = 0; i < 8; ++i, places += 2)
        sums |= Word(bytes[places[0]] ^ bytes[places[1]]) << 8 * i;
    return sums;
}

// Place i of each 16 bytes gets byte order[i] of the same 16; 0 where order[i] is kNoByte.
constexpr Byte kNoByte = 0x90;
template <class V>
inline V pick_bytes(const V &from, const V &order) {
    static_assert(sizeof(V) == 16 || sizeof(V) == 32, "vectors of shuffles");
#if defined(__AVX2__)
    if constexpr (sizeof(V) == 32) return V(_mm256_shuffle_epi8(__m256i(from), __m256i(order)));
#endif
#if defined(__SSSE3__)
    if constexpr (sizeof(V) == 16) return V(_mm_shuffle_epi8(__m128i(from), __m128i(order)));
#elif defined(__aarch64__)
    const uint8x16_t picked = vqtbl1q_u8(load<uint8x16_t>(&from), load<uint8x16_t>(&order));
    return load<V>(&picked);
#else
    Byte bytes[16], places[16], picked[16];
    store(bytes, from);
    store(places, order);
    for (int i = 0; i < 16; ++i) picked[i] = places[i] == kNoByte ? 0 : bytes[places[i]];
    return load<V>(picked);
#endif
}

// In each word, bit i of byte j becomes bit j of byte i.
template <class V>
inline V transpose_bits(V x) {
    V change = (x >> 7 ^ x) & 0x00aa00aa00aa00aa;
    x ^= change ^ change << 7;
    change = (x >> 14 ^ x) & 0x0000cccc0000cccc;
    x ^= change ^ change << 14;
    change = (x >> 28 ^ x) & 0x00000000f0f0f0f0;
    return x ^ change ^ change << 28;
}

#if defined(__GFNI__)

// Byte order(i) of a vector in place i.
struct ByteOrder {
    Byte places[64];
    template <class Order>
    constexpr explicit ByteOrder(Order order) : places() {
        for (int i = 0; i < 64; ++i) places[i] = Byte(order(i));
    }
    __m512i operator()(__m512i bytes) const {
        return _mm512_maskz_permutexvar_epi8(~__mmask64(0), load<__m512i>(places), bytes);
    }
};
// Bytes of words in reverse; byte j of word i as byte i of word j, or as byte 7 - i.
constexpr ByteOrder kReverse([](int i) { return i ^ 7; });
constexpr ByteOrder kTranspose([](int i) { return i % 8 * 8 + i / 8; });
constexpr ByteOrder kTransposeReverse([](int i) { return (i % 8 ^ 7) * 8 + i / 8; });

// In each word, whose bytes are in reverse: bit i of byte j becomes bit j of byte i, if byte i of
// `order` has bit i; if it has bit 7 - i, the bytes stay in reverse.
constexpr long long kForward = 0x8040201008040201, kBackward = 0x0102040810204080;
inline __m512i transpose_reversed(__m512i words, long long order = kForward) {
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64(order), words, 0);
}

// Bit r of byte i becomes bit i of word r.
inline void words_of_bytes(const Byte *bytes, Word *words) {
    store(words, kTranspose(transpose_reversed(kReverse(load<__m512i>(bytes)))));
}
inline void bytes_of_words(const Word *words, Byte *bytes) {
    store(bytes, transpose_reversed(kTransposeReverse(load<__m512i>(words))));
}

// Bytes to be multiplied by tiles.
struct TileFactor {
    TileFactor() = default;
    explicit TileFactor(const Vector &bytes) : bytes(__m512i(bytes)) {}
    __m512i bytes;
};

// An 8 × 8 matrix of bits. `tile * bytes`: for each byte, the sum of the matrix's columns that its
// bits select.
class Tile {
  public:
    using Packed = Word;  // the last row first

    // Tiles of the given columns of eight rows: word r, `stride` words after the one before, is row
    // r, and its byte i is in tile i.
    static void of_rows(const Word *rows, std::size_t stride, Word columns, Packed *tiles) {
        const auto word = [&](std::size_t r) { return static_cast<long long>(rows[r * stride]); };
        const __m512i words = _mm512_setr_epi64(word(0), word(1), word(2), word(3), word(4),
                                                word(5), word(6), word(7));
        store(tiles, kTransposeReverse(words & _mm512_set1_epi64(static_cast<long long>(columns))));
    }

    Tile() = default;
    explicit Tile(Word tile) : matrix_(_mm512_set1_epi64(static_cast<long long>(tile))) {}
    explicit Tile(__m512i matrix) : matrix_(matrix) {}
    // Byte i is column i.
    static Tile of_columns(Word columns) {
        const auto reversed = static_cast<long long>(__builtin_bswap64(columns));
        return Tile(transpose_reversed(_mm512_set1_epi64(reversed), kBackward));
    }
    friend Vector operator*(const Tile &tile, const TileFactor &factor) {
        return Vector(_mm512_gf2p8affine_epi64_epi8(factor.bytes, tile.matrix_, 0));
    }

  private:
    __m512i matrix_;
};

// Four tiles whose columns are sums of two bytes of a row of bytes.
class PairSums {
  public:
    // The places are two for each column. Bytes before `first` and from `end` on count as 0. There
    // is `room` for end / 8 bytes.
    PairSums(const std::uint32_t *places, std::size_t first, std::size_t end, Byte *room)
        : places_(), masks_(reinterpret_cast<Word *>(room)), first_(first), end_(end) {
        __m512i all[4];
        for (int t = 0; t < 4; ++t) {
            all[t] = load<__m512i>(places + 16 * t);
            places_ = _mm512_mask_broadcast_i32x4(places_, __mmask16(15 << 4 * t),
                                                  _mm512_maskz_cvtepi32_epi8(0xffff, all[t]));
            all[t] = _mm512_maskz_srli_epi32(0xffff, all[t], 6);
        }
        for (std::size_t q = first; q < end; q += 64) {
            masks_[q / 64] = 0;
            for (int t = 0; t < 4; ++t)
                masks_[q / 64] |= Word(_mm512_cmpeq_epi32_mask(all[t], _mm512_set1_epi32(q / 64)))
                                  << 16 * t;
        }
    }

    void operator()(const Byte *row, Tile (&tiles)[4]) const {
        __m512i found{};
        for (std::size_t q = first_; q < end_; q += 64)
            found |= _mm512_maskz_permutexvar_epi8(masks_[q / 64], places_, load<__m512i>(row + q));
        const __m512i sums = transpose_reversed(kFirst(found) ^ kSecond(found), kBackward);
        for (int t = 0; t < 4; ++t)
            tiles[t] = Tile(_mm512_maskz_permutexvar_epi64(0xff, _mm512_set1_epi64(t), sums));
    }

  private:
    static constexpr ByteOrder kFirst{[](int i) { return i / 8 % 4 * 16 + (i % 8 ^ 7) * 2; }};
    static constexpr ByteOrder kSecond{[](int i) { return i / 8 % 4 * 16 + (i % 8 ^ 7) * 2 + 1; }};

    __m512i places_;
    Word *masks_;
    std::size_t first_, end_;
};

#else

// Bytes of the first (or second) halves of two vectors in turn.
template <bool second, std::size_t... i>
inline Vector zip(const Vector &x, const Vector &y, std::index_sequence<i...>) {
    typedef Byte Bytes __attribute__((vector_size(kVectorBytes)));
    constexpr auto place = [](std::size_t j) {
        return j / 2 + (second ? kVectorBytes / 2 : 0) + (j % 2 ? kVectorBytes : 0);
    };
#if defined(__clang__)
    return Vector(__builtin_shufflevector(Bytes(x), Bytes(y), place(i)...));
#else
    return Vector(__builtin_shuffle(Bytes(x), Bytes(y), Bytes{Byte(place(i))...}));
#endif
}

// An 8 × 8 matrix of bytes.
struct ByteMatrix {
    static constexpr std::size_t kVectors = 64 / kVectorBytes;
    Vector rows[kVectors] = {};

    ByteMatrix() = default;
    template <class T>
    explicit ByteMatrix(const T *from) {
        for (Vector &row : rows) {
            row = load<Vector>(from);
            from += kVectorBytes / sizeof(T);
        }
    }
    template <class T>
    void write(T *to) const {
        for (const Vector &row : rows) {
            store(to, row);
            to += kVectorBytes / sizeof(T);
        }
    }

    void transpose_bits() {
        for (Vector &row : rows) row = FLAGSTONE_VERSION::transpose_bits(row);
    }
    // Each round turns the six bits of a byte's place by one.
    void transpose() {
        constexpr std::make_index_sequence<kVectorBytes> all{};
        for (int round = 0; round < 3; ++round) {
            const ByteMatrix before = *this;
            for (std::size_t i = 0; i < kVectors / 2; ++i) {
                const Vector &x = before.rows[i], &y = before.rows[i + kVectors / 2];
                rows[2 * i] = zip<false>(x, y, all);
                rows[2 * i + 1] = zip<true>(x, y, all);
            }
        }
    }
};

// Bit r of byte i becomes bit i of word r.
inline void words_of_bytes(const Byte *bytes, Word *words) {
    ByteMatrix matrix(bytes);
    matrix.transpose_bits();
    matrix.transpose();
    matrix.write(words);
}
inline void bytes_of_words(const Word *words, Byte *bytes) {
    ByteMatrix matrix(words);
    matrix.transpose();
    matrix.transpose_bits();
    matrix.write(bytes);
}

// Sixteen bytes, again and again.
inline Vector repeat(const Byte *sixteen) {
#if defined(__AVX2__)
    return Vector(_mm256_broadcastsi128_si256(load<__m128i>(sixteen)));
#else
    return load<Vector>(sixteen);
#endif
}

// Bytes to be multiplied by tiles, each in two halves.
struct TileFactor {
    TileFactor() = default;
    explicit TileFactor(const Vector &bytes)
        : low(bytes & every_byte(15)), high(bytes >> 4 & every_byte(15)) {}
    Vector low, high;
};

// An 8 × 8 matrix of bits. `tile * bytes`: for each byte, the sum of the matrix's columns that its
// bits select; two tables have the sums of four columns.
class Tile {
  public:
    // The sums of the columns 0 to 3, then of 4 to 7: bit i of a place selects column i.
    struct Packed {
        Packed() = default;
        explicit Packed(Word columns) {  // byte i is column i
            const Vector all = broadcast<Vector>(columns);
            for (std::size_t half = 0; half < 32; half += kVectorBytes) {
                Vector sum{};
                for (const auto &places : kChosen.places)
                    sum ^= pick_bytes(all, load<Vector>(places + half));
                store(sums + half, sum);
            }
        }
        Byte sums[32];
    };

    // Tiles of the given columns of eight rows: word r, `stride` words after the one before, is row
    // r, and its byte i is in tile i.
    static void of_rows(const Word *rows, std::size_t stride, Word columns, Packed *tiles) {
        ByteMatrix matrix;
        for (std::size_t r = 0; r < 8; ++r)
            matrix.rows[r / kVectorWords][r % kVectorWords] = rows[r * stride] & columns;
        matrix.transpose();
        matrix.transpose_bits();
        Word tile[8];
        matrix.write(tile);
        for (int i = 0; i < 8 && columns >> 8 * i; ++i) tiles[i] = Packed(tile[i]);
    }

    Tile() = default;
    explicit Tile(const Packed &tile) : low_(repeat(tile.sums)), high_(repeat(tile.sums + 16)) {}
    static Tile of_columns(Word columns) { return Tile(Packed(columns)); }
    friend Vector operator*(const Tile &tile, const TileFactor &bytes) {
        return pick_bytes(tile.low_, bytes.low) ^ pick_bytes(tile.high_, bytes.high);
    }

  private:
    struct Chosen {
        Byte places[4][32];
        constexpr Chosen() : places() {
            for (int i = 0; i < 4; ++i)
                for (int n = 0; n < 32; ++n)
                    places[i][n] = n >> i & 1 ? Byte(i + n / 16 * 4) : kNoByte;
        }
    };
    static const Chosen kChosen;

    Vector low_, high_;
};
inline constexpr Tile::Chosen Tile::kChosen;

// Four tiles whose columns are sums of two bytes of a row of bytes.
struct PairSums {
    const std::uint32_t *places;  // two for each column

    PairSums(const std::uint32_t *places, std::size_t, std::size_t, Byte *) : places(places) {}
    void operator()(const Byte *row, Tile (&tiles)[4]) const {
        for (int t = 0; t < 4; ++t) tiles[t] = Tile::of_columns(sum_pairs(row, places + 16 * t));
    }
};

#endif

// The place of the lowest bit of a word that is not 0.
inline unsigned lowest_bit(Word word) { return __builtin_ctzll(word); }

// The products of the lower halves of lanes of 64 bits.
template <class V>
inline V product_of_halves(const V &x, const V &y) {
#if defined(__AVX512F__)
    // All lanes; the plain form makes GCC 12 warn of a value that is not set.
    return V(_mm512_maskz_mul_epu32(0xff, __m512i(x), __m512i(y)));
#elif defined(__AVX2__)
    return V(_mm256_mul_epu32(__m256i(x), __m256i(y)));
#elif defined(__SSE2__)
    return V(_mm_mul_epu32(__m128i(x), __m128i(y)));
#else
    return (x & 0xffffffff) * (y & 0xffffffff);
#endif
}

}  // namespace flagstone::FLAGSTONE_VERSION

// Vectors of unsigned integers, as wide as the version's processor has them.
//
// GCC and Clang compile the operators for any processor; other compilers get plain loops. The one
// operation they do not find by themselves is the product of 32-bit halves, `product_of_halves`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "views.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace flagstone::FLAGSTONE_VERSION {

#if defined(__AVX512F__)
constexpr std::size_t kLaneBytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t kLaneBytes = 32;
#else
constexpr std::size_t kLaneBytes = 16;
#endif

// A vector of integers T, of at most `most` bytes.
template <class T, std::size_t most>
struct LanesOf {
    static constexpr std::size_t bytes = most < kLaneBytes ? most : kLaneBytes;
#if defined(__GNUC__)
    typedef T type __attribute__((vector_size(bytes)));
#else
    struct type {
        T lanes[bytes / sizeof(T)];
        template <class Operation>
        friend type each(const type &x, const type &y, Operation operation) {
            type z;
            for (std::size_t i = 0; i < bytes / sizeof(T); ++i)
                z.lanes[i] = operation(x.lanes[i], y.lanes[i]);
            return z;
        }
        friend type operator+(const type &x, const type &y) {
            return each(x, y, [](T a, T b) { return T(a + b); });
        }
        friend type operator-(const type &x, const type &y) {
            return each(x, y, [](T a, T b) { return T(a - b); });
        }
        friend type operator*(const type &x, const type &y) {
            return each(x, y, [](T a, T b) { return T(a * b); });
        }
        friend type operator^(const type &x, const type &y) {
            return each(x, y, [](T a, T b) { return T(a ^ b); });
        }
        friend type operator+(const type &x, T y) {
            return each(x, x, [y](T a, T) { return T(a + y); });
        }
    };
#endif
};

template <class V, class T>
inline V load_lanes(const T *from) {
    V v;
    std::memcpy(&v, from, sizeof(V));
    return v;
}

template <class V, class T>
inline void store_lanes(T *to, const V &v) {
    std::memcpy(to, &v, sizeof(V));
}

template <class V>
inline V smaller(const V &x, const V &y) {
#if defined(__GNUC__)
    return x < y ? x : y;
#else
    return each(x, y, [](auto a, auto b) { return a < b ? a : b; });
#endif
}

// With lanes of 64 bits that are negative as signed integers: the same plus m.
template <class V>
inline V lift_negative(const V &x, const V &m) {
#if defined(__GNUC__)
    typedef std::int64_t Signed __attribute__((vector_size(sizeof(V))));
    return x + (m & V(Signed(x) < 0));
#else
    return each(x, m, [](auto a, auto b) { return a >> 63 ? a + b : a; });
#endif
}

// The products of the lower halves of lanes of 64 bits.
template <class V>
inline V product_of_halves(const V &x, const V &y) {
#if defined(__AVX512F__)
    // All lanes; the plain form makes GCC 12 warn of a value that is not set.
    return V(_mm512_maskz_mul_epu32(0xff, __m512i(x), __m512i(y)));
#elif defined(__AVX2__)
    return V(_mm256_mul_epu32(__m256i(x), __m256i(y)));
#elif defined(__SSE2__) && defined(__GNUC__)
    return V(_mm_mul_epu32(__m128i(x), __m128i(y)));
#elif defined(__GNUC__)
    return (x & 0xffffffff) * (y & 0xffffffff);
#else
    return each(x, y, [](auto a, auto b) { return (a & 0xffffffff) * (b & 0xffffffff); });
#endif
}

}  // namespace flagstone::FLAGSTONE_VERSION

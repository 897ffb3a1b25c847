// The map of a counted flag over GF(2): from rows to their coordinates (see flag.cpp).
//
// Functional q tells coordinate q of a row x, <x, phi_q>. A map holds the functionals, and the
// coordinates of the rows that are inserted now, some eights of rows at a time:
//     read(rows, n)              take rows, up to `kRows`
//     find(first)                compute coordinates of the rows
//     words(g, first, to)        coordinates of eight rows: word w of row r in place 8w + r
//     set_words(g, first, from)  those words have become changes
//     correct(g, changes, first) make them to the other rows
//     update(changes, first)     make the changes of all rows to the functionals
//     reset(), sort(order)       make it the identity; put functional order[q] into place q
// where `first` is a multiple of 64, and coordinates before it are zero. Functional number `dim` is
// zero.
//
// Functionals and coordinates stand in tiles of 8 × 8 bits: a byte for each element and eight
// columns. A row of bytes is longer than `dim`, so that the byte of element `dim` is there, and zero.
// Cost of eight rows: d²/64 products of tiles for the coordinates, as many for the functionals.
// Wide maps do not stay in the first cache: they are used for four eights at once.
#pragma once

#include "gf2/product.h"

namespace flagstone::FLAGSTONE_VERSION {

// The change that a row makes: the row takes the place of element `last`; F = {paired, last}.
// Element `dim`, whose functional is zero, stands for none.
struct Change {
    std::uint32_t paired, last;
};

constexpr std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

class Map {
  public:
    explicit Map(std::size_t dim)
        : dim_(dim),
          width_(dim > 64 ? divide_up(dim, 64) : 1),
          octets_(divide_up(dim, 8)),
          stride_(64 * (dim / 64 + 1)),
          end_(divide_up(dim, kVectorBytes) * kVectorBytes),
          map_(octets_ * stride_),
          padded_(kRows * width_),
          tiles_(8 * width_ * kEights),
          coordinates_(stride_ * kEights),
          factors_(end_ / kVectorBytes * kEights),
          room_(end_ / 8) {}

    static constexpr std::size_t kEights = 4, kRows = 8 * kEights;

    void reset() {
        map_.clear();
        for (std::size_t q = 0; q < dim_; ++q) functionals(q / 8)[q] = Byte(1 << q % 8);
    }

    void read(const Word *rows, std::size_t n) {
        if (n < kRows) {
            std::memcpy(padded_.data(), rows, 8 * n * width_);
            std::memset(padded_.data() + n * width_, 0, 8 * (kRows - n) * width_);
            rows = padded_.data();
        }
        for (std::size_t w = 0; w < width_; ++w) {
            const Word columns = 64 * w + 64 > dim_ ? (Word(1) << dim_ % 64) - 1 : ~Word(0);
            for (std::size_t g = 0; g < kEights; ++g)
                Tile::of_rows(rows + 8 * g * width_ + w, width_, columns,
                              tiles_.data() + 8 * (g * width_ + w));
        }
    }

    void find(std::size_t first) {
        first = add_products<kVectors>(first);
        add_products<1>(first);
    }

    void words(std::size_t g, std::size_t first, Word *to) const {
        const Byte *from = coordinates_.data() + g * stride_;
        for (std::size_t q = first; q < end_; q += 64) words_of_bytes(from + q, to + q / 8);
    }

    void set_words(std::size_t g, std::size_t first, const Word *from) {
        Byte *to = coordinates(g);
        for (std::size_t q = first; q < end_; q += 64) bytes_of_words(from + q / 8, to + q);
    }

    void correct(std::size_t g, const Change *changes, std::size_t first) {
        take_changes(g, first);
        for (std::size_t h = 0; h < kEights; ++h) {
            if (h == g) continue;
            Byte *other = coordinates(h);
            const Tile tile = Tile::of_columns(sum_pairs(other, &changes[8 * g].paired));
            for (std::size_t q = first; q < end_; q += kVectorBytes)
                store(other + q, load<Vector>(other + q) ^ tile * change(g, q));
        }
    }

    void update(const Change *changes, std::size_t first) {
        const std::size_t octets = octets_, stride = stride_, end = end_;
        const PairSums sums(&changes->paired, first, end, room_.data());
        for (std::size_t g = 0; g < kEights; ++g) take_changes(g, first);
        Byte *bytes = map_.data();
        for (std::size_t octet = 0; octet < octets; ++octet, bytes += stride) {
            Tile tiles[kEights];
            sums(bytes, tiles);
            const TileFactor *factor = &change(0, first);
            for (std::size_t q = first; q < end; q += kVectorBytes) {
                Vector sum = load<Vector>(bytes + q);
                for (std::size_t g = 0; g < kEights; ++g) sum ^= tiles[g] * *factor++;
                store(bytes + q, sum);
            }
        }
    }

    void sort(const std::size_t *order) {
        for (std::size_t octet = 0; octet < octets_; ++octet) {
            std::memcpy(coordinates(0), functionals(octet), dim_);
            for (std::size_t q = 0; q < dim_; ++q) functionals(octet)[q] = coordinates(0)[order[q]];
        }
    }

  private:
    static constexpr std::size_t kVectors = kVectorBytes / 16;

    Byte *functionals(std::size_t octet) { return map_.data() + octet * stride_; }
    Byte *coordinates(std::size_t g) { return coordinates_.data() + g * stride_; }

    // The changes of an eight, ready for products.
    TileFactor &change(std::size_t g, std::size_t q) {
        return factors_[q / kVectorBytes * kEights + g];
    }
    void take_changes(std::size_t g, std::size_t first) {
        for (std::size_t q = first; q < end_; q += kVectorBytes)
            change(g, q) = TileFactor(load<Vector>(coordinates(g) + q));
    }

    // Coordinates from `place` on, some vectors of them at a time; returns the first that is left.
    template <std::size_t Vectors>
    std::size_t add_products(std::size_t place) {
        const std::size_t octets = octets_, stride = stride_, width = width_;
        for (; place + kVectorBytes * Vectors <= end_; place += kVectorBytes * Vectors) {
            Vector sums[kEights][Vectors] = {};
            const Byte *functionals = map_.data() + place;
            const Tile::Packed *tiles = tiles_.data();
            for (std::size_t octet = 0; octet < octets; ++octet, functionals += stride) {
                TileFactor factors[Vectors];
                for (std::size_t k = 0; k < Vectors; ++k)
                    factors[k] = TileFactor(load<Vector>(functionals + kVectorBytes * k));
                for (std::size_t g = 0; g < kEights; ++g) {
                    const Tile rows(tiles[8 * g * width + octet]);
                    for (std::size_t k = 0; k < Vectors; ++k) sums[g][k] ^= rows * factors[k];
                }
            }
            for (std::size_t g = 0; g < kEights; ++g)
                for (std::size_t k = 0; k < Vectors; ++k)
                    store(coordinates(g) + place + kVectorBytes * k, sums[g][k]);
        }
        return place;
    }

    std::size_t dim_, width_, octets_, stride_, end_;
    Buffer<Byte> map_;            // of each eight columns: a byte for each element
    Buffer<Word> padded_;         // the rows and zeros, if there are fewer rows than `kRows`
    Buffer<Tile::Packed> tiles_;  // of each eight rows: a tile for each eight columns
    Buffer<Byte> coordinates_;    // of each eight rows: a byte for each element
    Buffer<TileFactor> factors_;  // see change
    Buffer<Byte> room_;           // see PairSums
};

}  // namespace flagstone::FLAGSTONE_VERSION

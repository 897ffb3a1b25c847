// Counted flags over GF(2): what they offer, and the state of the one in this version.
#pragma once

#include <cstddef>
#include <cstdint>

#include "poll.h"

#ifdef FLAGSTONE_VERSION
#include "gf2/map.h"
#endif

namespace flagstone {

// The counted flag of rows in GF(2)^dim (docs/theory/flag.md, S2). Rows are packed, `width` words
// each; bits past `dim` are ignored. Not safe for several threads at once.
class Gf2Flag {
  public:
    virtual ~Gf2Flag();  // in flag_bindings.cpp, once for all versions

    virtual std::size_t dim() const = 0;
    virtual std::size_t width() const = 0;
    virtual std::size_t nbytes() const = 0;
    virtual Gf2Flag *copy() const = 0;  // the caller owns it

    // Back to the flag of no rows.
    virtual void reset() = 0;

    // Inserts rows in order, row i `weights[i]` times (never if that is not positive), each once if
    // there are no weights. The sum of all counts must stay below 2^63. Returns false if it was
    // interrupted; some rows are missing then.
    virtual bool insert(const std::uint64_t *rows, std::size_t n, const std::int64_t *weights,
                        Poll poll = nullptr) = 0;

    // Becomes the flag of a basis with falling positive counts; false if it is dependent.
    virtual bool assign(const std::uint64_t *basis, std::size_t n, const std::int64_t *counts) = 0;

    // An adapted basis by falling count: `rank()` rows and their counts.
    virtual std::size_t rank() const = 0;
    virtual void dump(std::uint64_t *basis, std::int64_t *counts) const = 0;

    // Of all `dim` elements of the basis, those outside of the rows' span having count 0.
    virtual std::int64_t least_count() const = 0;
    virtual std::int64_t largest_count() const = 0;
};

#ifdef FLAGSTONE_VERSION
namespace FLAGSTONE_VERSION {

// See flag.cpp for the method.
class CountedFlag final : public Gf2Flag {
  public:
    explicit CountedFlag(std::size_t dim);

    std::size_t dim() const override { return dim_; }
    std::size_t width() const override { return width_; }
    std::size_t nbytes() const override;
    Gf2Flag *copy() const override { return new CountedFlag(*this); }
    void reset() override;
    bool insert(const Word *rows, std::size_t n, const std::int64_t *weights,
                Poll poll = nullptr) override;
    bool assign(const Word *basis, std::size_t n, const std::int64_t *counts) override;
    std::size_t rank() const override;
    void dump(Word *basis, std::int64_t *counts) const override;
    std::int64_t least_count() const override { return dim_ ? counts_[0] : 0; }
    std::int64_t largest_count() const override { return dim_ ? counts_[dim_ - 1] : 0; }

  private:
    // Rows that are inserted together.
    struct Block {
        const Word *rows;
        std::size_t n;
        const std::int64_t *weights;
    };

    Word *basis(std::size_t q) { return basis_.data() + q * stride_; }
    const Word *basis(std::size_t q) const { return basis_.data() + q * stride_; }

    void insert_block(const Block &block);
    std::size_t count_inside(const Block &block);
    template <std::size_t Words>
    void exchange_eight(Word *rows, std::size_t n, Change *changes);
    Change exchange_weighted(Word *rows, unsigned r, std::int64_t weight);
    Change none() const { return {std::uint32_t(dim_), std::uint32_t(dim_)}; }
    void replace_elements(const Block &block);
    void choose_start();
    void sort_elements();
    void mark_runs();

    std::size_t dim_, width_;
    Word last_word_;               // the columns in the last word of a row
    Map map_;                      // the coordinate functionals
    std::size_t stride_;           // words from one element to the next
    Buffer<Word> basis_;           // the elements, by rising count; and room for none
    Buffer<std::int64_t> counts_;  // of the elements, and -1
    Buffer<Word> runs_;            // bit q: element q + 1 has the same count as q
    std::size_t start_ = 0;        // the elements from here on span a space of most rows

    Buffer<Change> changes_;       // of the rows that are inserted now
    std::size_t first_ = 0;        // their coordinates before this one are zero
    Buffer<std::int64_t> before_;  // counts when elements were sorted, if rows have weights
};

}  // namespace FLAGSTONE_VERSION
#endif

}  // namespace flagstone

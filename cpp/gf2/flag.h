// The state of the counted flag over GF(2); see flag.cpp for the method.
#pragma once

#include "field.h"
#include "gf2/map.h"

namespace flagstone::FLAGSTONE_VERSION {

class CountedFlag final : public Flag {
  public:
    explicit CountedFlag(std::size_t dim);

    std::size_t rank() const override;
    std::unique_ptr<Flag> copy() const override { return std::make_unique<CountedFlag>(*this); }
    void insert(Entries rows, const std::int64_t *weights, Pause pause) override;
    void dump(NewEntries basis, std::int64_t *counts) const override;
    void reset() override;
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
    void exchange_eight(Word *rows, std::size_t n, Change *changes);
    void exchange_words(const Word *block);
    Change exchange_weighted(Word *rows, unsigned r, std::int64_t weight);
    Change none() const { return {std::uint32_t(dim_), std::uint32_t(dim_)}; }
    void replace_element(const Word *row, Change change);
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
    Word steps_ = 0;               // bit q < 64: element q + 1 has a count one larger
    std::size_t start_ = 0;        // the elements from here on span a space of most rows

    Buffer<Change> changes_;       // of the rows that are inserted now
    Buffer<Word> words_;           // the coordinates of eight of them
    std::size_t first_ = 0;        // their coordinates before this one are zero
    Buffer<std::int64_t> before_;  // counts when elements were sorted, if rows have weights
};

}  // namespace flagstone::FLAGSTONE_VERSION

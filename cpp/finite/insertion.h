// Insertion of rows into a chain: panels of them where that is possible, or one by one.
//
// Method. A panel is reduced through the chain of its start. The exchanges that its rows then make,
// in their order, need little correction: an exchange in a class changes neither the span nor the
// pivot columns of that class with those before it, and the residual of a row at the start of its
// class depends on these alone. So a residual stands, unless an earlier row left the *same* class:
// that row is subtracted. Only if nothing is left then does the row belong to another class than it
// seemed; the panel ends before it. A row whose weight lifts it through several classes is reduced
// by itself, and subtracted from the later rows of each of them.
#pragma once

#include "finite/panel.h"

namespace flagstone::FLAGSTONE_VERSION {

template <class A>
class Insertion {
  public:
    using Cell = typename A::Cell;
    using Lane = typename A::Lane;
    static constexpr std::size_t kLanes = A::kLanes;

    Insertion(Chain<A> &chain, Pacer &pacer)
        : chain_(chain),
          field_(*chain.field),
          dim_(chain.dim),
          panel_(field_, dim_, dim_, pacer),
          u_(dim_),
          coordinates_(dim_),
          w_(dim_) {}

    // Insert rows that stand one after another, each weights[i] times; null: once.
    void insert(const Cell *rows, std::size_t n, const std::int64_t *weights) {
        if (dim_ == 0) return;
        std::size_t wait = 1, done = kLanes;  // for how many rows no panel is tried again
        for (std::size_t r = 0; r < n; r += done) {
            const bool little = !alone_ && done < kLanes / 4;  // the last panel was of little use
            wait = little ? smaller(2 * wait, kLanes) : alone_ ? wait : 1;
            const std::size_t some = smaller(n - r, little ? wait : kLanes);
            alone_ = little || some < kFewest;
            if (!alone_) {
                panel_.fill(rows + r * dim_, some);
                panel_.clear(chain_, chain_.stop());
                panel_.find_classes(chain_, chain_.stop(), levels_);
            }
            done = 0;
            while (done < some &&
                   insert_one(rows + (r + done) * dim_, done, weights ? weights[r + done] : 1))
                ++done;
        }
    }

    // Append to a chain of rows of equal count what is left of each row after reduction, as long as
    // anything is; the pivot is the first column that is not 0. Coordinates, where wanted, are by
    // row and position, dim per row.
    void append(const Cell *rows, std::size_t n, Cell *coordinates = nullptr) {
        std::size_t rank = chain_.rank();
        for (std::int64_t &level : levels_) level = 0;
        for (std::size_t r = 0; r < n && (rank < dim_ || coordinates); r += kLanes) {
            const std::size_t some = smaller(n - r, kLanes);
            panel_.fill(rows + r * dim_, some);
            panel_.clear(chain_, rank);
            for (std::size_t b = 0; b < some && rank < dim_; ++b) {
                const std::size_t f = first_hit(b, rank);
                if (f == dim_) continue;
                chain_.promote(f, rank, u_.data());
                chain_.count(rank) = 1;
                clear_later(b, 0, rank, rank);  // itself included, for its own coordinate
                ++rank;
            }
            for (std::size_t b = 0; coordinates && b < some; ++b)
                for (std::size_t i = 0; i < rank; ++i)
                    coordinates[(r + b) * dim_ + i] = field_.value(panel_.factor(i)[b]);
        }
    }

  private:
    static constexpr std::size_t kFewest = 4;  // a panel for fewer rows is not worth it

    // Let u be row b of the panel, and return the first position in the class from `start` on where
    // it is not 0, dim if there is none.
    std::size_t first_hit(std::size_t b, std::size_t start) {
        const std::uint32_t *columns = chain_.pivots() + start;
        const std::size_t end = chain_.class_start(chain_.count(start) - 1, dim_);
        panel_.read(b, columns, dim_ - start, coordinates_.data());
        u_.clear();
        for (std::size_t t = 0; t < dim_ - start; ++t) u_[columns[t]] = coordinates_[t];
        std::size_t f = start;
        while (f < end && coordinates_[f - start] == 0) ++f;
        return f == end ? dim_ : f;
    }

    // Insert a row, row b of the panel, `weight` times. Return false if it belongs to another class
    // than it seemed, so that another panel is due.
    bool insert_one(const Cell *v, std::size_t b, std::int64_t weight) {
        if (weight <= 0 || (!alone_ && levels_[b] < 0)) return true;
        const std::size_t start = alone_ ? 0 : chain_.class_start(levels_[b], dim_);
        const bool single =
            alone_ || (start > 0 && chain_.count(start - 1) - levels_[b] < weight);
        const std::size_t f = single ? reduce(v) : start < dim_ ? first_hit(b, start) : dim_;
        if (f < dim_) raise(f, b, weight);
        return f < dim_ || alone_;
    }

    // Let u replace row f of its class, and raise it by `weight`. The weight lifts it through
    // several classes, with one exchange in each, as one insertion after another would.
    void raise(std::size_t f, std::size_t b, std::int64_t weight) {
        for (std::size_t start = chain_.class_start(chain_.count(f), f);;) {
            const std::int64_t level = chain_.count(start);
            chain_.promote(f, start, u_.data());
            const std::int64_t room = start > 0 ? chain_.count(start - 1) - level : weight;
            const std::int64_t step = smaller(weight, room);
            chain_.count(start) += step;
            weight -= step;
            if (!alone_) clear_later(b + 1, level, start, dim_);
            if (weight == 0) return;
            // Now the row is the last of the class above, and is exchanged there.
            const std::size_t begin = chain_.class_start(chain_.count(start), start);
            f = start;
            for (std::size_t i = start; i-- > begin;)
                if (coordinates_[i] != 0) f = i;
            restore(begin, start);
            start = begin;
        }
    }

    // Subtract row i of the chain, which left a class, from the panel's rows of that class from b
    // on; their coordinates become factor `slot`.
    void clear_later(std::size_t b, std::int64_t level, std::size_t i, std::size_t slot) {
        Lane later[kLanes], any = 0;
        for (std::size_t c = 0; c < kLanes; ++c)
            any |= later[c] = -(c >= b && levels_[c] == level);
        if (any) panel_.clear_some(chain_, i, later, slot);
    }

    // Let u be a row, reduced up to its class, and return the first position there where it is not
    // 0, dim if it is a zero row.
    std::size_t reduce(const Cell *v) {
        const std::uint32_t *pivots = chain_.pivots();
        const std::size_t stop = chain_.stop();
        field_.lift(v, dim_, w_.data());
        std::size_t f = dim_;  // the first hit of the last class that was hit
        for (std::size_t i = 0; i < stop; ++i) {
            const Cell c = coordinates_[i] = field_.value(w_[pivots[i]]);
            if (c == 0) continue;
            if (f == dim_ || chain_.count(i) != chain_.count(f)) f = i;
            field_.subtract(w_.data(), c, chain_.row(i), dim_);
        }
        field_.values(w_.data(), dim_, u_.data());
        for (std::size_t i = stop; i < dim_; ++i)
            if (u_[pivots[i]] != 0) return i;
        if (f < dim_) restore(f, stop);
        return f;
    }

    // Add what was subtracted from the row at these positions.
    void restore(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            if (coordinates_[i] != 0)
                field_.subtract(w_.data(), field_.negate(coordinates_[i]), chain_.row(i), dim_);
        field_.values(w_.data(), dim_, u_.data());
    }

    Chain<A> &chain_;
    const A &field_;
    std::size_t dim_;
    Panel<A> panel_;
    Buffer<Cell> u_, coordinates_;
    Buffer<Lane> w_;
    std::int64_t levels_[kLanes];  // the classes of the panel's rows
    bool alone_ = false;           // whether rows come without a panel
};

}  // namespace flagstone::FLAGSTONE_VERSION

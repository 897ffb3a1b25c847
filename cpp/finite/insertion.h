// Insertion of rows into a chain: panels of them where that is possible, or one by one.
//
// Method. A panel is reduced through the chain of its start. The exchanges that its rows then make,
// in their order, need little correction: an exchange in a class changes neither the span nor the
// pivot columns of that class with those before it, and the residual of a row at the start of its
// class depends on these alone. So a residual stands, unless an earlier row left the *same* class:
// that row is subtracted. Only if nothing is left then does the row belong to another class than it
// seemed; the panel ends before it.
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
        for (std::size_t r = 0; r < n;) {
            const std::size_t some = smaller(n - r, kLanes);
            if (singles_ == 0 && some >= kFewest) {
                const std::size_t done =
                    insert_panel(rows + r * dim_, some, weights ? weights + r : nullptr);
                r += done;
                if (done < kFewest)  // after each such panel again, wait for longer
                    singles_ = wait_ = wait_ < kLanes ? 2 * wait_ : kLanes;
                else
                    wait_ = 1;
                continue;
            }
            const std::int64_t weight = weights ? weights[r] : 1;
            if (weight > 0) insert_one(rows + r * dim_, weight);
            ++r;
            if (singles_ > 0) --singles_;
        }
    }

  private:
    static constexpr std::size_t kFewest = 4;  // a panel for fewer rows is not worth it

    // Insert rows up to the first that needs another panel; return how many.
    std::size_t insert_panel(const Cell *rows, std::size_t n, const std::int64_t *weights) {
        std::int64_t levels[kLanes];
        const std::size_t stop = chain_.stop();
        panel_.fill(rows, n);
        panel_.clear(chain_, stop);
        panel_.find_classes(chain_, stop, levels);
        for (std::size_t b = 0; b < n; ++b) {
            const std::int64_t level = levels[b], weight = weights ? weights[b] : 1;
            if (level < 0 || weight <= 0) continue;
            const std::size_t start = chain_.class_start(level, chain_.size());
            if (start > 0 && chain_.count(start - 1) - level < weight) return b;
            const std::size_t f = first_hit(b, level, start);
            if (f == dim_) return b;
            if (level == 0)
                chain_.append(u_.data(), chain_.pivots()[f]);
            else
                chain_.promote(f, start, u_.data());
            chain_.count(start) += weight;
            Lane later[kLanes], any = 0;  // rows of the same class
            for (std::size_t c = 0; c < kLanes; ++c)
                any |= later[c] = -(c > b && levels[c] == level);
            if (any) panel_.clear_some(chain_, start, later, dim_);
        }
        return n;
    }

    // Let u be row b of the panel, and return the first position in its class where it is not 0,
    // dim if there is none.
    std::size_t first_hit(std::size_t b, std::int64_t level, std::size_t start) {
        const std::uint32_t *columns = chain_.pivots() + start;
        const std::size_t end = level == 0 ? dim_ : chain_.class_start(level - 1, chain_.size());
        panel_.read(b, columns, dim_ - start, coordinates_.data());
        u_.clear();
        for (std::size_t t = 0; t < dim_ - start; ++t) u_[columns[t]] = coordinates_[t];
        std::size_t f = start;
        while (f < end && coordinates_[f - start] == 0) ++f;
        return f == end ? dim_ : f;
    }

    // Insert one row `weight` times. The weight lifts it through several classes, with one exchange
    // in each, as one insertion after another would.
    void insert_one(const Cell *v, std::int64_t weight) {
        const std::uint32_t *pivots = chain_.pivots();
        const std::size_t end = chain_.stop();
        field_.lift(v, dim_, w_.data());
        std::size_t f = dim_;  // the first hit of the last class that was hit
        for (std::size_t i = 0; i < end; ++i) {
            const Cell c = coordinates_[i] = field_.value(w_[pivots[i]]);
            if (c == 0) continue;
            if (f == dim_ || chain_.count(i) != chain_.count(f)) f = i;
            field_.subtract(w_.data(), c, chain_.row(i), dim_);
        }
        field_.values(w_.data(), dim_, u_.data());
        std::size_t t = end;
        while (t < dim_ && u_[pivots[t]] == 0) ++t;
        if (t == dim_ && f == dim_) return;
        if (t == dim_) {
            restore(f, end);
        } else if (chain_.full()) {
            f = t;
        } else {
            f = chain_.size();
            chain_.append(u_.data(), pivots[t]);
        }
        for (std::size_t start = chain_.class_start(chain_.count(f), f);;) {
            chain_.promote(f, start, u_.data());
            const std::int64_t room =
                start > 0 ? chain_.count(start - 1) - chain_.count(start) : weight;
            const std::int64_t step = smaller(weight, room);
            chain_.count(start) += step;
            weight -= step;
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
    std::size_t singles_ = 0, wait_ = 1;  // rows to insert one by one before the next panel
};

}  // namespace flagstone::FLAGSTONE_VERSION

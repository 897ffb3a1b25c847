// Cutting a stream of rows over GF(2) into pieces, each with a flag of its own, by the rule of
// docs/theory/certificates.md, S31.
//
// Method: rows go into the flag of the piece up to the next look at the piece's value. Inside a
// space, the value is the number of sets that span it (the least count of the flag); a look is due
// when the credit of rows may be used up, and every few rows near the end. Outside, the value is
// the number of sets (the largest count); a row adds at most one set, so no look is due before the
// credit of sets can be overdrawn.
// Invariant: between calls, wait > 0, and outside filled < most.
// Cost: that of the flag; a look takes constant time.
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

using Words = Array2<std::uint64_t>;
using Numbers = Array1<std::int64_t>;

// Sums of a few numbers up to this do not overflow.
constexpr std::int64_t kLargest = std::int64_t(1) << 60;

struct Rule {
    bool inside;
    std::int64_t credit;      // of rows (inside) or sets (outside), at the beginning
    double pace;              // rows for one more set
    std::int64_t most;        // sets (inside) or rows (outside) after which a piece ends
    std::int64_t fine, step;  // inside: the length from which on there is a look every `step` rows

    // Whether every piece has a row and no sum overflows.
    bool valid() const {
        for (const std::int64_t number : {credit, most, fine, step})
            if (number < 0 || number > kLargest) return false;
        return std::isfinite(pace) && pace > 0 && most > 0 && step > 0 && (credit > 0 || !inside);
    }

    std::int64_t allowed(std::int64_t reached) const {
        const double more = std::floor(inside ? pace * double(reached) : double(reached) / pace);
        return credit + (more < double(kLargest) ? std::int64_t(more) : kLargest);
    }

    // How many rows (outside: given rows) come before the next look; 0 if the piece is over.
    std::int64_t wait(std::int64_t value, std::int64_t filled) const {
        std::int64_t rows = 0;
        if (!inside)
            rows = filled == most ? 0 : allowed(filled) - value + 1;
        else if (value < most)
            rows = std::min(allowed(value), filled >= fine ? filled + step : fine) - filled;
        return std::max<std::int64_t>(0, rows);
    }
};

// A cutter and its lock. Threads wait for the lock without the GIL.
class PieceCutter {
  public:
    PieceCutter(const Kernels &kernels, std::size_t dim, const Rule &rule)
        : flag_(kernels.gf2_flag(dim)), width_(words_of(dim)), rule_(rule), wait_(rule.wait(0, 0)) {}
    PieceCutter(const PieceCutter &other)
        : flag_(copy_of(*other.flag_)),
          width_(other.width_),
          rule_(other.rule_),
          filled_(other.filled_),
          wait_(other.wait_) {}

    nb::object cut(Words words, Numbers ticks, std::size_t size) {
        require(words.shape(1) == width_, "words must have a word for 64 columns");
        require(words.shape(0) == ticks.shape(0), "there must be a number for each row");
        require(size < std::size_t(kLargest), "size is too large");
        // A copy: other threads may change the array.
        const std::vector<std::int64_t> numbers(ticks.data(), ticks.data() + ticks.shape(0));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            require(numbers[i] >= 0 && std::size_t(numbers[i]) < size &&
                        (i == 0 || numbers[i - 1] < numbers[i]),
                    "ticks must rise, and be less than size");
        std::vector<std::int64_t> pieces;  // (end, value, length) of each
        run([&] {
            std::lock_guard<std::mutex> locked(mutex_);
            go_on(words.data(), numbers, std::int64_t(size), pieces);
        });
        const NewArray result({pieces.size() / 3, 3}, "i8");
        std::copy(pieces.begin(), pieces.end(), result.data<std::int64_t>());
        return result.array();
    }

    std::unique_ptr<PieceCutter> copy() {
        return run([&] {
            std::lock_guard<std::mutex> locked(mutex_);
            return std::make_unique<PieceCutter>(*this);
        });
    }

    nb::tuple dump() {
        const auto twin = copy();
        const std::size_t rank = twin->flag_->rank();
        const NewArray basis({rank, width_}, "u8"), counts({rank}, "i8");
        twin->flag_->dump({basis.data<void>(), 8}, counts.data<std::int64_t>());
        return nb::make_tuple(basis.array(), counts.array(), twin->filled_, twin->wait_);
    }

    void load(Words basis, Numbers counts, std::int64_t filled, std::int64_t wait) {
        require(basis.shape(1) == width_, "rows must have a word for 64 columns");
        require(counts.shape(0) == basis.shape(0), "there must be a count for each row");
        const std::vector<std::int64_t> falling(counts.data(), counts.data() + counts.shape(0));
        bool valid = 0 <= filled && filled < (rule_.inside ? kLargest : rule_.most) && 0 < wait &&
                     wait <= kLargest;
        for (std::size_t i = 0; i < falling.size(); ++i)
            valid &= falling[i] > 0 && (i == 0 || falling[i] <= falling[i - 1]);
        require(valid, "this is not the state of a piece");
        run([&] {
            std::lock_guard<std::mutex> locked(mutex_);
            filled_ = 0;  // as after a basis that is refused
            wait_ = rule_.wait(0, 0);
            flag_->assign({{basis.data(), basis.shape(0), width_, 8}, falling.data()});
            filled_ = filled;
            wait_ = wait;
        });
    }

  private:
    static std::unique_ptr<Gf2Flag> copy_of(const Gf2Flag &flag) {
        return std::unique_ptr<Gf2Flag>(static_cast<Gf2Flag *>(flag.copy().release()));
    }

    // Appends the pieces that end.
    void go_on(const std::uint64_t *words, const std::vector<std::int64_t> &ticks,
               std::int64_t size, std::vector<std::int64_t> &pieces) {
        const bool inside = rule_.inside;
        std::int64_t row = 0;
        std::size_t next = 0, looks = 0;
        while (row < size) {
            std::int64_t stop = std::min(size, row + (inside ? wait_ : rule_.most - filled_));
            std::size_t end = next;
            while (end < ticks.size() && ticks[end] < stop &&
                   (inside || std::int64_t(end - next) < wait_))
                ++end;
            wait_ -= inside ? stop - row : std::int64_t(end - next);
            if (!inside && wait_ == 0) stop = ticks[end - 1] + 1;
            flag_->insert({words + next * width_, end - next, width_, 8}, nullptr, pause);
            filled_ += stop - row;
            row = stop;
            next = end;
            if (wait_ > 0 && (inside || filled_ < rule_.most)) continue;
            const std::int64_t value = inside ? flag_->least_count() : flag_->largest_count();
            wait_ = rule_.wait(value, filled_);
            if (wait_ == 0) {
                pieces.insert(pieces.end(), {row, value, filled_});
                flag_->reset();
                filled_ = 0;
                wait_ = rule_.wait(0, 0);
            }
            if (++looks % (1 << 14) == 0) pause();
        }
    }

    std::mutex mutex_;
    std::unique_ptr<Gf2Flag> flag_;  // of the piece
    std::size_t width_;
    Rule rule_;
    std::int64_t filled_ = 0;  // rows in the piece
    std::int64_t wait_;        // rows (outside: given rows) before the next look
};

}  // namespace

void bind_pieces(nb::module_ &module, const Kernels &kernels) {
    using nb::arg;
    if (nb::type<PieceCutter>().is_valid())
        module.attr("PieceCutter") = nb::type<PieceCutter>();
    else
        nb::class_<PieceCutter>(module, "PieceCutter")
            .def("cut", &PieceCutter::cut, arg("words").noconvert(), arg("ticks").noconvert(),
                 arg("size"),
                 "Take more rows: `words` with the numbers `ticks` among `size` rows, the others "
                 "being zero. Return where pieces end, their values and their lengths.")
            .def("copy", &PieceCutter::copy, "Return a cutter that shares nothing with this one.")
            .def("dump", &PieceCutter::dump, "Return the arguments of `load`.")
            .def("load", &PieceCutter::load, arg("basis").noconvert(), arg("counts").noconvert(),
                 arg("filled"), arg("wait"),
                 "Go on with a piece that has this flag, this length and this wait for a look.");
    module.def(
        "gf2_piece_cutter",
        [kernels](std::size_t dim, bool inside, std::int64_t credit, double pace,
                  std::int64_t most, std::int64_t fine, std::int64_t step) {
            const Rule rule{inside, credit, pace, most, fine, step};
            require(dim < std::size_t(1) << 28, "dim is too large");
            require(rule.valid(), "pieces must have at least one row");
            return std::make_unique<PieceCutter>(kernels, dim, rule);
        },
        arg("dim"), arg("inside"), arg("credit"), arg("pace"), arg("most"), arg("fine"),
        arg("step"), "Return a cutter at the beginning of a piece.");
}

}  // namespace flagstone

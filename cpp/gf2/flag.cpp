// The counted flag over GF(2), for rows of any width (docs/theory/flag.md, S2).
//
// State: a basis b_0, ..., b_{d-1} of GF(2)^d with counts that never fall (at first unit vectors
// with count 0), and its coordinate functionals: coordinate q of a row x is <x, phi_q>.
//
// One row with coordinates c: p is the first element of its support, so its count is the least of
// the support; e is the last element of that count. F = {e} if c has bit e, else {p, e}. The row
// takes the place of b_e with one count more (and b_p becomes b_p + b_e + x if it is in F); the
// counts still never fall. All coordinates change as c' = c + <c, F> a, a = c(x) + unit_e.
//
// Many rows: n changes one after the other make c' = c + sum_i <c, F_i> A_i, where A_i is a_i with
// the later changes made to it. (By induction on n: a later change adds <c, F> a + <a_i, F> a.)
// So rows are inserted in blocks. Their coordinates are a product with the map (gf2/map.h). Then
// they exchange elements one by one: each change is made at once to the eight rows around it, whose
// words lie side by side, and those of eight rows together to the rest of the block. At last
// phi_q += sum_i (A_i)_q phi_{F_i} is another product.
// Cost of a row: 2d² bit operations in vectors for the products, and 2d for each row of the block.
//
// Rows in a space of most rows: if the supports of all rows begin at z or later, only the part of
// the map from z on is used and changed. They do if each row is the sum of the elements from z on
// that its coordinates name. This space stays the same while such rows are inserted, so it is
// looked at for many rows together, by a third product.
//
// Weights: a row of weight w takes the place of any element of least count in its support, F = {e}.
// The order by count is lost until elements are sorted again.
#include "gf2/flag.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

// Rows that are inserted before elements are sorted, and the space of most rows looked for.
constexpr std::size_t kPortion = 512;

// For fewer rows, or if fewer elements are left out, the space of most rows is not worth a look.
constexpr std::size_t kFew = 64, kMany = 320;

// Eight words from 8 - r on: all bits set but in word r.
constexpr Word kAll = ~Word(0);
constexpr Word kOthers[] = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, kAll,
                            0,    kAll, kAll, kAll, kAll, kAll, kAll, kAll};

// An element: bit `bit` of word `word`. None if bit is 0.
struct Element {
    std::size_t word;
    Word bit;

    std::uint32_t place() const { return std::uint32_t(64 * word + lowest_bit(bit)); }
};

// Makes the change of row r of an eight, with F = {paired, last}, to the other seven; its own
// coordinates become the change, a. They are zero before word `first`.
inline void make_change(Word *rows, unsigned r, Element paired, Element last, std::size_t first,
                        std::size_t width) {
    constexpr std::size_t kParts = 8 / kVectorWords;
    Vector odd[kParts], others[kParts];
    for (std::size_t k = 0; k < kParts; ++k) {
        others[k] = load<Vector>(kOthers + 8 - r + k * kVectorWords);
        const Word *part = rows + k * kVectorWords;
        odd[k] = others[k] & (words_with(load<Vector>(part + 8 * paired.word), paired.bit) ^
                              words_with(load<Vector>(part + 8 * last.word), last.bit));
    }
    const auto change_word = [&](std::size_t w, Word unit) {
        const Vector a = broadcast<Vector>(rows[8 * w + r] ^ unit);
        for (std::size_t k = 0; k < kParts; ++k) {
            Word *part = rows + 8 * w + k * kVectorWords;
            store(part, load<Vector>(part) ^ (odd[k] & a) ^ (unit & ~others[k]));
        }
    };
    for (std::size_t w = first; w < last.word; ++w) change_word(w, 0);
    change_word(last.word, last.bit);
    for (std::size_t w = last.word + 1; w < width; ++w) change_word(w, 0);
}

}  // namespace

CountedFlag::CountedFlag(std::size_t dim)
    : dim_(dim),
      width_(dim > 64 ? divide_up(dim, 64) : 1),
      last_word_(dim % 64 || !dim ? (Word(1) << dim % 64) - 1 : ~Word(0)),
      map_(dim),
      stride_(divide_up(width_, kVectorWords) * kVectorWords),
      basis_((dim + 1) * stride_),
      counts_(dim + 1),
      runs_(width_),
      changes_(Map::kRows),
      words_(8 * width_) {
    reset();
}

void CountedFlag::reset() {
    map_.reset();
    basis_.clear();
    counts_.clear();
    counts_[dim_] = -1;
    for (std::size_t q = 0; q < dim_; ++q) basis(q)[q / 64] = Word(1) << q % 64;
    mark_runs();
    start_ = 0;
}

std::size_t CountedFlag::rank() const {
    std::size_t first = dim_;
    while (first > 0 && counts_[first - 1] > 0) --first;
    return dim_ - first;
}

void CountedFlag::dump(NewEntries basis, std::int64_t *counts) const {
    Word *row = static_cast<Word *>(basis.data);
    for (std::size_t q = dim_; q-- > 0 && counts_[q] > 0; row += width_) {
        std::memcpy(row, this->basis(q), 8 * width_);
        *counts++ = counts_[q];
    }
}

void CountedFlag::insert(Entries entries, const std::int64_t *weights, Pause pause) {
    if (dim_ == 0) return;
    const Word *rows = static_cast<const Word *>(entries.data);
    const std::size_t n = entries.rows;
    Pacer pacer(pause);
    for (std::size_t i = 0, size; i < n; i += size) {
        size = smaller(n - i, kPortion);
        first_ = 0;
        if (start_ > 0 && !weights && size >= kFew) {
            const std::size_t inside = count_inside({rows + i * width_, size, nullptr});
            if (inside >= kFew) {
                first_ = start_;
                size = inside;
            }
        }
        if (weights) before_ = counts_;
        for (std::size_t k = i; k < i + size; k += Map::kRows)
            insert_block({rows + k * width_, smaller(i + size - k, Map::kRows),
                          weights ? weights + k : nullptr});
        if (weights)
            sort_elements();
        else
            choose_start();
        pacer.did(dim_ * width_ / 4 * size);
    }
}

void CountedFlag::insert_block(const Block &block) {
    map_.read(block.rows, block.n);
    map_.find(first_);
    for (std::size_t i = 0; i < changes_.size(); ++i) changes_[i] = none();
    if (width_ == 1 && !block.weights && kVectorWords > 2) {  // shorter vectors: too few registers
        exchange_words(block.rows);
    } else {
        for (std::size_t begin = 0; begin < block.n; begin += 8) {
            const std::size_t n = smaller(block.n - begin, std::size_t(8));
            Word *rows = words_.data();
            Change *changes = changes_.data() + begin;
            map_.words(begin / 8, first_, rows);
            if (block.weights)
                for (unsigned r = 0; r < n; ++r)
                    changes[r] = exchange_weighted(rows, r, block.weights[begin + r]);
            else
                exchange_eight(rows, n, changes);
            map_.set_words(begin / 8, first_, rows);
            map_.correct(begin / 8, changes_.data(), first_);
        }
        for (std::size_t i = 0; i < block.n; ++i)
            replace_element(block.rows + i * width_, changes_[i]);
    }
    map_.update(changes_.data(), first_);
}

// How many rows, from the first on, are sums of the elements from `start_` on: of those that their
// coordinates name.
std::size_t CountedFlag::count_inside(const Block &block) {
    const std::size_t skipped = start_ / 64, width = width_ - skipped;
    Buffer<Word> names(block.n * width), rests(block.n * stride_);
    for (std::size_t i = 0; i < block.n; ++i)
        std::memcpy(rests.data() + i * stride_, block.rows + i * width_, 8 * width_);
    for (std::size_t begin = 0; begin < block.n; begin += Map::kRows) {
        const std::size_t n = smaller(block.n - begin, Map::kRows);
        map_.read(block.rows + begin * width_, n);
        map_.find(start_);
        for (std::size_t i = 0; i < n; ++i) {
            if (i % 8 == 0) map_.words(i / 8, start_, words_.data());
            for (std::size_t w = 0; w < width; ++w)
                names[(begin + i) * width + w] = words_[8 * (skipped + w) + i % 8];
        }
    }
    multiply_add({rests.data(), block.n, stride_}, {names.data(), block.n, width},
                 {basis(start_), dim_ - start_, stride_});
    for (std::size_t i = 0; i < block.n; ++i) {
        Word *rest = rests.data() + i * stride_, any = rest[width_ - 1] & last_word_;
        for (std::size_t w = 0; w + 1 < width_; ++w) any |= rest[w];
        if (any) return i;
    }
    return block.n;
}

// For each of n rows of an eight: chooses elements, counts, and makes the change to the eight.
void CountedFlag::exchange_eight(Word *rows, std::size_t n, Change *changes) {
    const std::size_t width = width_, first = first_ / 64;
    const auto dim = std::uint32_t(dim_);
    std::int64_t *counts = counts_.data();
    Word *runs = runs_.data();
    for (unsigned r = 0; r < n; ++r) {
        Word found = 0;
        std::size_t w = first;
        while (w < width && !(found = rows[8 * w + r])) ++w;
        if (found == 0) {
            changes[r] = none();
            continue;
        }
        const Word low = found & -found;
        // A carry goes up the run of elements of the same count, and stays where it ends.
        std::size_t v = w;
        Word end = (runs[v] + low) & ~runs[v];
        while (end == 0) {
            ++v;
            end = (runs[v] + 1) & ~runs[v];
        }
        // All bits set if the row lacks the last element. No branch: it is unpredictable.
        const Word lacks = -(((rows[8 * v + r] & end) - 1) >> 63);
        const Element first_one{w, low}, last{v, end};
        const std::uint32_t p = first_one.place(), e = last.place();
        changes[r] = {dim ^ ((dim ^ p) & std::uint32_t(lacks)), e};
        make_change(rows, r, {w, low & lacks}, last, w, width);
        const std::int64_t count = ++counts[e];
        runs[v] = (runs[v] & ~(end >> 1)) | (end & -Word(count == counts[e + 1]));
        if (end == 1 && v > 0) runs[v - 1] &= ~Word(0) >> 1;
    }
}

// The same for all rows of a block, if they have one word, and puts them into the basis. They stay
// in registers side by side, so that nothing is left to correct. Whether two counts differ by 1, and
// so are equal after the next row, is known in time.
void CountedFlag::exchange_words(const Word *block) {
    constexpr std::size_t kParts = Map::kRows / kVectorWords;
    alignas(64) Word rows[Map::kRows + kVectorWords];
    for (std::size_t g = 0; g < Map::kEights; ++g) map_.words(g, 0, rows + 8 * g);
    Vector parts[kParts];  // from the rows that are exchanged now on
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kParts; ++k) parts[k] = load<Vector>(rows + k * kVectorWords);
    const auto dim = std::uint32_t(dim_);
    std::int64_t *counts = counts_.data();
    Change *changes = changes_.data();
    const Word last_word = last_word_;
    Word *elements = basis_.data();  // a vector each
    // The next two rows are kept out of memory, where they would wait for stores.
    Word runs = runs_[0], steps = steps_, next = rows[0], second = rows[1];
    for (std::size_t i = 0; i < Map::kRows; i += kVectorWords) {
        store(rows + i + kVectorWords, parts[1]);
        for (std::size_t r = 0; r < kVectorWords; ++r, ++changes) {
            const Word found = next;
            next = second;
            second = rows[i + r + 2];  // with all changes but the one that follows
            if (found == 0) continue;
            const Word low = found & -found, end = (runs + low) & ~runs, below = end >> 1;
            const Word lacks = -(((found & end) - 1) >> 63);
            const Word change = found ^ end, pair = end | (low & lacks);
            const std::uint32_t e = lowest_bit(end), p = lowest_bit(low);
            *changes = {dim ^ ((dim ^ p) & std::uint32_t(lacks)), e};
            const Word row = block[i + r] & last_word;
            elements[changes->paired * kVectorWords] ^= elements[e * kVectorWords] ^ row;
            elements[e * kVectorWords] = row;
            next = __builtin_popcountll(next & pair) & 1 ? next ^ change : next;
            second = __builtin_popcountll(second & pair) & 1 ? second ^ change : second;
            const std::int64_t step = counts[e + 1] - ++counts[e];
            const Word joined = steps & end;
            steps = (steps & ~(end | below)) | (runs & below) | Word(step == 1) << e;
            runs = (runs & ~below) | joined;
            const Vector a = broadcast<Vector>(change);
#pragma GCC unroll 16
            for (std::size_t k = 0; k < kParts; ++k)
                parts[k] = add_where_some(parts[k], pair, pair & lacks, a);
            // The row's own word has become `end`.
            parts[0] ^= ~load<Vector>(kOthers + 8 - r) & broadcast<Vector>(found);
            store(rows + i, parts[0]);
            store(rows + i + kVectorWords, parts[1]);
        }
        const Vector done = parts[0];  // for the last part
#pragma GCC unroll 16
        for (std::size_t k = 0; k + 1 < kParts; ++k) parts[k] = parts[k + 1];
        parts[kParts - 1] = done;
    }
    runs_[0] = runs;
    steps_ = steps;
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kParts; ++k) store(rows + k * kVectorWords, parts[k]);
    for (std::size_t g = 0; g < Map::kEights; ++g) map_.set_words(g, 0, rows + 8 * g);
}

// The same for a row that comes `weight` times. Counts were `before_`, when they did not fall from
// one element to the next, and have not fallen since.
Change CountedFlag::exchange_weighted(Word *rows, unsigned r, std::int64_t weight) {
    std::int64_t least = INT64_MAX;
    std::size_t e = dim_;
    for (std::size_t w = 0; w < width_; ++w) {
        Word rest = rows[8 * w + r];
        for (; rest; rest &= rest - 1) {
            const std::size_t q = 64 * w + lowest_bit(rest);
            if (before_[q] >= least) break;  // as for all that follow
            const bool lower = counts_[q] < least;  // compiled to no branch: it is unpredictable
            e = lower ? q : e;
            least = lower ? counts_[q] : least;
        }
        if (rest) break;
    }
    if (weight <= 0)  // the row makes no change
        for (std::size_t w = 0; w < width_; ++w) rows[8 * w + r] = 0;
    if (weight <= 0 || e == dim_) return none();
    make_change(rows, r, {0, 0}, {e / 64, Word(1) << e % 64}, 0, width_);
    counts_[e] += weight;
    return {none().paired, std::uint32_t(e)};
}

// Puts a row into the basis.
inline void CountedFlag::replace_element(const Word *row, Change change) {
    Word *paired = basis(change.paired), *last = basis(change.last);
    for (std::size_t w = 0; w < width_; ++w) {
        const Word word = w + 1 < width_ ? row[w] : row[w] & last_word_;
        paired[w] ^= last[w] ^ word;
        last[w] = word;
    }
}

// Chooses a multiple of 64 so that few rows came with elements before it: each row was counted by
// one element, the first of its support or one of the same count.
void CountedFlag::choose_start() {
    std::uint64_t total = 0, before = 0;  // unsigned: a choice is made even of sums that wrap
    for (std::size_t q = 0; q < dim_; ++q) total += std::uint64_t(counts_[q]);
    std::size_t z = 0;
    while (z < dim_ && before + std::uint64_t(counts_[z]) <= total / 4096)
        before += std::uint64_t(counts_[z++]);
    z = z / 64 * 64;
    start_ = z >= kMany && 2 * (dim_ - z) <= dim_ ? z : 0;
}

// Brings the elements back into the order of their counts.
void CountedFlag::sort_elements() {
    Buffer<std::size_t> order(dim_);
    sort_by_count(counts_.data(), dim_, false, order.data());
    for (std::size_t q = 0; q < dim_; ++q) before_[q] = counts_[order[q]];
    counts_ = before_;
    map_.sort(order.data());
    Buffer<Word> sorted(basis_.size());
    for (std::size_t q = 0; q < dim_; ++q)
        std::memcpy(sorted.data() + q * stride_, basis(order[q]), 8 * width_);
    basis_ = sorted;
    mark_runs();
}

void CountedFlag::mark_runs() {
    runs_.clear();
    steps_ = 0;
    for (std::size_t q = 0; q + 1 < dim_; ++q) {
        runs_[q / 64] |= Word(counts_[q] == counts_[q + 1]) << q % 64;
        if (q < 64) steps_ |= Word(counts_[q] + 1 == counts_[q + 1]) << q;
    }
}

}  // namespace flagstone::FLAGSTONE_VERSION

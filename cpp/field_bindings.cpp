// Fields and flags for Python: arrays are checked here, and kernels run without the GIL.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "bindings.h"
#include "certificates/pieces.h"

namespace flagstone {

Flag::~Flag() = default;
Field::~Field() = default;

void sort_by_count(const std::int64_t *counts, std::size_t n, bool falling, std::size_t *order) {
    std::iota(order, order + n, std::size_t{0});
    std::stable_sort(order, order + n, [=](std::size_t i, std::size_t j) {
        return falling ? counts[i] > counts[j] : counts[i] < counts[j];
    });
}

void fail_dependent() {
    throw std::invalid_argument("the rows of a basis must be linearly independent");
}

namespace {

using Table = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = Array1<std::int64_t>;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

// A field of one version, and the form of its rows.
struct FieldObject {
    std::shared_ptr<const Field> kernel;
    unsigned bytes;      // of an entry
    std::size_t packed;  // columns of an entry: 64 over GF(2), else 1

    const char *dtype() const {
        return bytes == 1 ? "u1" : bytes == 2 ? "u2" : bytes == 4 ? "u4" : "u8";
    }
    std::size_t width(std::size_t dim) const { return packed == 1 ? dim : words_of(dim); }

    Entries rows(const Table &table, std::size_t dim) const {
        if (table.dtype() != nb::dlpack::dtype{std::uint8_t(nb::dlpack::dtype_code::UInt),
                                               std::uint8_t(8 * bytes), 1})
            throw nb::type_error(
                "rows must be words over GF(2), else in the smallest unsigned integer type");
        require(dim < std::size_t(1) << 31, "there are too many columns");
        require(table.shape(1) == width(dim),
                "rows must have an entry for each column; over GF(2), one word for 64 columns");
        return {aligned(table, bytes), table.shape(0), table.shape(1), bytes};
    }
    Entries rows(const Table &table) const { return rows(table, packed * table.shape(1)); }

    CountedBasis basis(const Table &table, const Integers &counts, std::size_t dim) const {
        const Entries entries = rows(table, dim);
        require(entries.rows == counts.shape(0), "there must be one count for each row");
        require(entries.rows <= dim, "the rows of a basis must be linearly independent");
        const std::int64_t *values = aligned(counts);
        for (std::size_t i = 0; i < counts.shape(0); ++i)
            require(counts(i) > 0 && (i == 0 || counts(i) <= counts(i - 1)),
                    "counts must be positive and falling");
        return {entries, values};
    }
};

// A flag, and the lock of the threads that use it. They wait for it without the GIL.
class FlagObject {
  public:
    // `most` is at least the largest count.
    FlagObject(const FieldObject &field, std::size_t dim, std::unique_ptr<Flag> flag,
               std::int64_t most)
        : dim(dim), field_(field), flag_(std::move(flag)), most_(most) {}

    const std::size_t dim;

    void insert(const Table &table, std::optional<Integers> weights) {
        const Entries rows = field_.rows(table, dim);
        require(!weights || weights->shape(0) == rows.rows,
                "there must be one weight for each row");
        const std::int64_t *times = weights ? aligned(*weights) : nullptr;
        bool plain = true;
        std::int64_t total = times ? 0 : std::int64_t(rows.rows);
        for (std::size_t i = 0; times && i < rows.rows; ++i) {
            plain &= times[i] == 1;
            require(times[i] <= kLargest - total, "the weights add up to more than 63 bits");
            total += std::max<std::int64_t>(0, times[i]);
        }
        run([&] {
            std::lock_guard<std::mutex> locked(mutex_);
            require(total <= kLargest - most_, "counts would need more than 63 bits");
            most_ += total;
            flag_->insert(rows, plain ? nullptr : times, pause);
        });
    }

    nb::tuple dump() {
        nb::gil_scoped_release released;
        std::lock_guard<std::mutex> locked(mutex_);
        nb::gil_scoped_acquire acquired;
        const std::size_t rank = flag_->rank();
        const NewArray basis({rank, field_.width(dim)}, field_.dtype()), counts({rank}, "i8");
        flag_->dump({basis.data<void>(), field_.bytes}, counts.data<std::int64_t>());
        return nb::make_tuple(basis.array(), counts.array());
    }

    // Cuts rows into pieces, of which this is the flag.
    nb::tuple cut(const PieceRule &rule, Piece piece, const Table &table, const Integers &ticks,
                  std::int64_t size) {
        const Entries entries = field_.rows(table, dim);
        require(rule.valid() && rule.allows(piece), "pieces must have at least one row");
        require(entries.rows == ticks.shape(0), "there must be a number for each row");
        require(size >= 0 && size < std::int64_t(1) << 60, "size must be 0 to 2^60");
        // A copy: other threads may change the array.
        const TickedRows rows{entries, {aligned(ticks), ticks.data() + entries.rows}, size};
        for (std::size_t i = 0; i < entries.rows; ++i)
            require(rows.ticks[i] >= 0 && rows.ticks[i] < size &&
                        (i == 0 || rows.ticks[i - 1] < rows.ticks[i]),
                    "ticks must rise, and be less than size");
        std::vector<std::int64_t> ends = run([&] {
            std::lock_guard<std::mutex> locked(mutex_);
            require(size <= kLargest - most_, "counts would need more than 63 bits");
            most_ += size;
            return cut_pieces(*flag_, rule, piece, rows, pause);
        });
        const NewArray result({ends.size() / 3, 3}, "i8");
        std::copy(ends.begin(), ends.end(), result.data<std::int64_t>());
        return nb::make_tuple(result.array(), nb::make_tuple(piece.filled, piece.wait));
    }

    std::unique_ptr<FlagObject> copy() {
        return run([&] {
            std::lock_guard<std::mutex> locked(mutex_);
            return std::make_unique<FlagObject>(field_, dim, flag_->copy(), most_);
        });
    }

  private:
    const FieldObject field_;
    const std::unique_ptr<Flag> flag_;
    std::int64_t most_;
    std::mutex mutex_;
};

std::unique_ptr<FlagObject> new_flag(const FieldObject &field, std::size_t dim) {
    require(dim <= std::size_t(1) << 28, "dim is too large");
    auto flag = run([&] { return field.kernel->flag(dim); });
    return std::make_unique<FlagObject>(field, dim, std::move(flag), 0);
}

std::unique_ptr<FlagObject> load_flag(const FieldObject &field, std::size_t dim, const Table &basis,
                                      const Integers &counts) {
    require(dim <= std::size_t(1) << 28, "dim is too large");
    const CountedBasis counted = field.basis(basis, counts, dim);
    auto flag = run([&] {
        auto flag = field.kernel->flag(dim);
        flag->insert(counted.rows, nullptr, pause);  // counts of dependent rows may be too large
        if (flag->rank() != counted.rows.rows) fail_dependent();
        flag->reset();
        flag->insert(counted.rows, counted.counts, pause);
        return flag;
    });
    const std::int64_t most = counts.shape(0) > 0 ? counts(0) : 0;
    return std::make_unique<FlagObject>(field, dim, std::move(flag), most);
}

nb::tuple rref(const FieldObject &field, std::size_t dim, const Table &M) {
    const Entries rows = field.rows(M, dim);
    const std::size_t most = field.packed > 1 ? dim : std::min(dim, rows.rows);
    const NewArray R({most, rows.columns}, field.dtype()), pivots({most}, "i8");
    const std::size_t rank = run([&] {
        return field.kernel->rref(dim, rows, {R.data<void>(), field.bytes},
                                  pivots.data<std::int64_t>(), pause);
    });
    return nb::make_tuple(R.first(rank), pivots.first(rank));
}

nb::object reduce(const FieldObject &field, const Table &X, const Table &R,
                  const Integers &pivots) {
    const Entries rows = field.rows(X), basis = field.rows(R);
    require(rows.columns == basis.columns, "X and R must have as many columns");
    require(pivots.shape(0) == basis.rows, "there must be one pivot for each row of R");
    // A copy: other threads may change the array.
    const std::vector<std::int64_t> columns(aligned(pivots), pivots.data() + pivots.shape(0));
    for (const std::int64_t pivot : columns)
        require(pivot >= 0 && std::uint64_t(pivot) < field.packed * rows.columns,
                "pivots must be columns of the rows");
    const NewArray result({rows.rows, rows.columns}, field.dtype());
    run([&] {
        field.kernel->reduce(rows, basis, columns.data(), {result.data<void>(), field.bytes},
                             pause);
    });
    return result.array();
}

nb::object dot(const FieldObject &field, const Table &X, const Table &W) {
    const Entries rows = field.rows(X), vectors = field.rows(W);
    require(rows.columns == vectors.columns, "X and W must have as many columns");
    require(vectors.rows < std::size_t(1) << 31, "W has too many rows");
    const NewArray result({rows.rows, vectors.rows}, field.packed > 1 ? "u1" : field.dtype());
    run([&] { field.kernel->dot(rows, vectors, {result.data<void>(), field.bytes}, pause); });
    return result.array();
}

nb::tuple merge(const FieldObject &field, std::size_t dim, const Table &X, const Integers &cx,
                const Table &Y, const Integers &cy) {
    const CountedBasis x = field.basis(X, cx, dim), y = field.basis(Y, cy, dim);
    if (x.rows.rows > 0 && y.rows.rows > 0)
        require(cx(0) <= kLargest - cy(0), "counts would need more than 63 bits");
    const std::size_t most = std::min(dim, x.rows.rows + y.rows.rows);
    const NewArray Z({most, x.rows.columns}, field.dtype()), cz({most}, "i8");
    const std::size_t rank = run([&] {
        return field.kernel->merge(dim, x, y, {Z.data<void>(), field.bytes},
                                   cz.data<std::int64_t>(), pause);
    });
    return nb::make_tuple(Z.first(rank), cz.first(rank));
}

nb::tuple cut(FlagObject &flag,
              std::tuple<bool, std::int64_t, double, std::int64_t, std::int64_t, std::int64_t> rule,
              std::pair<std::int64_t, std::int64_t> piece, const Table &rows, const Integers &ticks,
              std::int64_t size) {
    const auto [inside, credit, pace, most, fine, step] = rule;
    return flag.cut({inside, credit, pace, most, fine, step}, {piece.first, piece.second}, rows,
                    ticks, size);
}

bool is_prime(std::uint32_t p) {
    for (std::uint32_t r = 2; std::uint64_t(r) * r <= p; ++r)
        if (p % r == 0) return false;
    return p >= 2;
}

FieldObject finite_field(const Kernels &kernels, std::uint64_t p, std::uint64_t k,
                         const std::vector<std::uint32_t> &polynomial) {
    require(p < std::uint64_t{1} << 31 && is_prime(std::uint32_t(p)), "p must be a prime < 2^31");
    require(k >= 1 && k <= 16, "k must be 1..16");
    std::uint64_t order = 1;
    for (std::uint64_t i = 0; i < k; ++i) {
        order *= p;
        require(k == 1 || order <= 1 << 16, "p^k must not exceed 2^16");
    }
    if (k > 1) {
        require(polynomial.size() == k + 1 && polynomial[k] == 1,
                "the polynomial must be monic, with k + 1 coefficients");
        for (std::uint32_t c : polynomial) require(c < p, "coefficients must be below p");
    }
    const unsigned bytes = order <= 1 << 8 ? 1 : order <= 1 << 16 ? 2 : 4;
    return {
        run([&] { return kernels.finite_field(std::uint32_t(p), unsigned(k), polynomial.data()); }),
        bytes, 1};
}

}  // namespace

void bind_fields(nb::module_ &module, nb::class_<Kernels> &kernels) {
    const auto array = [](const char *name) { return nb::arg(name).noconvert(); };
    nb::class_<FieldObject>(module, "Field")
        .def("rref", rref, nb::arg("dim"), array("M"))
        .def("reduce", reduce, array("X"), array("R"), array("pivots"))
        .def("dot", dot, array("X"), array("W"))
        .def("merge", merge, nb::arg("dim"), array("X"), array("cx"), array("Y"), array("cy"))
        .def("flag", new_flag, nb::arg("dim"))
        .def("flag_load", load_flag, nb::arg("dim"), array("basis"), array("counts"));
    nb::class_<FlagObject>(module, "Flag")
        .def("insert", &FlagObject::insert, array("rows"), array("weights") = nb::none(),
             "Insert rows in order, each as often as its weight says.")
        .def("dump", &FlagObject::dump, "Return an adapted basis and its falling counts.")
        .def("copy", &FlagObject::copy, "Return a flag that shares nothing with this one.")
        .def_ro("dim", &FlagObject::dim);
    kernels
        .def_prop_ro("gf2",
                     [](const Kernels &kernels) { return FieldObject{kernels.gf2_field(), 8, 64}; })
        .def("finite_field", finite_field, nb::arg("p"), nb::arg("k") = 1,
             nb::arg("polynomial") = std::vector<std::uint32_t>())
        .def_static("cut_pieces", cut, nb::arg("flag"), nb::arg("rule"), nb::arg("piece"),
                    array("rows"), array("ticks"), nb::arg("size"));
}

}  // namespace flagstone

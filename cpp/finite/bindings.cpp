#include "bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace flagstone {

FiniteFlag::~FiniteFlag() = default;
FiniteField::~FiniteField() = default;

namespace {

using Rows = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = Array1<std::int64_t>;

// An array of field elements, made before its number of rows is known.
class Result {
  public:
    Result(std::size_t most_rows, std::size_t columns, unsigned bytes)
        : columns_(columns),
          bytes_(bytes),
          data_(new std::uint8_t[most_rows * columns * bytes + 1]) {}

    NewElements elements() { return {data_.get(), bytes_}; }

    nb::object array(std::size_t rows) {
        const nb::dlpack::dtype kind{std::uint8_t(nb::dlpack::dtype_code::UInt),
                                     std::uint8_t(8 * bytes_), 1};
        std::uint8_t *data = data_.release();
        nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<std::uint8_t *>(p); });
        return nb::cast(nb::ndarray<nb::numpy>(data, {rows, columns_}, owner, {}, kind));
    }

  private:
    std::size_t columns_;
    unsigned bytes_;
    std::unique_ptr<std::uint8_t[]> data_;
};

nb::object integers(const std::vector<std::int64_t> &values, std::size_t n) {
    auto result = new_array<std::int64_t>({n});
    for (std::size_t i = 0; i < n; ++i) result.data()[i] = values[i];
    return nb::cast(result);
}

// Run a kernel without the GIL.
template <class Kernel>
auto run(const Kernel &kernel) {
    try {
        nb::gil_scoped_release released;
        return kernel();
    } catch (const Interrupted &) {
        throw nb::python_error();
    }
}

bool is_prime(std::uint32_t p) {
    for (std::uint32_t r = 2; std::uint64_t(r) * r <= p; ++r)
        if (p % r == 0) return false;
    return p >= 2;
}

// Of an int64, so that counts of a flag cannot overflow.
std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
    require(a <= std::numeric_limits<std::int64_t>::max() - b, "the counts exceed 2^63 - 1");
    return a + b;
}

struct Field {
    std::shared_ptr<const FiniteField> kernel;
    unsigned bytes;

    Elements elements(const Rows &rows) const {
        require(rows.dtype() == nb::dlpack::dtype{std::uint8_t(nb::dlpack::dtype_code::UInt),
                                                  std::uint8_t(8 * bytes), 1},
                "elements must be in the smallest unsigned integer that holds them");
        require(rows.shape(1) < std::numeric_limits<std::uint32_t>::max(), "too many columns");
        return {rows.data(), rows.shape(0), rows.shape(1), bytes};
    }

    CountedBasis basis(const Rows &rows, const Integers &counts) const {
        require(rows.shape(0) == counts.shape(0), "there must be one count for each row");
        for (std::size_t i = 0; i < counts.shape(0); ++i)
            require(counts(i) > 0 && (i == 0 || counts(i) <= counts(i - 1)),
                    "counts must be positive and falling");
        return {elements(rows), counts.data()};
    }
};

// A flag, and the lock of the threads that use it.
class Flag {
  public:
    // `most` is at least the largest count.
    Flag(const Field &field, std::size_t dim, std::unique_ptr<FiniteFlag> kernel, std::int64_t most)
        : field_(field), dim_(dim), kernel_(std::move(kernel)), most_(most) {}

    void insert(const Rows &rows, std::optional<Integers> weights) {
        const Elements elements = field_.elements(rows);
        require(elements.columns == dim_, "rows must have as many columns as the flag");
        require(!weights || weights->shape(0) == elements.rows,
                "there must be one weight for each row");
        run([&] {
            std::lock_guard<std::mutex> lock(mutex_);
            for (std::size_t i = 0; i < elements.rows; ++i) {
                const std::int64_t weight = weights ? (*weights)(i) : 1;
                require(weight >= 0, "weights must not be negative");
                most_ = checked_sum(most_, weight);
            }
            kernel_->insert(elements, weights ? weights->data() : nullptr, signalled);
        });
    }

    nb::object dump() {
        std::optional<Result> basis;
        std::vector<std::int64_t> counts;
        run([&] {
            std::lock_guard<std::mutex> lock(mutex_);
            counts.resize(kernel_->rank());
            basis.emplace(counts.size(), dim_, field_.bytes);
            kernel_->dump(basis->elements(), counts.data());
        });
        return nb::make_tuple(basis->array(counts.size()), integers(counts, counts.size()));
    }

    std::unique_ptr<Flag> copy() {
        return run([&] {
            std::lock_guard<std::mutex> lock(mutex_);
            return std::make_unique<Flag>(field_, dim_, kernel_->copy(), most_);
        });
    }

    std::size_t nbytes() {
        return run([&] {
            std::lock_guard<std::mutex> lock(mutex_);
            return kernel_->nbytes();
        });
    }

  private:
    const Field field_;
    const std::size_t dim_;
    const std::unique_ptr<FiniteFlag> kernel_;
    std::int64_t most_;
    std::mutex mutex_;
};

Field new_field(const FiniteKernels &kernels, std::uint64_t p, std::uint64_t k,
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
    return {run([&] { return kernels.field(std::uint32_t(p), unsigned(k), polynomial.data()); }),
            bytes};
}

std::unique_ptr<Flag> new_flag(const Field &field, std::size_t dim) {
    require(dim < std::numeric_limits<std::uint32_t>::max(), "too many columns");
    return std::make_unique<Flag>(field, dim, run([&] { return field.kernel->flag(dim); }), 0);
}

std::unique_ptr<Flag> load_flag(const Field &field, std::size_t dim, const Rows &basis,
                                const Integers &counts) {
    const CountedBasis counted = field.basis(basis, counts);
    require(basis.shape(1) == dim, "the basis must have dim columns");
    auto kernel = run([&] { return field.kernel->load(counted, signalled); });
    const std::int64_t most = counts.shape(0) > 0 ? counts(0) : 0;
    return std::make_unique<Flag>(field, dim, std::move(kernel), most);
}

nb::object rref(const Field &field, const Rows &M) {
    const Elements elements = field.elements(M);
    const std::size_t most = std::min(M.shape(0), M.shape(1));
    Result R(most, M.shape(1), field.bytes);
    std::vector<std::int64_t> pivots(most);
    const std::size_t rank =
        run([&] { return field.kernel->rref(elements, R.elements(), pivots.data(), signalled); });
    return nb::make_tuple(R.array(rank), integers(pivots, rank));
}

nb::object reduce(const Field &field, const Rows &X, const Rows &R, const Integers &pivots) {
    const Elements rows = field.elements(X), basis = field.elements(R);
    require(rows.columns == basis.columns, "X and R must have as many columns");
    require(pivots.shape(0) == basis.rows, "there must be one pivot for each row of R");
    for (std::size_t i = 0; i < basis.rows; ++i)
        require(pivots(i) >= 0 && std::uint64_t(pivots(i)) < basis.columns,
                "a pivot is not a column");
    Result result(rows.rows, rows.columns, field.bytes);
    run([&] { field.kernel->reduce(rows, basis, pivots.data(), result.elements(), signalled); });
    return result.array(rows.rows);
}

nb::object dot(const Field &field, const Rows &X, const Rows &W) {
    const Elements rows = field.elements(X), vectors = field.elements(W);
    require(rows.columns == vectors.columns, "X and W must have as many columns");
    require(vectors.rows < std::numeric_limits<std::uint32_t>::max(), "too many rows of W");
    Result result(rows.rows, vectors.rows, field.bytes);
    run([&] { field.kernel->dot(rows, vectors, result.elements(), signalled); });
    return result.array(rows.rows);
}

nb::object merge(const Field &field, const Rows &X, const Integers &cx, const Rows &Y,
                 const Integers &cy) {
    const CountedBasis x = field.basis(X, cx), y = field.basis(Y, cy);
    const std::size_t dim = X.shape(1), n = x.rows.rows + y.rows.rows;
    require(dim == Y.shape(1), "X and Y must have as many columns");
    if (x.rows.rows > 0 && y.rows.rows > 0) checked_sum(cx(0), cy(0));
    Result Z(std::min(dim, n), dim, field.bytes);
    std::vector<std::int64_t> cz(std::min(dim, n));
    const std::size_t rank =
        run([&] { return field.kernel->merge(x, y, Z.elements(), cz.data(), signalled); });
    return nb::make_tuple(Z.array(rank), integers(cz, rank));
}

}  // namespace

void bind_finite(nb::module_ &module, const FiniteKernels &kernels) {
    if (!nb::type<Field>().is_valid()) {  // all versions of the kernels share these types
        nb::class_<Field>(module, "FiniteField")
            .def("rref", rref, nb::arg("M").noconvert())
            .def("reduce", reduce, nb::arg("X").noconvert(), nb::arg("R").noconvert(),
                 nb::arg("pivots").noconvert())
            .def("dot", dot, nb::arg("X").noconvert(), nb::arg("W").noconvert())
            .def("merge", merge, nb::arg("X").noconvert(), nb::arg("cx").noconvert(),
                 nb::arg("Y").noconvert(), nb::arg("cy").noconvert())
            .def("flag", new_flag, nb::arg("dim"))
            .def("flag_load", load_flag, nb::arg("dim"), nb::arg("basis").noconvert(),
                 nb::arg("counts").noconvert());
        nb::class_<Flag>(module, "FiniteFlag")
            .def("insert", &Flag::insert, nb::arg("rows").noconvert(),
                 nb::arg("weights").noconvert().none() = nb::none())
            .def("dump", &Flag::dump)
            .def("copy", &Flag::copy)
            .def_prop_ro("nbytes", &Flag::nbytes);
    }
    module.def(
        "finite_field",
        [kernels](std::uint64_t p, std::uint64_t k, const std::vector<std::uint32_t> &polynomial) {
            return new_field(kernels, p, k, polynomial);
        },
        nb::arg("p"), nb::arg("k") = 1, nb::arg("polynomial") = std::vector<std::uint32_t>());
}

}  // namespace flagstone

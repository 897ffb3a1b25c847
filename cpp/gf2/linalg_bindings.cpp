#include <algorithm>
#include <cstring>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

using Words = Array2<std::uint64_t>;
using Counts = Array1<std::int64_t>;

template <class T>
Matrix<T> part(Matrix<T> rows, std::size_t first, std::size_t number) {
    return {rows[first], number, rows.columns};
}

// All rows of an array.
template <class A>
auto view(const A &rows) -> Matrix<std::remove_pointer_t<decltype(rows.data())>> {
    return {rows.data(), rows.shape(0), rows.shape(1)};
}

void require_columns(const Words &rows, std::size_t dim) {
    require(dim < std::size_t(1) << 31, "dim is too large");
    require(rows.shape(1) == (dim > 0 ? (dim + 63) / 64 : 1),
            "rows must have a word for 64 columns");
}

void require_falling(const Words &rows, const Counts &counts) {
    require(rows.shape(0) == counts.shape(0), "there must be a count for each row");
    for (std::size_t i = 1; i < counts.shape(0); ++i)
        require(counts.data()[i] <= counts.data()[i - 1], "counts must not rise");
}

template <class T>
nb::ndarray<nb::numpy, T> array_of(const T *data, std::initializer_list<std::size_t> shape) {
    auto result = new_array<T>(shape);
    if (result.size() > 0) std::memcpy(result.data(), data, result.nbytes());
    return result;
}

auto rref(const LinalgKernels &kernels, std::size_t dim, Words rows) {
    require_columns(rows, dim);
    const std::size_t width = rows.shape(1);
    std::vector<std::uint64_t> form(dim * width);
    std::vector<std::int64_t> pivots(dim);
    std::size_t rank;
    {
        nb::gil_scoped_release released;
        rank = kernels.rref(view(rows), {form.data(), dim, width}, pivots.data(), pause);
    }
    return nb::make_tuple(array_of(form.data(), {rank, width}), array_of(pivots.data(), {rank}));
}

auto reduce(const LinalgKernels &kernels, Words rows, Words basis, Counts pivots) {
    const std::size_t width = rows.shape(1);
    require(width > 0 && basis.shape(1) == width, "rows and basis must have equal widths");
    require(pivots.shape(0) == basis.shape(0), "there must be a pivot for each basis row");
    // A copy: other threads may change the array.
    const std::vector<std::int64_t> columns(pivots.data(), pivots.data() + pivots.shape(0));
    for (const std::int64_t pivot : columns)
        require(pivot >= 0 && std::size_t(pivot) / 64 < width,
                "pivots must be columns of the rows");
    auto result = new_array<std::uint64_t>({rows.shape(0), width});
    in_portions(rows.shape(0), 16 * width * width, [&](std::size_t first, std::size_t number) {
        kernels.reduce(part(view(rows), first, number), view(basis), columns.data(),
                       part(view(result), first, number));
    });
    return result;
}

auto dot(const LinalgKernels &kernels, Words rows, Words functionals) {
    const std::size_t width = rows.shape(1), k = functionals.shape(0);
    require(width > 0 && functionals.shape(1) == width,
            "rows and functionals must have equal widths");
    auto result = new_array<std::uint8_t>({rows.shape(0), k});
    in_portions(rows.shape(0), width * (k / 4 + 1) + k, [&](std::size_t first, std::size_t number) {
        kernels.dot(part(view(rows), first, number), view(functionals),
                    part(view(result), first, number));
    });
    return result;
}

auto multiply(const LinalgKernels &kernels, Words names, Words rows) {
    const std::size_t n = names.shape(0), k = rows.shape(0), width = rows.shape(1);
    require(width > 0, "rows must have a column");
    require(names.shape(1) == (k > 0 ? (k + 63) / 64 : 1), "names must have a bit for each row");
    auto result = new_array<std::uint64_t>({n, width});
    in_portions(n, (k / 4 + 1) * width, [&](std::size_t first, std::size_t number) {
        kernels.multiply_add(part(view(names), first, number), view(rows),
                             part(view(result), first, number));
    });
    return result;
}

auto merge(const LinalgKernels &kernels, std::size_t dim, Words X, Counts cx, Words Y, Counts cy) {
    for (const Words *rows : {&X, &Y}) {
        require_columns(*rows, dim);
        require(rows->shape(0) <= dim, "the rows of a flag must be linearly independent");
    }
    require_falling(X, cx);
    require_falling(Y, cy);
    const std::size_t width = X.shape(1);
    std::vector<std::uint64_t> rows(dim * width);
    std::vector<std::int64_t> counts(dim);
    std::size_t rank;
    {
        nb::gil_scoped_release released;
        rank = kernels.merge({view(X), cx.data()}, {view(Y), cy.data()},
                             {{rows.data(), dim, width}, counts.data()}, pause);
    }
    require(rank != SIZE_MAX, "the rows of a flag must be linearly independent");
    return nb::make_tuple(array_of(rows.data(), {rank, width}), array_of(counts.data(), {rank}));
}

// The function for one version of the kernels.
template <class R, class... Arguments>
auto with(const LinalgKernels &kernels, R (*function)(const LinalgKernels &, Arguments...)) {
    return [kernels, function](Arguments... arguments) { return function(kernels, arguments...); };
}

}  // namespace

void bind_linalg(nb::module_ &module, const LinalgKernels &kernels) {
    using nb::arg;
    module.def("gf2_rref", with(kernels, rref), arg("dim"), arg("rows").noconvert());
    module.def("gf2_reduce", with(kernels, reduce), arg("rows").noconvert(),
               arg("basis").noconvert(), arg("pivots").noconvert());
    module.def("gf2_dot", with(kernels, dot), arg("rows").noconvert(),
               arg("functionals").noconvert());
    module.def("gf2_multiply", with(kernels, multiply), arg("names").noconvert(),
               arg("rows").noconvert());
    module.def("gf2_merge", with(kernels, merge), arg("dim"), arg("X").noconvert(),
               arg("cx").noconvert(), arg("Y").noconvert(), arg("cy").noconvert());
}

}  // namespace flagstone

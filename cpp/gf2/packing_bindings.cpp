#include <cstdlib>
#include <deque>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

using Word = std::uint64_t;

// An array of booleans or integers with this number of dimensions.
struct Integers : PythonBuffer {
    Integers(nb::handle array, int ndim) : PythonBuffer(array, PyBUF_STRIDES | PyBUF_FORMAT) {
        if (!has_integers())
            throw nb::type_error("entries must be booleans or integers in native byte order");
        require((*this)->ndim == ndim, "the array has another number of dimensions");
    }
    // The entries along the last dimension.
    Column column() const {
        return {data<const unsigned char>(), (*this)->strides[(*this)->ndim - 1],
                static_cast<std::size_t>((*this)->itemsize)};
    }
};

nb::tuple packed(const Kernels &kernels, const std::vector<Column> &columns, std::size_t n_rows) {
    const std::size_t width = words_of(columns.size());
    const NewArray words({n_rows, width}, "u8");
    const Matrix<Word> result{words.data<Word>(), n_rows, width};
    const bool fits =
        run([&] { return kernels.pack_columns(columns.data(), columns.size(), result, pause); });
    return nb::make_tuple(words.array(), fits);
}

nb::tuple pack(const Kernels &kernels, nb::handle array) {
    const Integers buffer(array, 2);
    const std::size_t n_rows = buffer->shape[0], n_columns = buffer->shape[1];
    const Column row = buffer.column();
    const std::ptrdiff_t row_stride = buffer->strides[0];
    if (n_columns > 0 && std::abs(row.stride) > std::abs(row_stride)) {
        std::vector<Column> columns;
        for (std::size_t j = 0; j < n_columns; ++j)
            columns.push_back({row.from(j).data, row_stride, row.size});
        return packed(kernels, columns, n_rows);
    }
    const NewArray words({n_rows, words_of(n_columns)}, "u8");
    const Matrix<Word> result{words.data<Word>(), n_rows, words_of(n_columns)};
    const bool fits =
        run([&] { return kernels.pack_rows(row, row_stride, n_columns, result, pause); });
    return nb::make_tuple(words.array(), fits);
}

nb::tuple pack_columns(const Kernels &kernels, nb::sequence arrays) {
    std::deque<Integers> buffers;
    std::vector<Column> columns;
    for (nb::handle array : arrays) {
        const Integers &buffer = buffers.emplace_back(array, 1);
        require(buffer->shape[0] == buffers[0]->shape[0], "columns must be equally long");
        columns.push_back(buffer.column());
    }
    require(!columns.empty(), "there are no columns");
    return packed(kernels, columns, buffers[0]->shape[0]);
}

}  // namespace

void bind_packing(nb::class_<Kernels> &kernels) {
    kernels.def("pack", pack, nb::arg("X")).def("pack_columns", pack_columns, nb::arg("columns"));
}

}  // namespace flagstone

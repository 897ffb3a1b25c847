#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

// The memory that an object shows by the buffer protocol, held while this lives.
struct View : Py_buffer {
    View() : Py_buffer{} {}
    View(const View &) = delete;  // a view may point into itself
    ~View() { PyBuffer_Release(this); }
};

// An array of booleans or integers.
class Integers {
  public:
    Integers(nb::handle array, int ndim) {
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT))
            throw nb::python_error();
        const char *format = view_.format ? view_.format : "B";
        if (*format == '@' || *format == '=' || *format == '<') ++format;
        if (!format[0] || format[1] || !std::strchr("?bBhHiIlLqQ", format[0]))
            throw nb::type_error("entries must be booleans or integers in native byte order");
        require(view_.ndim == ndim, "the array has another number of dimensions");
    }

    const Py_buffer *operator->() const { return &view_; }
    // The entries along the last dimension.
    Column column() const {
        return {static_cast<const unsigned char *>(view_.buf), view_.strides[view_.ndim - 1],
                static_cast<std::size_t>(view_.itemsize)};
    }

  private:
    View view_;
};

template <class Kernel>
nb::tuple packed(std::size_t n_rows, std::size_t n_columns, const Kernel &kernel) {
    const NewArray words({n_rows, words_of(n_columns)}, "u8");
    const Matrix<std::uint64_t> result{words.data<std::uint64_t>(), n_rows, words_of(n_columns)};
    const bool fits = run([&] { return kernel(result); });
    return nb::make_tuple(words.array(), fits);
}

nb::tuple packed_columns(const Kernels &kernels, const std::vector<Column> &columns,
                         std::size_t n_rows) {
    return packed(n_rows, columns.size(), [&](const Matrix<std::uint64_t> &result) {
        return kernels.pack_columns(columns.data(), columns.size(), result, pause);
    });
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
        return packed_columns(kernels, columns, n_rows);
    }
    return packed(n_rows, n_columns, [&](const Matrix<std::uint64_t> &result) {
        return kernels.pack_rows(row, row_stride, n_columns, result, pause);
    });
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
    return packed_columns(kernels, columns, buffers[0]->shape[0]);
}

}  // namespace

void bind_packing(nb::class_<Kernels> &kernels) {
    kernels.def("pack", pack, nb::arg("X")).def("pack_columns", pack_columns, nb::arg("columns"));
}

}  // namespace flagstone

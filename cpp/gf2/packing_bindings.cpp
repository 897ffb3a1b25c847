#include <cstdlib>
#include <deque>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

using Word = std::uint64_t;

// An array of booleans or integers of so many dimensions.
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

// Calls work(first, number) for all of `n` rows without the GIL, and looks for Ctrl-C after every
// portion of about 2^26 entries.
template <class Work>
void in_portions(std::size_t n, std::size_t entries_per_row, Work work) {
    const std::size_t most = (std::size_t{1} << 26) / (entries_per_row + 1) + 1;
    for (std::size_t first = 0; first < n; first += most) {
        run([&] { work(first, n - first < most ? n - first : most); });
        check_signals();
    }
}

// The flat position, in row order, of the first entry that is not 0 or 1.
std::int64_t first_other(const StridedTable &x) {
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::size_t j = 0; j < x.columns; ++j) {
            const unsigned char *entry = x.row(i).from(j).data;
            bool fits = entry[0] <= 1;
            for (std::size_t byte = 1; byte < x.first_row.size; ++byte) fits &= entry[byte] == 0;
            if (!fits) return static_cast<std::int64_t>(i * x.columns + j);
        }
    }
    return -1;  // it was changed while it was read
}

bool pack_columns(const PackingKernels &kernels, const std::vector<Column> &columns,
                  Matrix<Word> result) {
    bool fits = true;
    in_portions(result.rows, columns.size(), [&](std::size_t first, std::size_t n) {
        std::vector<Column> part;
        for (const Column &column : columns) part.push_back(column.from(first));
        fits &= kernels.pack_columns(part.data(), part.size(), result.part(first, n));
    });
    return fits;
}

nb::tuple pack(const PackingKernels &kernels, nb::handle array) {
    const Integers buffer(array, 2);
    const StridedTable all{buffer.column(), std::size_t(buffer->shape[0]),
                           std::size_t(buffer->shape[1]), buffer->strides[0]};
    const NewArray words({all.rows, words_of(all.columns)}, "u8");
    const Matrix<Word> result{words.data<Word>(), all.rows, words_of(all.columns)};
    bool fits = true;
    if (all.rows == 0 || all.columns == 0) {
    } else if (std::abs(all.first_row.stride) <= std::abs(all.row_stride)) {
        in_portions(all.rows, all.columns, [&](std::size_t first, std::size_t n) {
            const StridedTable part{all.row(first), n, all.columns, all.row_stride};
            fits &= kernels.pack_rows(part, result.part(first, n));
        });
    } else {
        std::vector<Column> columns;
        for (std::size_t j = 0; j < all.columns; ++j) columns.push_back(all.column(j));
        fits = pack_columns(kernels, columns, result);
    }
    return nb::make_tuple(words.array(), fits ? -1 : first_other(all));
}

nb::tuple pack_columns(const PackingKernels &kernels, nb::sequence arrays) {
    std::deque<Integers> buffers;
    std::vector<Column> columns;
    for (nb::handle array : arrays) {
        const Integers &buffer = buffers.emplace_back(array, 1);
        require(buffer->shape[0] == buffers[0]->shape[0], "columns must be equally long");
        columns.push_back(buffer.column());
    }
    require(!columns.empty(), "there are no columns");
    const std::size_t n_rows = buffers[0]->shape[0], width = words_of(columns.size());
    const NewArray words({n_rows, width}, "u8");
    const bool fits = pack_columns(kernels, columns, {words.data<Word>(), n_rows, width});
    return nb::make_tuple(words.array(), fits);
}

nb::object lengths(const PackingKernels &kernels, const Array2<Word> &rows) {
    require(rows.shape(1) > 0, "rows must have a word");
    const NewArray result({rows.shape(0)}, "i8");
    run([&] {
        kernels.lengths({rows.data(), rows.shape(0), rows.shape(1)}, result.data<std::int64_t>());
    });
    return result.array();
}

}  // namespace

void bind_packing(nb::module_ &module, const Kernels &all) {
    const PackingKernels kernels = all.packing;
    module.def(
        "pack", [kernels](nb::handle X) { return pack(kernels, X); }, nb::arg("X"));
    module.def(
        "pack_columns", [kernels](nb::sequence columns) { return pack_columns(kernels, columns); },
        nb::arg("columns"));
    module.def(
        "gf2_lengths",
        [kernels](const Array2<Word> &rows) { return lengths(kernels, rows); },
        nb::arg("rows").noconvert());
}

}  // namespace flagstone

#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "bindings.h"
#include "gf2/packing.h"

namespace flagstone {

namespace {

using Word = std::uint64_t;
using Words = Array2<Word>;

Packed<const Word> part_of(const Words &words, std::size_t first, std::size_t n) {
    return {words.data() + first * words.shape(1), n, words.shape(1)};
}

// An array of booleans or integers of so many dimensions.
struct Integers : PythonBuffer {
    Integers(nb::handle array, int ndim) : PythonBuffer(array, PyBUF_STRIDES | PyBUF_FORMAT) {
        if (!has_integers())
            throw nb::type_error("entries must be booleans or integers in native byte order");
        require((*this)->ndim == ndim, "the array has another number of dimensions");
    }
    const unsigned char *bytes() const { return data<const unsigned char>(); }
    std::size_t size() const { return static_cast<std::size_t>((*this)->itemsize); }
};

Column row_part(Column column, std::size_t first) {
    column.data += static_cast<std::ptrdiff_t>(first) * column.stride;
    return column;
}

// The flat position, in row order, of the first entry that is not 0 or 1.
std::int64_t first_other(const Entries &x) {
    for (std::size_t i = 0; i < x.rows; ++i) {
        for (std::size_t j = 0; j < x.columns; ++j) {
            const unsigned char *entry = row_part(x.column(j), i).data;
            bool fits = entry[0] <= 1;
            for (std::size_t byte = 1; byte < x.size; ++byte) fits &= entry[byte] == 0;
            if (!fits) return static_cast<std::int64_t>(i * x.columns + j);
        }
    }
    return -1;  // it was changed while it was read
}

bool pack_columns(const PackingKernels &kernels, const std::vector<Column> &columns,
                  Packed<Word> result) {
    bool fits = true;
    in_portions(result.rows, columns.size(), [&](std::size_t first, std::size_t n) {
        std::vector<Column> part = columns;
        for (Column &column : part) column = row_part(column, first);
        fits &= kernels.pack_columns(part.data(), part.size(), {result[first], n, result.width});
    });
    return fits;
}

nb::tuple pack(const PackingKernels &kernels, nb::handle array) {
    const Integers buffer(array, 2);
    const std::size_t n_rows = buffer->shape[0], columns = buffer->shape[1];
    NewArray words(nb::make_tuple(n_rows, words_of(columns)), "u8");
    const Packed<Word> result{words.buffer.data<Word>(), n_rows, words_of(columns)};
    if (n_rows == 0 || columns == 0) {
        std::memset(result.words, 0, sizeof(Word) * n_rows * result.width);
        return nb::make_tuple(words.array, -1);
    }
    const Entries all{buffer.bytes(),    n_rows, columns, buffer.size(), buffer->strides[0],
                      buffer->strides[1]};
    bool fits = true;
    if (std::abs(all.column_stride) <= std::abs(all.row_stride)) {
        in_portions(n_rows, columns, [&](std::size_t first, std::size_t n) {
            Entries part = all;
            part.data = row_part(all.column(0), first).data;
            part.rows = n;
            fits &= kernels.pack_rows(part, {result[first], n, result.width});
        });
    } else {
        std::vector<Column> views;
        for (std::size_t j = 0; j < columns; ++j) views.push_back(all.column(j));
        fits = pack_columns(kernels, views, result);
    }
    return nb::make_tuple(words.array, fits ? -1 : first_other(all));
}

nb::tuple pack_columns(const PackingKernels &kernels, nb::sequence arrays) {
    std::deque<Integers> buffers;
    std::vector<Column> columns;
    for (nb::handle array : arrays) {
        const Integers &buffer = buffers.emplace_back(array, 1);
        require(buffer->shape[0] == buffers[0]->shape[0], "columns must be equally long");
        columns.push_back({buffer.bytes(), buffer->strides[0], buffer.size()});
    }
    require(!columns.empty(), "there are no columns");
    const std::size_t n_rows = buffers[0]->shape[0], width = words_of(columns.size());
    NewArray words(nb::make_tuple(n_rows, width), "u8");
    const bool fits = pack_columns(kernels, columns, {words.buffer.data<Word>(), n_rows, width});
    return nb::make_tuple(words.array, fits);
}

template <class T>
nb::object place(bool (*kernel)(Packed<const Word>, const T *, std::size_t, T *), Words rows,
                 Array1<T> places, const char *dtype) {
    require(rows.shape(1) > 0, "rows must have a word");
    NewArray result(nb::make_tuple(rows.shape(0)), dtype);
    bool fits = true;
    in_portions(rows.shape(0), rows.shape(1), [&](std::size_t first, std::size_t n) {
        fits &= kernel(part_of(rows, first, n), places.data(), places.shape(0),
                       result.buffer.data<T>() + first);
    });
    require(fits, "a row has more columns than there are places for");
    return result.array;
}

}  // namespace

void bind_packing(nb::module_ &module, const PackingKernels &kernels) {
    module.def(
        "pack", [kernels](nb::handle X) { return pack(kernels, X); }, nb::arg("X"));
    module.def(
        "pack_columns", [kernels](nb::sequence columns) { return pack_columns(kernels, columns); },
        nb::arg("columns"));
    module.def(
        "unpack",
        [kernels](Words words, std::size_t dim) {
            require(dim <= 64 * words.shape(1), "the rows have fewer columns than dim");
            NewArray result(nb::make_tuple(words.shape(0), dim), "u1");
            in_portions(words.shape(0), dim, [&](std::size_t first, std::size_t n) {
                unsigned char *to = result.buffer.data<unsigned char>() + first * dim;
                kernels.unpack(part_of(words, first, n), dim, to);
            });
            return result.array;
        },
        nb::arg("words").noconvert(), nb::arg("dim"));
    module.def(
        "gf2_columns_from",
        [kernels](Words words, std::size_t first, std::size_t dim) {
            require(first <= dim && dim <= 64 * words.shape(1), "there are no such columns");
            const std::size_t width = words_of(dim - first);
            NewArray result(nb::make_tuple(words.shape(0), width), "u8");
            in_portions(words.shape(0), words.shape(1), [&](std::size_t row, std::size_t n) {
                const Packed<Word> to{result.buffer.data<Word>() + row * width, n, width};
                kernels.columns_from(part_of(words, row, n), first, dim - first, to);
            });
            return result.array;
        },
        nb::arg("words").noconvert(), nb::arg("first"), nb::arg("dim"));
    module.def(
        "gf2_place",
        [kernels](Words rows, Array1<std::uint8_t> places) {
            return place<std::uint8_t>(kernels.place_bytes, rows, places, "u1");
        },
        nb::arg("rows").noconvert(), nb::arg("places").noconvert());
    module.def(
        "gf2_place",
        [kernels](Words rows, Array1<std::int64_t> places) {
            return place<std::int64_t>(kernels.place_numbers, rows, places, "i8");
        },
        nb::arg("rows").noconvert(), nb::arg("places").noconvert());
}

}  // namespace flagstone

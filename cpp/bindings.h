// What bindings share: types of arrays, memory of Python objects, and how arguments are refused.
//
// Bindings check shapes, types and contiguity, so that no argument from Python can make a kernel
// read or write outside of an array. They release the GIL around kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "version.h"

namespace nb = nanobind;

namespace flagstone {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char *message) {
    if (!holds) throw nb::value_error(message);
}

// Whether a signal such as Ctrl-C wants a kernel to stop; called without the GIL (see `Poll`). The
// error of the signal's handler stays set: throw nb::python_error() once the GIL is held again.
inline bool signalled() {
    nb::gil_scoped_acquire acquired;
    return PyErr_CheckSignals() != 0;
}

// A new NumPy array that owns its memory.
template <class T>
nb::ndarray<nb::numpy, T> new_array(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (std::size_t n : shape) size *= n;
    T *data = new T[size > 0 ? size : 1]();
    nb::capsule owner(data, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return nb::ndarray<nb::numpy, T>(data, shape.size(), shape.begin(), owner);
}

// The memory that an object shows by the buffer protocol, held while this lives.
class PythonBuffer {
  public:
    PythonBuffer(nb::handle object, int flags) {
        if (PyObject_GetBuffer(object.ptr(), &view_, flags)) throw nb::python_error();
    }
    PythonBuffer(const PythonBuffer &) = delete;  // a view may point into itself
    PythonBuffer &operator=(const PythonBuffer &) = delete;
    ~PythonBuffer() { PyBuffer_Release(&view_); }

    const Py_buffer *operator->() const { return &view_; }
    template <class T>
    T *data() const {
        return static_cast<T *>(view_.buf);
    }
    // Whether entries are booleans or integers in native byte order.
    bool has_integers() const {
        const char *format = view_.format ? view_.format : "B";
        if (*format == '@' || *format == '=' || *format == '<') ++format;
        return format[0] && !format[1] && std::strchr("?bBhHiIlLqQ", format[0]);
    }

  private:
    Py_buffer view_{};
};

// A new NumPy array whose entries are not set yet.
struct NewArray {
    NewArray(nb::object shape, const char *dtype)
        : array(nb::module_::import_("numpy").attr("empty")(shape, dtype)),
          buffer(array, PyBUF_WRITABLE) {}

    nb::object array;
    PythonBuffer buffer;
};

// Raises the error of a signal such as Ctrl-C; `pause` is for kernels, which run without the GIL.
inline void check_signals() {
    if (PyErr_CheckSignals()) throw nb::python_error();
}
inline void pause() {
    nb::gil_scoped_acquire held;
    check_signals();
}

// Calls work(first, number) for all of `n` rows without the GIL, and looks for Ctrl-C after every
// portion of about 2^26 entries.
template <class Work>
void in_portions(std::size_t n, std::size_t entries_per_row, Work work) {
    const std::size_t most = (std::size_t{1} << 26) / (entries_per_row + 1) + 1;
    for (std::size_t first = 0; first < n; first += most) {
        {
            nb::gil_scoped_release released;
            work(first, n - first < most ? n - first : most);
        }
        check_signals();
    }
}

void bind_gf2_flag(nb::module_ &module, Gf2Flag *(*new_gf2_flag)(std::size_t dim));
void bind_pieces(nb::module_ &module, Gf2Flag *(*new_gf2_flag)(std::size_t dim));
void bind_linalg(nb::module_ &module, const LinalgKernels &kernels);
void bind_finite(nb::module_ &module, const FiniteKernels &kernels);
void bind_packing(nb::module_ &module, const PackingKernels &kernels);
void bind_text(nb::module_ &module, const TextKernels &kernels);
void bind_certificates(nb::module_ &module);

}  // namespace flagstone

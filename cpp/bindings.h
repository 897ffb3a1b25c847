// What bindings share: types of arrays, memory of Python objects, and how arguments are refused.
//
// Bindings check shapes, types and contiguity, so that no argument from Python can make a kernel
// read or write outside of an array. They release the GIL around kernels.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "version.h"

namespace nb = nanobind;

namespace flagstone {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline void require(bool holds, const char *message) {
    if (!holds) throw nb::value_error(message);
}

// The entries of an array, which must stand where the processor expects them.
template <class Array>
auto aligned(const Array &array, std::size_t bytes = sizeof(typename Array::Scalar)) {
    require(array.size() == 0 || reinterpret_cast<std::uintptr_t>(array.data()) % bytes == 0,
            "arrays must be aligned; numpy.require(x, requirements='CA') copies one");
    return array.data();
}

// A new NumPy array, of zeros unless it is made "empty".
class NewArray {
  public:
    NewArray(std::initializer_list<std::size_t> shape, const char *dtype,
             const char *maker = "zeros")
        : rows_(*shape.begin()) {
        nb::list sizes;
        for (std::size_t n : shape) sizes.append(n);
        array_ = nb::module_::import_("numpy").attr(maker)(nb::tuple(sizes), dtype);
        data_ = nb::cast<nb::ndarray<>>(array_).data();  // which the array keeps
    }

    template <class T>
    T *data() const {
        return static_cast<T *>(data_);
    }
    nb::object array() const { return array_; }
    // The first n rows, in an array of their own unless they are all.
    nb::object first(std::size_t n) const {
        if (n == rows_) return array_;
        return array_[nb::slice(nb::int_(0), nb::int_(n), nb::none())].attr("copy")();
    }

  private:
    nb::object array_;
    std::size_t rows_;
    void *data_;
};

// Raises the error of a signal such as Ctrl-C; `pause` is for kernels, which run without the GIL.
inline void check_signals() {
    if (PyErr_CheckSignals()) throw nb::python_error();
}
inline void pause() {
    nb::gil_scoped_acquire held;
    check_signals();
}

// Runs a kernel without the GIL.
template <class Kernel>
auto run(const Kernel &kernel) {
    nb::gil_scoped_release released;
    return kernel();
}

// Each adds its functions to the kernels that Python sees.
void bind_fields(nb::module_ &module, nb::class_<Kernels> &kernels);
void bind_packing(nb::class_<Kernels> &kernels);
void bind_text(nb::class_<Kernels> &kernels);
void bind_evidence(nb::class_<Kernels> &kernels);

}  // namespace flagstone

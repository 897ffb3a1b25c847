#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <mutex>
#include <optional>

#include "bindings.h"
#include "gf2/flag.h"

namespace flagstone {

Gf2Flag::~Gf2Flag() = default;

namespace {

// Wider flags would need petabytes.
constexpr std::size_t kWidest = std::size_t(1) << 28;

using Weights = std::optional<Array1<std::int64_t>>;

// A flag and its lock. Threads wait for the lock without the GIL.
class FlagObject {
  public:
    explicit FlagObject(std::unique_ptr<Gf2Flag> flag) : flag_(std::move(flag)) {}

    void insert(Array2<std::uint64_t> rows, Weights weights) {
        require(rows.shape(1) == flag_->width(), "rows must have one word for 64 columns");
        const std::size_t n = rows.shape(0);
        const std::int64_t *times = weights ? weights->data() : nullptr;
        require(!weights || weights->shape(0) == n, "there must be one weight for each row");
        std::uint64_t total = n;
        bool plain = true;
        if (times) {
            total = 0;
            for (std::size_t i = 0; i < n; ++i) {
                plain &= times[i] == 1;
                if (times[i] > 0) total += std::uint64_t(times[i]);
                require(total <= INT64_MAX, "the weights add up to more than 63 bits");
            }
        }
        bool fits, completed = true;
        {
            nb::gil_scoped_release released;
            std::lock_guard<std::mutex> locked(mutex_);
            fits = total <= std::uint64_t(INT64_MAX - flag_->largest_count());
            if (fits) completed = flag_->insert(rows.data(), n, plain ? nullptr : times, signalled);
        }
        require(fits, "counts would need more than 63 bits");
        if (!completed) throw nb::python_error();
    }

    nb::tuple dump() {
        nb::gil_scoped_release released;
        std::unique_lock<std::mutex> locked(mutex_);
        const std::size_t rank = flag_->rank();
        nb::gil_scoped_acquire acquired;
        auto basis = new_array<std::uint64_t>({rank, flag_->width()});
        auto counts = new_array<std::int64_t>({rank});
        flag_->dump(basis.data(), counts.data());
        return nb::make_tuple(basis, counts);
    }

    std::unique_ptr<FlagObject> copy() {
        nb::gil_scoped_release released;
        std::lock_guard<std::mutex> locked(mutex_);
        return std::make_unique<FlagObject>(std::unique_ptr<Gf2Flag>(flag_->copy()));
    }

    std::size_t dim() const { return flag_->dim(); }

    std::size_t nbytes() {
        nb::gil_scoped_release released;
        std::lock_guard<std::mutex> locked(mutex_);
        return flag_->nbytes();
    }

  private:
    std::mutex mutex_;
    std::unique_ptr<Gf2Flag> flag_;
};

}  // namespace

void bind_gf2_flag(nb::module_ &module, Gf2Flag *(*new_gf2_flag)(std::size_t dim)) {
    if (nb::type<FlagObject>().is_valid())
        module.attr("Gf2Flag") = nb::type<FlagObject>();
    else
        nb::class_<FlagObject>(module, "Gf2Flag")
            .def("insert", &FlagObject::insert, nb::arg("rows").noconvert(),
                 nb::arg("weights").noconvert() = nb::none(),
                 "Insert packed rows in order, each as often as its weight says.")
            .def("dump", &FlagObject::dump, "Return an adapted basis and its falling counts.")
            .def("copy", &FlagObject::copy, "Return a flag that shares nothing with this one.")
            .def_prop_ro("dim", &FlagObject::dim)
            .def_prop_ro("nbytes", &FlagObject::nbytes);

    const auto make = [new_gf2_flag](std::size_t dim) {
        require(dim <= kWidest, "dim is too large");
        nb::gil_scoped_release released;
        return std::unique_ptr<Gf2Flag>(new_gf2_flag(dim));
    };
    module.def(
        "gf2_flag", [make](std::size_t dim) { return std::make_unique<FlagObject>(make(dim)); },
        nb::arg("dim"), "Return the flag of no rows in GF(2)^dim.");
    module.def(
        "gf2_flag_load",
        [make](std::size_t dim, Array2<std::uint64_t> basis, Array1<std::int64_t> counts) {
            auto flag = make(dim);
            const std::size_t n = basis.shape(0);
            require(basis.shape(1) == flag->width(), "rows must have one word for 64 columns");
            require(counts.shape(0) == n, "there must be one count for each row");
            for (std::size_t i = 0; i < n; ++i)
                require(counts(i) > 0 && (i == 0 || counts(i) <= counts(i - 1)),
                        "counts must be positive and falling");
            bool independent;
            {
                nb::gil_scoped_release released;
                independent = flag->assign(basis.data(), n, counts.data());
            }
            require(independent, "the basis must be linearly independent");
            return std::make_unique<FlagObject>(std::move(flag));
        },
        nb::arg("dim"), nb::arg("basis").noconvert(), nb::arg("counts").noconvert(),
        "Return the flag that a basis with falling counts describes.");
}

}  // namespace flagstone

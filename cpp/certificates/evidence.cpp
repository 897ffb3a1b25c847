// Evidence of pieces for the sum of fresh ones: S31 and S32 of docs/theory/certificates.md.
//
// Method. At a rate λ the loss of a piece is bet (exp(−λ value + μ length) − 1), rounded up by
// `room`, for μ = (λ total + nats)/rows; the product over the pieces is that of (1 − loss)^times,
// and the mean over the rates is rounded down.
// Invariant. The same operations in the same order as in the reference, with the functions of the
// same C library: certificates are the same numbers everywhere. So this is compiled once, not for
// each version of the processor.
// Cost. Two exponentials and a logarithm for each rate and piece.
#include <cmath>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

using Doubles = Array1<double>;

double log_mean_product(Doubles rates, Doubles values, Doubles lengths, Doubles times,
                        double total, double nats, double rows, double bet, double room) {
    const std::size_t n = times.shape(0);
    require(rates.shape(0) > 0, "there are no rates");
    require(values.shape(0) == n && lengths.shape(0) == n,
            "values, lengths and times must be equally long");
    require(rows > 0, "rows must be positive");
    for (const Doubles &numbers : {rates, values, lengths, times}) aligned(numbers);
    const auto loss = [&](double power) {
        const double loss = bet * std::expm1(power < 700.0 ? power : 700.0);
        return loss + room * (1.0 + std::fabs(loss));
    };
    std::vector<double> logs;
    double top = -INFINITY, mean = 0.0, number = 0.0;
    for (std::size_t k = 0; k < rates.shape(0); ++k) {
        const double rate = rates(k), slope = (rate * total + nats) / rows;
        const auto power = [&](std::size_t i) { return slope * lengths(i) - rate * values(i); };
        double worst = -INFINITY, log = 0.0;
        for (std::size_t i = 0; i < n; ++i) worst = power(i) > worst ? power(i) : worst;
        // Any loss of 1 makes the product 0, even that of pieces that never came (`times` 0).
        if (!(loss(worst) < 1)) log = -INFINITY;
        for (std::size_t i = 0; i < n && log > -INFINITY; ++i)
            if (times(i) > 0) log += times(i) * std::log1p(-loss(power(i)));
        logs.push_back(log);
        top = log > top ? log : top;
    }
    if (top == -INFINITY) return top;
    for (double log : logs) mean += std::exp(log - top);
    for (std::size_t i = 0; i < n; ++i) number += times(i);
    return top + std::log(mean / static_cast<double>(logs.size())) - room * number;
}

}  // namespace

void bind_evidence(nb::class_<Kernels> &kernels) {
    kernels.def_static("log_mean_product", log_mean_product, nb::arg("rates").noconvert(),
                       nb::arg("values").noconvert(), nb::arg("lengths").noconvert(),
                       nb::arg("times").noconvert(), nb::arg("total"), nb::arg("nats"),
                       nb::arg("rows"), nb::arg("bet"), nb::arg("room"));
}

}  // namespace flagstone

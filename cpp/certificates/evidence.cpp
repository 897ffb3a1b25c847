// Evidence of pieces for the sum of fresh ones: S31 and S32 of docs/theory/certificates.md.
//
// Method. At a rate λ the loss of a piece is bet (exp(−λ value + μ length) − 1), rounded up by
// `room`, for μ = (λ total + nats)/rows; the product over the pieces is that of (1 − loss)^times,
// and the mean over the rates is rounded down. The last point with enough evidence is found by the
// Illinois rule: where the chord meets 0, with the value at an end that stays halved.
// Invariant. The same operations in the same order as in the reference, with the functions of the
// same C library: certificates are the same numbers everywhere. So this is compiled once, not for
// each version of the processor.
// Cost. About ten points; for each of them two exponentials and a logarithm per rate and piece.
#include <cmath>
#include <vector>

#include "bindings.h"

namespace flagstone {

namespace {

using Doubles = Array1<double>;

struct Pieces {
    Doubles rates, values, lengths, times;
    double rows, bet, room;

    double loss(double power) const {
        const double loss = bet * std::expm1(power < 700.0 ? power : 700.0);
        return loss + room * (1.0 + std::fabs(loss));
    }

    // The log of the product at one rate: minus infinity if any loss reaches 1, even that of pieces
    // that never came (with `times` 0).
    double log_product(double rate, double slope) const {
        const auto power = [&](std::size_t i) {
            return slope * lengths.data()[i] - rate * values.data()[i];
        };
        const std::size_t n = times.shape(0);
        double worst = -INFINITY, log = 0.0;
        for (std::size_t i = 0; i < n; ++i) worst = power(i) > worst ? power(i) : worst;
        if (!(loss(worst) < 1)) return -INFINITY;
        for (std::size_t i = 0; i < n; ++i)
            if (times.data()[i] > 0) log += times.data()[i] * std::log1p(-loss(power(i)));
        return log;
    }

    double log_mean_product(double total, double nats) const {
        std::vector<double> logs;
        double top = -INFINITY, mean = 0.0, number = 0.0;
        for (std::size_t k = 0; k < rates.shape(0); ++k) {
            const double rate = rates.data()[k];
            logs.push_back(log_product(rate, (rate * total + nats) / rows));
            top = logs[k] > top ? logs[k] : top;
        }
        if (top == -INFINITY) return top;
        for (double log : logs) mean += std::exp(log - top);
        for (std::size_t i = 0; i < times.shape(0); ++i) number += times.data()[i];
        return top + std::log(mean / static_cast<double>(logs.size())) - room * number;
    }
};

// The last point, in steps from `good` to `bad`, where a falling function is at least 0; nan if it
// is not at `good`.
template <class Function>
double edge(Function function, double good, double bad, double step) {
    double at_good = function(good), at_bad = function(bad);
    if (!(at_good >= 0)) return NAN;
    if (at_bad >= 0) return bad;
    int stayed = 0;
    while (std::fabs(bad - good) > 1.5 * step) {
        const double part = at_bad > -INFINITY ? at_good / (at_good - at_bad) : 0.5;
        const double steps = std::fabs(bad - good) / step, most = std::ceil(steps) - 1.0;
        double ahead = std::nearbyint(part * steps);
        ahead = ahead > 1.0 ? ahead : 1.0;
        ahead = most < ahead ? most : ahead;
        const double middle = bad > good ? good + ahead * step : good - ahead * step;
        const double at_middle = function(middle);
        if (at_middle >= 0) {
            at_bad /= stayed > 0 ? 2.0 : 1.0;
            good = middle, at_good = at_middle, stayed = 1;
        } else {
            at_good /= stayed < 0 ? 2.0 : 1.0;
            bad = middle, at_bad = at_middle, stayed = -1;
        }
    }
    return good;
}

double evidence_edge(Doubles rates, Doubles values, Doubles lengths, Doubles times, double rows,
                     double bet, double room, double needed, bool at_total, double other,
                     double good, double bad, double step) {
    require(rates.shape(0) > 0, "there are no rates");
    require(values.shape(0) == times.shape(0) && lengths.shape(0) == times.shape(0),
            "values, lengths and times must be equally long");
    std::vector<double> all{rows, bet, room, needed, other, good, bad, step};
    for (const Doubles &part : {rates, values, lengths, times})
        all.insert(all.end(), part.data(), part.data() + part.shape(0));
    for (double number : all) require(std::isfinite(number), "all numbers must be finite");
    require(rows > 0 && step > 0, "rows and step must be positive");
    const Pieces pieces{rates, values, lengths, times, rows, bet, room};
    const auto surplus = [&](double point) {
        check_signals();
        nb::gil_scoped_release released;
        return pieces.log_mean_product(at_total ? point : other, at_total ? other : point) - needed;
    };
    return edge(surplus, good, bad, step);
}

}  // namespace

void bind_evidence(nb::module_ &module) {
    module.def("evidence_edge", evidence_edge, nb::arg("rates").noconvert(),
               nb::arg("values").noconvert(), nb::arg("lengths").noconvert(),
               nb::arg("times").noconvert(), nb::arg("rows"), nb::arg("bet"), nb::arg("room"),
               nb::arg("needed"), nb::arg("at_total"), nb::arg("other"), nb::arg("good"),
               nb::arg("bad"), nb::arg("step"));
}

}  // namespace flagstone

// Cutting a stream of rows into pieces, each with a flag of its own, by the rule of
// docs/theory/certificates.md, S31.
//
// Method: rows go into the flag of the piece up to the next look at the piece's value. Inside a
// space, the value is the number of sets that span it (the least count of the flag); a look is due
// when the credit of rows may be used up, and every few rows near the end. Outside, the value is
// the number of sets (the largest count); a row adds at most one set, so no look is due before the
// credit of sets can be overdrawn.
// Invariant: between calls, wait > 0, or the piece has not begun; outside filled < most.
// Cost: that of the flag; a look takes constant time.
#include "certificates/pieces.h"

#include <algorithm>
#include <cmath>

namespace flagstone {

namespace {

// Sums of a few numbers up to this do not overflow.
constexpr std::int64_t kLargest = std::int64_t(1) << 60;

std::int64_t allowed(const PieceRule &rule, std::int64_t reached) {
    const double n = double(reached), more = std::floor(rule.inside ? rule.pace * n : n / rule.pace);
    return rule.credit + (more < double(kLargest) ? std::int64_t(more) : kLargest);
}

// How many rows (outside: given rows) come before the next look; 0 if the piece is over.
std::int64_t next_look(const PieceRule &rule, std::int64_t value, std::int64_t filled) {
    if (!rule.inside)
        return filled == rule.most ? 0
                                   : std::max<std::int64_t>(0, allowed(rule, filled) - value + 1);
    if (value >= rule.most) return 0;
    const std::int64_t look = filled >= rule.fine ? filled + rule.step : rule.fine;
    return std::max<std::int64_t>(0, std::min(allowed(rule, value), look) - filled);
}

}  // namespace

bool PieceRule::valid() const {
    for (const std::int64_t number : {credit, most, fine, step})
        if (number < 0 || number > kLargest) return false;
    return std::isfinite(pace) && pace > 0 && most > 0 && step > 0 && (credit > 0 || !inside);
}

bool PieceRule::allows(const Piece &piece) const {
    return 0 <= piece.filled && piece.filled < (inside ? kLargest : most) && 0 <= piece.wait &&
           piece.wait <= kLargest && (piece.wait > 0 || piece.filled == 0);
}

std::vector<std::int64_t> cut_pieces(Flag &flag, const PieceRule &rule, Piece &piece,
                                     const TickedRows &rows, Pause pause) {
    std::vector<std::int64_t> ends;
    auto &[filled, wait] = piece;
    const bool inside = rule.inside;
    const std::size_t bytes = rows.entries.columns * rows.entries.bytes;
    std::int64_t row = 0;
    std::size_t next = 0, looks = 0;
    while (row < rows.size) {
        if (wait == 0) wait = next_look(rule, 0, 0);
        std::int64_t stop = std::min(rows.size, row + (inside ? wait : rule.most - filled));
        std::size_t end = next;
        while (end < rows.ticks.size() && rows.ticks[end] < stop &&
               (inside || std::int64_t(end - next) < wait))
            ++end;
        wait -= inside ? stop - row : std::int64_t(end - next);
        if (!inside && wait == 0) stop = rows.ticks[end - 1] + 1;
        const Entries some{static_cast<const char *>(rows.entries.data) + next * bytes, end - next,
                           rows.entries.columns, rows.entries.bytes};
        flag.insert(some, nullptr, pause);
        filled += stop - row;
        row = stop;
        next = end;
        if (wait > 0 && (inside || filled < rule.most)) continue;
        const std::int64_t value = inside ? flag.least_count() : flag.largest_count();
        wait = next_look(rule, value, filled);
        if (wait == 0) {
            ends.insert(ends.end(), {row, value, filled});
            flag.reset();
            filled = 0;
        }
        if (++looks % (1 << 14) == 0) pause();
    }
    return ends;
}

}  // namespace flagstone

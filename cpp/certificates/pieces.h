// Pieces of a stream of rows: see pieces.cpp.
#pragma once

#include <vector>

#include "field.h"

namespace flagstone {

// The piece that has not ended: rows in it, and rows (outside: given rows) before the next look.
struct Piece {
    std::int64_t filled, wait;  // both 0 if it has not begun
};

struct PieceRule {
    bool inside;
    std::int64_t credit;      // of rows (inside) or sets (outside), at the beginning
    double pace;              // rows for one more set
    std::int64_t most;        // sets (inside) or rows (outside) after which a piece ends
    std::int64_t fine, step;  // inside: the length from which on there is a look every `step` rows

    // Whether every piece has a row and no sum overflows; whether a piece can be like this.
    bool valid() const;
    bool allows(const Piece &piece) const;
};

// Rows with rising numbers below `size`; the rows with other numbers are zero.
struct TickedRows {
    Entries entries;
    std::vector<std::int64_t> ticks;
    std::int64_t size;
};

// Takes more rows; returns where pieces end, their values and lengths. `flag` is that of the piece.
std::vector<std::int64_t> cut_pieces(Flag &flag, const PieceRule &rule, Piece &piece,
                                     const TickedRows &rows, Pause pause);

}  // namespace flagstone

// What the kernels for text offer: packed rows from lines of digits.
#pragma once

#include "views.h"

namespace flagstone {

struct Text {
    const unsigned char *bytes;
    std::size_t size;
};

// Digits of a line: a frame, which is a row if it is as long as rows are, or its bits once more.
struct Part {
    enum Kind { kSkipped, kAgain, kRow } kind;
    int width;                     // bits of a digit: 4 for hexadecimal digits, 1 for bits
    std::size_t n_bits, n_digits;  // the digits hold the bits, in as many words
};

// What lines have in common: their characters, with a mark in place of each digit of a part.
struct Form {
    Text text;
    const Part *parts;
    std::size_t n_parts, n_rows, n_skipped;

    static bool is_mark(unsigned char c) { return c >= 128; }
};

// What is read from a block of whole lines, each with its line feed, where every search stops.
struct TextRows {
    Matrix<std::uint64_t> words;  // the rows: room for as many as the block can hold
    std::int64_t *lines;          // unless `each`: the line of every row
    Matrix<std::int64_t> hard;    // line, start and stop of lines of no known form: room for some
    std::int64_t line;            // the next one to be read, and where it starts
    std::size_t stop = 0;
    std::size_t n_rows = 0, n_hard = 0, n_skipped = 0;
    bool each = true;  // every line is one row
};

}  // namespace flagstone

// What the kernels for text offer: packed rows from lines of digits.
//
// Text is a block of whole lines, each with its line feed: the last byte of a block is one, and
// every search stops there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "views.h"

namespace flagstone {

struct Text {
    const unsigned char *bytes;
    std::size_t size;
};

// A growing list of numbers. Its functions are compiled once, not for every version.
class Numbers {
  public:
    void add(std::int64_t number);
    std::size_t size() const;
    const std::int64_t *data() const;

  private:
    std::vector<std::int64_t> numbers_;
};

// How frames are written, and which are wanted.
struct Notation {
    int width;           // bits of a digit: 4 for hexadecimal digits, 1 for bits
    std::size_t n_bits;  // bits of a row
    bool keep_only;      // frames of other lengths are counted; else their lines are hard
};

// What a block of lines holds.
struct TextRows {
    std::uint64_t *words;  // the rows, in memory for as many as the block can hold
    std::size_t n_rows = 0;
    std::size_t n_lines = 0;
    std::size_t skipped = 0;  // frames of other lengths
    bool each = true;         // every line is one row
    Numbers &lines;           // unless `each`: the line of every row, from 0 on
    Numbers &hard;            // line, start and stop of lines that are not read here
    Pause pause;              // called now and then
};

#ifdef FLAGSTONE_VERSION
// Questions about the characters of a line.
namespace FLAGSTONE_VERSION {

inline bool is_blank(unsigned char c) { return c == ' ' || (c >= 9 && c <= 13 && c != '\n'); }

inline bool is_decimal(unsigned char c) { return static_cast<unsigned char>(c - '0') < 10; }

// The place of the first character that is no blank.
inline std::size_t after_blanks(const unsigned char *text, std::size_t p) {
    while (is_blank(text[p])) ++p;
    return p;
}

// Whether a line ends here or, after a blank, a comment starts.
inline bool is_over(const unsigned char *text, std::size_t p) {
    const unsigned char c = text[p];
    return c == '\n' || c == '#' || c == ';' || (c == '/' && text[p + 1] == '/');
}

}  // namespace FLAGSTONE_VERSION
#endif

}  // namespace flagstone

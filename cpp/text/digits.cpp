// From lines of hexadecimal digits or bits to packed rows.
//
// Method. Plain lines are read here: one or several frames, each with or without its length {41};
// digits with blanks, `_` or one separator between bytes; 0x before the first or before each group;
// the same bits once more after a colon; a comment. Every other line is *hard*, and is left to the
// careful reader, flagstone.notation, which describes the notation. Lines of a file are alike: a
// line that was read leaves its shape, and the lines that follow are read by it, 16 digits at a
// time, if they have this shape.
// Invariant. A line that is read here gives the rows that the careful reader finds in it.
// Cost. One pass: a few instructions for 16 digits of lines alike, a few for each character else.
#include "simd.h"
#include "text/text.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

// Longer lines leave no shape; signals are checked after this many bytes.
constexpr std::size_t kLongest = 1 << 16, kPortion = std::size_t{1} << 26;

// Sixteen characters.
typedef Word Words __attribute__((vector_size(16)));

inline Byte &byte_of(Words &characters, std::size_t i) {
    return reinterpret_cast<Byte *>(&characters)[i];
}

inline Words every(Byte byte) { return broadcast<Words>(every_byte(byte)); }

// The bits of sixteen digits, the first bit of the first digit lowest; `bad` takes on a bit for what
// is no digit.
template <int kWidth>
inline Word digit_bits(const Words &text, Words &bad) {
    if (kWidth == 1) {
        bad |= (text ^ every('0')) & every(0xfe);
        const Words bits = text & every(1);
        return gather_bits(bits[0]) | gather_bits(bits[1]) << 8;
    }
    // By the low half of a character: whether it is none of 0-9 (1), of a-f (2), or of both (4).
    static constexpr Byte kWrong[16] = {6, 4, 4, 4, 4, 4, 4, 6, 6, 6, 7, 7, 7, 7, 7, 7};
    // By the high half: which of these matters, and what the low half of a letter lacks.
    static constexpr Byte kMatters[16] = {4, 4, 4, 1, 2, 4, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    static constexpr Byte kLacks[16] = {0, 0, 0, 0, 9, 0, 9};
    static constexpr Byte kTurned[16] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    static constexpr Byte kEven[16] = {0, 2, 4, 6, 8, 10, 12, 14};
    const Words low = text & every(15), high = text >> 4 & every(15);
    bad |= pick_bytes(load<Words>(kWrong), low) & pick_bytes(load<Words>(kMatters), high);
    const Words values = (low + pick_bytes(load<Words>(kLacks), high)) & every(15);
    const Words turned = pick_bytes(load<Words>(kTurned), values);
    return pick_bytes(turned | turned >> 4, load<Words>(kEven))[0];
}

// The shape of a line: which bytes are digits of its row, and what the others are.
template <int kWidth>
class Shape {
  public:
    // Notes the shape of a line, whose digits stand at `places`.
    void note(const Byte *line, std::size_t length, const std::uint32_t *places, std::size_t n) {
        length_ = length;
        if (checks_.size() <= length / 16) {
            checks_ = Buffer<Check>(length / 16 + 1);
            steps_ = Buffer<Step>(length / 8 + 2);
        }
        n_checks_ = n_steps_ = 0;
        for (std::size_t i = 0, digit = 0; i < length; ++i) {
            if (digit < n && places[digit] == i) {
                add_digit(i, digit++);
            } else {
                if (n_checks_ == 0 || i - checks_[n_checks_ - 1].at >= 16)
                    checks_[n_checks_++] = Check{i, {}, {}};
                Check &check = checks_[n_checks_ - 1];
                byte_of(check.mask, i - check.at) = 255;
                byte_of(check.bytes, i - check.at) = line[i];
            }
        }
        steps_[n_steps_ - 1].is_last = true;
        for (std::size_t i = (n - 1) % 16 + 1; i < 16; ++i) byte_of(steps_[n_steps_ - 1].unused, i) = '0';
    }

    std::size_t length() const { return length_; }

    // Reads a line, which may be read 16 bytes beyond its length; false if it has another shape.
    bool read(const Byte *line, Word *row) const {
        Words bad{};
        for (std::size_t i = 0; i < n_checks_; ++i) {
            const Check &check = checks_[i];
            bad |= (load<Words>(line + check.at) ^ check.bytes) & check.mask;
        }
        Words digits{};
        Word word = 0;
        int shift = 0;
        for (std::size_t i = 0; i < n_steps_; ++i) {
            const Step &step = steps_[i];
            digits |= pick_bytes(load<Words>(line + step.at), step.order) | step.unused;
            if (!step.is_last) continue;
            word |= digit_bits<kWidth>(digits, bad) << shift;
            digits = Words{};
            shift += 16 * kWidth;
            if (shift == 64 || i + 1 == n_steps_) {
                *row++ = word;
                word = 0;
                shift = 0;
            }
        }
        return (bad[0] | bad[1]) == 0;
    }

  private:
    struct Check {  // bytes of the line from `at` on are these, under the mask
        std::size_t at;
        Words mask, bytes;
    };
    struct Step {  // digits of the line from `at` on, and where they go among 16
        std::size_t at;
        bool is_last;  // of the 16
        Words order, unused;
    };

    void add_digit(std::size_t at, std::size_t digit) {
        const bool begins = digit % 16 == 0;
        if (begins || at - steps_[n_steps_ - 1].at >= 16) {
            if (begins && digit > 0) steps_[n_steps_ - 1].is_last = true;
            Step &step = steps_[n_steps_++];
            step = Step{at, false, every(kNoByte), {}};
        }
        Step &step = steps_[n_steps_ - 1];
        byte_of(step.order, digit % 16) = static_cast<Byte>(at - step.at);
    }

    std::size_t length_ = 0, n_checks_ = 0, n_steps_ = 0;
    Buffer<Check> checks_;
    Buffer<Step> steps_;
};

template <int kWidth>
class LineReader {
  public:
    LineReader(Text text, Notation notation, TextRows &found)
        : text_(text),
          bytes_(text.bytes),
          n_bits_(notation.n_bits),
          n_words_((notation.n_bits - 1) / 64 + 1),
          most_digits_(64 / kWidth * n_words_),
          keep_only_(notation.keep_only),
          places_(most_digits_ < text.size ? most_digits_ : text.size),
          found_(found) {
        std::memset(values_, kNoDigit, sizeof values_);
        for (int i = 0; i < 1 << kWidth; ++i) {
            const Byte turned = (i & 1) << 3 | (i & 2) << 1 | (i & 4) >> 1 | (i & 8) >> 3;
            const Byte digit = "0123456789abcdef"[i];
            values_[digit] = values_[i < 10 ? digit : digit - 32] = turned >> (4 - kWidth);
        }
    }

    void read() {
        for (std::size_t p = 0, checked = 0; p < text_.size;) {
            p = read_alike(p);
            if (p < text_.size) p = read_line(p);
            if (p - checked >= kPortion) {
                found_.pause();
                checked = p;
            }
        }
    }

  private:
    struct Frame {
        std::size_t digits, n_bits;  // no bits: the line is hard
        bool repeats;                // the bits are shown once more
    };

    Word *row() const { return found_.words + found_.n_rows * n_words_; }

    // Whether the last word of a row has bits beyond the row.
    bool exceeds(Word word) const {
        const std::size_t used = n_bits_ - 64 * (n_words_ - 1);
        return used < 64 && word >> used;
    }

    // Reads lines of the shape that was noted, and returns where the others start.
    std::size_t read_alike(std::size_t p) {
        const std::size_t length = shape_.length(), stop = p + kPortion;
        while (length > 0 && p < stop && text_.size - p >= length + 16 &&
               shape_.read(bytes_ + p, row()) && !exceeds(row()[n_words_ - 1])) {
            end_line(1);
            p += length;
        }
        return p;
    }

    // Reads the line at `start`, and returns where the next one starts.
    std::size_t read_line(std::size_t start) {
        const std::size_t before = found_.n_rows;
        std::size_t p = after_blanks(bytes_, start), others = 0, semicolons = 0;
        const bool has_frames = !is_over(bytes_, p);
        bool easy = true;
        Frame frame{};
        for (bool more = has_frames; more; more = easy && bytes_[p] == '{') {
            frame = read_frame(p, start);
            if (frame.n_bits == n_bits_) {
                ++found_.n_rows;
            } else {
                ++others;
                easy = frame.n_bits > 0 && keep_only_;
            }
        }
        for (; bytes_[p] != '\n'; ++p) semicolons += bytes_[p] == ';';
        const std::size_t n = found_.n_rows - before;
        found_.n_rows = before;
        // A comment that goes on like bytes between semicolons is for the careful reader.
        if (!easy || (has_frames && semicolons > 1)) {
            for (std::size_t number : {found_.n_lines, start, p})
                found_.hard.add(static_cast<std::int64_t>(number));
            end_line(0);
        } else {
            found_.skipped += others;
            end_line(n);
            if (n == 1 && others == 0 && !frame.repeats)
                note_shape(start, p + 1 - start, frame.digits);
        }
        return p + 1;
    }

    // Counts a line and its rows, which are in their place.
    void end_line(std::size_t n) {
        if (found_.each && n != 1) {
            found_.each = false;
            for (std::size_t i = 0; i < found_.n_rows; ++i)
                found_.lines.add(static_cast<std::int64_t>(i));
        }
        if (!found_.each)
            for (std::size_t i = 0; i < n; ++i)
                found_.lines.add(static_cast<std::int64_t>(found_.n_lines));
        found_.n_rows += n;
        ++found_.n_lines;
    }

    // Notes the shape of a line that is as long as the one before: more may be like it.
    void note_shape(std::size_t start, std::size_t length, std::size_t n_digits) {
        if (length == last_length_ && length <= kLongest)
            shape_.note(bytes_ + start, length, places_.data(), n_digits);
        last_length_ = length;
    }

    // Reads the frame at `p` into the next row, and moves `p` to what follows: the end of the line,
    // a comment, or the next frame. If the frame has not the bits of a row, the row is anything.
    Frame read_frame(std::size_t &p, std::size_t start) {
        const bool has_length = bytes_[p] == '{';
        const std::size_t announced = has_length ? read_length(p) : 0;
        if (has_length && announced == 0) return {};
        std::size_t groups = 0, marks = 0, odd = 0, digits = 0;
        Byte separator = 0;
        bool gaps = false, repeats = false;  // blanks between groups; the bits are shown once more
        for (bool more = true; more;) {
            if (bytes_[p] == '0' && (bytes_[p + 1] | 32) == (kWidth == 4 ? 'x' : 'b')) {
                if (marks++ < groups) return {};
                p += 2;
            }
            const std::size_t before = digits;
            read_digits(p, start, digits);
            if (digits == before) return {};
            ++groups;
            const bool is_odd = kWidth > 1 && (digits - before) % 2;
            const std::size_t stop = p;
            p = after_blanks(bytes_, p);
            const Byte c = bytes_[p];
            const std::size_t ahead = c == '\n' ? p : after_blanks(bytes_, p + 1);
            if (c == '\n' || c == '{' || (p > stop && is_over(bytes_, p))) {
                more = false;
            } else if ((c == ',' || c == ';') && (bytes_[ahead] == '\n' || bytes_[ahead] == '{' ||
                                                  (ahead > p + 1 && is_over(bytes_, ahead)))) {
                p = ahead;  // the end of a line of a list
                more = false;
            } else if (c == ':' && separator == 0 && marks == 0 && has_length && kWidth > 1 &&
                       bytes_[p - 1] == ' ' && bytes_[p + 1] == ' ' &&
                       announced <= kWidth * digits && digits <= most_digits_) {
                p = ahead;
                if (!skip_bits(p, announced)) return {};
                repeats = true;
                more = false;
            } else if (c == ':' || c == ',' || c == ';' || c == '-') {
                if (separator != 0 && separator != c) return {};
                separator = c;
                p = ahead;
            } else {
                if (p == stop) return {};
                gaps = true;
            }
            odd += is_odd && (more || !has_length);  // a length may end in the middle of a byte
        }
        const bool in_bytes = separator != 0 || marks > 1;
        if ((bytes_[p] == '{' && !has_length) || (marks > 1 && marks < groups) ||
            (separator != 0 && gaps) || (in_bytes && odd > 0))
            return {};
        return {digits, length_of(digits, has_length ? announced : kWidth * digits), repeats};
    }

    // The number in braces at `p`, which moves to the frame; 0 if it is none.
    std::size_t read_length(std::size_t &p) {
        std::size_t number = 0;
        for (int i = 0; i < 9 && is_decimal(bytes_[p + 1]); ++i)
            number = 10 * number + bytes_[++p] - '0';
        if (bytes_[++p] != '}') return 0;
        p = after_blanks(bytes_, p + 1);
        return number;
    }

    // Adds the digits at `p` to those of the row, in words and as places in the line.
    void read_digits(std::size_t &p, std::size_t start, std::size_t &digits) {
        Word *const words = row();
        for (;; ++p) {
            const Byte value = values_[bytes_[p]];
            if (value != kNoDigit) {
                if (digits < most_digits_) {
                    const std::size_t bit = kWidth * digits;
                    Word &word = words[bit / 64];
                    word = (bit % 64 ? word : 0) | static_cast<Word>(value) << bit % 64;
                    places_[digits] = static_cast<std::uint32_t>(p - start);
                }
                last_digit_ = value;
                ++digits;
            } else if (bytes_[p] != '_') {
                return;
            }
        }
    }

    // Moves `p` behind bits that are those of the row; false if they are others.
    bool skip_bits(std::size_t &p, std::size_t n_bits) const {
        const Word *const words = row();
        std::size_t n = 0;
        while (!is_over(bytes_, p)) {
            if (n == n_bits || bytes_[p] != '0' + (words[n / 64] >> n % 64 & 1)) return false;
            ++n;
            ++p;
            if (is_blank(bytes_[p]))
                p = after_blanks(bytes_, p);
            else if (bytes_[p] != '\n' && bytes_[p] != '0' && bytes_[p] != '1')
                return false;
        }
        return n == n_bits;
    }

    // The bits of a frame; 0 if its digits do not hold them, or hold ones beyond them.
    std::size_t length_of(std::size_t digits, std::size_t wanted) const {
        const std::size_t held = kWidth * digits, left = held - wanted;
        if (held < wanted) return 0;
        if (wanted == n_bits_)
            return digits <= most_digits_ && !exceeds(row()[n_words_ - 1]) ? wanted : 0;
        return left < kWidth && last_digit_ >> (kWidth - left) == 0 ? wanted : 0;
    }

    const Text text_;
    const Byte *const bytes_;
    const std::size_t n_bits_, n_words_, most_digits_;
    const bool keep_only_;
    Buffer<std::uint32_t> places_;  // of the digits of a frame, from the start of the line
    static constexpr Byte kNoDigit = 255;
    Byte values_[256];  // of digits, the first bit lowest
    Byte last_digit_ = 0;
    Shape<kWidth> shape_;
    std::size_t last_length_ = 0;
    TextRows &found_;
};

}  // namespace

void parse_digits(Text text, Notation notation, TextRows &found) {
    if (notation.width == 4)
        LineReader<4>(text, notation, found).read();
    else
        LineReader<1>(text, notation, found).read();
}

}  // namespace flagstone::FLAGSTONE_VERSION

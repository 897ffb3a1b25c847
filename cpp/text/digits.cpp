// From lines of hexadecimal digits or bits to packed rows.
//
// Method. How frames are written is known by the careful reader alone, flagstone.notation. It gives
// the forms of lines that it has read: which characters are digits of frames, and what the others
// are. Lines of these forms are read here, 16 digits at a time; other lines are *hard*, and are left
// to the careful reader. Here, only comments are told from the text before them.
// Invariant. A line that is read here gives the rows that the careful reader finds in it: whether a
// line is good depends on its form, and on bits that are shown beyond a frame or once more.
// Cost. One pass: a few instructions for 16 digits of lines like the one before, and a few for each
// character of others.
#include "simd.h"
#include "text/text.h"
#include "version.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

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

// Up to 16 characters of a line from `at` on: what they must be, and where digits go among 16.
struct Step {
    std::size_t at, bit;  // the first bit of these digits in their part
    bool is_last, ends;   // of the 16 digits, of the part
    Words mask, bytes, order, unused;
};

// How lines of a form are read.
struct Shape {
    const Form *form;
    const Step *steps, *end;
    const Shape *next;  // of those that may be equally long
};

class LineReader {
  public:
    LineReader(Text text, const Form *forms, std::size_t n, TextRows &found, Pause pause)
        : bytes_(text.bytes), size_(text.size), shapes_(n), found_(found), pacer_(pause) {
        std::size_t characters = 0, parts = 0;
        for (std::size_t i = 0; i < n; ++i) {
            characters += forms[i].text.size;
            parts += forms[i].n_parts;
            if (forms[i].text.size > longest_) longest_ = forms[i].text.size;
        }
        padded_ = Buffer<Byte>(longest_ + 16);
        for (Buffer<Word> &words : spare_) words = Buffer<Word>(longest_ / 16 + 1);
        // Each begins a line, follows the end of a part or of 16 digits, or takes 16 characters.
        steps_ = Buffer<Step>(characters / 8 + parts + n);
        Step *step = steps_.data();
        for (std::size_t i = 0; i < n; ++i) {
            const Shape *&chain = chains_[forms[i].text.size % kChains];
            const Step *const first = step;
            step = add_steps(forms[i], step);
            shapes_[i] = Shape{&forms[i], first, step, chain};
            chain = &shapes_[i];
        }
    }

    void read() {
        while (found_.stop < size_ && found_.n_hard < found_.hard.rows) {
            const std::size_t start = found_.stop;
            const Shape *const shape = read_line(start);
            if (shape) read_alike(*shape, start + kPortion);
            pacer_.did(found_.stop - start);
        }
    }

  private:
    static constexpr std::size_t kChains = 256, kPortion = std::size_t{1} << 26;

    static bool is_blank(Byte c) { return c == ' ' || (c >= 9 && c <= 13 && c != '\n'); }

    static Step *add_steps(const Form &form, Step *const first) {
        Step *next = first;
        const Part *part = form.parts;
        std::size_t digit = 0;
        for (std::size_t i = 0; i < form.text.size; ++i) {
            if (next == first || next[-1].is_last || i - next[-1].at == 16)
                *next++ = Step{i, 0, false, false, {}, {}, every(kNoByte), {}};
            Step &step = next[-1];
            if (!Form::is_mark(form.text.bytes[i])) {
                byte_of(step.mask, i - step.at) = 255;
                byte_of(step.bytes, i - step.at) = form.text.bytes[i];
                continue;
            }
            byte_of(step.order, digit % 16) = static_cast<Byte>(i - step.at);
            if (++digit % 16 && digit < part->n_digits) continue;
            step.bit = (digit - 1) / 16 * 16 * part->width;
            step.is_last = true;
            step.ends = digit == part->n_digits;
            if (!step.ends) continue;
            for (; digit % 16; ++digit) byte_of(step.unused, digit % 16) = '0';
            digit = 0;
            ++part;
        }
        return next;
    }

    // Reads lines while they have this shape.
    void read_alike(const Shape &shape, std::size_t most) {
        const std::size_t length = shape.form->text.size;
        for (std::size_t p = found_.stop; p < most && size_ - p >= length + 16; p += length + 1) {
            if (bytes_[p + length] != '\n' || !reads(shape, bytes_ + p)) return;
            end_line(shape.form, p + length);
        }
    }

    // Reads a line, and returns its shape, if it is known.
    const Shape *read_line(std::size_t start) {
        std::size_t first = start;
        while (is_blank(bytes_[first])) ++first;
        std::size_t end = first;  // of the text: the end of the line, or a comment
        for (bool begins = true; bytes_[end] != '\n'; begins = is_blank(bytes_[end++])) {
            const Byte c = bytes_[end];
            if (begins && (c == ';' || c == '#' || (c == '/' && bytes_[end + 1] == '/'))) break;
        }
        std::size_t stop = end, semicolons = 0;
        for (; bytes_[stop] != '\n'; ++stop) semicolons += bytes_[stop] == ';';
        // A comment that goes on like bytes between semicolons is for the careful reader.
        const bool is_clear = bytes_[end] != ';' || semicolons == 1;
        const Shape *const shape = end > first && is_clear ? shape_of(start, end - start) : nullptr;
        if (end > first && !shape) {
            std::int64_t *const hard = found_.hard[found_.n_hard++];
            hard[0] = found_.line;
            hard[1] = static_cast<std::int64_t>(start);
            hard[2] = static_cast<std::int64_t>(stop);
        }
        end_line(shape ? shape->form : nullptr, stop);
        return shape;
    }

    // The shape of the text at `start`, whose rows are the next ones.
    const Shape *shape_of(std::size_t start, std::size_t length) {
        if (length > longest_) return nullptr;
        const Byte *line = bytes_ + start;
        if (size_ - start < length + 16)
            line = static_cast<Byte *>(std::memcpy(padded_.data(), line, length));
        const Shape *shape = chains_[length % kChains];
        while (shape && !(shape->form->text.size == length && reads(*shape, line)))
            shape = shape->next;
        return shape;
    }

    // Counts a line and its rows, which are in their place.
    void end_line(const Form *form, std::size_t stop) {
        const std::size_t n = form ? form->n_rows : 0;
        if (found_.each && n != 1) {
            found_.each = false;
            for (std::size_t i = 0; i < found_.n_rows; ++i)
                found_.lines[i] = found_.line - static_cast<std::int64_t>(found_.n_rows - i);
        }
        if (!found_.each)
            for (std::size_t i = 0; i < n; ++i) found_.lines[found_.n_rows + i] = found_.line;
        found_.n_rows += n;
        found_.n_skipped += form ? form->n_skipped : 0;
        found_.stop = stop + 1;
        ++found_.line;
    }

    Word *place_of(const Part &part, Word *row) {
        return part.kind == Part::kRow ? row : spare_[part.kind].data();
    }

    // Whether a text, which may be read 16 bytes beyond, has a shape; if so, the next rows are its.
    bool reads(const Shape &shape, const Byte *text) {
        Words bad{}, digits{};
        const Part *part = shape.form->parts;
        Word *row = found_.words[found_.n_rows], excess = 0;
        Word *words = place_of(*part, row), *before = words;
        for (const Step *step = shape.steps; step != shape.end; ++step) {
            const Words some = load<Words>(text + step->at);
            bad |= (some ^ step->bytes) & step->mask;
            digits |= pick_bytes(some, step->order) | step->unused;
            if (!step->is_last) continue;
            const Word bits =
                part->width == 4 ? digit_bits<4>(digits, bad) : digit_bits<1>(digits, bad);
            Word &word = words[step->bit / 64];
            word = (step->bit % 64 ? word : 0) | bits << step->bit % 64;
            digits = Words{};
            if (!step->ends) continue;
            excess |= word >> (part->n_bits - 1) % 64 >> 1;
            const std::size_t n = step->bit / 64 + 1;
            if (part->kind == Part::kRow) row += n;
            if (part->kind == Part::kAgain && std::memcmp(words, before, 8 * n)) return false;
            before = words;
            if (++part != shape.form->parts + shape.form->n_parts) words = place_of(*part, row);
        }
        return (bad[0] | bad[1] | excess) == 0;
    }

    const Byte *const bytes_;
    const std::size_t size_;
    Buffer<Shape> shapes_;
    Buffer<Step> steps_;
    const Shape *chains_[kChains] = {};
    std::size_t longest_ = 0;
    Buffer<Byte> padded_;    // a text at the end of the block, which may be read beyond
    Buffer<Word> spare_[2];  // for a frame that is no row, and for bits that are shown once more
    TextRows &found_;
    Pacer pacer_;
};

}  // namespace

void parse_digits(Text text, const Form *forms, std::size_t n_forms, TextRows &found, Pause pause) {
    LineReader(text, forms, n_forms, found, pause).read();
}

}  // namespace flagstone::FLAGSTONE_VERSION

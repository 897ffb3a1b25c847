// Blanks for what stands beside frames in their lines: timestamps, names, leading fields.
//
// Method. Patterns of a layout are slow, and the lines of a capture begin alike. So when a pattern
// has said how far the beginning of one line goes, the caller notes which bytes are the same in
// every such line and which may be any digit, and lines of this kind are blanked here.
// A known beginning is 64 bytes and, for each, its kind; its frame starts at the last byte that is
// not free.
// Invariant. Lines keep their places. A line that has no frame, or may be wrong, starts with a
// question mark, which is no digit of any notation: who reads it turns to the line itself.
// Cost. One pass over the text; most lines are compared with one known beginning.
#include "text/text.h"
#include "version.h"
#include "views.h"

namespace flagstone::FLAGSTONE_VERSION {

namespace {

using Byte = unsigned char;

// The kinds of bytes. An open end is one where decimal digits may follow, if a to f comes after
// them: else they would be part of the beginning.
enum Kind : Byte { kSame, kDecimal, kHex, kOpenEnd, kFree };

constexpr std::size_t kWidth = 64, kPortion = std::size_t{1} << 26;
constexpr char kHeading[] = "bitbuffer::";

struct Beginning {
    const Byte *bytes, *kinds;
    std::size_t frame;  // where it starts

    explicit Beginning(const Byte *known) : bytes(known), kinds(known + kWidth), frame(0) {
        for (std::size_t i = 0; i < kWidth; ++i)
            if (kinds[i] != kFree) frame = i;
    }

    bool fits(const Byte *line) const {
        Byte unlike = 0;
        for (std::size_t i = 0; i < kWidth; ++i) {
            const Byte decimal = is_decimal(line[i]), hex = decimal | is_letter(line[i]);
            const Byte fit = (line[i] == bytes[i]) | (decimal & (kinds[i] == kDecimal)) |
                             (hex & (kinds[i] == kHex)) | (kinds[i] >= kOpenEnd);
            unlike |= fit ^ 1;
        }
        if (unlike || kinds[frame] != kOpenEnd) return !unlike;
        line += frame;
        while (is_decimal(*line)) ++line;
        return is_letter(*line);
    }
};

// Where what stands after a frame starts, between `p` and the end of the line.
std::size_t frame_end(const Byte *text, std::size_t p, std::size_t stop,
                      Surroundings::After after) {
    std::size_t last = stop;
    while (last > p && is_blank(text[last - 1])) --last;
    if (after == Surroundings::kNothing || last == p) return stop;
    --last;
    const auto starts = [&](std::size_t i) { return i == p || is_blank(text[i - 1]); };
    if (after == Surroundings::kDirection)
        return starts(last) && (text[last] == 'R' || text[last] == 'T') ? last : stop;
    for (std::size_t i = p; text[last] == '\'' && i < last; ++i)
        if (text[i] == '\'' && starts(i)) return i;
    return stop;
}

}  // namespace

std::size_t blank_lines(Text text, std::size_t p, const Surroundings &beside, Byte *result) {
    const Byte *bytes = text.bytes;
    const std::size_t portion = p + kPortion;
    std::size_t recent = 0;
    Buffer<Beginning> known(beside.n_known);
    for (std::size_t i = 0; i < known.size(); ++i)
        known[i] = Beginning(beside.known + 2 * kWidth * i);
    while (p < text.size && p < portion) {
        const std::size_t start = p;
        p = after_blanks(bytes, p);
        if (is_over(bytes, p)) {
            p = line_end(text, p) + 1;
            continue;
        }
        const std::size_t stop = line_end(text, p);
        bool is_odd = false;
        if (stop - p >= sizeof kHeading - 1 &&
            !std::memcmp(bytes + p, kHeading, sizeof kHeading - 1)) {
            p = stop;
        } else if (beside.fields > 0) {
            for (std::size_t i = 0; i < beside.fields && !is_odd; ++i) {
                while (p < stop && !is_blank(bytes[p])) ++p;
                p = after_blanks(bytes, p);
                is_odd = is_over(bytes, p);
            }
        } else {
            if (text.size - start < kWidth) return start;
            const auto fits = [&] { return known[recent].fits(bytes + start); };
            if (recent == known.size() || !fits()) {
                for (recent = 0; recent < known.size() && !fits();) ++recent;
                if (recent == known.size()) return start;
            }
            p = start + known[recent].frame;
            if (p > stop) return start;
        }
        const std::size_t end = frame_end(bytes, p, stop, beside.after);
        std::memset(result + start, ' ', p - start);
        std::memset(result + end, ' ', stop - end);
        std::size_t first = p;
        while (first < end && is_blank(bytes[first])) ++first;
        if (is_odd || (p < stop && (first == end || is_over(bytes, first)))) result[start] = '?';
        p = stop + 1;
    }
    return p;
}

}  // namespace flagstone::FLAGSTONE_VERSION

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace flagstone {

namespace {

// A form as Python gives it: characters and marks, and the bits of each frame.
using GivenForm = std::pair<nb::bytes, std::vector<std::size_t>>;
// The marks of the first digit of a frame, and of the first of its bits once more.
constexpr unsigned char kFirst = 129, kAgain = 130;

Text text_of(const nb::bytes &bytes) {
    return {static_cast<const unsigned char *>(bytes.data()), bytes.size()};
}

Form form_of(const GivenForm &given, int width, std::size_t n_bits, std::vector<Part> &parts) {
    Form form{text_of(given.first), nullptr, 0, 0, 0};
    std::size_t frames = 0;
    unsigned char before = 0;
    for (std::size_t i = 0; i < form.text.size; before = form.text.bytes[i++]) {
        const unsigned char c = form.text.bytes[i];
        if (!Form::is_mark(c)) continue;
        require(c == kFirst ? frames < given.second.size() && !Form::is_mark(before)
                            : c <= kAgain && !parts.empty(),
                "a form has no such mark there");
        if (c == kFirst) {
            const std::size_t length = given.second[frames++];
            const bool is_row = length == n_bits;
            parts.push_back({is_row ? Part::kRow : Part::kSkipped, width, length, 0});
            ++(is_row ? form.n_rows : form.n_skipped);
        } else if (c == kAgain) {
            parts.push_back({Part::kAgain, 1, parts.back().n_bits, 0});
        }
        ++parts.back().n_digits;
    }
    require(frames > 0 && frames == given.second.size(), "a form has a length for each frame");
    for (const Part &part : parts) {
        const std::size_t held = part.width * part.n_digits;
        require(part.n_bits > 0 && part.n_bits <= held && words_of(held) == words_of(part.n_bits),
                "the digits of a form must hold its bits, in as many words");
    }
    form.parts = parts.data();
    form.n_parts = parts.size();
    return form;
}

nb::tuple parse_digits(const Kernels &kernels, nb::bytes block, std::int64_t line, int width,
                       std::size_t n_bits, const std::vector<GivenForm> &given,
                       std::size_t most_hard) {
    const Text text = text_of(block);
    require(text.size == 0 || text.bytes[text.size - 1] == '\n', "the last line must have its end");
    require(width == 1 || width == 4, "a digit must have 1 or 4 bits");
    require(n_bits > 0 && n_bits < std::size_t{1} << 32, "a row must have 1 to 2^32 - 1 bits");
    require(most_hard > 0 && most_hard < std::size_t{1} << 32, "1 to 2^32 - 1 lines may be hard");
    std::vector<std::vector<Part>> parts(given.size());
    std::vector<Form> forms;
    for (std::size_t i = 0; i < given.size(); ++i)
        forms.push_back(form_of(given[i], width, n_bits, parts[i]));
    // A row takes its digits and another byte, since frames are parted.
    const std::size_t most = text.size / ((n_bits - 1) / width + 2), n_words = words_of(n_bits);
    const NewArray words({most, n_words}, "u8", "empty"), lines({most}, "i8", "empty"),
        hard({most_hard, 3}, "i8", "empty");
    TextRows found{{words.data<std::uint64_t>(), most, n_words},
                   lines.data<std::int64_t>(),
                   {hard.data<std::int64_t>(), most_hard, 3},
                   line};
    run([&] { kernels.parse_digits(text, forms.data(), forms.size(), found, pause); });
    nb::object range = nb::module_::import_("builtins").attr("range")(line, found.line);
    return nb::make_tuple(words.first(found.n_rows),
                          found.each ? range : lines.first(found.n_rows),
                          hard.first(found.n_hard), found.n_skipped, found.line - line, found.stop);
}

}  // namespace

void bind_text(nb::class_<Kernels> &kernels) {
    kernels.def("parse_digits", parse_digits, nb::arg("block"), nb::arg("line"), nb::arg("width"),
                nb::arg("n_bits"), nb::arg("forms"), nb::arg("most_hard"));
}

}  // namespace flagstone

#include "bindings.h"

namespace flagstone {

void Numbers::add(std::int64_t number) { numbers_.push_back(number); }
std::size_t Numbers::size() const { return numbers_.size(); }
const std::int64_t *Numbers::data() const { return numbers_.data(); }

namespace {

Text text_of(nb::bytes block) {
    const Text text{static_cast<const unsigned char *>(block.data()), block.size()};
    require(text.size == 0 || text.bytes[text.size - 1] == '\n', "the last line must have its end");
    return text;
}

// The numbers as an array; `first` is added to every `period`-th one.
nb::object array_of(const Numbers &numbers, std::initializer_list<std::size_t> shape,
                    std::int64_t first, int period) {
    const NewArray result(shape, "i8");
    for (std::size_t i = 0; i < numbers.size(); ++i)
        result.data<std::int64_t>()[i] = numbers.data()[i] + (i % period ? 0 : first);
    return result.array();
}

nb::tuple parse_digits(const Kernels &kernels, nb::bytes block, std::int64_t line, int width,
                       std::size_t n_bits, bool keep_only) {
    const Text text = text_of(block);
    require(width == 1 || width == 4, "a digit must have 1 or 4 bits");
    require(n_bits > 0 && n_bits < std::size_t{1} << 32, "a row must have 1 to 2^32 - 1 bits");
    // A row takes its digits and another byte; one more is begun.
    const std::size_t most = text.size / ((n_bits - 1) / width + 2) + 1, n_words = words_of(n_bits);
    const NewArray words({most, n_words}, "u8");
    Numbers lines, hard;
    TextRows found{words.data<std::uint64_t>(), 0, 0, 0, true, lines, hard, pause};
    run([&] { kernels.parse_digits(text, {width, n_bits, keep_only}, found); });
    nb::object range = nb::module_::import_("builtins").attr("range");
    nb::object numbers = found.each ? range(line, line + std::int64_t(found.n_lines))
                                    : array_of(lines, {lines.size()}, line, 1);
    return nb::make_tuple(words.first(found.n_rows), numbers,
                          array_of(hard, {hard.size() / 3, 3}, line, 3), found.skipped,
                          found.n_lines);
}

}  // namespace

void bind_text(nb::class_<Kernels> &kernels) {
    kernels.def("parse_digits", parse_digits, nb::arg("block"), nb::arg("line"), nb::arg("width"),
                nb::arg("n_bits"), nb::arg("keep_only"));
}

}  // namespace flagstone

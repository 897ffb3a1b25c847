// Views of memory that others own, and buffers that kernels own.
//
// A kernel takes views; its bindings have checked that they are contiguous and fit together.
// Kernels use `Buffer` instead of std::vector: code of the standard library that is compiled for
// one version of the processor must not be linked into another (templates of the same name are
// merged), and everything below lives in the namespace of its version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace flagstone {

// Rows of `columns` entries each, one after the other.
template <class T>
struct Matrix {
    T *data;
    std::size_t rows;
    std::size_t columns;

    T *operator[](std::size_t row) const { return data + row * columns; }
    Matrix part(std::size_t first, std::size_t n) const { return {data + first * columns, n, columns}; }
};

// Unsigned entries of 1, 2, 4 or 8 bytes, `stride` bytes apart.
struct Column {
    const unsigned char *data;
    std::ptrdiff_t stride;
    std::size_t size;

    Column from(std::size_t i) const { return {data + std::ptrdiff_t(i) * stride, stride, size}; }
};

// The words of a packed row: column j is bit j mod 64 of word j div 64.
constexpr std::size_t words_of(std::size_t columns) {
    return columns > 0 ? (columns - 1) / 64 + 1 : 1;
}

// Called by long computations now and then, without the GIL; throws if they should stop.
using Pause = void (*)();

#ifdef FLAGSTONE_VERSION
namespace FLAGSTONE_VERSION {

// Zeroed memory on a boundary of 64 bytes, freed with its owner.
template <class T>
class Buffer {
  public:
    Buffer() = default;
    explicit Buffer(std::size_t size) : size_(size) {
        if (size == 0) return;
        if (size > (SIZE_MAX - 64) / sizeof(T)) throw std::bad_alloc();
        void *raw = ::operator new(bytes(), std::align_val_t(64));
        data_ = static_cast<T *>(raw);
        std::memset(raw, 0, bytes());
    }
    Buffer(const Buffer &other) : Buffer(other.size_) {
        if (size_) std::memcpy(data_, other.data_, bytes());
    }
    Buffer(Buffer &&other) noexcept : data_(other.data_), size_(other.size_) {
        other.data_ = nullptr;
        other.size_ = 0;
    }
    Buffer &operator=(Buffer other) noexcept {
        T *data = data_;
        std::size_t size = size_;
        data_ = other.data_;
        size_ = other.size_;
        other.data_ = data;
        other.size_ = size;
        return *this;
    }
    ~Buffer() {
        if (data_) ::operator delete(data_, std::align_val_t(64));
    }

    // Back to zeros.
    void clear() {
        if (data_) std::memset(static_cast<void *>(data_), 0, bytes());
    }

    T *data() { return data_; }
    const T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) { return data_[i]; }
    const T &operator[](std::size_t i) const { return data_[i]; }

  private:
    std::size_t bytes() const { return size_ * sizeof(T); }

    T *data_ = nullptr;
    std::size_t size_ = 0;
};

// Counts the words that were worked on, and pauses every few milliseconds.
class Pacer {
  public:
    explicit Pacer(Pause pause) : pause_(pause) {}
    void did(std::size_t words) {
        done_ += words;
        if (done_ < kPortion) return;
        done_ = 0;
        pause_();
    }

  private:
    static constexpr std::size_t kPortion = std::size_t{1} << 25;
    Pause pause_;
    std::size_t done_ = 0;
};

// Of numbers, or of each lane of vectors.
template <class V>
inline V smaller(const V &x, const V &y) {
    return x < y ? x : y;
}

}  // namespace FLAGSTONE_VERSION
#endif
}  // namespace flagstone

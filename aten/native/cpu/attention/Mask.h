#pragma once
// Masks that are added to scores. Included by files compiled once per instruction set.
#include <limits>

#include "aten/native/cpu/attention/Operands.h"
#include "aten/ops/expand.h"

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace attention {

/// The first `count` of a vector of elements as 1 for True and 0 for False, then zeros.
template <class Sum>
tile::Vector<Sum> as_numbers(const bool* from, int64_t count) {
  const auto* const bytes = reinterpret_cast<const int8_t*>(from);
  if constexpr (std::is_same_v<Sum, float>) return tile::load_converted<float>(bytes, count);

  tile::Vector<Sum> numbers = {};
  for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<Sum>(bytes[i]);
  return numbers;
}

/// What an element of a mask adds to a score.
template <class Sum, class In>
Sum added_by(In element) {
  if constexpr (std::is_same_v<In, bool>)
    return element ? Sum(0) : -std::numeric_limits<Sum>::infinity();
  else return static_cast<Sum>(element);
}

/// A mask broadcast to (N, H, queries, keys): True for keys that take part, or numbers to add.
class Mask {
 public:
  Mask(const Tensor& given, const DimVector& sizes) {
    if (!given.defined()) return;
    tensor_ = at::expand(given, sizes);
    heads_ = sizes[1];
    for (size_t d = 0; d < 4; ++d) steps_[d] = tensor_.stride(static_cast<int64_t>(d));
  }

  bool defined() const { return tensor_.defined(); }

  /// scores[key][query] += mask, for rows of `step` elements. The buffer is for `n` keys of
  /// a vector of queries.
  template <class Sum>
  void add_to(int64_t matrix, int64_t query, int64_t count, int64_t key, int64_t n, Sum* scores,
              int64_t step, Sum* buffer) const {
    with_elements([&](auto* data) {
      const auto* const from = data + offset(matrix, query, key);
      if (steps_[2] != 0 && steps_[3] == 1) return add_lines(from, count, n, scores, step, buffer);

      for (int64_t k = 0; k < n; ++k) {
        const auto* const column = from + k * steps_[3];
        Sum* const row = scores + k * step;

        if (steps_[2] == 0) add_to_all(added_by<Sum>(*column), row, count);
        else
          for (int64_t l = 0; l < count; ++l) row[l] += added_by<Sum>(column[l * steps_[2]]);
      }
    });
  }

  /// scores[key] += mask, for one query.
  template <class Sum>
  void add_to_row(int64_t matrix, int64_t query, int64_t key, int64_t n, Sum* scores) const {
    with_elements([&](auto* data) {
      const auto* const from = data + offset(matrix, query, key);
      for (int64_t k = 0; k < n; ++k) scores[k] += added_by<Sum>(from[k * steps_[3]]);
    });
  }

 private:
  int64_t offset(int64_t matrix, int64_t query, int64_t key) const {
    return matrix / heads_ * steps_[0] + matrix % heads_ * steps_[1] + query * steps_[2] +
           key * steps_[3];
  }

  template <class F>
  void with_elements(const F& f) const {
    const void* const data = tensor_.data();
    switch (tensor_.scalar_type()) {
      case kBool: return f(static_cast<const bool*>(data));
      case kDouble: return f(static_cast<const double*>(data));
      case kHalf: return f(static_cast<const c10::Half*>(data));
      case kBFloat16: return f(static_cast<const c10::BFloat16*>(data));
      default: return f(static_cast<const float*>(data));
    }
  }

  template <class Sum>
  static void add_to_all(Sum added, Sum* row, int64_t count) {
    for (int64_t l = 0; l < count; ++l) row[l] += added;
  }

  /// Rows of the mask are dense: they are transposed, then added.
  template <class Sum, class In>
  void add_lines(const In* from, int64_t count, int64_t n, Sum* scores, int64_t step,
                 Sum* buffer) const {
    constexpr int64_t W = tile::kWidth<Sum>;
    for (int64_t first = 0; first < count; first += W) {
      const auto read = [&](int64_t i, int64_t p, int64_t length) {
        return read_line<Sum>(from + (first + i) * steps_[2] + p, length);
      };
      tile::pack_transposed<Sum>(read, std::min(W, count - first), n, buffer, W);

      for (int64_t k = 0; k < n; ++k) {
        Sum* const row = scores + k * step + first;
        tile::store(row, tile::load(row) + tile::load(buffer + k * W));
      }
    }
  }

  template <class Sum, class In>
  static tile::Vector<Sum> read_line(const In* from, int64_t length) {
    if constexpr (std::is_same_v<Sum, In> || (std::is_same_v<Sum, float> && sizeof(In) == 2)) {
      return tile::load_converted<Sum>(from, length);
    } else if constexpr (std::is_same_v<In, bool>) {
      return as_numbers<Sum>(from, length) != 0 ? tile::Vector<Sum>{}
                                                : tile::broadcast(added_by<Sum>(false));
    } else {
      Sum line[tile::kWidth<Sum>] = {};
      for (int64_t i = 0; i < length; ++i) line[i] = added_by<Sum>(from[i]);
      return tile::load(line);
    }
  }

  Tensor tensor_;
  int64_t heads_ = 1;
  int64_t steps_[4] = {};
};

}  // namespace attention
}  // namespace CPU_CAPABILITY
}  // namespace at::native

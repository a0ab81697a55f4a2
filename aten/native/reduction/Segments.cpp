// segment_reduce: reductions of consecutive segments of a dimension.
//
// The segments become rows of equal length, padded with the identity of the reduction, so that the
// operators that reduce rows serve here with their derivatives of every order. Segments of very
// different lengths would need too much padding; their elements are scattered instead.
#include <limits>

#include "aten/native/declarations/reduction/Segments.h"
#include "aten/native/shared/HostValues.h"
#include "aten/ops/amax.h"
#include "aten/ops/amin.h"
#include "aten/ops/any.h"
#include "aten/ops/arange.h"
#include "aten/ops/clamp_max.h"
#include "aten/ops/clamp_min.h"
#include "aten/ops/cumsum.h"
#include "aten/ops/diff.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/gather.h"
#include "aten/ops/ge.h"
#include "aten/ops/gt.h"
#include "aten/ops/lt.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/narrow.h"
#include "aten/ops/ne.h"
#include "aten/ops/new_full.h"
#include "aten/ops/prod.h"
#include "aten/ops/reshape.h"
#include "aten/ops/scatter_reduce.h"
#include "aten/ops/searchsorted.h"
#include "aten/ops/sum.h"
#include "aten/ops/where.h"

namespace at::native {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Kind { Sum, Mean, Max, Min, Prod };

Kind kind_of(std::string_view reduce) {
  if (reduce == "sum") return Kind::Sum;
  if (reduce == "mean") return Kind::Mean;
  if (reduce == "max") return Kind::Max;
  if (reduce == "min") return Kind::Min;
  TORCH_CHECK(reduce == "prod",
              "segment_reduce(): reduce argument must be either sum, prod, mean, max or min, got ",
              reduce);
  return Kind::Prod;
}

double identity_of(Kind kind) {
  switch (kind) {
    case Kind::Max: return -kInfinity;
    case Kind::Min: return kInfinity;
    case Kind::Prod: return 1;
    default: return 0;
  }
}

/// Where the segments of each row begin and how long they are.
struct Segments {
  Tensor starts;
  Tensor lengths;
};

/// `layout` is the lengths or offsets of the segments, called `name` in messages.
void check_segment_shape(const char* name, const Tensor& layout, const Tensor& data, int64_t axis) {
  TORCH_CHECK_NOT_IMPLEMENTED(layout.scalar_type() == kLong || layout.scalar_type() == kInt,
                              "segment_reduce(): \"", name, "\" not implemented for '",
                              layout.scalar_type(), "'");
  TORCH_CHECK(axis == layout.dim() - 1,
              "segment_reduce(): Expected axis to be the last dimension of ", name, " but got ",
              axis, ".");
  for (int64_t d = 0; d < axis; ++d) {
    TORCH_CHECK(layout.size(d) == data.size(d), "segment_reduce(): Expected ", name,
                " and data to have the same size in dimension ", d, ", got ", layout.size(d),
                " and ", data.size(d));
  }
}

/// Whether a condition is true anywhere. False for meta tensors, whose values are unknown.
bool holds_anywhere(const Tensor& condition) {
  return has_elements(condition) && at::any(condition).item().to_bool();
}

Segments segments_by_lengths(const Tensor& requested, const Tensor& data, int64_t axis,
                             bool unsafe) {
  check_segment_shape("lengths", requested, data, axis);
  const Tensor lengths = requested.to(kLong);
  const Tensor ends = at::cumsum(lengths, -1);

  if (!unsafe) {
    TORCH_CHECK(!holds_anywhere(at::lt(lengths, Scalar(0))),
                "segment_reduce(): lengths contains negative value!");
    const Tensor totals = at::sum(lengths, IntArrayRef{-1});
    TORCH_CHECK(!holds_anywhere(at::ne(totals, Scalar(data.size(axis)))),
                "segment_reduce(): Expected all rows of lengths along axis to sum to "
                "data.size(lengths.dim()-1) = ",
                data.size(axis), " when !unsafe.");
  }

  return {ends - lengths, lengths};
}

Segments segments_by_offsets(const Tensor& requested, const Tensor& data, int64_t axis) {
  check_segment_shape("offsets", requested, data, axis);
  TORCH_CHECK(requested.size(-1) > 0,
              "segment_reduce(): Expected offsets to have at least one element in each row");

  const Tensor offsets = requested.to(kLong);
  const Tensor starts = at::narrow(offsets, -1, 0, offsets.size(-1) - 1);
  return {starts, at::diff(offsets)};
}

void check_inside(const Segments& segments, int64_t size) {
  // Starts and lengths are bounded before they are added, which may overflow.
  const Tensor room = Scalar(size) - at::clamp_max(segments.starts, Scalar(size + 1));
  TORCH_CHECK(!holds_anywhere(at::lt(segments.lengths, Scalar(0))) &&
                  !holds_anywhere(at::lt(segments.starts, Scalar(0))) &&
                  !holds_anywhere(at::gt(segments.lengths, room)),
              "segment_reduce(): the segments reach outside the data, which has ", size,
              " elements along axis");
}

/// Adds the dimensions after `axis` with size 1 to `index`, so that it broadcasts to the data.
Tensor with_other_dims(const Tensor& index, const Tensor& data, int64_t axis) {
  DimVector sizes(index.sizes());
  for (int64_t d = axis + 1; d < data.dim(); ++d) sizes.push_back(1);
  return at::reshape(index, sizes);
}

/// The data with dimension `axis` split in two: the segments, and their elements with padding.
Tensor padded_segments(const Tensor& data, const Segments& segments, int64_t axis, double padding) {
  const int64_t count = segments.lengths.size(-1);
  const int64_t size = data.size(axis);
  const int64_t longest = segments.lengths.numel() == 0 || data.is_meta()
                              ? 0
                              : at::amax(segments.lengths).item<int64_t>();
  const int64_t width = std::max<int64_t>(1, longest);

  // The padded segments lie one after another along `axis` before that dimension is split.
  DimVector sizes(data.sizes());
  sizes[axis] = count * width;
  DimVector split_sizes(sizes);
  split_sizes[axis] = count;
  split_sizes.insert(split_sizes.begin() + axis + 1, width);
  if (size == 0) return at::new_full(data, split_sizes, Scalar(padding));

  // The position in the data of each padded element, and whether it is padding.
  const Tensor steps = at::arange(Scalar(width), kLong, std::nullopt, data.device());
  const Tensor positions = at::clamp_max(segments.starts.unsqueeze(-1) + steps, Scalar(size - 1));
  const Tensor is_padding = at::ge(steps.expand(positions.sizes()), segments.lengths.unsqueeze(-1));

  DimVector rows(segments.lengths.sizes());
  rows[axis] = count * width;
  const auto everywhere = [&](const Tensor& index) {
    return at::expand(with_other_dims(at::reshape(index, rows), data, axis), sizes);
  };

  const Tensor gathered = at::gather(data, axis, everywhere(positions));
  const Tensor padded = at::masked_fill(gathered, everywhere(is_padding), Scalar(padding));
  return at::reshape(padded, split_sizes);
}

Tensor reduced(const Tensor& padded, Kind kind, int64_t dim) {
  switch (kind) {
    case Kind::Max: return at::amax(padded, dim);
    case Kind::Min: return at::amin(padded, dim);
    case Kind::Prod: return at::prod(padded, dim);
    default: return at::sum(padded, dim);
  }
}

/// Whether rows as long as the longest segment would take far more memory than the data.
bool are_uneven(const Tensor& data, const Segments& segments) {
  if (data.is_meta() || segments.lengths.numel() == 0 || data.numel() == 0) return false;

  const int64_t count = segments.lengths.numel();
  const int64_t longest = at::amax(segments.lengths).item<int64_t>();
  return longest > 65536 / count + 16 * (data.numel() / count);
}

/// Scatters each element into the result of its segment.
Tensor scattered(const Tensor& data, const Segments& segments, int64_t axis, Kind kind) {
  const int64_t count = segments.lengths.size(-1);
  DimVector rows(segments.lengths.sizes());
  rows[axis] = data.size(axis);
  DimVector sizes(data.sizes());
  sizes[axis] = count + 1;  // the last one collects the elements outside all segments

  // The segment of each position along `axis`: the first whose end lies behind it.
  const Tensor positions =
      at::expand(at::arange(Scalar(data.size(axis)), kLong, std::nullopt, data.device()), rows)
          .contiguous();
  const Tensor ends = (segments.starts + segments.lengths).contiguous();
  const Tensor segment =
      at::masked_fill(at::searchsorted(ends, positions, false, true),
                      at::lt(positions, at::narrow(segments.starts, -1, 0, 1)), Scalar(count));

  const char* reduce = kind == Kind::Max    ? "amax"
                       : kind == Kind::Min  ? "amin"
                       : kind == Kind::Prod ? "prod"
                                            : "sum";
  const Tensor start = at::new_full(data, sizes, Scalar(identity_of(kind)));
  const Tensor index = at::expand(with_other_dims(segment, data, axis), data.sizes());
  return at::narrow(at::scatter_reduce(start, axis, index, data, reduce), axis, 0, count);
}

Tensor with_initial(const Tensor& result, const Scalar& initial, Kind kind) {
  switch (kind) {
    case Kind::Max: return at::clamp_min(result, initial);
    case Kind::Min: return at::clamp_max(result, initial);
    case Kind::Prod: return result * initial;
    default: return result + initial;
  }
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths,
                      const Tensor& indices, const Tensor& offsets, int64_t axis, bool unsafe,
                      const std::optional<Scalar>& initial) {
  const int64_t d = wrap_dim(axis, data.dim());
  TORCH_CHECK(data.dim() > 0, "segment_reduce(): Expected data to have at least one dimension");
  TORCH_CHECK_NOT_IMPLEMENTED(data.is_floating_point(), "segment_reduce() is not implemented for '",
                              data.scalar_type(), "'");
  TORCH_CHECK(!indices.defined(),
              "segment_reduce(): indices based reduction is not supported yet.");
  TORCH_CHECK(lengths.defined() || offsets.defined(),
              "segment_reduce(): Either lengths or offsets must be defined.");
  const Kind kind = kind_of(reduce);
  const Segments segments = offsets.defined() ? segments_by_offsets(offsets, data, d)
                                              : segments_by_lengths(lengths, data, d, unsafe);
  check_inside(segments, data.size(d));

  Tensor result = are_uneven(data, segments)
                      ? scattered(data, segments, d, kind)
                      : reduced(padded_segments(data, segments, d, identity_of(kind)), kind, d + 1);

  if (initial.has_value()) result = with_initial(result, *initial, kind);
  if (kind != Kind::Mean) return result;

  // The mean of an empty segment is the initial value, or NaN without one.
  const Tensor counts = with_other_dims(segments.lengths, data, d);
  const Tensor means = result / at::clamp_min(counts, Scalar(1));
  return initial.has_value() ? means
                             : at::masked_fill(means, at::eq(counts, Scalar(0)),
                                               Scalar(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace at::native

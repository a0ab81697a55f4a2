// Plans and visits two-dimensional blocks of strided operands.
#include "aten/iteration/Blocks.h"

#include <algorithm>
#include <cstdlib>

#include "aten/iteration/BlockCopy.h"
#include "aten/parallel/Parallel.h"

namespace at::native {

namespace {

constexpr int64_t kTile = 128;
constexpr int64_t kLine = 64;               // bytes of a cache line
constexpr int64_t kShortRow = 32;           // elements below which rows are looped over together
constexpr int64_t kFlat = 512;              // elements of a block of short rows
constexpr int64_t kBuffer = kTile * kLine;  // bytes for the staged part of one operand
constexpr int64_t kCopied = kTile * kTile;  // elements of a block that is only copied
constexpr int64_t kStreamed = 8 << 20;      // bytes of a copy that would only flush the caches

int64_t item_size(const TensorIterator& iter, int operand) {
  return static_cast<int64_t>(iter.tensor(operand).itemsize());
}

/// Whether the elements of an operand along dimension 0 lie in different cache lines, which those
/// along d share.
bool is_crosswise(const TensorIterator& iter, int operand, int d) {
  const int64_t step0 = std::abs(iter.strides(operand)[0]);
  const int64_t step = std::abs(iter.strides(operand)[d]);
  return step != 0 && step < step0 && step < kLine && step0 > 8;
}

/// Whether a loop over n0 * n1 elements can use the operand in place.
bool is_flat(const TensorIterator& iter, int operand, int d) {
  return iter.strides(operand)[0] * iter.shape()[0] == iter.strides(operand)[d];
}

bool has_repeated_output(const TensorIterator& iter) {
  for (int d = 0; d < iter.dim(); ++d)
    if (iter.strides(0)[d] == 0) return true;
  return false;
}

/// The first dimension along which an operand is contiguous and crosswise to dimension 0, or 0.
int crosswise_dimension(const TensorIterator& iter) {
  for (int k = 0; k < iter.ntensors(); ++k) {
    int best = 0;
    for (int d = 1; d < iter.dim(); ++d) {
      const bool better =
          best == 0 || std::abs(iter.strides(k)[d]) < std::abs(iter.strides(k)[best]);
      if (is_crosswise(iter, k, d) && iter.shape()[d] > 1 && better) best = d;
    }
    if (best != 0) return best;
  }
  return 0;
}

/// The dimension that short rows go on along: the next one, unless it is short itself.
int continuing_dimension(const TensorIterator& iter) {
  constexpr int64_t kLongEnough = 16;
  int longest = 1;
  for (int d = 2; d < iter.dim(); ++d)
    if (iter.shape()[longest] < kLongEnough && iter.shape()[d] > iter.shape()[longest]) longest = d;
  return longest;
}

/// The other dimension of the blocks: a crosswise one if it is worth it, or that of short rows.
int block_dimension(const TensorIterator& iter) {
  constexpr int64_t kWorthIt = 4;
  const int crosswise = crosswise_dimension(iter);
  if (crosswise != 0 && iter.shape()[crosswise] >= kWorthIt) return crosswise;
  return continuing_dimension(iter);
}

/// The blocks of a loop, one after another.
class BlockWalk {
 public:
  BlockWalk(const TensorIterator& iter, const BlockPlan& plan)
      : iter_(iter),
        other_(plan.other),
        extent0_(plan.extent0),
        extent1_(plan.extent1),
        count0_((iter.shape()[0] + extent0_ - 1) / extent0_),
        count1_((iter.shape()[other_] + extent1_ - 1) / extent1_) {}

  /// The number of blocks.
  int64_t count() const {
    const IntArrayRef shape = iter_.shape();
    return count0_ * count1_ * (iter_.numel() / (shape[0] * shape[other_]));
  }

  /// Calls f(data, n0, n1) for the blocks [begin, end); data[k] is the first element of operand k.
  template <class F>
  void for_each(int64_t begin, int64_t end, const F& f) const {
    const IntArrayRef shape = iter_.shape();
    const int n = iter_.ntensors();
    char* data[TensorIterator::kMaxOperands];

    for (int64_t block = begin; block < end; ++block) {
      const int64_t first0 = block % count0_ * extent0_;
      const int64_t first1 = block / count0_ % count1_ * extent1_;
      for (int k = 0; k < n; ++k)
        data[k] = iter_.data(k) + first0 * iter_.strides(k)[0] + first1 * iter_.strides(k)[other_];

      int64_t rest = block / count0_ / count1_;
      for (int d = 1; d < iter_.dim() && rest != 0; ++d) {
        if (d == other_) continue;
        const int64_t index = rest % shape[d];
        rest /= shape[d];
        for (int k = 0; k < n; ++k) data[k] += index * iter_.strides(k)[d];
      }

      f(data, std::min(extent0_, shape[0] - first0), std::min(extent1_, shape[other_] - first1));
    }
  }

  /// Calls f(begin, end) for ranges of blocks, on several threads if there are more than `grain`
  /// elements.
  template <class F>
  void split(int64_t grain, const F& f) const {
    const int64_t blocks = count();
    const int64_t elements = std::max<int64_t>(1, iter_.numel() / blocks);
    if (iter_.numel() <= grain) return f(0, blocks);
    parallel_for(0, blocks, std::max<int64_t>(1, grain / elements), f);
  }

 private:
  const TensorIterator& iter_;
  int other_;
  int64_t extent0_;
  int64_t extent1_;
  int64_t count0_;
  int64_t count1_;
};

/// The part of one block at a time that is staged, in buffers in the first-level cache.
class Stage {
 public:
  Stage(const TensorIterator& iter, const BlockPlan& plan)
      : iter_(iter), plan_(plan), columns_(plan.extent1) {
    for (int k = 0; k < iter.ntensors(); ++k) {
      size_[k] = item_size(iter, k);
      step0_[k] = plan.stages(k) ? size_[k] : iter.strides(k)[0];
      // Strips of a transposed block use whole cache lines of the staged operands.
      if (plan.stages(k) && !plan.is_flat) columns_ = std::min(columns_, kLine / size_[k]);
    }
  }

  void run(RowLoop loop, const void* context, char* const* data, int64_t n0, int64_t n1) {
    for (int64_t first = 0; first < n1; first += columns_)
      run_strip(loop, context, data, first, n0, std::min(columns_, n1 - first));
  }

 private:
  void run_strip(RowLoop loop, const void* context, char* const* data, int64_t first, int64_t n0,
                 int64_t n1) {
    char* row[TensorIterator::kMaxOperands];
    int64_t row_strides[TensorIterator::kMaxOperands];
    const int operands = iter_.ntensors();
    for (int k = 0; k < operands; ++k) {
      row[k] = data[k] + first * iter_.strides(k)[plan_.other];
      row_strides[k] = iter_.strides(k)[plan_.other];
      if (!plan_.stages(k)) continue;

      if (k > 0) stage(k, row[k], n0, n1);
      row[k] = buffers_[k];
      row_strides[k] = n0 * size_[k];
    }

    const int64_t n = plan_.is_flat ? n0 * n1 : n0;
    loop(context, {row, step0_, row_strides, n, n0 * n1 / n, operands});

    if (plan_.stages(0)) {
      char* const target = data[0] + first * iter_.strides(0)[plan_.other];
      copy(original(0, target), buffer(0, n0), 0, n0, n1);
    }
  }

  /// Copies an input to its buffer, unless that has it already: a row that is repeated along the
  /// other dimension is the same in every block.
  void stage(int k, char* first, int64_t n0, int64_t n1) {
    Repeated& last = repeated_[k];
    if (last.first == first && last.n0 == n0 && last.n1 >= n1) return;

    copy(buffer(k, n0), original(k, first), k, n0, n1);
    if (iter_.strides(k)[plan_.other] == 0) last = {first, n0, n1};
  }

  BlockSide buffer(int k, int64_t n0) { return {buffers_[k], size_[k], n0 * size_[k]}; }
  BlockSide original(int k, char* first) const {
    return {first, iter_.strides(k)[0], iter_.strides(k)[plan_.other]};
  }

  void copy(const BlockSide& target, const BlockSide& source, int k, int64_t n0, int64_t n1) const {
    static const auto kernel = TORCH_PY_CHOOSE_KERNEL(copy_block);
    kernel(target, source, static_cast<size_t>(size_[k]), n0, n1, /*stream=*/false);
  }

  const TensorIterator& iter_;
  const BlockPlan& plan_;
  int64_t columns_;
  int64_t size_[TensorIterator::kMaxOperands];
  int64_t step0_[TensorIterator::kMaxOperands];

  /// What a buffer of repeated rows was copied from; null for other operands.
  struct Repeated {
    const char* first = nullptr;
    int64_t n0 = 0;
    int64_t n1 = 0;
  };
  Repeated repeated_[TensorIterator::kMaxOperands];
  alignas(kLine) char buffers_[TensorIterator::kMaxOperands][kBuffer];
};

/// Copies a single row.
void copy_rows(const TensorIterator& iter, const size_t& size) {
  auto loop = [](const void* context, char* const* data, const int64_t* strides, int64_t n) {
    static const auto kernel = TORCH_PY_CHOOSE_KERNEL(copy_row);
    kernel(data[0], strides[0], data[1], strides[1], *static_cast<const size_t*>(context), n);
  };
  iter.for_each(loop, &size);
}

}  // namespace

BlockPlan plan_blocks(const TensorIterator& iter) {
  if (has_repeated_output(iter)) return {};

  BlockPlan plan;
  const int other = block_dimension(iter);
  plan.is_flat = iter.shape()[0] <= kShortRow;
  plan.extent0 = plan.is_flat ? iter.shape()[0] : kTile;
  plan.extent1 = plan.is_flat ? kFlat / plan.extent0 : kTile;

  for (int k = 0; k < iter.ntensors(); ++k) {
    const bool stages = plan.is_flat ? !is_flat(iter, k, other) : is_crosswise(iter, k, other);
    if (stages) plan.staged |= 1u << k;
  }
  if (plan.is_flat || plan.staged != 0) plan.other = other;
  return plan;
}

void for_each_block(const TensorIterator& iter, const BlockPlan& plan, RowLoop loop,
                    const void* context, int64_t grain) {
  const BlockWalk walk(iter, plan);
  walk.split(grain, [&](int64_t begin, int64_t end) {
    Stage stage(iter, plan);
    walk.for_each(begin, end, [&](char* const* data, int64_t n0, int64_t n1) {
      stage.run(loop, context, data, n0, n1);
    });
  });
}

void copy_elements(const TensorIterator& iter) {
  if (iter.numel() == 0) return;
  const auto size = static_cast<size_t>(item_size(iter, 0));
  if (iter.dim() == 1) return copy_rows(iter, size);

  BlockPlan plan;
  plan.other = block_dimension(iter);
  const int64_t n0 = iter.shape()[0];
  const int64_t n1 = iter.shape()[plan.other];
  const bool transposes = is_crosswise(iter, 0, plan.other) || is_crosswise(iter, 1, plan.other);
  plan.extent0 = transposes ? std::max(kTile, kCopied / n1) : kCopied;
  plan.extent1 = std::max(transposes ? kTile : 1, kCopied / n0);

  static const auto kernel = TORCH_PY_CHOOSE_KERNEL(copy_block);
  const bool stream = iter.numel() * item_size(iter, 0) >= kStreamed;
  const BlockWalk walk(iter, plan);
  walk.split(TensorIterator::kGrain, [&](int64_t begin, int64_t end) {
    walk.for_each(begin, end, [&](char* const* data, int64_t width, int64_t height) {
      const BlockSide target = {data[0], iter.strides(0)[0], iter.strides(0)[plan.other]};
      const BlockSide source = {data[1], iter.strides(1)[0], iter.strides(1)[plan.other]};
      kernel(target, source, size, width, height, stream);
    });
  });
}

}  // namespace at::native

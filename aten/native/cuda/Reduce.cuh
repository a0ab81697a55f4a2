// reduce, which runs a planned reduction on a device.
#pragma once
#include "aten/native/cuda/Elementwise.cuh"
#include "aten/native/cuda/ReduceColumns.cuh"
#include "aten/native/cuda/ReduceRows.cuh"
#include "c10/cuda/Memory.h"

namespace at::native::cuda {

namespace detail {

/// Memory for the parts of long reductions and the counters of finished pieces. Freed when the
/// launch has been put into the stream: what is allocated later comes after it in the stream.
class ReduceWorkspace {
 public:
  ReduceWorkspace(ReduceTarget& target, int64_t parts, size_t part_size, int64_t counters) {
    const size_t counted = static_cast<size_t>(counters) * sizeof(unsigned);
    const size_t begin = (counted + 15) / 16 * 16;
    memory_ =
        c10::cuda::device_allocator().allocate(begin + static_cast<size_t>(parts) * part_size);
    C10_CUDA_CHECK(cudaMemsetAsync(memory_.get(), 0, counted, c10::cuda::current_stream()));
    target.counters = static_cast<unsigned*>(memory_.get());
    target.parts = static_cast<char*>(memory_.get()) + begin;
  }

 private:
  c10::DataPtr memory_;
};

/// Whether packs of `width` inputs can be read: they are adjacent along dimension 0, and every pack
/// begins at a multiple of its size. Only a single row may end with an incomplete pack.
inline bool reads_packs(const LaunchPlan& plan, const ReduceShape& shape, int width) {
  const auto itemsize = static_cast<int64_t>(element_size(plan.dtype(1)));
  if (width == 1 || plan.strides[1][0] != itemsize) return false;

  const bool is_single_row = plan.dims == 1 && !shape.has_columns;
  if (!is_single_row && plan.sizes[0] % width != 0) return false;

  bool aligned = reinterpret_cast<uintptr_t>(plan.operand[1].data) % (itemsize * width) == 0;
  for (int d = 1; d < plan.dims; ++d)
    aligned = aligned && plan.strides[1][d] % (itemsize * width) == 0;
  return aligned;
}

inline ReduceTarget reduce_target(const LaunchPlan& plan) {
  char* const second = plan.operands > 2 ? plan.operand[2].data : nullptr;
  return {{plan.operand[0].data, plan.operand[1].data, second}, nullptr, nullptr};
}

template <int kWidth, class Ops>
void reduce_rows(const LaunchPlan& plan, const ReduceShape& shape, const Ops& ops) {
  const ReduceGeometry geometry = geometry_of_rows(shape, kWidth, kWidth > 4 ? kWidth : 4);
  ReduceRowsArguments arguments{reduce_target(plan),
                                shape.kept,
                                shape.reduced,
                                geometry.piece_length,
                                static_cast<unsigned>(geometry.pieces),
                                geometry.across};
  std::optional<ReduceWorkspace> workspace;
  if (geometry.pieces > 1) {
    workspace.emplace(arguments.target, shape.results() * geometry.pieces,
                      sizeof(typename Ops::acc_t), shape.results());
  }

  const int64_t groups = (shape.results() + geometry.down - 1) / geometry.down;
  c10::cuda::launch(plan.op_name, &reduce_rows_kernel<kWidth, Ops>,
                    dim3(static_cast<unsigned>(groups * geometry.pieces)), dim3(kReduceThreads), 0,
                    c10::cuda::current_stream(), arguments, ops);
}

template <int kWidth, class Ops>
void reduce_columns(const LaunchPlan& plan, const ReduceShape& shape, const Ops& ops) {
  const ReduceGeometry geometry = geometry_of_columns(shape, kWidth);
  const int64_t columns_per_block = int64_t{geometry.across} * kWidth;
  const int64_t tiles = (shape.columns + columns_per_block - 1) / columns_per_block;
  ReduceColumnsArguments arguments{reduce_target(plan),
                                   shape.kept,
                                   shape.reduced,
                                   shape.columns,
                                   {},
                                   geometry.piece_length,
                                   static_cast<unsigned>(geometry.pieces),
                                   static_cast<unsigned>(tiles),
                                   geometry.across,
                                   geometry.down};
  for (int k = 0; k < 3; ++k) arguments.column_stride[k] = shape.column_stride[k];

  const int64_t groups = shape.kept.count * tiles;
  std::optional<ReduceWorkspace> workspace;
  if (geometry.pieces > 1) {
    workspace.emplace(arguments.target, shape.results() * geometry.pieces,
                      sizeof(typename Ops::acc_t), groups);
  }

  c10::cuda::launch(plan.op_name, &reduce_columns_kernel<kWidth, Ops>,
                    dim3(static_cast<unsigned>(groups * geometry.pieces)),
                    dim3(static_cast<unsigned>(geometry.across * geometry.down)), 0,
                    c10::cuda::current_stream(), arguments, ops);
}

}  // namespace detail

/// Runs the reduction of at least one element that `plan` describes: operand 0 is the result, with
/// stride 0 along reduced dimensions, operand 1 the input; operand 2 gets the second result of Ops
/// that have one. `limit` is for tests; see ReduceDims.
template <class Ops>
void reduce_elements(const LaunchPlan& plan, const Ops& ops, int64_t limit = int64_t{1} << 31) {
  static_assert(std::is_trivially_copyable_v<Ops> && sizeof(typename Ops::acc_t) <= 16);
  TORCH_INTERNAL_ASSERT(element_size(plan.dtype(0)) == sizeof(typename Ops::output_t) &&
                            element_size(plan.dtype(1)) == sizeof(typename Ops::input_t),
                        plan.op_name, ": wrong element type");

  // A thread's accumulators take at most 64 bytes: in registers, and in shared memory.
  constexpr int kAccumulators = 64 / static_cast<int>(sizeof(typename Ops::acc_t));
  constexpr int kWidth = std::min(kPackWidth<typename Ops::input_t>, kAccumulators);
  const ReduceShape shape(plan, limit);
  const bool packed = detail::reads_packs(plan, shape, kWidth);
  if (shape.has_columns) {
    packed ? detail::reduce_columns<kWidth>(plan, shape, ops)
           : detail::reduce_columns<1>(plan, shape, ops);
  } else {
    packed ? detail::reduce_rows<kWidth>(plan, shape, ops)
           : detail::reduce_rows<1>(plan, shape, ops);
  }
}

/// Runs the reduction that `iter` plans (ReductionPlan.h). The result of zero elements is the
/// identity.
template <class Ops>
void reduce(const TensorIterator& iter, const Ops& ops) {
  const LaunchPlan plan = launch_plan(iter);
  if (plan.numel != 0) return reduce_elements(plan, ops);
  elementwise(result_plan(iter), Constant<typename Ops::output_t>{ops.project(ops.identity())});
}

}  // namespace at::native::cuda

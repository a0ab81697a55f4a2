// Fused attention that never stores the matrix of all scores (Dao et al. 2022): the scores of a
// block of queries and keys stay in the cache. A query keeps its largest score and the sum of
// exponentials so far; when a larger score comes, its output so far is rescaled. Compiled with -O3.
#include "aten/native/declarations/cpu/nn/AttentionKernel.isa.h"
#include "aten/Dispatch.h"
#include "aten/native/cpu/attention/Backward.h"
#include "aten/native/cpu/attention/FewQueries.h"
#include "aten/native/cpu/attention/Forward.h"
#include "aten/ops/contiguous.h"
#include "c10/cpu/CpuInfo.h"

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

using namespace attention;

/// Calls f with the elements (see aten/blas/tile/Elements.h) that multiply T on this processor.
template <class T, class F>
void with_elements_of(const F& f) {
  if constexpr (std::is_same_v<T, c10::BFloat16>) {
#ifdef AT_TILE_HAS_PAIRS
    if (c10::cpu_features().avx512_bf16) return f(tile::Pairs());
#endif
  }
  if constexpr (sizeof(T) == 2) f(tile::Widened<T>());
  else f(tile::Floats<T>());
}

/// How many tasks, of so many multiplications each, one thread should take at least.
int64_t grain_of(int64_t multiplications) {
  return std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, multiplications));
}

/// The queries of a task: many read keys less often, few leave tasks for all threads.
int64_t queries_per_task(int64_t matrices, int64_t queries, int64_t lanes) {
  constexpr int64_t kMost = 256;
  int64_t count = rounded_up(std::min(queries, kMost), lanes);
  const int64_t wanted = in_parallel_region() ? 1 : 2 * get_num_threads();
  while (count > 2 * lanes && matrices * ((queries + count - 1) / count) < wanted)
    count = rounded_up(count / 2, lanes);
  return count;
}

template <class E>
void attend(const Problem<typename E::Stored>& problem, const Tensor& output,
            const Tensor& logsumexp) {
  using Stored = typename E::Stored;
  using Sum = typename E::Sum;
  const Matrices<Stored> out(output);
  Sum* const sums = logsumexp.data_ptr<Sum>();
  const int64_t products = problem.keys * (problem.width + problem.value_width);

  if (problem.queries <= FewQueries<Stored, Sum>::kMost && !problem.dropout.defined()) {
    parallel_for(0, problem.matrices, grain_of(problem.queries * products),
                 [&](int64_t begin, int64_t end) {
                   FewQueries<Stored, Sum> task(problem, out, sums);
                   for (int64_t i = begin; i < end; ++i) task.run(i);
                 });
    return;
  }

  const int64_t count = queries_per_task(problem.matrices, problem.queries, Operands<E>::kLanes);
  const int64_t tasks = (problem.queries + count - 1) / count;
  parallel_for(0, problem.matrices * tasks, grain_of(count * products),
               [&](int64_t begin, int64_t end) {
                 Forward<E> task(problem, out, sums, count);
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t first = i % tasks * count;
                   task.run(i / tasks, first, std::min(problem.queries, first + count));
                 }
               });
}

/// The matrices whose gradients one task computes, one after another: those that add to the same
/// sums of a mask's gradient, else one each.
struct TaskMatrices {
  template <class Sum>
  TaskMatrices(int64_t all, int64_t heads_of_batch, const MaskGradient<Sum>& mask)
      : batches(all / heads_of_batch),
        heads(heads_of_batch),
        batches_each(mask.shared_by_batches() ? batches : 1),
        heads_each(mask.shared_by_heads() ? heads : 1) {}

  int64_t tasks() const { return batches / batches_each * (heads / heads_each); }
  int64_t matrices_each() const { return batches_each * heads_each; }

  /// Calls f with each matrix of a task.
  template <class F>
  void for_each(int64_t task, const F& f) const {
    const int64_t tasks_of_batch = heads / heads_each;
    const int64_t batch = task / tasks_of_batch * batches_each;
    const int64_t head = task % tasks_of_batch * heads_each;
    for (int64_t b = batch; b < batch + batches_each; ++b)
      for (int64_t h = head; h < head + heads_each; ++h) f(b * heads + h);
  }

  int64_t batches, heads;
  int64_t batches_each, heads_each;
};

/// Tasks are matrices of keys: scores are computed once.
template <class E, class G>
void gradients_by_matrix(const Problem<typename E::Stored>& problem, const G& gradients,
                         const TaskMatrices& matrices, int64_t products) {
  const int64_t group = problem.group();
  const int64_t work = matrices.matrices_each() * group * problem.queries * products;
  parallel_for(0, matrices.tasks(), grain_of(work), [&](int64_t begin, int64_t end) {
    Backward<E> task(problem, gradients, true, problem.keys);
    for (int64_t i = begin; i < end; ++i) {
      matrices.for_each(i, [&](int64_t matrix) {
        task.run(matrix, {matrix * group, (matrix + 1) * group}, {0, problem.queries},
                 {0, problem.keys});
      });
    }
  });
}

/// For fewer tasks than threads: blocks of queries, then blocks of keys are tasks. Both compute the
/// scores; sums are those of gradients_by_matrix, bit by bit.
template <class E, class G>
void gradients_by_block(const Problem<typename E::Stored>& problem, const G& gradients,
                        int64_t products) {
  constexpr int64_t kQueries = Backward<E>::kQueries;
  const int64_t group = problem.group();

  const TaskMatrices matrices(problem.matrices, problem.heads, gradients.mask);
  const int64_t blocks = (problem.queries + kQueries - 1) / kQueries;
  const int64_t work = matrices.matrices_each() * kQueries * products;
  parallel_for(0, matrices.tasks() * blocks, grain_of(work), [&](int64_t begin, int64_t end) {
    Backward<E> task(problem, gradients, true, 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kQueries;
      matrices.for_each(i / blocks, [&](int64_t matrix) {
        task.run(problem.keys_of(matrix), {matrix, matrix + 1},
                 {first, std::min(problem.queries, first + kQueries)}, {0, problem.keys});
      });
    }
  });

  const int64_t parts = 2 * get_num_threads();
  const int64_t size = rounded_up((problem.keys + parts - 1) / parts, kKeys);
  const int64_t tasks = (problem.keys + size - 1) / size;
  parallel_for(0, problem.key_matrices * tasks, 1, [&](int64_t begin, int64_t end) {
    Backward<E> task(problem, gradients, false, size);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / tasks;
      const int64_t first = i % tasks * size;
      task.run(matrix, {matrix * group, (matrix + 1) * group}, {0, problem.queries},
               {first, std::min(problem.keys, first + size)});
    }
  });
}

template <class E, class G>
void compute_gradients(const Problem<typename E::Stored>& problem, const G& gradients) {
  const TaskMatrices matrices(problem.key_matrices, problem.key_heads, gradients.mask);
  const int64_t products = problem.keys * (3 * problem.width + 2 * problem.value_width);
  if (matrices.tasks() >= get_num_threads() || in_parallel_region())
    gradients_by_matrix<E>(problem, gradients, matrices, products);
  else gradients_by_block<E>(problem, gradients, products);
}

/// Memory for the gradient of a tensor, in the tensor's order if that leaves rows dense.
Tensor empty_gradient_of(const Tensor& tensor) {
  const DimVector strides = strides_in_order_of(tensor);
  return strides[3] == 1
             ? empty_strided_tensor(tensor.sizes(), strides, tensor.scalar_type(), tensor.device())
             : empty_tensor(tensor.sizes(), tensor.scalar_type(), tensor.device());
}

void attend(const AttentionArguments& given, const Tensor& output, const Tensor& logsumexp) {
  AT_DISPATCH_FLOATING_AND_REDUCED(given.query.scalar_type(), "scaled_dot_product_attention", [&] {
    const Problem<scalar_t> problem(given);
    with_elements_of<scalar_t>(
        [&](auto elements) { attend<decltype(elements)>(problem, output, logsumexp); });
  });
}

}  // namespace

void flash_attention_kernel(const Tensor& query, const Tensor& key, const Tensor& value, double,
                            bool is_causal, const Tensor& attn_mask, std::optional<double> scale,
                            const Tensor& output, const Tensor& logsumexp) {
  attend({query, key, value, attn_mask, Tensor(), 0, is_causal, attention_scale(query, scale)},
         output, logsumexp);
}

void fused_attention_kernel(const Tensor& query, const Tensor& key, const Tensor& value,
                            const Tensor& attn_mask, const Tensor& kept, double dropout_p,
                            bool is_causal, bool, std::optional<double> scale, const Tensor& output,
                            const Tensor& logsumexp) {
  attend({query, key, value, attn_mask, kept, dropout_p, is_causal, attention_scale(query, scale)},
         output, logsumexp);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> fused_attention_backward_kernel(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask, const Tensor& kept, const Tensor& out, const Tensor& logsumexp,
    double dropout_p, bool is_causal, bool mask_requires_grad, std::optional<double> scale) {
  if (!grad_out.defined()) return {};  // only logsumexp was used
  const AttentionArguments given{query, key,       value,     attn_mask,
                                 kept,  dropout_p, is_causal, attention_scale(query, scale)};
  check_fused_attention("_fused_attention_backward", given);
  check_mask_gradient(attn_mask, mask_requires_grad);
  check_fused_results(query, value, grad_out, out, logsumexp);

  const Tensor grad_query = empty_gradient_of(query);
  const Tensor grad_key = empty_gradient_of(key);
  const Tensor grad_value = empty_gradient_of(value);
  const Tensor sums = logsumexp.contiguous();
  Tensor grad_mask;

  AT_DISPATCH_FLOATING_AND_REDUCED(
      query.scalar_type(), "scaled_dot_product_attention_backward", [&] {
        const Problem<scalar_t> problem(given);
        with_elements_of<scalar_t>([&](auto elements) {
          using E = decltype(elements);
          using Sum = typename E::Sum;
          using M = Matrices<scalar_t>;
          MaskGradient<Sum> mask;
          if (mask_requires_grad)
            mask = MaskGradient<Sum>(attn_mask, given.score_sizes(), Backward<E>::kQueries);

          const Gradients<scalar_t, Sum> gradients{
              M(out),        M(grad_out), sums.const_data_ptr<Sum>(), M(grad_query), M(grad_key),
              M(grad_value), mask};
          compute_gradients<E>(problem, gradients);
          if (mask_requires_grad) grad_mask = gradients.mask.result(attn_mask);
        });
      });

  return {grad_query, grad_key, grad_value, grad_mask};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native

// Fused attention that never stores the matrix of all scores (Dao et al. 2022): the scores of a
// block of queries and keys stay in the cache. A query keeps its largest score and the sum of
// exponentials so far; when a larger score comes, its output so far is rescaled.
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

  if (problem.queries <= FewQueries<Stored, Sum>::kMost) {
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

/// Each key's matrix is a task: it computes all scores once.
template <class E, class G>
void gradients_by_matrix(const Problem<typename E::Stored>& problem, const G& gradients,
                         int64_t products) {
  const int64_t group = problem.group();
  parallel_for(0, problem.key_matrices, grain_of(group * problem.queries * products),
               [&](int64_t begin, int64_t end) {
                 Backward<E> task(problem, gradients, true, problem.keys);
                 for (int64_t i = begin; i < end; ++i)
                   task.run(i, {i * group, (i + 1) * group}, {0, problem.queries},
                            {0, problem.keys});
               });
}

/// For fewer matrices than threads: blocks of queries, then blocks of keys are tasks. Both compute
/// the scores; sums are those of gradients_by_matrix, bit by bit.
template <class E, class G>
void gradients_by_block(const Problem<typename E::Stored>& problem, const G& gradients,
                        int64_t products) {
  constexpr int64_t kQueries = Backward<E>::kQueries;
  const int64_t group = problem.group();

  const int64_t blocks = (problem.queries + kQueries - 1) / kQueries;
  parallel_for(
      0, problem.matrices * blocks, grain_of(kQueries * products), [&](int64_t begin, int64_t end) {
        Backward<E> task(problem, gradients, true, 0);
        for (int64_t i = begin; i < end; ++i) {
          const int64_t matrix = i / blocks;
          const int64_t first = i % blocks * kQueries;
          task.run(problem.keys_of(matrix), {matrix, matrix + 1},
                   {first, std::min(problem.queries, first + kQueries)}, {0, problem.keys});
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

/// Memory for the gradient of a tensor, in the tensor's order if that leaves rows dense.
Tensor empty_gradient_of(const Tensor& tensor) {
  const DimVector strides = strides_in_order_of(tensor);
  return strides[3] == 1
             ? empty_strided_tensor(tensor.sizes(), strides, tensor.scalar_type(), tensor.device())
             : empty_tensor(tensor.sizes(), tensor.scalar_type(), tensor.device());
}

}  // namespace

void fused_attention_kernel(const Tensor& query, const Tensor& key, const Tensor& value, double,
                            bool is_causal, const Tensor& attn_mask, std::optional<double> scale,
                            const Tensor& output, const Tensor& logsumexp) {
  AT_DISPATCH_FLOATING_AND_REDUCED(query.scalar_type(), "scaled_dot_product_attention", [&] {
    const Problem<scalar_t> problem(query, key, value, attn_mask, attention_scale(query, scale),
                                    is_causal);
    with_elements_of<scalar_t>(
        [&](auto elements) { attend<decltype(elements)>(problem, output, logsumexp); });
  });
}

std::tuple<Tensor, Tensor, Tensor>
fused_attention_backward_kernel(const Tensor& grad_out, const Tensor& query, const Tensor& key,
                                const Tensor& value, const Tensor& out, const Tensor& logsumexp,
                                double dropout_p, bool is_causal, const Tensor& attn_mask,
                                std::optional<double> scale) {
  if (!grad_out.defined()) return {};  // only logsumexp was used
  check_fused_attention(query, key, value, dropout_p, attn_mask);
  check_fused_results(query, value, grad_out, out, logsumexp);

  const Tensor grad_query = empty_gradient_of(query);
  const Tensor grad_key = empty_gradient_of(key);
  const Tensor grad_value = empty_gradient_of(value);
  const Tensor sums = logsumexp.contiguous();

  AT_DISPATCH_FLOATING_AND_REDUCED(
      query.scalar_type(), "scaled_dot_product_attention_backward", [&] {
        const Problem<scalar_t> problem(query, key, value, attn_mask, attention_scale(query, scale),
                                        is_causal);
        const int64_t products = problem.keys * (3 * problem.width + 2 * problem.value_width);

        with_elements_of<scalar_t>([&](auto elements) {
          using E = decltype(elements);
          using Sum = typename E::Sum;
          using M = Matrices<scalar_t>;
          const Gradients<scalar_t, Sum> gradients{
              M(out),        M(grad_out), sums.const_data_ptr<Sum>(),
              M(grad_query), M(grad_key), M(grad_value)};
          if (problem.key_matrices >= get_num_threads() || in_parallel_region())
            gradients_by_matrix<E>(problem, gradients, products);
          else gradients_by_block<E>(problem, gradients, products);
        });
      });

  return {grad_query, grad_key, grad_value};
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native

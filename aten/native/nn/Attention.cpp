// Scaled dot product attention: as a composition, for all dtypes and derivatives of every order,
// and the checks of the fused kernel.
#include "aten/native/nn/Attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "aten/native/declarations/nn/Attention.h"
#include "aten/ops/_fused_attention.h"
#include "aten/ops/_fused_attention_backward.h"
#include "aten/ops/_scaled_dot_product_flash_attention_for_cpu.h"
#include "aten/ops/add.h"
#include "aten/ops/all.h"
#include "aten/ops/bernoulli.h"
#include "aten/ops/copy.h"
#include "aten/ops/dropout.h"
#include "aten/ops/empty_like.h"
#include "aten/ops/empty_strided.h"
#include "aten/ops/eq.h"
#include "aten/ops/expand.h"
#include "aten/ops/full.h"
#include "aten/ops/logical_not.h"
#include "aten/ops/logsumexp.h"
#include "aten/ops/masked_fill.h"
#include "aten/ops/matmul.h"
#include "aten/ops/mul.h"
#include "aten/ops/repeat_interleave.h"
#include "aten/ops/reshape.h"
#include "aten/ops/softmax.h"
#include "aten/ops/sum.h"
#include "aten/ops/sum_to_size.h"
#include "aten/ops/triu.h"

namespace at::native {

namespace {

constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max();
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor& mask, bool is_causal, double dropout) {
  TORCH_CHECK(query.scalar_type() == key.scalar_type() &&
                  query.scalar_type() == value.scalar_type(),
              "Expected query, key, and value to have the same dtype, but got query.dtype: ",
              query.scalar_type(), " key.dtype: ", key.scalar_type(),
              " and value.dtype: ", value.scalar_type(), " instead.");
  TORCH_CHECK(query.device() == key.device() && query.device() == value.device(),
              "Expected query, key, and value to have the same device type, but got query.device: ",
              query.device(), " key.device: ", key.device(), " and value.device: ", value.device(),
              " instead.");
  TORCH_CHECK(
      query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2,
      "Expected query, key, and value to all be at least 2 dimensional, but got query.dim: ",
      query.dim(), " key.dim: ", key.dim(), " and value.dim: ", value.dim(), " instead.");
  TORCH_CHECK(dropout >= 0 && dropout <= 1,
              "dropout probability has to be between 0 and 1, but got ", dropout);
  if (!mask.defined()) return;

  // As in PyTorch: its CPU kernel for batches of heads takes a mask together with is_causal, its
  // composition for everything else refuses them.
  TORCH_CHECK(
      !is_causal || (query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && dropout == 0 &&
                     !mask.requires_grad()),
      "scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  TORCH_CHECK(mask.scalar_type() == kBool || mask.scalar_type() == query.scalar_type() ||
                  mask.scalar_type() == kFloat,
              "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
              "attn_mask.dtype: ",
              mask.scalar_type(), " and  query.dtype: ", query.scalar_type(), " instead.");
}

/// (L, S): -inf for every key that is later than the query, 0 for the others.
Tensor causal_mask(const Tensor& query, const Tensor& key) {
  const Tensor later = at::full({query.size(-2), key.size(-2)}, Scalar(kMinusInfinity),
                                query.scalar_type(), {}, query.device());
  return at::triu(later, 1);
}

/// Scores with the mask added, or with -inf where a boolean mask is False.
Tensor masked_scores(const Tensor& scores, const Tensor& mask) {
  if (mask.scalar_type() != kBool) return scores + mask;
  return at::masked_fill(scores, at::logical_not(mask), Scalar(kMinusInfinity));
}

/// query keyᵀ scale + mask, of size (..., L, S).
Tensor attention_scores(const Tensor& query, const Tensor& key, const Tensor& mask, bool is_causal,
                        double scale) {
  const Tensor scores = at::matmul(query * Scalar(scale), key.transpose(-2, -1));
  // Causality is added, which costs nothing in the backward pass.
  const Tensor causal = is_causal && key.size(-2) > 0 ? scores + causal_mask(query, key) : scores;
  return mask.defined() ? masked_scores(causal, mask) : causal;
}

/// The softmax of scores. Fully masked rows are zero and receive no gradient; only a mask makes
/// them, as causality leaves every query the first key.
Tensor weights_of_scores(const Tensor& scores, bool is_masked) {
  if (!is_masked) return at::softmax(scores, -1);

  // The softmax of a fully masked row would be nan: it gets scores of 0 first, weights of 0 then.
  const Tensor masked_rows = at::all(at::eq(scores, Scalar(kMinusInfinity)), IntArrayRef{-1}, true);
  const Tensor weights = at::softmax(at::masked_fill(scores, masked_rows, Scalar(0)), -1);
  return at::masked_fill(weights, masked_rows, Scalar(0));
}

/// softmax(query keyᵀ scale + mask), of size (..., L, S).
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, bool is_causal,
                         double scale) {
  return weights_of_scores(attention_scores(query, key, mask, is_causal, scale), mask.defined());
}

/// Key or value with its heads repeated, so that there are as many as the query has.
Tensor repeated_heads(const Tensor& tensor, int64_t heads) {
  return tensor.size(-3) == heads
             ? tensor
             : at::repeat_interleave(tensor, heads / tensor.size(-3), tensor.dim() - 3);
}

void check_heads(const Tensor& query, const Tensor& key, const Tensor& value) {
  TORCH_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3,
              "enable_gqa: expected a dimension of heads, got sizes ", query.sizes(), ", ",
              key.sizes(), " and ", value.sizes());

  const int64_t heads = query.size(-3);
  const int64_t key_heads = key.size(-3);
  const int64_t value_heads = value.size(-3);
  TORCH_CHECK(key_heads > 0 && value_heads > 0 && heads % key_heads == 0 &&
                  heads % value_heads == 0,
              "Number of heads in key and value must divide the number of heads in query, got ",
              heads, ", ", key_heads, " and ", value_heads);
}

/// Whether the sizes of the mask broadcast to (N, H, L, S).
bool mask_fits(const Tensor& mask, IntArrayRef sizes) {
  if (mask.dim() > 4) return false;
  for (int64_t d = 1; d <= mask.dim(); ++d) {
    if (mask.size(-d) != 1 && mask.size(-d) != sizes[static_cast<size_t>(4 - d)]) return false;
  }
  return true;
}

/// Whether queries (N, H, L, E) fit keys (N, K, S, E) and values (N, K, S, V), where a group of
/// H / K heads of queries shares keys and values.
bool heads_fit(IntArrayRef q, IntArrayRef k, IntArrayRef v) {
  return q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && k[1] > 0 && q[1] % k[1] == 0;
}

/// Whether a fused kernel takes these arguments.
bool has_kernel(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                double dropout, bool groups) {
  if (dropout == 1 || query.dim() != 4 || key.dim() != 4 || value.dim() != 4) return false;
  if (!(query.is_cpu() || query.is_meta() || query.is_cuda())) return false;
  if (!is_floating(query.scalar_type()) || is_float8(query.scalar_type())) return false;

  const IntArrayRef q = query.sizes();
  const IntArrayRef k = key.sizes();
  const IntArrayRef v = value.sizes();
  if (!heads_fit(q, k, v) || (q[1] != k[1] && !groups) || q[3] != k[3] || k[2] != v[2])
    return false;
  if (query.numel() == 0 || key.numel() == 0 || value.numel() == 0) return false;
  if (query.is_cuda() && !fits_cuda_kernels({query, key, value, mask, {}, dropout, false, 1}))
    return false;

  return !mask.defined() ||
         (mask.device() == query.device() && mask_fits(mask, {q[0], q[1], q[2], k[2]}));
}

/// The tensor with dimensions of size 1 in front until it has four: (N, H, L, E).
Tensor with_four_dims(Tensor tensor) {
  while (tensor.dim() < 4) tensor = tensor.unsqueeze(0);
  return tensor;
}

/// The sum of gradients over each group of heads that were one.
Tensor sum_of_groups(const Tensor& grad, int64_t heads) {
  if (grad.size(1) == heads) return grad;
  const DimVector sizes = {grad.size(0), heads, grad.size(1) / heads, grad.size(2), grad.size(3)};
  return at::sum(at::reshape(grad, sizes), IntArrayRef(2), false);
}

/// Which weights dropout keeps, for (N, H, L, S) scores: the numbers that `dropout` would draw.
Tensor draw_kept(const Tensor& query, const Tensor& key, double dropout) {
  // Inside of vmap, numbers are drawn for each member if the query or the key has members, as the
  // sum of their first elements then has.
  const auto first = [](const Tensor& tensor) {
    return tensor.narrow(0, 0, 1).narrow(1, 0, 1).narrow(2, 0, 1).narrow(3, 0, 1);
  };
  const Tensor any = at::expand(at::add(first(query), first(key)),
                                {query.size(0), query.size(1), query.size(2), key.size(2)});
  return at::bernoulli_(at::empty_like(any, kBool), 1 - dropout);
}

/// Dropout needs to know the weights that are kept, unless it drops all or none.
void check_kept(const char* name, const Tensor& kept, const Tensor& query, IntArrayRef sizes,
                double dropout) {
  TORCH_CHECK(kept.defined() == (dropout > 0) && dropout < 1, name,
              ": expected a probability below 1, and the weights that are kept if it is not 0, "
              "got dropout_p=",
              dropout, kept.defined() ? " with" : " without", " weights");
  if (!kept.defined()) return;
  TORCH_CHECK(kept.scalar_type() == kBool && kept.sizes() == sizes &&
                  kept.device() == query.device(),
              name, ": expected kept weights of size ", sizes, " and Bool on ", query.device(),
              ", got ", kept.sizes(), " and ", kept.scalar_type(), " on ", kept.device());
}

/// Attention by a fused kernel.
Tensor fused_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& mask, double dropout, bool is_causal,
                       std::optional<double> scale) {
  const bool mask_requires_grad = mask.defined() && mask.requires_grad();
  if (dropout == 0 && !mask_requires_grad && !query.is_cuda())
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0,
                                                                       is_causal, mask, scale));

  const Tensor kept = dropout == 0 ? Tensor() : draw_kept(query, key, dropout);
  return std::get<0>(at::_fused_attention(query, key, value, mask, kept, dropout, is_causal,
                                          mask_requires_grad, scale));
}

/// The dtype in which scores are summed.
ScalarType dtype_of_sums(const Tensor& query) {
  return query.scalar_type() == kDouble ? kDouble : kFloat;
}

}  // namespace

double attention_scale(const Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

bool fits_cuda_kernels(const AttentionArguments& given) {
  const ScalarType dtype = given.query.scalar_type();
  if (dtype != kHalf && dtype != kBFloat16) return false;

  for (const Tensor& tensor : {given.query, given.key, given.value}) {
    const int64_t width = tensor.size(3);
    if (width == 0 || width % 8 != 0 || width > 128) return false;
    // Kernels count rows in 32 bits.
    if (tensor.size(0) * tensor.size(1) * (tensor.size(2) + 128) > kMostRows) return false;
  }
  return true;
}

void check_fused_attention(const char* name, const AttentionArguments& given) {
  const auto& [query, key, value, mask, kept, dropout, is_causal, scale] = given;
  check_attention(query, key, value, {}, false, dropout);
  TORCH_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, name,
              ": expected 4 dimensions, got sizes ", query.sizes(), ", ", key.sizes(), " and ",
              value.sizes());

  const IntArrayRef q = query.sizes();
  const IntArrayRef k = key.sizes();
  const IntArrayRef v = value.sizes();
  TORCH_CHECK(heads_fit(q, k, v), name,
              ": expected the same batch of query, key and value, and heads of key and value that "
              "divide those of the query, got sizes ",
              q, ", ", k, " and ", v);
  TORCH_CHECK(q[3] == k[3] && k[2] == v[2] && q[3] > 0 && k[2] > 0, name,
              ": expected keys of the query's size, and a value for each, got sizes ", q, ", ", k,
              " and ", v);

  const DimVector sizes = given.score_sizes();
  check_kept(name, kept, query, sizes, dropout);
  if (!mask.defined()) return;

  const ScalarType dtype = mask.scalar_type();
  TORCH_CHECK((dtype == kBool || dtype == kFloat || dtype == query.scalar_type()) &&
                  mask.device() == query.device(),
              name, ": expected attn_mask of Bool, Float or ", query.scalar_type(), " on ",
              query.device(), ", got ", dtype, " on ", mask.device());
  TORCH_CHECK(mask_fits(mask, sizes), name, ": attn_mask of size ", mask.sizes(),
              " does not broadcast to ", IntArrayRef(sizes));
}

void check_mask_gradient(const Tensor& mask, bool is_wanted) {
  TORCH_CHECK(!is_wanted || (mask.defined() && mask.is_floating_point()),
              "_fused_attention_backward: expected a floating attn_mask, as mask_requires_grad is "
              "True");
}

void check_fused_results(const Tensor& query, const Tensor& value, const Tensor& grad_out,
                         const Tensor& out, const Tensor& logsumexp) {
  const DimVector sizes = {query.size(0), query.size(1), query.size(2), value.size(3)};
  for (const auto& [name, tensor] : {std::pair<const char*, const Tensor&>{"grad_out", grad_out},
                                     {"out", out},
                                     {"logsumexp", logsumexp}}) {
    const bool sums = &tensor == &logsumexp;
    const IntArrayRef expected = IntArrayRef(sizes).slice(0, sums ? 3 : 4);
    const ScalarType dtype = sums ? dtype_of_sums(query) : query.scalar_type();
    TORCH_CHECK(tensor.sizes() == expected && tensor.scalar_type() == dtype &&
                    tensor.device() == query.device(),
                "_scaled_dot_product_flash_attention_for_cpu_backward: expected ", name,
                " of size ", expected, " and ", dtype, ", got ", tensor.sizes(), " and ",
                tensor.scalar_type());
  }
}

/// The output has the query's order in memory, so that heads that were split off a dimension can be
/// joined again without a copy. Sums of reduced floats are floats.
std::tuple<TensorSpec, TensorSpec>
fused_attention_shape(const Tensor& query, const Tensor& key, const Tensor& value,
                      const Tensor& attn_mask, const Tensor& kept, double dropout_p, bool is_causal,
                      bool, std::optional<double>) {
  check_fused_attention("_fused_attention",
                        {query, key, value, attn_mask, kept, dropout_p, is_causal, 1});
  const DimVector sizes = {query.size(0), query.size(1), query.size(2), value.size(3)};

  // The order of the first three dimensions, the innermost first.
  std::array<size_t, 3> order = {2, 1, 0};
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return query.strides()[a] < query.strides()[b]; });
  DimVector strides = {0, 0, 0, 1};
  int64_t step = sizes[3];
  for (const size_t d : order) {
    strides[d] = step;
    step *= sizes[d];
  }

  const DimVector rows(sizes.begin(), sizes.begin() + 3);
  return {{sizes, query.scalar_type(), query.device(), strides},
          {rows, dtype_of_sums(query), query.device()}};
}

std::tuple<TensorSpec, TensorSpec> flash_attention_shape(const Tensor& query, const Tensor& key,
                                                         const Tensor& value, double dropout_p,
                                                         bool is_causal, const Tensor& attn_mask,
                                                         std::optional<double> scale) {
  constexpr const char* name = "_scaled_dot_product_flash_attention_for_cpu";
  TORCH_CHECK(dropout_p == 0, name, ": dropout is not supported, got dropout_p=", dropout_p);
  check_fused_attention(name, {query, key, value, attn_mask, Tensor(), 0, is_causal, 1});
  return fused_attention_shape(query, key, value, attn_mask, {}, 0, is_causal, false, scale);
}

/// A gradient in the order in memory of its tensor, which is also that of the kernel's results.
Tensor in_order_of(const Tensor& gradient, const Tensor& tensor) {
  const DimVector strides = strides_in_order_of(tensor);
  if (strides[3] != 1) return gradient.contiguous();
  const Tensor result = at::empty_strided(gradient.sizes(), strides, gradient.scalar_type(),
                                          std::nullopt, gradient.device());
  return at::copy_(result, gradient);
}

std::tuple<Tensor, Tensor> composed_attention(const AttentionArguments& given) {
  const auto& [query, key, value, mask, kept, dropout, is_causal, scale] = given;
  const ScalarType dtype = dtype_of_sums(query);
  const Tensor keys = repeated_heads(key, query.size(1)).to(dtype);
  const Tensor values = repeated_heads(value, query.size(1)).to(dtype);

  const Tensor scores = attention_scores(query.to(dtype), keys, mask, is_causal, scale);
  Tensor weights = weights_of_scores(scores, mask.defined());
  if (kept.defined()) weights = weights * kept * Scalar(1 / (1 - dropout));
  return {at::matmul(weights, values).to(query.scalar_type()),
          at::logsumexp(scores, IntArrayRef(-1), false)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
composed_attention_backward(const Tensor& grad_out, const AttentionArguments& given,
                            bool mask_requires_grad) {
  const auto& [query, key, value, mask, kept, dropout, is_causal, scale] = given;
  const Tensor keys = repeated_heads(key, query.size(1));
  const Tensor values = repeated_heads(value, query.size(1));
  const Tensor weights =
      attention_weights(query, keys, mask, is_causal, scale).to(query.scalar_type());
  const auto dropped = [&](const Tensor& tensor) {
    return given.kept.defined() ? tensor * given.kept * Scalar(1 / (1 - given.dropout)) : tensor;
  };

  // Back through output = dropped weights value, and through the softmax, row by row:
  // grad_scores = weights * (grad_weights - sum(grad_weights * weights)).
  const Tensor grad_weights = dropped(at::matmul(grad_out, values.transpose(-2, -1)));
  const Tensor row_sums = at::sum(grad_weights * weights, IntArrayRef(-1), true);
  const Tensor grad_scores = weights * (grad_weights - row_sums);

  const Tensor grad_products = grad_scores * Scalar(scale);
  const Tensor grad_keys = at::matmul(grad_products.transpose(-2, -1), query);
  const Tensor grad_values = at::matmul(dropped(weights).transpose(-2, -1), grad_out);
  return {in_order_of(at::matmul(grad_products, keys), query),
          in_order_of(sum_of_groups(grad_keys, key.size(1)), key),
          in_order_of(sum_of_groups(grad_values, value.size(1)), value),
          mask_requires_grad ? at::sum_to_size(grad_scores, mask.sizes()).to(mask.scalar_type())
                             : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
_fused_attention_backward(const Tensor& grad_out, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& attn_mask, const Tensor& kept,
                          const Tensor&, const Tensor&, double dropout_p, bool is_causal,
                          bool mask_requires_grad, std::optional<double> scale) {
  if (!grad_out.defined()) return {};  // only logsumexp was used
  const AttentionArguments given{query, key,       value,     attn_mask,
                                 kept,  dropout_p, is_causal, attention_scale(query, scale)};
  check_fused_attention("_fused_attention_backward", given);
  check_mask_gradient(attn_mask, mask_requires_grad);
  return composed_attention_backward(grad_out, given, mask_requires_grad);
}

std::tuple<Tensor, Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu_backward(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& out, const Tensor& logsumexp, double, bool is_causal, const Tensor& attn_mask,
    std::optional<double> scale) {
  auto [grad_query, grad_key, grad_value, grad_mask] = at::_fused_attention_backward(
      grad_out, query, key, value, attn_mask, {}, out, logsumexp, 0, is_causal, false, scale);
  return {grad_query, grad_key, grad_value};
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check_attention(query, key, value, attn_mask, is_causal, dropout_p);
  if (enable_gqa) check_heads(query, key, value);

  if (query.dim() == key.dim() && query.dim() == value.dim()) {
    const Tensor queries = with_four_dims(query);
    const Tensor keys = with_four_dims(key);
    const Tensor values = with_four_dims(value);
    if (has_kernel(queries, keys, values, attn_mask, dropout_p, enable_gqa)) {
      Tensor result =
          fused_attention(queries, keys, values, attn_mask, dropout_p, is_causal, scale);
      while (result.dim() > query.dim()) result = result.squeeze(0);
      return result;
    }
  }

  const Tensor keys = enable_gqa ? repeated_heads(key, query.size(-3)) : key;
  const Tensor values = enable_gqa ? repeated_heads(value, query.size(-3)) : value;
  const Tensor weights =
      attention_weights(query, keys, attn_mask, is_causal, attention_scale(query, scale))
          .to(value.scalar_type());
  return at::matmul(dropout_p > 0 ? at::dropout(weights, dropout_p, true) : weights, values);
}

}  // namespace at::native

// History of views: Note [Views and in-place changes].
#include "torch_py/csrc/autograd/View.h"

#include <algorithm>
#include <mutex>

#include "aten/native/shared/ViewHelpers.h"
#include "aten/ops/add.h"
#include "aten/ops/as_strided.h"
#include "aten/ops/new_empty_strided.h"
#include "aten/ops/sum.h"
#include "aten/ops/view.h"
#include "torch_py/csrc/autograd/StandIns.h"
#include "torch_py/csrc/autograd/Variable.h"

namespace torch::autograd {

namespace {

// --- Rules ---

const char* reason(c10::ViewOrigin origin) {
  // The texts are PyTorch's.
  switch (origin) {
    case c10::ViewOrigin::NoGradMode:
      return " Given that this use case is ambiguous and error-prone, it is forbidden. You can "
             "clarify your code by moving both the view and the inplace either both inside the "
             "no_grad block (if you don't want the inplace to be tracked) or both outside (if you "
             "want the inplace to be tracked).";
    case c10::ViewOrigin::MultiOutput:
      return " This view is the output of a function that returns multiple views. Such functions "
             "do not allow the output views to be modified inplace. You should replace the inplace "
             "operation by an out-of-place one.";
    case c10::ViewOrigin::CustomFunction:
      return " This view was created inside a custom Function (or because an input was returned "
             "as-is) and the autograd logic to handle view+inplace would override the custom "
             "backward associated with the custom Function, leading to incorrect gradients. This "
             "behavior is forbidden. You can fix this by cloning the output of the custom "
             "Function.";
    case c10::ViewOrigin::Ordinary: break;
  }
  return "";
}

std::mutex& view_mutex() {
  // Held while the grad_fn of an outdated view is replaced, which is rare and short.
  static std::mutex mutex;
  return mutex;
}

at::Tensor base_of(const at::Tensor& view) { return at::Tensor(view.impl()->base()); }

/// Whether gradients of one dtype are gradients of the other: the same bytes as floats of one
/// width.
bool same_real_type(c10::ScalarType a, c10::ScalarType b) {
  const auto real_size = [](c10::ScalarType type) {
    return c10::element_size(type) / (c10::is_complex(type) ? 2 : 1);
  };

  if (a == b) return true;
  return is_differentiable(a) && is_differentiable(b) && c10::is_complex(a) != c10::is_complex(b) &&
         real_size(a) == real_size(b);
}

/// In-place changes between a base and its view by another dtype cannot be followed.
void check_reinterpretable(const at::Tensor& base, const at::Tensor& view) {
  TORCH_CHECK_NOT_IMPLEMENTED(same_real_type(base.scalar_type(), view.scalar_type()) &&
                                  base.layout() == view.layout(),
                              "autograd cannot follow in-place changes between a tensor of dtype ",
                              c10::dtype_name(base.scalar_type()), " and its view of dtype ",
                              c10::dtype_name(view.scalar_type()));
}

// --- The nodes of views ---

/// Whether the view's stored grad_fn describes a value that the view no longer has.
bool is_outdated(const at::Tensor& view, const AutogradMeta* meta, const at::Tensor& base) {
  const bool has_history = meta != nullptr && meta->history_version != AutogradMeta::kNoHistory;
  if (has_history) return meta->history_version != view.version() && requires_grad(base);
  const AutogradMeta* base_meta = autograd_meta(base);
  return base_meta != nullptr && base_meta->grad_fn;
}

/// A view made without grad mode of a base that requires grad has no history; at this version.
/// Reading it after a change is an error.
void note_version(c10::TensorImpl& view) {
  auto meta = std::make_unique<AutogradMeta>();
  meta->history_version = view.version();
  view.set_autograd_meta(std::move(meta));
}

// aten does not know autograd: it calls this through a pointer.
[[maybe_unused]] const bool is_noting = [] {
  at::native::note_untracked_view = &note_version;
  return true;
}();

/// Passes the gradient of a view to its base.
class AsStridedBackward final : public Node {
 public:
  AsStridedBackward(StridedGeometry base, StridedGeometry view, Edge base_edge)
      : base_(std::move(base)), view_(std::move(view)) {
    set_next_edges({std::move(base_edge)});
    add_input_metadata({view_.sizes, view_.dtype, view_.device});
  }
  AsStridedBackward(const at::Tensor& base, const at::Tensor& view)
      : AsStridedBackward(StridedGeometry(base), StridedGeometry(view), gradient_edge(base)) {}

  const char* name() const override { return "AsStridedBackward0"; }

  variable_list apply(variable_list&& grads) override {
    if (!grads[0].defined()) return variable_list(1);
    return {scatter_view_gradient(grads[0], base_, view_)};
  }

 private:
  StridedGeometry base_;
  StridedGeometry view_;
};

/// The backward of "the base, with the part that a view shows replaced by the result of
/// `function`".
/// New memory of this geometry, which can take in the gradient: one for each member of a batch.
at::Tensor memory_for(const at::Tensor& grad, c10::IntArrayRef sizes, c10::IntArrayRef strides,
                      c10::ScalarType dtype) {
  if (is_of_members(grad)) return at::new_empty_strided(grad, sizes, strides, dtype);
  return at::empty_strided_tensor(sizes, strides, dtype, grad.device());
}

class CopySlices final : public Node {
 public:
  /// Edge `edge` of `function` leads to the view.
  CopySlices(const at::Tensor& base, const at::Tensor& view, NodePtr function, size_t edge)
      : base_(base), view_(view), function_(std::move(function)), edge_(edge) {
    edge_list edges(function_->next_edges());
    TORCH_INTERNAL_ASSERT(edge_ < edges.size(), function_->name(),
                          " changed a view in place and has no edge to it");
    edges[edge_] = gradient_edge(base);
    set_next_edges(std::move(edges));
    add_input_metadata(base);
  }

  const char* name() const override { return "CopySlices"; }
  void release_variables() override { function_->release_variables(); }

  NodePtr view_node() {
    return c10::make_intrusive<AsStridedBackward>(base_, view_,
                                                  Edge{NodePtr::reclaim_copy(this), 0});
  }

  variable_list apply(variable_list&& grads) override {
    variable_list result(num_outputs());
    if (!grads[0].defined()) return result;

    const at::Tensor whole =
        memory_for(grads[0], base_.sizes, base_.strides, grads[0].scalar_type());
    whole.copy_(grads[0]);
    const at::Tensor part = strided_alias(whole, view_, base_.first_byte());

    // A copy, because the function may return or save its argument, and `part` is about to be
    // overwritten.
    variable_list inner = function_->apply({part.clone()});

    TORCH_CHECK(inner.size() >= result.size(), "function ", function_->name(),
                " returned an incorrect number of gradients (expected ", result.size(), ", got ",
                inner.size(), ")");

    for (size_t i = 0; i < result.size(); ++i) {
      if (i != edge_ && should_compute_output(i)) result[i] = std::move(inner[i]);
    }

    if (!should_compute_output(edge_)) return result;
    if (inner[edge_].defined()) part.copy_(inner[edge_]);
    else part.zero_();
    result[edge_] = whole;
    return result;
  }

 private:
  StridedGeometry base_;
  StridedGeometry view_;
  NodePtr function_;
  size_t edge_;
};

// --- The arithmetic of view gradients ---

/// A dimension whose slices must be added one by one, because neighbours along it share memory; -1
/// otherwise. -1 is certain. For interleaved strides the result may name a dimension without need,
/// which only costs time.
int64_t overlapping_dim(const at::Tensor& tensor) {
  c10::SmallVector<int64_t, 6> order;
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.sizes()[static_cast<size_t>(i)] > 1) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return tensor.stride(a) < tensor.stride(b); });

  int64_t reach = 0;  // offset of the last element of the dimensions before
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t dim = order[i];
    if (tensor.stride(dim) <= reach)
      return i > 0 && tensor.size(order[i - 1]) < tensor.size(dim) ? order[i - 1] : dim;
    reach += (tensor.size(dim) - 1) * tensor.stride(dim);
  }

  return -1;
}

/// target += grad, where elements of target may share memory. The strides of target are not 0.
void add_slices(const at::Tensor& target, const at::Tensor& grad) {
  const int64_t dim = overlapping_dim(target);
  if (dim < 0) {
    at::add_(target, grad);
    return;
  }
  for (int64_t i = 0; i < target.size(dim); ++i)
    add_slices(target.select(dim, i), grad.select(dim, i));
}

/// Adds grad to the zeros that the geometry shows in `buffer`.
void accumulate_view(const at::Tensor& buffer, StridedGeometry geometry, int64_t origin_byte,
                     at::Tensor grad) {
  // Dimensions with stride 0 show one element several times: it gets the sum.
  c10::DimVector expanded;
  for (size_t i = 0; i < geometry.sizes.size(); ++i) {
    if (geometry.strides[i] != 0 || geometry.sizes[i] == 1) continue;
    expanded.push_back(static_cast<int64_t>(i));
    geometry.sizes[i] = 1;
  }
  if (!expanded.empty()) grad = at::sum(grad, c10::IntArrayRef(expanded), /*keepdim=*/true);

  const at::Tensor target = strided_alias(buffer, geometry, origin_byte);
  if (overlapping_dim(target) < 0) target.copy_(grad);
  else add_slices(target, grad);
}

/// The part of `base` that begins `offset` bytes after the start of its memory.
at::Tensor part_at(const at::Tensor& base, const StridedGeometry& geometry, int64_t offset) {
  const int64_t position = offset / geometry.itemsize();
  if (C10_UNLIKELY(stands_for_others(base))) {
    const c10::AutoDispatchBelowAutograd below;
    const bool same = base.scalar_type() == geometry.dtype;
    return at::as_strided(same ? base : at::view(base, geometry.dtype), geometry.sizes,
                          geometry.strides, position);
  }

  TORCH_CHECK(offset + geometry.last_byte() - geometry.first_byte() <=
                  static_cast<int64_t>(base.storage()->nbytes),
              "in-place change of a view of shape ", geometry.sizes, ", strides ", geometry.strides,
              " and offset ", geometry.storage_offset,
              " that reaches outside of its base of shape ", base.sizes(),
              ": the gradient of what lies there is unknown");

  auto impl = base.unsafe_impl()->shallow_copy();
  impl->set_dtype(geometry.dtype);
  impl->set_sizes_and_strides(geometry.sizes, geometry.strides, position);
  impl->set_view_of(base.impl());
  return at::Tensor(std::move(impl));
}

}  // namespace

StridedGeometry::StridedGeometry(const at::Tensor& tensor)
    : sizes(tensor.sizes()),
      strides(tensor.strides()),
      storage_offset(tensor.storage_offset()),
      dtype(tensor.scalar_type()),
      device(tensor.device()) {}

int64_t StridedGeometry::numel() const {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

int64_t StridedGeometry::last_byte() const {
  if (numel() == 0) return first_byte();
  int64_t last = storage_offset;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
  return (last + 1) * itemsize();
}

void check_view_origin(const at::Tensor& view, bool indirect) {
  const c10::ViewOrigin origin = view.unsafe_impl()->view_origin();
  if (C10_LIKELY(origin == c10::ViewOrigin::Ordinary)) return;
  const AutogradMeta* meta = autograd_meta(view);

  const std::string subject =
      meta != nullptr && meta->grad_fn ? c10::str("Output ", meta->output_nr, " of ",
                                                  operator_name(*meta->grad_fn), " is a view and ")
      : origin == c10::ViewOrigin::NoGradMode
          ? std::string("A view was created in no_grad mode and ")
          : std::string("A view was created while no gradient was required and ");

  const char* event = indirect ? "its base or another view of its base has been modified inplace"
                               : "is being modified inplace";
  // A view without history was made without grad mode: say that the mode has changed since.
  const char* mode = meta != nullptr && meta->grad_fn ? "." : " with grad mode enabled.";

  TORCH_THROW(Error, subject, event, mode, reason(origin));
}

NodePtr grad_fn_of_view(const at::Tensor& view) {
  if (!requires_grad(view)) return {};
  const std::lock_guard lock(view_mutex());
  const AutogradMeta* meta = autograd_meta(view);
  const at::Tensor base = base_of(view);

  if (!is_outdated(view, meta, base)) return meta == nullptr ? NodePtr() : meta->grad_fn;

  check_view_origin(view, /*indirect=*/true);
  check_reinterpretable(base, view);
  set_gradient_edge(view, {c10::make_intrusive<AsStridedBackward>(base, view), 0});
  return autograd_meta(view)->grad_fn;
}

void rebase_history_of_view(const at::Tensor& view, const NodePtr& node, size_t edge) {
  const at::Tensor base = base_of(view);
  check_reinterpretable(base, view);
  TORCH_INTERNAL_ASSERT(node->num_inputs() == 0, node->name(),
                        " changed a view in place and has another output");
  node->add_input_metadata(view);
  set_gradient_edge(base, {c10::make_intrusive<CopySlices>(base, view, node, edge), 0});

  AutogradMeta* meta = autograd_meta(view);
  if (meta == nullptr) return;

  meta->history_version = AutogradMeta::kNoHistory;
  meta->output_nr = 0;
  // Now, so that the gradient retained is that of the new value.
  if (meta->retains_grad) grad_fn_of_view(view);
}

NodePtr view_of_copy_slices(const NodePtr& copy_slices) {
  auto* node = dynamic_cast<CopySlices*>(copy_slices.get());
  return node == nullptr ? NodePtr() : node->view_node();
}

at::Tensor strided_alias(const at::Tensor& base, const StridedGeometry& geometry,
                         int64_t origin_byte) {
  int64_t offset = base.storage_offset() * static_cast<int64_t>(base.itemsize()) +
                   geometry.first_byte() - origin_byte;
  if (geometry.numel() == 0) offset = 0;  // empty parts may begin after the end

  TORCH_CHECK(offset >= 0, "in-place change of a view of shape ", geometry.sizes, ", strides ",
              geometry.strides, " and offset ", geometry.storage_offset,
              " that begins before its base of shape ", base.sizes(),
              ": the gradient of what lies there is unknown");
  TORCH_INTERNAL_ASSERT(offset % geometry.itemsize() == 0, "offset of ", offset,
                        " bytes for elements of ", geometry.itemsize());

  at::Tensor alias = part_at(base, geometry, offset);
  if (compute_requires_grad(base))
    set_gradient_edge(alias, {c10::make_intrusive<AsStridedBackward>(base, alias), 0});
  return alias;
}

at::Tensor scatter_view_gradient(const at::Tensor& grad, const StridedGeometry& base,
                                 const StridedGeometry& view) {
  const bool inside =
      view.first_byte() >= base.first_byte() && view.last_byte() <= base.last_byte();
  at::Tensor buffer = memory_for(grad, base.sizes, base.strides, base.dtype);
  const bool whole = inside && buffer.is_non_overlapping_and_dense();

  const int64_t origin = whole ? base.first_byte() : std::min(base.first_byte(), view.first_byte());
  if (!whole) {
    // The base has gaps or repetitions, or the view (by as_strided) goes beyond it: take all the
    // memory that both show.
    const int64_t bytes = std::max(base.last_byte(), view.last_byte()) - origin;
    buffer = memory_for(grad, {bytes / base.itemsize()}, {1}, base.dtype);
  }

  buffer.zero_();
  if (grad.numel() != 0) accumulate_view(buffer, view, origin, grad);
  return whole ? buffer : strided_alias(buffer, base, origin);
}

}  // namespace torch::autograd

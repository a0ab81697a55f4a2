#pragma once
// Weights in the order in which kernels read them, kept for the next call.
#include <cstdint>
#include <initializer_list>

#include "aten/core/Tensor.h"

namespace at::native {

// Note [Packed weights]
// Tiles read weights in panels, and packing a weight may take as long as multiplying it by a few
// rows. In inference the same weights come again, so their packed forms are kept: at most 64 MB of
// them, of which the least recently used leaves first. An entry belongs to the contents of a block
// of memory (Note [Watched contents]) and leaves with them, whoever changes or frees the block. It
// is made at the second call that finds the same contents, so that a weight that is used once, or
// changes from call to call, costs nothing.
//
// The packed form is what the kernel would have packed itself, so results do not depend on whether
// it was kept. A forked child goes on with the entries that it inherits.

/// Who packs, which says what the parameters of a PackedForm mean.
enum class Packer : uint8_t {
  ConvolutionPanels,
  ConvolutionLanes,
  ConvolutionRows,
  LinearPanels,
};

/// What the packed form depends on, apart from the weight.
struct PackedForm {
  Packer packer;
  std::initializer_list<int64_t> parameters;
};

/// Fills `bytes` bytes, aligned to 64, with the packed form.
using PackFunction = void (*)(const void* context, void* packed);

/// Bytes of the packed form of `weight`, or an undefined tensor where none is kept: the caller then
/// packs for itself. Weights that autograd follows change with every step and are not kept.
TORCH_PY_API Tensor packed_weight(const Tensor& weight, const PackedForm& form, int64_t bytes,
                                  const void* context, PackFunction pack);

/// The same for a function object pack(void* packed).
template <class Pack>
Tensor packed_weight(const Tensor& weight, const PackedForm& form, int64_t bytes,
                     const Pack& pack) {
  return packed_weight(weight, form, bytes, &pack, [](const void* context, void* packed) {
    (*static_cast<const Pack*>(context))(packed);
  });
}

struct PackedWeightsStatistics {
  int64_t entries;
  int64_t bytes;
  int64_t hits;  // since the start of the process
};
TORCH_PY_API PackedWeightsStatistics packed_weights_statistics();

/// Drops all entries.
TORCH_PY_API void clear_packed_weights();

}  // namespace at::native

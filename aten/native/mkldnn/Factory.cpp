// New tensors with the mkldnn layout.
#include "aten/native/declarations/mkldnn/Factory.h"
#include "aten/native/mkldnn/Elements.h"

namespace at::native {

Tensor empty_mkldnn(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout>,
                    std::optional<Device>, std::optional<bool>,
                    std::optional<MemoryFormat> memory_format) {
  TORCH_CHECK(!memory_format.has_value(),
              "'memory_format' argument is incompatible with mkldnn tensor");
  const ScalarType type = dtype.value_or(default_dtype());
  check_mkldnn_dtype("get_mkldnn_dtype: unsupported data type", type);
  return mkldnn_from(empty_tensor(size, type, kCPU));
}

Tensor zeros_mkldnn(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory) {
  const Tensor result = empty_mkldnn(size, dtype, layout, device, pin_memory, std::nullopt);
  elements_of_mkldnn(result).zero_();
  return result;
}

}  // namespace at::native

// Definitions that tests/golden/operators.yaml names: looked up by the generator, compiled nowhere.
namespace at::native {
Tensor expand_reduced(const Tensor& grad_output, IntArrayRef sizes, OptionalIntArrayRef dim, bool keepdim) {}
std::tuple<TensorSpec, TensorSpec> max_dim_shape(const Tensor& self, int64_t dim, bool keepdim) {}
Tensor select_backward(const Tensor& grad_output, IntArrayRef sizes, int64_t dim, const Tensor& indices, bool keepdim) {}
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {}
std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {}
Tensor view(const Tensor& self, IntArrayRef size) {}
TensorSpec cat_shape(TensorList tensors, int64_t dim) {}
void cat_kernel(TensorList tensors, int64_t dim, const Tensor& out0) {}
std::vector<Tensor> cat_backward(const Tensor& grad_output, TensorList tensors, int64_t dim) {}
TensorSpec filter1d_shape(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, std::string_view padding_mode) {}
Tensor dropout(const Tensor& self, double p, bool train, Generator* generator) {}
Tensor zeros(IntArrayRef size, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory) {}
Tensor nonzero(const Tensor& self) {}
Tensor to_float(const Tensor& self) {}
}  // namespace at::native

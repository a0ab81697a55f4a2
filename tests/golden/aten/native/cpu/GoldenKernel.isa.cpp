// As Golden.cpp, for kernels that are compiled once per instruction set.
namespace at::native {
inline namespace CPU_CAPABILITY {
void add_kernel(TensorIteratorBase& iter, const Scalar& alpha) {}
void mul_kernel(TensorIteratorBase& iter) {}
void sum_kernel(TensorIteratorBase& iter) {}
void max_dim_kernel(const Tensor& self, int64_t dim, bool keepdim, const Tensor& out0, const Tensor& out1) {}
void filter1d_kernel(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, std::string_view padding_mode, const Tensor& out0) {}
std::tuple<Tensor, Tensor, Tensor> filter1d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight, bool has_bias, IntArrayRef stride) {}
void fill_kernel(const Tensor& self, const Scalar& value) {}
}  // namespace CPU_CAPABILITY
}  // namespace at::native

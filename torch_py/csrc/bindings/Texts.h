#pragma once
// What help() shows of the functions and methods that are written by hand, in a file of its
// own, so that an edit compiles nothing else.

namespace torch::python::texts {

extern const char torch_tensor[];
extern const char torch_as_tensor[];
extern const char torch_asarray[];
extern const char torch_from_numpy[];
extern const char torch_frombuffer[];
extern const char Tensor_data_ptr[];
extern const char Tensor_dim[];
extern const char Tensor_ndimension[];
extern const char Tensor_element_size[];
extern const char Tensor_is_complex[];
extern const char Tensor_is_floating_point[];
extern const char Tensor_is_signed[];
extern const char Tensor_is_conj[];
extern const char Tensor_is_neg[];
extern const char Tensor_is_contiguous[];
extern const char Tensor_numel[];
extern const char Tensor_nelement[];
extern const char Tensor_size[];
extern const char Tensor_stride[];
extern const char Tensor_storage_offset[];
extern const char Tensor_untyped_storage[];
extern const char Tensor_set_[];
extern const char Tensor_item[];
extern const char Tensor_tolist[];
extern const char Tensor_cpu[];
extern const char Tensor_to[];
extern const char Tensor_type[];
extern const char Tensor_detach[];
extern const char Tensor_detach_[];
extern const char Tensor_is_inference[];
extern const char Tensor_requires_grad_[];
extern const char Tensor_retain_grad[];
extern const char Tensor_register_hook[];
extern const char Tensor_register_post_accumulate_grad_hook[];
extern const char Tensor_as_subclass[];
extern const char Tensor_new_tensor[];
extern const char Tensor_numpy[];
extern const char torch_can_cast[];
extern const char torch_promote_types[];
extern const char torch_result_type[];
extern const char torch_get_default_dtype[];
extern const char torch_get_num_threads[];
extern const char torch_set_num_threads[];
extern const char torch_is_grad_enabled[];
extern const char torch_is_anomaly_enabled[];
extern const char torch_is_anomaly_check_nan_enabled[];
extern const char torch_set_flush_denormal[];
extern const char Tensor_cuda[];
extern const char torch_autocast_increment_nesting[];
extern const char torch_autocast_decrement_nesting[];
extern const char torch_clear_autocast_cache[];
extern const char torch_get_autocast_dtype[];
extern const char torch_is_autocast_cache_enabled[];
extern const char torch_set_autocast_cache_enabled[];
extern const char torch_set_autocast_dtype[];
extern const char torch_set_autocast_enabled[];
extern const char torch_from_dlpack[];

}  // namespace torch::python::texts

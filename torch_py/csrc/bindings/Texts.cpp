// The texts. The first line of most is the text signature, from which CPython takes the parameters;
// docs/documenting.md describes the form.
#include "torch_py/csrc/bindings/Texts.h"

namespace torch::python::texts {

const char torch_tensor[] =
    R"(tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)
--

Makes a tensor with a copy of numbers, of a sequence of sequences, of an array or of another
tensor.

Args:
    data: the elements
    dtype: the dtype; by default bool, int64, the default dtype or its complex one for numbers,
        and that of an array
    device: the device; by default the one of a tensor, or the default device
    requires_grad: whether autograd records operations on the tensor
    pin_memory: whether it is in page-locked memory

Raises:
    ValueError: sequences have different lengths

Example:
    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> torch.tensor(0.5)
    tensor(0.5000))";

const char torch_as_tensor[] = R"(as_tensor(data, dtype=None, device=None)
--

Makes a tensor of numbers, sequences or an array, and shares memory where it can: with
tensors and NumPy arrays of the same dtype and device.

Args:
    data: the elements
    dtype: the dtype; by default as in torch.tensor
    device: the device; by default as in torch.tensor

Example:
    >>> x = torch.ones(2)
    >>> torch.as_tensor(x) is x
    True)";

const char torch_asarray[] =
    R"(asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False)
--

Makes a tensor of nearly anything: a tensor, an array, an object with DLPack or a buffer, a
number or a sequence.

Args:
    obj: the object
    dtype: the dtype; by default that of the object
    device: the device; by default that of the object
    copy: True copies always, False raises where a copy is needed, None shares memory where it
        can
    requires_grad: whether autograd records operations on the tensor

Example:
    >>> torch.asarray([1, 2])
    tensor([1, 2]))";

const char torch_from_numpy[] = R"(from_numpy(ndarray, /)
--

Makes a tensor on the memory of a NumPy array: a change of either is a change of both.

Args:
    ndarray: the array

Raises:
    TypeError: not an array, or of a dtype that tensors do not have

Example:
    >>> import numpy
    >>> torch.from_numpy(numpy.array([1, 2]))
    tensor([1, 2]))";

const char torch_frombuffer[] =
    R"(frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)
--

Makes a vector on the memory of an object with the buffer protocol, such as a bytearray.

Args:
    buffer: the object
    dtype: the dtype of the elements
    count: how many elements; -1 stands for as many as there are
    offset: the number of bytes before the first element
    requires_grad: whether autograd records operations on the tensor

Raises:
    ValueError: the buffer is too small

Example:
    >>> torch.frombuffer(bytearray([1, 2, 3]), dtype=torch.uint8, offset=1)
    tensor([2, 3], dtype=torch.uint8))";

const char Tensor_data_ptr[] = R"(data_ptr($self)
--

The address of the first element in memory.

Example:
    >>> torch.ones(1).data_ptr() != 0
    True)";

const char Tensor_dim[] = R"(dim($self)
--

The number of dimensions.

Example:
    >>> torch.ones(2, 3).dim()
    2)";

const char Tensor_ndimension[] = R"(ndimension($self)
--

The number of dimensions: another name of dim.

Example:
    >>> torch.ones(2, 3).ndimension()
    2)";

const char Tensor_element_size[] = R"(element_size($self)
--

The number of bytes of an element.

Example:
    >>> torch.ones(1, dtype=torch.float64).element_size()
    8)";

const char Tensor_is_complex[] = R"(is_complex($self)
--

Whether the dtype is complex.

Example:
    >>> torch.tensor([1j]).is_complex()
    True)";

const char Tensor_is_floating_point[] = R"(is_floating_point($self)
--

Whether the dtype is floating point.

Example:
    >>> torch.ones(1).is_floating_point()
    True)";

const char Tensor_is_signed[] = R"(is_signed($self)
--

Whether the dtype can represent negative numbers.

Example:
    >>> torch.ones(1, dtype=torch.uint8).is_signed()
    False)";

const char Tensor_is_conj[] = R"(is_conj($self)
--

False: conjugates are computed at once.

Example:
    >>> torch.tensor([1j]).conj().is_conj()
    False)";

const char Tensor_is_neg[] = R"(is_neg($self)
--

False: negatives are computed at once.

Example:
    >>> (-torch.ones(1)).is_neg()
    False)";

const char Tensor_is_contiguous[] =
    R"(Whether the elements are in memory in the order of the dimensions, without gaps.

Args:
    memory_format: the order; by default rows first, the last dimension without gaps

Example:
    >>> torch.ones(2, 3).t().is_contiguous()
    False)";

const char Tensor_numel[] = R"(numel($self)
--

The number of elements.

Example:
    >>> torch.ones(2, 3).numel()
    6)";

const char Tensor_nelement[] = R"(nelement($self)
--

The number of elements: another name of numel.

Example:
    >>> torch.ones(2, 3).nelement()
    6)";

const char Tensor_size[] = R"(size($self, dim=None)
--

The sizes of all dimensions, or of one.

Args:
    dim: the dimension; all if None

Example:
    >>> torch.ones(2, 3).size(), torch.ones(2, 3).size(1)
    (torch.Size([2, 3]), 3))";

const char Tensor_stride[] = R"(stride($self, dim=None)
--

The distance in memory between neighbors along each dimension, in elements, or along one.

Args:
    dim: the dimension; all if None

Example:
    >>> torch.ones(2, 3).stride()
    (3, 1))";

const char Tensor_storage_offset[] = R"(storage_offset($self)
--

The place of the first element in the storage, in elements.

Example:
    >>> torch.arange(4)[1:].storage_offset()
    1)";

const char Tensor_untyped_storage[] = R"(untyped_storage($self)
--

The memory of the tensor, which its views share.

Example:
    >>> torch.ones(2).untyped_storage().nbytes()
    8)";

const char Tensor_set_[] = R"(set_($self, source=None, storage_offset=0, size=None, stride=None)
--

Makes this tensor use other memory, and returns it.

Args:
    source: a tensor, whose geometry is taken too, or a storage; None stands for memory without
        elements
    storage_offset: the place of the first element in the storage
    size: the sizes of the dimensions
    stride: the distance between neighbors along each dimension, in elements

Example:
    >>> torch.ones(1).set_(torch.tensor([1.0, 2.0]))
    tensor([1., 2.]))";

const char Tensor_item[] = R"(item($self)
--

The element of a tensor that has one, as a number of Python.

Raises:
    RuntimeError: the tensor has more elements, or none

Example:
    >>> torch.tensor([2.5]).item()
    2.5)";

const char Tensor_tolist[] = R"(tolist($self)
--

The elements as nested lists of numbers of Python; a number if there are no dimensions.

Example:
    >>> torch.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]])";

const char Tensor_cpu[] = R"(cpu($self, *, memory_format=None)
--

The tensor in the memory of the CPU: itself if it is there already.

Args:
    memory_format: the order of the dimensions in memory; that of the tensor if None

Example:
    >>> torch.ones(1).cpu().device
    device(type='cpu'))";

const char Tensor_to[] =
    R"(Converts to another dtype, device, or both: to(dtype), to(device), to(device, dtype) or
to(other), which takes both from a tensor. The tensor itself if nothing changes.

Args:
    dtype: the dtype
    device: the device
    other: the tensor with dtype and device
    non_blocking: whether a copy between page-locked memory and a GPU may go on while the
        program continues
    copy: whether to copy even if nothing changes
    memory_format: the order of the dimensions in memory; that of the tensor if None

Example:
    >>> torch.tensor([1, 2]).to(torch.float64)
    tensor([1., 2.], dtype=torch.float64))";

const char Tensor_type[] = R"(type($self, dtype=None, non_blocking=False)
--

The name of the type, such as 'torch.FloatTensor'; or the tensor converted to a dtype.

Args:
    dtype: a dtype, or the name or class of a type; None asks for the name
    non_blocking: whether a copy between page-locked memory and a GPU may go on while the
        program continues

Example:
    >>> torch.ones(1).type()
    'torch.FloatTensor'
    >>> torch.ones(1).type(torch.int64)
    tensor([1]))";

const char Tensor_detach[] = R"(detach($self)
--

A tensor with the same memory, without history: no gradient flows through it.

Example:
    >>> torch.ones(1, requires_grad=True).detach().requires_grad
    False)";

const char Tensor_detach_[] = R"(detach_($self)
--

Removes the history of this tensor, and returns it: it becomes a leaf that does not require a
gradient.

Example:
    >>> (torch.ones(1, requires_grad=True) * 2).detach_().requires_grad
    False)";

const char Tensor_is_inference[] = R"(is_inference($self)
--

Whether the tensor was made in inference mode, so that autograd refuses it.

Example:
    >>> with torch.inference_mode():
    ...     x = torch.ones(1)
    >>> x.is_inference()
    True)";

const char Tensor_requires_grad_[] = R"(requires_grad_($self, requires_grad=True)
--

Sets whether autograd records operations on this tensor, and returns it.

Args:
    requires_grad: whether to

Example:
    >>> torch.ones(1).requires_grad_().requires_grad
    True)";

const char Tensor_retain_grad[] = R"(retain_grad($self)
--

Makes backward keep the gradient of this tensor in .grad, although it is the result of an
operation.

Example:
    >>> x = torch.ones(1, requires_grad=True)
    >>> y = x * 2
    >>> y.retain_grad()
    >>> (y**2).backward()
    >>> y.grad
    tensor([4.]))";

const char Tensor_register_hook[] = R"(register_hook($self, hook, /)
--

Calls a function with the gradient of this tensor, as soon as it is computed. What it
returns, unless None, takes the place of the gradient.

Args:
    hook: the function

Returns:
    A handle, whose remove() removes the function.

Example:
    >>> x = torch.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda gradient: gradient * 10)
    >>> (x * 2).backward()
    >>> x.grad
    tensor([20.]))";

const char Tensor_register_post_accumulate_grad_hook[] =
    R"(register_post_accumulate_grad_hook($self, hook, /)
--

Calls a function with this leaf after its .grad has been updated.

Args:
    hook: the function

Returns:
    A handle, whose remove() removes the function.

Example:
    >>> x = torch.ones(1, requires_grad=True)
    >>> handle = x.register_post_accumulate_grad_hook(lambda tensor: print(tensor.grad))
    >>> (x * 2).backward()
    tensor([2.]))";

const char Tensor_as_subclass[] = R"(as_subclass($self, cls, /)
--

The same tensor as an instance of a subclass, with its history.

Args:
    cls: the subclass

Example:
    >>> class Mine(torch.Tensor):
    ...     pass
    >>> type(torch.ones(1).as_subclass(Mine)).__name__
    'Mine')";

const char Tensor_new_tensor[] =
    R"(new_tensor($self, data, *, dtype=None, device=None, requires_grad=False)
--

Makes a tensor with a copy of numbers, of a sequence or of an array, with the dtype and
device of this one.

Args:
    data: the elements
    dtype: the dtype; that of this tensor if None
    device: the device; that of this tensor if None
    requires_grad: whether autograd records operations on the tensor

Example:
    >>> torch.ones(1, dtype=torch.int64).new_tensor([1.5, 2.5])
    tensor([1, 2]))";

const char Tensor_numpy[] = R"(numpy($self, *, force=False)
--

A NumPy array on the memory of this tensor: a change of either is a change of both.

Args:
    force: whether to make a copy where that is impossible: of tensors with history or on
        another device

Raises:
    RuntimeError: the tensor requires a gradient
    TypeError: it is on another device, or of a dtype that NumPy does not have

Example:
    >>> torch.tensor([1, 2]).numpy()
    array([1, 2]))";

const char torch_can_cast[] = R"(can_cast(from_, to)
--

Whether results of one dtype may be written to tensors of another: not complex numbers to
real ones, nor floating point to integers, nor anything to bool.

Args:
    from_: the dtype of the results
    to: the dtype of the tensor

Example:
    >>> torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)
    (True, False))";

const char torch_promote_types[] = R"(promote_types(type1, type2)
--

The smallest dtype that holds the numbers of both, which results of operators on both have.

Args:
    type1, type2: the dtypes

Example:
    >>> torch.promote_types(torch.int64, torch.float16)
    torch.float16)";

const char torch_result_type[] = R"(result_type(tensor, other)
--

The dtype of results of operators on two tensors, or a tensor and a number. Numbers, and
tensors without dimensions, count only if they are of a higher kind.

Args:
    tensor: a tensor or a number
    other: a tensor or a number

Example:
    >>> torch.result_type(torch.ones(1, dtype=torch.int32), 2.5)
    torch.float32)";

const char torch_get_default_dtype[] = R"(get_default_dtype()
--

The dtype of floating-point results where none is given.

Example:
    >>> torch.get_default_dtype()
    torch.float32)";

const char torch_get_num_threads[] = R"(get_num_threads()
--

The number of threads of one operator on the CPU.

Example:
    >>> torch.get_num_threads() >= 1
    True)";

const char torch_set_num_threads[] = R"(set_num_threads(int, /)
--

Sets the number of threads of one operator on the CPU.

Args:
    int: the number, at least 1

Example:
    >>> torch.set_num_threads(torch.get_num_threads()))";

const char torch_is_grad_enabled[] = R"(is_grad_enabled()
--

Whether autograd records operations in this thread.

Example:
    >>> torch.is_grad_enabled()
    True)";

const char torch_is_anomaly_enabled[] = R"(is_anomaly_enabled()
--

Whether errors in backward show the forward call that caused them.

Example:
    >>> torch.is_anomaly_enabled()
    False)";

const char torch_is_anomaly_check_nan_enabled[] = R"(is_anomaly_check_nan_enabled()
--

Whether NaN in a gradient is an error while anomalies are looked for.

Example:
    >>> torch.is_anomaly_check_nan_enabled()
    True)";

const char torch_set_flush_denormal[] = R"(set_flush_denormal(mode, /)
--

Sets whether denormal numbers, which are slow, become 0. Returns whether the processor can do
it.

Args:
    mode: whether to

Example:
    >>> torch.set_flush_denormal(False)
    True)";

const char Tensor_cuda[] = R"(cuda($self, device=None, non_blocking=False, *, memory_format=None)
--

The tensor in the memory of a CUDA device: itself if it is there already.

Args:
    device: the device, or its index; the current one if None
    non_blocking: whether a copy from page-locked memory may go on while the program continues
    memory_format: the order of the dimensions in memory; that of the tensor if None

Example:
    >>> if torch.cuda.is_available():
    ...     torch.ones(1).cuda())";

const char torch_autocast_increment_nesting[] = R"(autocast_increment_nesting()
--

Enters a block of autocast, which torch.autocast does. Returns the number of blocks that the
thread is in then.

Example:
    >>> torch.autocast_increment_nesting()
    1
    >>> torch.autocast_decrement_nesting()
    0)";

const char torch_autocast_decrement_nesting[] = R"(autocast_decrement_nesting()
--

Leaves a block of autocast, which torch.autocast does. Returns the number of blocks that the
thread is in then.

Example:
    >>> torch.autocast_increment_nesting()
    1
    >>> torch.autocast_decrement_nesting()
    0)";

const char torch_clear_autocast_cache[] = R"(clear_autocast_cache()
--

Drops the weights that autocast has converted and kept.

Example:
    >>> torch.clear_autocast_cache())";

const char torch_get_autocast_dtype[] = R"(get_autocast_dtype(device_type, /)
--

The dtype to which autocast converts on a type of device.

Args:
    device_type: such as 'cpu' or 'cuda'

Example:
    >>> torch.get_autocast_dtype("cpu")
    torch.bfloat16)";

const char torch_is_autocast_cache_enabled[] = R"(is_autocast_cache_enabled()
--

Whether autocast keeps converted weights until the outermost block ends.

Example:
    >>> torch.is_autocast_cache_enabled()
    True)";

const char torch_set_autocast_cache_enabled[] = R"(set_autocast_cache_enabled(enabled, /)
--

Sets whether autocast keeps converted weights until the outermost block ends.

Args:
    enabled: whether to

Example:
    >>> torch.set_autocast_cache_enabled(True))";

const char torch_set_autocast_dtype[] = R"(set_autocast_dtype(device_type, dtype, /)
--

Sets the dtype to which autocast converts on a type of device.

Args:
    device_type: such as 'cpu' or 'cuda'
    dtype: the dtype

Example:
    >>> torch.set_autocast_dtype("cpu", torch.bfloat16))";

const char torch_set_autocast_enabled[] = R"(set_autocast_enabled(device_type, enabled, /)
--

Sets whether autocast is on for a type of device in this thread. torch.autocast does it for a
block.

Args:
    device_type: such as 'cpu' or 'cuda'
    enabled: whether to

Example:
    >>> torch.set_autocast_enabled("cpu", False))";

const char torch_from_dlpack[] = R"(from_dlpack(ext_tensor, *, device=None, copy=None)
--

Makes a tensor on the memory of another library's tensor, through DLPack.

Args:
    ext_tensor: an object with __dlpack__, or a capsule
    device: the device to ask the library for; the one where the memory is if None
    copy: True copies always, False raises where a copy is needed, None leaves it to the library

Example:
    >>> import numpy
    >>> torch.from_dlpack(numpy.array([1, 2]))
    tensor([1, 2]))";

}  // namespace torch::python::texts

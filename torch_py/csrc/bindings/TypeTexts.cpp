// The texts. docs/documenting.md describes the form.
#include "torch_py/csrc/bindings/TypeTexts.h"

namespace torch::python::texts {

const char torch_Size[] = R"(The sizes of the dimensions of a tensor: a tuple of integers.

Slices and sums of sizes are sizes, too.

Args:
    iterable: the integers; by default none

Raises:
    TypeError: an element is not an integer

Example:
    >>> size = torch.ones(2, 3, 4).size()
    >>> size
    torch.Size([2, 3, 4])
    >>> size[1:], size.numel()
    (torch.Size([3, 4]), 24)
    >>> rows, columns, depth = size)";

const char torch_device[] = R"(Where the memory of a tensor is: a type of device, and its number.

It is called as device('cuda'), device('cuda:1'), device('cuda', 1) or device(1), a number of
the accelerator. As a context manager or decorator, it is the default device of the tensors that
are made in the block.

Args:
    type: 'cpu', 'cuda', 'meta' or another type, also with a number, as 'cuda:1'
    index: the number of the device; by default none, which means the current one

Attributes:
    type: the type
    index: the number, or None

Raises:
    RuntimeError: the type is unknown, or the number of a device is given without an accelerator

Example:
    >>> torch.device("cuda", 1)
    device(type='cuda', index=1)
    >>> torch.device("cuda:1").index
    1
    >>> with torch.device("meta"):
    ...     torch.ones(2).device
    device(type='meta'))";

const char torch_dtype[] = R"(The type of the elements of a tensor, such as torch.float32.

The objects are attributes of torch; there are no others.

Attributes:
    itemsize: the number of bytes of an element
    is_floating_point: whether elements are floating-point numbers
    is_complex: whether elements are complex numbers
    is_signed: whether elements can be negative

Example:
    >>> torch.tensor([1, 2]).dtype
    torch.int64
    >>> torch.float16.itemsize, torch.float16.is_floating_point
    (2, True)
    >>> torch.complex64.to_real()
    torch.float32)";

const char torch_layout[] = R"(How the elements of a tensor are arranged in memory.

The objects are attributes of torch. Tensors here have the layout torch.strided: the element at
an index is at the sum of index times stride.

Example:
    >>> torch.ones(2).layout
    torch.strided)";

const char torch_memory_format[] = R"(An order of the dimensions of a tensor in memory.

The objects are attributes of torch: torch.contiguous_format, the last dimension is the densest;
torch.channels_last and torch.channels_last_3d, the channels of images and volumes are; and
torch.preserve_format, the order of an argument.

Example:
    >>> images = torch.ones(1, 3, 2, 2)
    >>> images.stride()
    (12, 4, 2, 1)
    >>> images.to(memory_format=torch.channels_last).stride()
    (12, 1, 6, 3))";

const char torch_finfo[] = R"(The limits of a floating-point or complex dtype.

Args:
    type: the dtype; by default the default dtype. The limits of a complex dtype are those of its
        parts

Attributes:
    bits: the number of bits
    eps: the distance from 1 to the next larger number
    max: the largest number
    min: the smallest number, -max
    tiny: the smallest positive normal number
    smallest_normal: the same as tiny
    resolution: the approximate decimal resolution, 10 to the power of minus the number of
        decimal digits
    dtype: the name of the dtype

Raises:
    TypeError: the dtype is not floating point or complex

Example:
    >>> torch.finfo(torch.float16).max
    65504.0
    >>> torch.finfo(torch.float32).eps == 2.0**-23
    True)";

const char torch_iinfo[] = R"(The limits of an integer dtype.

Args:
    type: the dtype

Attributes:
    bits: the number of bits
    max: the largest number
    min: the smallest number
    dtype: the name of the dtype

Raises:
    TypeError: the dtype is not an integer one

Example:
    >>> torch.iinfo(torch.int8)
    iinfo(min=-128, max=127, dtype=int8))";

const char torch_Generator[] = R"(A source of random numbers, which functions take as generator=.

A generator that is seeded with the same number gives the same numbers again. Functions without
one use torch.default_generator, which torch.manual_seed seeds.

Args:
    device: the device of the tensors that it fills; by default the CPU

Attributes:
    device: the device

Raises:
    RuntimeError: the device has no generators

Example:
    >>> generator = torch.Generator().manual_seed(3)
    >>> first = torch.randn(2, generator=generator)
    >>> again = torch.randn(2, generator=generator.manual_seed(3))
    >>> torch.equal(first, again)
    True)";

const char torch_UntypedStorage[] =
    R"(The memory of a tensor, as bytes. Tensors that are views share one.

Args:
    data: the number of bytes, which are uninitialized; or a sequence or buffer of bytes, which
        are copied; by default 0
    device: the device of new memory; by default the CPU

Raises:
    RuntimeError: the number is negative

Example:
    >>> storage = torch.tensor([1, 2], dtype=torch.int16).untyped_storage()
    >>> storage.nbytes(), storage.tolist()
    (4, [1, 0, 2, 0])
    >>> x = torch.zeros(3)
    >>> x[1:].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    True)";

const char torch_Event[] = R"(A point in the work of a stream. The CPU has no events.

record puts it at the end of the work that a stream has now; wait lets a stream wait for it, and
synchronize the program.

Args:
    device: the device; by default the accelerator, or the CPU without one
    enable_timing: whether elapsed_time can be asked for; default False
    blocking: whether synchronize lets other threads run while it waits; default False
    interprocess: whether other processes can use it; default False

Attributes:
    device: the device
    event_id: the handle of the event, 0 before the first record

Raises:
    RuntimeError: of record and the other methods, on the CPU

Example:
    >>> if torch.cuda.is_available():
    ...     before, after = (torch.Event("cuda", enable_timing=True) for _ in range(2))
    ...     before.record()
    ...     product = torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")
    ...     after.record()
    ...     after.synchronize()
    ...     milliseconds = before.elapsed_time(after))";

const char torch_Stream[] =
    R"(A queue of work on a device, which runs in order. The CPU's is always empty.

As a context manager, it is the current stream of the block. Work of different streams may run
at the same time; wait_stream and wait_event order it.

Args:
    device: the device; by default the accelerator, or the CPU without one
    priority: of work that could run, that of the stream with the lowest number comes first;
        default 0
    stream_id, device_index, device_type: the numbers of an existing stream, instead of a new one
    stream_ptr: the address of a stream that another library made, instead of a new one

Attributes:
    device: the device
    stream_id: the number of the stream on its device

Example:
    >>> torch.Stream("cpu").query()
    True)";

const char torch_OutOfMemoryError[] = R"(Raised when a device does not have the memory for a tensor.

It is a RuntimeError. Tensors that the program drops make room for others.

Example:
    >>> try:
    ...     batch = torch.ones(64, 3, 224, 224)
    ... except torch.OutOfMemoryError:
    ...     batch = torch.ones(16, 3, 224, 224))";

const char linalg_LinAlgError[] =
    R"(Raised when the result of a function of torch.linalg would be meaningless, such as the
inverse of a singular matrix. It is a RuntimeError.

Example:
    >>> try:
    ...     torch.linalg.inv(torch.zeros(2, 2))
    ... except torch.linalg.LinAlgError:
    ...     print("singular")
    singular)";

}  // namespace torch::python::texts

"""The dispatch keys and tags of torch_py, and which structures have kernels for which keys."""

from __future__ import annotations

# Structures with one function for every backend.
ALL_STRUCTURES = ("view", "composite")

# Structures whose kernels are loops behind a generated wrapper that is the same for all devices, and the keys
# of loops.
LOOP_STRUCTURES = ("pointwise", "reduction", "shaped", "mutation")
LOOP_KEYS = ("CPU", "CUDA")
# Their kernels may also be one function for every device (``All``), meta included.
LOOP_FOR_ALL_STRUCTURES = ("shaped", "mutation")

DISPATCH_KEYS = ("All", "CPU", "CUDA", "Meta", "MkldnnCPU", "Inplace")
# Keys of layouts with kernels of their own: the folder of these kernels, and the autograd key that tensors of
# the layout always have. An operator that does not write the key is an error for such tensors.
LAYOUT_KEYS = {"MkldnnCPU": ("aten/native/mkldnn", "AutogradMkldnnCPU")}
# Kernels of the CUDA library are in at::native::cuda, and have the names of the CPU's.
CUDA_KEY = "CUDA"
CUDA_FOLDER = "aten/native/cuda"
# The function of a composite's in-place form, which otherwise copies the result to self.
INPLACE_KEY = "Inplace"

TAGS = (
    "along_dim",  # acts along its `dim` argument and takes the other dimensions as a batch
    "batch_in_front",  # acts on the last dimensions, or on single elements; those before them are a batch
    # made of other operators, and of values that a member of a batch lacks: transforms take it as a whole
    "whole_in_transforms",
    # made of other operators, although without a gradient: transforms see these
    "composed_in_transforms",
    # made of other operators, although devices have kernels for the whole: recorded graphs have these
    "composed_in_graphs",
    # results consist of elements of its first argument, at places that do not depend on these; a mutation
    # writes those of its last tensor to self
    "moves_elements",
    "same_geometry",  # returns a tensor with the memory, the sizes and the strides of self
    "mixes_devices",  # copies from one device to another
    # the kernel of a ``shaped`` operator may be given self as its result, which the in-place form does
    "self_as_result",
    # what is written to, ``out`` or self in place, may not share memory with an argument that is read
    "no_overlap",
    "only_numbers",  # all its tensors may be given as numbers, as in ``add(1, 2)``
    "uninitialised",  # elements of its result hold whatever the memory held
    "rarely_used",  # the loop of its formula is compiled for size where instructions are old
    "core",
    "data_dependent_output",
    "dynamic_output_shape",
    "inplace_view",
    "nondeterministic_bitwise",
    "nondeterministic_seeded",
    "pt2_compliant_tag",
    "view_copy",
)

"""The keys and words that an entry may use."""

from __future__ import annotations

from codegen.python_modules import PYTHON_MODULES

ENTRY_KEYS = (
    "func",
    "variants",
    "python_module",
    "aliases",
    "since",
    "renamed",
    "deprecated",
    "deprecated_orders",
    "structure",
    "promotion",
    "dtypes",
    "scalars",
    "dispatch",
    "derivatives",
    "non_differentiable",
    "expr",
    "lowering",
    "reference",
    "requires",
    "samples",
    "doc",
    "tags",
    "shape",
    "autocast",
    "out_dtype",
    "foreach",
)
DOCUMENT_KEYS = ("library", "dtype_sets", "requirements", "reasons", "topics")

VARIANTS = ("function", "method", "inplace", "inplace_function", "out")
# Modules that an alias may name: special.expit.
ALIAS_PLACES = tuple(word for word, module in PYTHON_MODULES.items() if module.takes_aliases)

STRUCTURES = ("pointwise", "reduction", "view", "shaped", "composite", "dynamic", "mutation")

# structure -> its promotion rules, the first being the default.
PROMOTIONS = {
    "pointwise": ("default", "int_to_float", "comparison", "same", "complex_to_real", "bool_to_long"),
    "reduction": ("same", "extremum", "int_to_long", "int_to_float", "bool", "index"),
}

# Which structures can have which generated variant, and why not.
INPLACE_STRUCTURES = ("pointwise", "shaped", "composite")
OUT_STRUCTURES = ("pointwise", "reduction", "shaped", "composite", "dynamic")
# Structures whose schema may write to arguments.
WRITING_STRUCTURES = ("mutation", "composite", "dynamic", "shaped")
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

# How an operator converts floating point arguments inside torch.autocast; none: not at all; refused: the call
# is an error. The keys are types of devices.
AUTOCASTS = ("none", "lower_precision", "float32", "promote", "refused")
AUTOCAST_KEYS = ("CPU", "CUDA")

# Whether ``out`` must have the dtype of the result, or any that the result can be cast to.
OUT_DTYPES = ("exact", "castable")

DEPRECATION_KEYS = ("since", "use")
RENAME_KEYS = ("from", "since")

ERRORS = ("RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError")
# ``{operator}`` in a message is the operator's name in Python, without torch.
OPERATOR_IN_MESSAGE = "operator"
REQUIREMENT_KEYS = ("check", "error", "message", "form")
# The forms of an operator that a requirement can be restricted to.
REQUIREMENT_FORMS = ("inplace",)

NON_DIFFERENTIABLE = "non_differentiable"

TAGS = (
    "along_dim",  # acts along its `dim` argument and takes the other dimensions as a batch
    "batch_in_front",  # acts on the last dimensions, or on single elements; those before them are a batch
    # made of other operators, and of values that a member of a batch lacks: transforms take it as a whole
    "whole_in_transforms",
    # made of other operators, although without a gradient: transforms see these
    "composed_in_transforms",
    "mixes_devices",  # copies from one device to another
    # the kernel of a ``shaped`` operator may be given self as its result, which the in-place form does
    "self_as_result",
    # what is written to, ``out`` or self in place, may not share memory with an argument that is read
    "no_overlap",
    "only_numbers",  # all its tensors may be given as numbers, as in ``add(1, 2)``
    "core",
    "data_dependent_output",
    "dynamic_output_shape",
    "inplace_view",
    "nondeterministic_bitwise",
    "nondeterministic_seeded",
    "pt2_compliant_tag",
    "view_copy",
)

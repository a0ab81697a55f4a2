"""The words an entry may use."""

from __future__ import annotations

ENTRY_KEYS = (
    "func", "variants", "python_module", "aliases", "structure", "promotion", "dtypes", "scalars", "dispatch", "derivatives",
    "non_differentiable", "expr", "requires", "samples", "doc", "tags", "shape",
)
DOCUMENT_KEYS = ("library", "dtype_sets", "topics")

VARIANTS = ("function", "method", "inplace", "out")
PYTHON_MODULES = ("torch", "nn", "linalg", "special", "fft", "private")
# Where an alias may stand that is not beside the operator itself: special.expit.
ALIAS_PLACES = ("torch", "nn", "linalg", "special", "fft")

STRUCTURES = ("pointwise", "reduction", "view", "shaped", "composite", "dynamic", "mutation")

# structure -> its promotion rules, the first being the default.
PROMOTIONS = {
    "pointwise": ("default", "int_to_float", "comparison", "same", "complex_to_real"),
    "reduction": ("same", "int_to_long", "int_to_float", "bool", "index"),
}

# Which structures can have which generated variant, and why not.
INPLACE_STRUCTURES = ("pointwise", "shaped", "composite")
OUT_STRUCTURES = ("pointwise", "reduction", "shaped", "composite", "dynamic")
# Structures whose schema may write to arguments.
WRITING_STRUCTURES = ("mutation", "composite", "dynamic", "shaped")
# Structures with one function for every backend.
ALL_STRUCTURES = ("view", "composite")

DISPATCH_KEYS = (
    "All", "CPU", "CUDA", "Meta", "SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA", "QuantizedCPU",
    "QuantizedCUDA", "MkldnnCPU", "PrivateUse1",
)

# Canonical order: the order of ScalarType, which promotion follows.
DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128", "bool",
          "bfloat16")
DTYPE_ALIASES = {"half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64",
                 "short": "int16", "byte": "uint8", "char": "int8", "cfloat": "complex64", "cdouble": "complex128"}

ERRORS = ("RuntimeError", "ValueError", "IndexError", "TypeError")
REQUIREMENT_KEYS = ("check", "error", "message")

NON_DIFFERENTIABLE = "non_differentiable"

TAGS = (
    "along_dim",  # acts along its `dim` argument and takes the other dimensions as a batch
    "core", "data_dependent_output", "dynamic_output_shape", "inplace_view", "nondeterministic_bitwise",
    "nondeterministic_seeded", "pt2_compliant_tag", "view_copy",
)

"""The keys and words that entries of every target may use. Those of one target are in its dialect."""

from __future__ import annotations

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
    "reads",
    "foreach",
)
DOCUMENT_KEYS = ("library", "dtype_sets", "requirements", "reasons", "topics")

VARIANTS = ("function", "method", "inplace", "inplace_function", "out")
STRUCTURES = ("pointwise", "reduction", "view", "shaped", "composite", "dynamic", "mutation")

# structure -> its promotion rules, the first being the default.
PROMOTIONS = {
    "pointwise": ("default", "int_to_float", "comparison", "same", "complex_to_real", "bool_to_long"),
    "reduction": ("same", "extremum", "int_to_long", "int_to_float", "complex_to_real", "bool", "index"),
}

# Which structures can have which generated variant, and why not.
INPLACE_STRUCTURES = ("pointwise", "shaped", "composite")
OUT_STRUCTURES = ("pointwise", "reduction", "shaped", "composite", "dynamic")
# Structures whose schema may write to arguments.
WRITING_STRUCTURES = ("mutation", "composite", "dynamic", "shaped")
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

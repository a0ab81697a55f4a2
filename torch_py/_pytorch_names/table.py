"""The one list of modules that PyTorch has and torch_py does not:
module -> its names, and what using them does."""

from __future__ import annotations

import importlib.util
from itertools import accumulate

from torch_py._pytorch_names.kinds import (
    Row,
    also,
    answers,
    anything,
    blocks,
    device,
    file,
    names,
    same_as,
    settings,
    values,
)
from torch_py._pytorch_names.lacking import LACKING

TABLE: dict[str, Row] = {
    # Devices: questions are answered, requests are refused.
    "mps": names(
        "Apple's GPUs, which this build does not support.",
        device("mps", RuntimeError),
        answers(0, "current_allocated_memory()", "driver_allocated_memory()", "recommended_max_memory()"),
    ),
    "mtia": names("Meta's accelerators, which this build does not support.", device("mtia", RuntimeError)),
    "xpu": names("Intel's GPUs, which this build does not support.", device("xpu", RuntimeError)),
    #
    # Layouts: tensors are dense.
    "nested": names(
        "Nested tensors, which torch_py does not have.",
        anything("torch_py has no nested tensors; pad, or keep a list of tensors"),
    ),
    "sparse": file("sparse"),
    #
    # Quantisation: models are not quantised.
    "ao": names("The package of `torch.ao.quantization`.", also(quantization="ao.quantization")),
    "ao.quantization": file("ao_quantization"),
    "quantization": names(
        "The older name of `torch.ao.quantization`.",
        same_as("ao.quantization"),
        anything("torch_py does not quantise models"),
    ),
    #
    # Programs as data: nothing is compiled, exported or packaged.
    "_C._functorch": file("_functorch_native"),
    "_dynamo._trace_wrapped_higher_order_op": names(
        "A mark that transformers sets while it makes masks under a tracer; it has no effect.",
        blocks("TransformGetItemToIndex"),
    ),
    "_dynamo.decorators": names(
        "The older place of marks for the compiler.",
        same_as(
            "_dynamo",
            *("allow_in_graph", "disable", "disallow_in_graph", "forbid_in_graph", "graph_break"),
            *("mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic"),
            "substitute_in_graph",
        ),
        same_as("compiler", "set_stance"),
    ),
    "_dynamo.eval_frame": names(
        "The older place of what `torch.compile` returns.",
        same_as("_dynamo", "OptimizedModule", "explain", "optimize", reset_code="reset"),
        same_as("_dynamo.utils", "is_dynamo_supported"),
    ),
    "_dynamo.external_utils": names(
        "The older place of the question whether a call is captured.", same_as("_dynamo", "is_compiling")
    ),
    "_functorch.config": names(
        "Settings of the capture of gradients, kept without effect.",
        settings(
            activation_memory_budget=1.0,
            cse=True,
            donated_buffer=False,
            enable_autograd_cache=False,
            fake_tensor_propagate_real_tensors=False,
            functionalize_rng_ops=False,
            recompute_views=False,
            visualize_memory_budget_pareto=False,
        ),
    ),
    "_guards": names(
        "Questions about what is being compiled, which is nothing.", answers(None, "active_fake_mode()")
    ),
    "_refs": file("_refs"),
    "_utils_internal": names(
        "Where PyTorch's makers report what programs do; torch_py reports nothing.",
        values(TEST_MASTER_ADDR="127.0.0.1", TEST_MASTER_PORT=29500),
        answers(True, "justknobs_check(name, default=True)"),
        answers(None, "signpost_event(category, name, parameters)"),
    ),
    "utils._import_utils": names(
        "Which optional packages are installed.",
        values(dill_available=lambda: importlib.util.find_spec("dill") is not None),
    ),
    "utils._triton": names(
        "Triton, which torch_py does not use.", answers(False, "has_triton()", "has_triton_package()")
    ),
    "_jit_internal": file("_jit_internal"),
    "_prims_common": file("_prims_common"),
    "backends.cusparselt": names(
        "NVIDIA's library for structured sparsity, which this build does not have.",
        answers(False, "is_available()"),
        answers(None, "version()", "get_max_alg_id()"),
    ),
    "cuda.amp.grad_scaler": names(
        "The place of a class of `torch.cuda.amp`.", same_as("cuda.amp", "GradScaler")
    ),
    "distributed._tensor.experimental": names(
        "`torch.distributed.tensor.experimental` under its earlier name.",
        same_as("distributed.tensor.experimental"),
    ),
    "distributed._tensor.placement_types": names(
        "`torch.distributed.tensor.placement_types` under its earlier name.",
        same_as("distributed.tensor.placement_types"),
    ),
    "distributed.config": names(
        "Settings of collectives, kept without effect.",
        settings(compile_on_one_rank=False, use_torchcomms=False),
    ),
    "fx.experimental._config": names(
        "Settings of symbolic sizes, kept without effect.",
        settings(enrich_profiler_metadata=False, translation_validation=False, use_duck_shape=True),
    ),
    "package": file("package"),
}


def rows_of_lacking_modules() -> dict[str, Row]:
    """A row for each module that LACKING names and each package above it; files take precedence."""
    paths = {path for name in LACKING for path in accumulate(name.split("."), "{}.{}".format)}
    doc = "Names of `torch.{}` that torch_py lacks."
    return {path: names(doc.format(path)) for path in sorted(paths)}

"""The one list of modules that PyTorch has and torch_py does not:
module -> its names, and what using them does."""

from __future__ import annotations

from collections import Counter, defaultdict

from torch_py._pytorch_names.kinds import (
    Row,
    also,
    answers,
    anything,
    blocks,
    device,
    file,
    names,
    refuses,
    same_as,
    values,
)

_NO_GRAPHS = "torch.fx.{name}: torch_py does not capture graphs of programs yet"
_CLASS_OF_FX = "The place of a class of `torch.fx`."

TABLE: dict[str, Row] = {
    # Devices: questions are answered, requests are refused.
    "accelerator": file("accelerator"),
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
    # Programs as data: nothing is traced, compiled, exported or packaged.
    "_dynamo": file("_dynamo"),
    "_dynamo._trace_wrapped_higher_order_op": names(
        "A mark that transformers sets while it makes masks under a tracer; it has no effect.",
        blocks("TransformGetItemToIndex"),
    ),
    "_dynamo.config": file("_dynamo_config"),
    "_dynamo.eval_frame": names(
        "The place of the class of compiled modules.", same_as("compiler", "OptimizedModule")
    ),
    "_dynamo.utils": names(
        "Counters that programs read after compiling; all are zero.",
        values(counters=defaultdict(Counter)),
        answers(False, "is_compile_supported(device_type)"),
    ),
    "_jit_internal": file("_jit_internal"),
    "_logging": file("_logging"),
    "_prims_common": file("_prims_common"),
    "_subclasses": names(
        "The package of fake tensors, which take the place of others while programs are traced.",
        same_as("_subclasses.fake_tensor", "FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException"),
    ),
    "_subclasses.fake_tensor": file("_subclasses_fake_tensor"),
    "export": names(
        "`torch.export`, which torch_py does not have.",
        anything("torch_py does not capture programs; torch.onnx.export writes models for other runtimes"),
    ),
    "fx": file("fx"),
    "fx._symbolic_trace": names(
        "The place of what `torch.fx` traces with.",
        same_as("fx", "Tracer", "symbolic_trace", "wrap"),
        answers(False, "is_fx_symbolic_tracing()", "is_fx_tracing()"),
    ),
    "fx.experimental": names("The package of what libraries ask about tracing."),
    "fx.experimental.proxy_tensor": names(
        "Questions whether operators are being recorded, which they never are.",
        answers(None, "get_proxy_mode()"),
        refuses(
            NotImplementedError,
            _NO_GRAPHS.replace("fx.", "fx.experimental.proxy_tensor."),
            "make_fx(f, *arguments, **options)",
        ),
    ),
    "fx.graph": names(_CLASS_OF_FX, same_as("fx", "Graph")),
    "fx.graph_module": names(_CLASS_OF_FX, same_as("fx", "GraphModule")),
    "fx.interpreter": names(_CLASS_OF_FX, same_as("fx", "Interpreter", "Transformer")),
    "fx.node": names(_CLASS_OF_FX, same_as("fx", "Node")),
    "fx.proxy": names(_CLASS_OF_FX, same_as("fx", "Proxy")),
    "jit": file("jit"),
    "jit.annotations": file("jit_annotations"),
    "package": file("package"),
}

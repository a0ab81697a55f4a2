"""The same cases in NumPy, JAX and ONNX Runtime, where a case says how and the library is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy

from .case import Case, OnnxNode

PEERS = ("numpy", "jax", "onnxruntime")


def installed() -> list[str]:
    return [name for name in PEERS if importlib.util.find_spec(name) is not None]


def maker(convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """Makes normally distributed float32 tensors: the same ones, in the same order, for every library."""
    random = numpy.random.default_rng(0)
    return lambda *shape: convert(random.standard_normal(shape, dtype=numpy.float32))


def prepare(library: str, case: Case, threads: int = 1) -> Callable[[], Any] | None:
    """The call of a case; None where it has no form for the library."""
    if library == "onnxruntime":
        return None if case.onnx is None else onnx_call(case.onnx, threads)
    if case.arrays is None:
        return None
    if library == "numpy":
        function, arrays = case.arrays(numpy, maker(lambda array: array))
        return lambda: function(*arrays)

    jax = importlib.import_module("jax")
    function, arrays = case.arrays(importlib.import_module("jax.numpy"), maker(jax.device_put))
    compiled = jax.jit(function)
    return lambda: compiled(*arrays).block_until_ready()


def onnx_call(node: OnnxNode, threads: int) -> Callable[[], Any]:
    """A session of one node, whose inputs and output stay where they are."""
    onnx = importlib.import_module("onnx")
    runtime = importlib.import_module("onnxruntime")
    helper = onnx.helper

    names = [f"input{number}" for number in range(len(node.shapes))]
    inputs = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in zip(names, node.shapes)
    ]
    output = helper.make_tensor_value_info("output", onnx.TensorProto.FLOAT, None)
    graph = helper.make_graph(
        [helper.make_node(node.operator, names, ["output"], **node.attributes)], "case", inputs, [output]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    make = maker(lambda array: array)
    values = {name: make(*shape) for name, shape in zip(names, node.shapes)}

    return lambda: session.run(None, values)

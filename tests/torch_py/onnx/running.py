"""Exports a model, runs it in onnxruntime, and compares the results with those of the model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py.utils._pytree import tree_leaves


def results_of(model: Any, args: Sequence[Any]) -> list[torch.Tensor]:
    with torch.no_grad():
        return [leaf for leaf in tree_leaves(model(*args)) if isinstance(leaf, torch.Tensor)]


def compare(program: Any, model: Any, args: Sequence[Any], rtol: float = 1e-4, atol: float = 1e-5) -> None:
    copies = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
    found = program(*args)
    wanted = results_of(model, copies)
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted):
        torch.testing.assert_close(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)


def export(model: Any, args: Sequence[Any], *others: Sequence[Any], **settings: Any) -> Any:
    """The program, compared on `args` and on `others`, inputs of other sizes.

    Warnings of the tracer are errors.
    """
    if isinstance(model, torch.nn.Module):
        model.eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error", torch.onnx.errors.OnnxExporterWarning)
        program = torch.onnx.export(model, tuple(args), **settings)
    for given in (args, *others):
        compare(program, model, given)
    return program


def node_types(program: Any) -> list[str]:
    return [node.op_type for node in program.model_proto.graph.node]


def initializer_names(program: Any) -> list[str]:
    return [initializer.name for initializer in program.model_proto.graph.initializer]

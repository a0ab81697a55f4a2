"""Symbolic functions are registered as in PyTorch, with a notice that nothing calls them."""

import importlib

import pytest

import torch_py
from torch_py.onnx import _symbolics


def test_parse_args_keeps_the_function_and_its_kinds():
    @torch_py.onnx.symbolic_helper.parse_args("v", "v", "f")
    def both(g, first, second, factor):
        """What it does."""

    assert (both.__name__, both.__doc__, both._arg_descriptors) == ("both", "What it does.", ("v", "v", "f"))
    with pytest.raises(torch_py.onnx.OnnxExporterError, match="both: .* without symbolic functions"):
        both(None, 1, 2, 3.0)


def test_parse_args_refuses_unknown_kinds():
    with pytest.raises(ValueError, match="'q'"):
        torch_py.onnx.symbolic_helper.parse_args("v", "q")


def test_registered_functions_are_remembered_until_taken_back():
    def symbolic(g, value):
        raise AssertionError

    torch_py.onnx.register_custom_op_symbolic("own::op", symbolic, 11)
    assert _symbolics._registered["own::op", 11] is symbolic
    torch_py.onnx.unregister_custom_op_symbolic("own::op", 11)
    assert ("own::op", 11) not in _symbolics._registered
    torch_py.onnx.unregister_custom_op_symbolic("own::op", 11)


@pytest.mark.parametrize("name", ["op", "", "a:b", "a::", "a b::c", None])
def test_names_of_another_form(name):
    with pytest.raises(torch_py.onnx.OnnxExporterError, match="symbolic_name"):
        torch_py.onnx.register_custom_op_symbolic(name, print, 11)
    with pytest.raises(torch_py.onnx.OnnxExporterError, match="symbolic_name"):
        torch_py.onnx.unregister_custom_op_symbolic(name, 11)


def test_opset_module_is_importable():
    assert importlib.import_module("torch_py.onnx.symbolic_opset11") is torch_py.onnx.symbolic_opset11

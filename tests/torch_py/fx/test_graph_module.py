"""GraphModules: printed code, copies, pickles, folders, submodules and errors."""

from __future__ import annotations

import collections
import copy
import enum
import importlib
import io
import math
import operator
import pickle
import sys
import typing
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

fx = torch.fx


class Color(enum.Enum):
    RED = 1


Pair = collections.namedtuple("Pair", "a b")


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        self.norm = torch.nn.BatchNorm1d(3)
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.register_buffer("offset", torch.zeros(3))
        self.unused = torch.nn.Linear(1, 1)
        self.number = 5

    def forward(self, x):  # type: ignore[no-untyped-def]  # annotations would be printed
        return self.norm(self.layers(x)) * self.weight + self.offset


def trace(function: Any) -> Any:
    return fx.symbolic_trace(function)


# Code
# ------------------------------------------------------------


def test_code_of_a_module() -> None:
    assert trace(Model()).code == (
        "\n\n\n"
        "def forward(self, x):\n"
        '    layers_0 = getattr(self.layers, "0")(x);  x = None\n'
        '    layers_1 = getattr(self.layers, "1")(layers_0);  layers_0 = None\n'
        "    norm = self.norm(layers_1);  layers_1 = None\n"
        "    weight = self.weight\n"
        "    mul = norm * weight;  norm = weight = None\n"
        "    offset = self.offset\n"
        "    add = mul + offset;  mul = offset = None\n"
        "    return add\n"
        "    "
    )


def test_code_of_all_kinds_of_nodes() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x", torch.Tensor)
    y = graph.placeholder("y", int, default_value=2)
    add = graph.call_function(operator.add, (x, y))
    graph.call_function(operator.iadd, (add, 1))
    graph.call_function(operator.setitem, (add, 0, float("inf")))
    shape = graph.call_function(getattr, (add, "shape"))
    graph.call_function(getattr, (add, "not a name"))
    dim = graph.call_function(operator.getitem, (shape, 0))
    root = graph.call_function(math.sqrt, (dim,))
    view = graph.call_method("view", (add, -1), {"memory_format": torch.contiguous_format})
    zeros = graph.call_function(torch.zeros, ((2,),), {"dtype": torch.float32, "device": torch.device("cpu")})
    relu = graph.call_function(torch.nn.functional.relu, (zeros,), {"inplace": True})
    graph.output({"a": (view, root), "b": [slice(relu, None)]}, type_expr=typing.Any)

    code = graph.python_code("self").src
    assert code.strip().split("\n") == [
        "def forward(self, x : torch.Tensor, y : int = 2) -> typing_Any:",
        "    add = x + y;  x = y = None",
        "    add += 1;  iadd = add;  iadd = None",
        "    add[0] = inf;  setitem = add;  setitem = None",
        "    getattr_1 = add.shape",
        "    getattr_2 = getattr(add, 'not a name');  getattr_2 = None",
        "    getitem = getattr_1[0];  getattr_1 = None",
        "    sqrt = math_sqrt(getitem);  getitem = None",
        "    view = add.view(-1, memory_format = torch.contiguous_format);  add = None",
        "    zeros = torch.zeros((2,), dtype = torch.float32, device = device(type='cpu'))",
        "    relu = torch.nn.functional.relu(zeros, inplace = True);  zeros = None",
        "    return {'a': (view, sqrt), 'b': [slice(relu, None, None)]}",
    ]


def test_empty_graphs() -> None:
    assert fx.GraphModule({}, fx.Graph())() is None


def test_python_code_gives_globals() -> None:
    code = trace(lambda x: math.floor(x) + float("nan")).graph.python_code("self")
    assert code.globals["math_floor"] is math.floor and math.isnan(code.globals["nan"])
    assert code.globals["torch"] is torch


@pytest.mark.parametrize("value", [Color.RED, Pair(1, (2, None)), -0.0, 1j, "it's\n", b"x", range(3), ...])
def test_constants(value: Any) -> None:
    graph = fx.Graph()
    graph.output((value, graph.placeholder("x")))
    assert fx.GraphModule({}, graph)(1) == (value, 1)


@only_torch_py
@pytest.mark.parametrize("value", [int, torch.nn.functional.relu, list[int], torch.ones(2), frozenset({1})])
def test_more_constants(value: Any) -> None:
    """PyTorch prints what `repr` says, which is not Python."""
    graph = fx.Graph()
    graph.output(graph.call_function(returned, (value,)))
    result = fx.GraphModule({}, graph)()
    assert result is value or result == value


def returned(x: Any) -> Any:
    return x


@only_torch_py
@pytest.mark.parametrize("name", ["class", "self", "a b", "1", "print", "None"])
def test_parameters_with_impossible_names(name: str) -> None:
    graph = fx.Graph()
    x = graph.placeholder(name)
    graph.output(graph.call_function(operator.add, (x, 1)))
    assert fx.GraphModule({}, graph)(2) == 3


def test_parameters_named_like_builtins() -> None:
    traced = trace(lambda input, list, str: (input, list, str))
    assert traced(1, str=3, list=2) == (1, 2, 3)


@pytest.mark.parametrize(
    "kind",
    # The names in `typing` are printed in other ways than those of Python.
    [
        int,
        torch.Tensor,
        torch.nn.Linear,
        list[int],
        int | None,
        typing.List[int],  # noqa: UP006
        typing.Tuple[int, ...],  # noqa: UP006
        typing.Dict[str, typing.List[torch.Tensor]],  # noqa: UP006
        typing.Optional[torch.Tensor],  # noqa: UP045
        typing.Union[int, str],  # noqa: UP007
    ],
)
def test_annotations_are_valid(kind: Any) -> None:
    graph = fx.Graph()
    x = graph.placeholder("x", kind)
    call = graph.call_function(returned, (x,))
    call.type = kind
    graph.output(call, type_expr=kind)
    module = fx.GraphModule({}, graph)
    assert module(1) == 1 and " : " in module.code


def test_print_readable() -> None:
    traced = trace(Model())
    text = traced.print_readable(print_output=False)
    assert text.startswith(
        "class Model(torch.nn.Module):\n    def forward(self, x):\n        # No stacktrace"
    )
    for node in traced.graph.nodes:
        node.meta["val"] = torch.ones(2, 3)
    assert 'mul: "f32[2, 3]" = norm * weight' in traced.print_readable(False)
    assert 'x: "f32[2, 3][3, 1]cpu"' in traced.print_readable(False, include_stride=True, include_device=True)
    assert "    def forward(\n        self,\n" in traced.print_readable(False, expanded_def=True)
    assert "\x1b[" in traced.print_readable(False, colored=True)
    next(iter(traced.graph.nodes)).next.meta["place"] = "here"
    assert "# place: here" in traced.print_readable(False, additional_meta=["place"])


def test_print_readable_shows_lines_and_submodules(capsys: Any) -> None:
    class Tracer(fx.Tracer):
        record_stack_traces = True

        def is_leaf_module(self, m: Any, name: str) -> bool:
            return isinstance(m, fx.GraphModule)

    holder = torch.nn.Sequential(trace(lambda x: x + 1))
    traced = fx.GraphModule(holder, Tracer().trace(holder))
    traced.print_readable()
    text = capsys.readouterr().out
    assert "class GraphModule(torch.nn.Module):" in text and "    class 0(torch.nn.Module):" in text


def test_str_shows_the_code() -> None:
    text = str(trace(Model()))
    assert "norm = self.norm" in text and "(norm): BatchNorm1d" in text and "print_readable" in text


# Attributes
# ------------------------------------------------------------


def test_attributes_of_the_root_are_shared() -> None:
    model = Model().eval()
    traced = trace(model)
    assert traced.norm is model.norm and traced.weight is model.weight and not traced.training
    assert isinstance(traced, fx.GraphModule) and type(traced).__name__ == "Model"
    assert not hasattr(traced, "unused") and not hasattr(traced, "number")
    assert set(traced.state_dict()) < set(model.state_dict())
    assert not trace(lambda x: x).state_dict()


def test_roots() -> None:
    graph = fx.Graph()
    graph.output(graph.call_module("a.b", (graph.placeholder("x"),)))
    module = fx.GraphModule({"a.b": torch.nn.ReLU(), "c": 3}, graph, "Name")
    assert torch.equal(module(torch.tensor([-1.0])), torch.zeros(1)) and type(module).__name__ == "Name"
    with pytest.raises(RuntimeError, match="was not provided"):
        fx.GraphModule({}, graph)
    with pytest.raises(AttributeError):
        fx.GraphModule(torch.nn.Module(), graph)
    with pytest.raises(RuntimeError, match="Unsupported type"):
        fx.GraphModule(3, graph)


def test_submodules() -> None:
    traced = trace(Model())
    assert traced.add_submodule("x.y.z", torch.nn.ReLU()) and isinstance(traced.x.y.z, torch.nn.ReLU)
    assert not traced.add_submodule("weight.y", torch.nn.ReLU())
    assert traced.delete_submodule("x.y") and not hasattr(traced.x, "y")
    assert not traced.delete_submodule("nothing") and not traced.delete_submodule("weight")
    traced.delete_all_unused_submodules()
    assert not hasattr(traced, "x") and hasattr(traced.layers, "0")


@only_torch_py  # PyTorch raises for one of them
def test_missing_attributes_are_noticed() -> None:
    traced = trace(Model())
    with pytest.warns(UserWarning, match="no underlying reference"):
        traced.graph.get_attr("nothing")
    with pytest.warns(UserWarning, match="no underlying reference"):
        traced.graph.call_module("nothing")


# Changes
# ------------------------------------------------------------


def test_recompile() -> None:
    traced = trace(lambda x: torch.relu(x))
    x = torch.tensor([-1.0, 2.0])
    for node in traced.graph.nodes:
        if node.target is torch.relu:
            node.target = torch.abs
    assert traced(x)[0] == 0
    code = traced.recompile()
    assert traced(x)[0] == 1 and code.src == traced.code
    traced.graph = trace(lambda x: x + 1).graph
    assert traced(x)[0] == 0 and traced.graph.owning_module is traced
    with pytest.raises(AssertionError, match="Expected a Graph"):
        traced.graph = 3
    with pytest.raises(AttributeError):
        traced.code = "x"


def test_instances_have_code_of_their_own() -> None:
    one, other = trace(lambda x: x + 1), trace(lambda x: x + 2)
    assert (one(1), other(1)) == (2, 3)


def test_subclasses() -> None:
    class Special(fx.GraphModule):
        def __call__(self, *args: Any) -> Any:
            return ("special", super().__call__(*args))

    module = Special({}, trace(lambda x: x + 1).graph)
    assert module(1) == ("special", 2) and copy.deepcopy(module)(1) == ("special", 2)
    assert isinstance(copy.deepcopy(module), Special)


def test_hooks_run() -> None:
    traced = trace(lambda x: x + 1)
    traced.register_forward_hook(lambda module, inputs, result: result * 10)
    assert traced(1) == 20


def test_code_generators() -> None:
    class Listed(fx.CodeGen):
        def gen_fn_def(self, free_vars: Any, maybe_return_annotation: str, **options: Any) -> str:
            names = ", ".join(name for name in free_vars if name != "self")
            return f"def forward(self, args_list){maybe_return_annotation}:\n    {names}, = args_list"

        def process_inputs(self, *inputs: Any) -> Any:
            return inputs[0]

        def additional_globals(self) -> Any:
            return [("one", 1)]

    traced = trace(lambda x, y: x - y)
    traced.graph.set_codegen(Listed())
    assert traced.recompile().globals["one"] == 1
    assert traced([3, 1]) == 2 and fx.Interpreter(traced).run([3, 1]) == 2
    assert copy.deepcopy(traced)([3, 1]) == 2


def test_code_transformers() -> None:
    traced = trace(lambda x: x + 1)
    seen: list[Any] = []

    def make(current: Any) -> Any:
        seen.append(current)
        return lambda lines: ["x = x * 2\n", *(current(lines) if current else lines)]

    with traced.graph.on_generate_code(make):
        traced.recompile()
        assert traced(1) == 3
        with traced.graph.on_generate_code(make):
            traced.recompile()
            assert traced(1) == 5
    traced.recompile()
    assert traced(1) == 2 and seen[0] is None and seen[1] is not None


def test_boxed_code() -> None:
    traced = trace(lambda x, y: x + y)
    traced.graph.set_codegen(fx.graph._BoxedCodeGen())
    traced.recompile()
    args = [1, 2]
    assert traced(args) == 3 and args == []


# Copies
# ------------------------------------------------------------


def through_pickle(module: Any) -> Any:
    return pickle.loads(pickle.dumps(module))


def through_file(module: Any) -> Any:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("copied", [copy.deepcopy, through_pickle, through_file])
def test_copies(copied: Any) -> None:
    traced = trace(Model().eval())
    again = copied(traced)
    x = torch.rand(2, 3)
    assert torch.equal(again(x), traced(x)) and again.code == traced.code
    assert again.weight is not traced.weight and isinstance(again, fx.GraphModule)
    assert again.graph is not traced.graph and again.graph.owning_module is again
    again.graph.lint()


def test_tracers_and_transformers_of_a_function_are_not_pickled() -> None:
    class Local(fx.Tracer):
        pass

    tracer = Local()
    graph = tracer.trace(Model().eval())
    traced = fx.GraphModule(tracer.root, graph)
    x = torch.rand(2, 3)
    with graph.on_generate_code(lambda current: lambda lines: lines):
        traced.recompile()
        assert torch.equal(through_pickle(traced)(x), traced(x))


def test_shallow_copies_share() -> None:
    traced = trace(Model())
    again = copy.copy(traced)
    assert again.weight is traced.weight and again.code == traced.code
    x = torch.rand(2, 3)
    assert torch.equal(again(x), traced(x))


def test_pickled_functions() -> None:
    traced = trace(lambda x: returned(math.sqrt(x)))
    assert through_pickle(traced)(4.0) == 2.0
    nested = fx.symbolic_trace(lambda d: {"r": d["a"] + 1}, concrete_args={"d": {"a": fx.PH}})
    assert through_pickle(nested)({"a": 1}) == {"r": 2}


def test_to_folder(tmp_path: Any, monkeypatch: Any) -> None:
    model = Model().eval()
    model.add_module("norm", torch.nn.LayerNorm(3))
    traced = trace(model)
    traced.to_folder(tmp_path / "written_model", "Written")
    assert (tmp_path / "written_model" / "module.py").read_text().count(
        "class Written(torch.nn.Module):"
    ) == 1
    monkeypatch.syspath_prepend(str(tmp_path))
    written = importlib.import_module("written_model").Written()
    x = torch.rand(2, 3)
    assert torch.equal(written(x), traced(x))
    sys.modules.pop("written_model")


@only_torch_py  # PyTorch writes the mark into the class
def test_functions_in_folders_are_traced_as_one_node(tmp_path: Any, monkeypatch: Any) -> None:
    fx.symbolic_trace(lambda x: math.sqrt(x) + 1).to_folder(tmp_path / "written_function", "Written")
    monkeypatch.syspath_prepend(str(tmp_path))
    written = importlib.import_module("written_function").Written()
    assert written(4.0) == 3.0
    targets = [node.target for node in fx.symbolic_trace(written).graph.nodes]
    assert math.sqrt in targets
    sys.modules.pop("written_function")


# Errors
# ------------------------------------------------------------


@only_torch_py  # PyTorch prints, without the lines if the program captures output
def test_errors_show_the_line(capsys: Any) -> None:
    traced = trace(lambda x: x.relu().foo())
    with pytest.raises(AttributeError) as raised:
        traced(torch.ones(2))
    notes = "\n".join(getattr(raised.value, "__notes__", ())) + capsys.readouterr().err
    assert "Call using an FX-traced Module, line" in notes and "<--- HERE" in notes
    assert "foo = relu.foo();  relu = None\n" in notes


def test_errors_of_called_functions_are_theirs() -> None:
    traced = trace(lambda x: torch.cat([x, x], dim=7))
    with pytest.raises(IndexError):
        traced(torch.ones(2))
    with pytest.raises(TypeError):
        traced()


def test_powers_of_negative_numbers_have_brackets() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_function(operator.pow, (-2.0, x)), graph.call_function(operator.pow, (x, -2))))
    module = fx.GraphModule({}, graph)
    assert "(-2.0) ** x" in module.code and module(2) == (4.0, 0.25)

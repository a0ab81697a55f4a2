"""Exported programs: their graph, signature and state, changes in place, and what is refused."""

import copy

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.export import ExportedProgram, export
from torch_py.export.graph_signature import ConstantArgument, InputKind, TensorArgument


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("shift", torch.ones(4), persistent=False)

    def forward(self, x, *, scale=None):
        self.calls += 1
        return {"out": self.norm(self.linear(x)) + torch.tensor([1.0, 2, 3, 4]) + self.shift, "n": x.shape[0]}


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def test_the_signature_names_every_input_and_output():
    model = Counting()
    signature = export(model, (torch.ones(5, 3),), {"scale": None}).graph_signature
    assert signature.parameters == ("linear.weight", "linear.bias", "norm.weight", "norm.bias")
    assert signature.buffers[:2] == ("calls", "shift") and signature.non_persistent_buffers == ("shift",)
    assert signature.inputs_to_parameters["p_linear_weight"] == "linear.weight"
    assert signature.lifted_tensor_constants == ("lifted_tensor_0",)
    assert signature.user_inputs == ("x", None)
    assert set(signature.buffers_to_mutate.values()) == {
        "calls",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
    }
    assert signature.user_outputs[1] == 5

    kinds = [spec.kind for spec in signature.input_specs]
    assert kinds.index(InputKind.USER_INPUT) == len(kinds) - 2
    assert isinstance(signature.input_specs[-2].arg, TensorArgument)
    assert signature.input_specs[-1].arg == ConstantArgument("scale", None)
    assert "b_calls: BUFFER target='calls' persistent=True" in str(signature)


def test_the_graph_is_functional_and_runs_by_itself():
    model = Counting().eval()
    program = export(model, (torch.ones(5, 3),), {"scale": None})
    assert not any(str(node.target).endswith("_.Tensor") for node in program.graph.nodes)

    state = {**program.state_dict, **program.constants}
    values = [state[s.target] for s in program.graph_signature.input_specs if s.target is not None]
    x = torch.randn(5, 3)
    calls, out, n = program.graph_module(*values, x, None)
    assert calls == 1 and model.calls == 0 and n == 5
    torch.testing.assert_close(out, model(x)["out"])


def test_the_module_is_as_before_and_shares_its_state():
    model = Counting()
    before = copy.deepcopy(model.state_dict())
    generator = torch.get_rng_state()
    program = export(model, (torch.ones(5, 3),))
    assert torch.equal(torch.get_rng_state(), generator)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name])
    assert program.state_dict["linear.weight"] is model.linear.weight
    assert dict(program.named_parameters()).keys() == dict(model.named_parameters()).keys()
    assert [b.shape for b in program.buffers()] == [b.shape for b in model.buffers()]


def test_the_module_of_a_program_does_what_the_original_does():
    model = Counting()
    module = export(copy.deepcopy(model), (torch.ones(5, 3),), {"scale": None}).module()
    for _ in range(3):
        x = torch.randn(5, 3)
        expected, found = model(x), module(x, scale=None)
        torch.testing.assert_close(found["out"], expected["out"])
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(module.get_buffer(name), buffer)
    with pytest.raises(NotImplementedError, match="eval"):
        module.eval()


class Cache(nn.Module):
    """Writes to a view of a buffer, replaces another one, and changes its input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 4, 3))
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.rows[:, 1] = x
        self.total = self.total + x.sum(0)
        x.mul_(2)
        return self.rows.sum(1) + x


def test_changes_of_views_and_inputs_and_assigned_buffers_are_outputs():
    model = Cache()
    program = export(model, (torch.ones(2, 3),))
    assert set(program.graph_signature.buffers_to_mutate.values()) == {"rows", "total"}
    assert set(program.graph_signature.user_inputs_to_mutate.values()) == {"x"}
    assert not model.rows.any()

    module = export(copy.deepcopy(model), (torch.ones(2, 3),)).module()
    for _ in range(2):
        x = torch.randn(2, 3)
        mine, theirs = x.clone(), x.clone()
        torch.testing.assert_close(module(mine), model(theirs))
        assert torch.equal(mine, theirs)
    assert torch.equal(module.rows, model.rows) and torch.equal(module.total, model.total)


def test_in_place_promotion_keeps_the_dtype():
    def add(x, y):
        total = torch.zeros(3)
        total += y
        return total + x

    x, y = torch.ones(3), torch.ones(3, dtype=torch.float64)
    assert export(Function(add), (x, y)).module()(x, y).dtype == torch.float32


def test_a_program_prints_lines_shapes_and_signature():
    text = str(export(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), (torch.ones(2, 3),)))
    assert text.startswith("ExportedProgram:\n    class GraphModule(torch.nn.Module):")
    assert 'linear: "f32[2, 4]" = torch.ops.aten.linear.default(input_1, p_0_weight, p_0_bias)' in text
    assert "relu: USER_OUTPUT" in text and "Range constraints: {}" in text


def test_decompositions_are_recorded_instead_of_operators():
    program = export(Function(lambda x: torch.nn.functional.silu(x)), (torch.ones(3),))
    table = {torch.ops.aten.silu.default: lambda x: x * torch.sigmoid(x)}
    again = program.run_decompositions(table)
    names = [
        node.name
        for node in again.graph.find_nodes(op="call_function", target=torch.ops.aten.sigmoid.default)
    ]
    assert names == ["sigmoid"] and isinstance(again, ExportedProgram)
    x = torch.randn(3)
    torch.testing.assert_close(again.module()(x), program.module()(x))


@pytest.mark.parametrize(
    "inputs, message",
    [
        ((torch.ones(5, 4),), r"x\.size\(\)\[1\] == 3, got 4"),
        ((torch.ones(5, 3, 3),), r"x\.dim\(\) == 2"),
        ((torch.ones(5, 3).double(),), r"x\.dtype == torch\.float32"),
        ((1,), "x is a tensor, got int"),
        ((torch.ones(5, 3), 2), r"scale == None.* got 2"),
    ],
)
def test_other_inputs_are_refused(inputs, message):
    module = export(Counting(), (torch.ones(5, 3),), {"scale": None}).module()
    with pytest.raises(AssertionError, match=f"Guard failed: {message}"):
        module(inputs[0], scale=inputs[1] if len(inputs) > 1 else None)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x: x if x.sum() > 0 else -x, "truth of a tensor"),
        (lambda x: x * x.sum().item(), "number in a tensor"),
        (lambda x: x[: int(x.sum())], "number in a tensor"),
        (lambda x: x * float(x.tolist()[0]), "a list of numbers"),
        (lambda x: torch.ones(len(x.nonzero())), r"aten\.ones\.default.*depends on the inputs"),
        (lambda x: x + torch.from_numpy(x.numpy()), "NumPy array"),
    ],
)
def test_reading_values_is_refused_with_the_line(function, message):
    with pytest.raises(RuntimeError, match=rf"(?s){message}.*test_export\.py:\d+"):
        export(Function(function), (torch.ones(3),))


def test_sizes_that_depend_on_values_are_computed():
    def positive(x):
        kept = x[x > 0]
        return kept.reshape(kept.shape[0], 1) * 2

    module = export(Function(positive), (torch.randn(8),)).module()
    for _ in range(5):
        x = torch.randn(8)
        assert torch.equal(module(x), positive(x))


def test_a_changed_parameter_is_refused():
    class Changes(nn.Linear):
        def forward(self, x):
            with torch.no_grad():
                self.weight.mul_(0.5)
            return super().forward(x)

    model = Changes(2, 2)
    before = model.weight.clone()
    with pytest.raises(
        RuntimeError, match=r"aten\.mul_.*parameter or attribute 'weight'.*test_export\.py:\d+"
    ):
        export(model, (torch.ones(1, 2),))
    assert torch.equal(model.weight, before)


class Remembers(nn.Module):
    def __init__(self, way):
        super().__init__()
        self.way = way
        self.last = torch.zeros(2)
        self.count = 0

    def forward(self, x):
        self.count += 1
        if self.way == "in place":
            self.last += x
        elif self.way == "assigned":
            self.last = x + 1
        return x + self.last


@pytest.mark.parametrize("way", ["in place", "assigned"])
def test_changed_attributes_are_refused(way):
    model = Remembers(way)
    with pytest.raises(RuntimeError, match="attribute 'last'"):
        export(model, (torch.ones(2),))
    assert torch.equal(model.last, torch.zeros(2)) and model.count == 0


def test_attributes_are_constants():
    model = Remembers("read")
    module = export(model, (torch.ones(2),)).module()
    assert torch.equal(module(torch.ones(2)), torch.ones(2)) and model.count == 0


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            (lambda x: x, (torch.ones(3),)),
            ValueError,
            r"Expected `mod` to be an instance of `torch\.nn\.Module`",
        ),
        ((nn.ReLU(), torch.ones(3)), RuntimeError, "Expecting `args` to be a tuple"),
        ((nn.ReLU(), ()), RuntimeError, r"do not fit forward\(\)"),
        ((nn.ReLU(), (object(),)), RuntimeError, "Unsupported input type"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        export(*arguments)


def test_errors_of_the_program_are_its_own():
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        export(nn.Linear(3, 4), (torch.ones(2, 5),))


def test_a_program_is_not_called():
    program = export(nn.ReLU(), (torch.ones(3),))
    with pytest.raises(RuntimeError, match=r"exported_program\.module\(\)"):
        program(torch.ones(3))
    program.validate()

"""torch.onnx.export: arguments, names, dynamic dimensions, in-place writes, and refusals."""

from __future__ import annotations

import io
import sys
import warnings

import pytest

import torch_py as torch
from torch_py import nn

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from tests.torch_py.onnx.running import export, initializer_names, node_types  # noqa: E402

errors = torch.onnx.errors


def names(values) -> list[str]:
    return [value.name for value in values]


def sizes(value) -> list[int | str]:
    return [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]


# -- the file
# ------------------------------------------------------------


def test_file_and_names(tmp_path):
    path = tmp_path / "model.onnx"
    model = nn.Linear(3, 2)
    result = torch.onnx.export(model, torch.randn(4, 3), path, input_names=["data"], output_names=["scores"])

    proto = onnx.load(path)
    onnx.checker.check_model(proto, full_check=True)
    assert names(proto.graph.input) == ["data"] and names(proto.graph.output) == ["scores"]
    assert isinstance(result, torch.onnx.ONNXProgram)

    session = onnxruntime.InferenceSession(str(path))
    data = torch.randn(4, 3)
    torch.testing.assert_close(
        torch.from_numpy(session.run(["scores"], {"data": data.numpy()})[0]), model(data).detach()
    )


def test_file_object_and_dynamo():
    file = io.BytesIO()
    assert torch.onnx.export(nn.ReLU(), (torch.randn(2),), file, dynamo=False) is None
    assert node_types(torch.onnx.ONNXProgram(onnx.load_from_string(file.getvalue()), None)) == ["Relu"]


@pytest.mark.parametrize("opset", [13, 15, 17, 18, 20, 21])
def test_opset(opset):
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU(), nn.GELU("tanh"))
    program = export(
        model,
        [torch.randn(2, 3, 4)],
        [torch.randn(5, 3, 4)],
        opset_version=opset,
        dynamic_axes={"input": [0]},
    )
    assert [entry.version for entry in program.model_proto.opset_import] == [opset]
    onnx.checker.check_model(program.model_proto, full_check=True)
    assert ("LayerNormalization" in node_types(program)) == (opset >= 17)


def test_opset_out_of_range():
    with pytest.raises(ValueError, match="opset_version.*1000"):
        torch.onnx.export(nn.ReLU(), torch.ones(1), opset_version=1000)
    with pytest.warns(errors.OnnxExporterWarning, match="11"):
        program = torch.onnx.export(nn.ReLU(), torch.ones(1), opset_version=11)
    assert program.model_proto.opset_import[0].version == 13


def test_parameters_as_inputs():
    model = nn.Linear(3, 2)
    program = torch.onnx.export(model, torch.randn(4, 3), export_params=False)
    assert names(program.model_proto.graph.input) == ["input", "weight", "bias"] and not initializer_names(
        program
    )
    kept = torch.onnx.export(model, torch.randn(4, 3), keep_initializers_as_inputs=True)
    assert names(kept.model_proto.graph.input) == ["input", "weight", "bias"] and initializer_names(kept) == [
        "weight",
        "bias",
    ]


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))
        self.register_buffer("offset", torch.randn(3))

    def forward(self, x):
        return x * torch.exp(self.weight).abs() + self.offset


def test_constant_folding():
    folded, whole = (
        export(Scaled(), [torch.randn(2, 3)], do_constant_folding=folds) for folds in (True, False)
    )
    assert node_types(folded) == ["Mul", "Add"] and node_types(whole) == ["Exp", "Abs", "Mul", "Add"]
    assert "weight" in initializer_names(whole) and "offset" in initializer_names(folded)


def test_model_is_as_before():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout())
    model[1].eval()

    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    data = torch.randn(4, 3)
    kept = data.clone()

    torch.onnx.export(model, data, training=torch.onnx.TrainingMode.TRAINING)

    assert [module.training for module in model.modules()] == [True, True, False, True]
    assert torch.equal(data, kept) and all(
        torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items()
    )
    assert not model._forward_hooks
    assert not model[0]._forward_pre_hooks
    assert torch.zeros is torch._C._torch.zeros

    assert not torch.onnx.is_in_onnx_export()


def test_is_in_onnx_export():
    seen = []

    def model(x):
        seen.append(torch.onnx.is_in_onnx_export())
        return x + 1

    torch.onnx.export(model, torch.ones(2))
    assert seen == [True] and not torch.onnx.is_in_onnx_export()


def test_structured_arguments_and_results():
    def forward(x, pair, *, scale=None):
        return {"sum": x + pair[0], "parts": [pair[1] * 2, x if scale is None else x * scale]}

    model = nn.Module()
    model.forward = forward
    data = (torch.randn(2), (torch.randn(2), torch.randn(2)))
    program = torch.onnx.export(model, data, kwargs={"scale": torch.tensor(3.0)})
    assert names(program.model_proto.graph.input) == ["x", "pair_0", "pair_1", "scale"]
    assert names(program.model_proto.graph.output) == ["output_0", "output_1", "output_2"]
    older = torch.onnx.export(model, (*data, {"scale": torch.tensor(3.0)}))
    found = older(*data, scale=torch.tensor(3.0))
    torch.testing.assert_close(found[2], data[0] * 3)


def test_verify():
    torch.onnx.export(nn.Linear(2, 2), torch.randn(3, 2), verify=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(errors.OnnxExporterError, match="verify"):  # a different random number in each run
            torch.onnx.export(lambda x: x + torch.randn(2), torch.zeros(2), verify=True)


# -- dynamic dimensions
# ------------------------------------------------------------


def test_names_of_dynamic_dimensions():
    axes = {"x": {0: "batch", 1: "time"}, "y": {1: "steps"}}
    program = torch.onnx.export(
        lambda x: x.flatten(1).unsqueeze(0),
        torch.randn(2, 3, 4),
        input_names=["x"],
        output_names=["y"],
        dynamic_axes=axes,
    )
    assert sizes(program.model_proto.graph.input[0]) == ["batch", "time", 4]
    assert sizes(program.model_proto.graph.output[0])[:2] == [1, "steps"]


@pytest.mark.parametrize(
    "shapes",
    [{"x": {0: "n"}, "y": {0: "n"}}, ({0: "n"}, ("n", None)), [{0: "n"}, {0: "n"}]],
    ids=["dict", "tuple", "list"],
)
def test_dynamic_shapes(shapes):
    def model(x, y):
        return torch.cat([x, y], 1).view(x.size(0) * 5)

    args = [torch.randn(2, 2), torch.randn(2, 3)]
    program = export(model, args, [torch.randn(6, 2), torch.randn(6, 3)], dynamic_shapes=shapes)
    assert sizes(program.model_proto.graph.input[1]) == ["n", 3]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.view(-1, x.size(2)),
        lambda x: x.reshape(x.size(0), 2, x.size(1), 2),
        lambda x: x.transpose(0, 1).reshape(x.size(1), -1),
        lambda x: x[:, : x.size(1) // 2],
        lambda x: x[:, 1::2] * x.size(1),
        lambda x: x / x.size(0) ** 0.5,
        lambda x: x + torch.arange(x.size(1)).unsqueeze(1),
        lambda x: x + torch.zeros(x.size(0), x.size(1), 4),
        lambda x: x.unsqueeze(1).expand(-1, 3, -1, -1).repeat(2, 1, 1, 1),
        lambda x: x.mean(dim=(0, 1)) + x.var(0).sum(),
        lambda x: torch.nn.functional.pad(x, (0, 0, 0, -x.size(1) % 4)),
        lambda x: x.flip(1).cumsum(1)[:, -1],
        lambda x: (
            torch.stack(torch.meshgrid(torch.arange(x.size(0)), torch.arange(x.size(1)), indexing="ij")) + 1
        ),
        lambda x: x.new_ones(x.size(0), 1) @ x.sum((0, 2)).unsqueeze(0),
        lambda x: torch.full((x.size(1),), 2.0) * x.size(0),
        lambda x: torch.eye(x.size(1)).triu(1) + torch.linspace(0, 1, x.size(1)),
        lambda x: x.topk(x.size(1) // 2, dim=1).values,
        lambda x: x.split([1, x.size(1) - 1], dim=1)[1],
        lambda x: x[:, torch.tensor([0, 1, 0])],
        lambda x: x.roll(1, 1).narrow(1, 1, x.size(1) - 1),
    ],
    ids=range(20),
)
def test_sizes_that_follow_the_input(function):
    export(
        function,
        [torch.randn(3, 6, 4)],
        [torch.randn(2, 9, 4)],
        [torch.randn(5, 4, 4)],
        dynamic_axes={"x": {0: "a", 1: "b"}},
    )


def test_control_flow_by_size_is_refused():
    def model(x):
        return x.relu() if x.size(0) % 2 else x.exp()

    with pytest.raises(errors.OnnxExporterError, match="relu.*|exp.*"):
        torch.onnx.export(model, torch.randn(2, 2), dynamic_axes={"x": [0]})
    torch.onnx.export(model, torch.randn(2, 2))


def test_loop_over_a_dynamic_dimension_is_refused():
    with pytest.raises(errors.OnnxExporterError):
        torch.onnx.export(lambda x: sum(row.exp() for row in x), torch.randn(2, 2), dynamic_axes={"x": [0]})


def test_number_that_cannot_be_explained():
    table = {2: 1.5, 5: 0.25, 9: 7.0, 14: 2.5, 4: 9.0}
    with pytest.raises(errors.SymbolicValueError, match="mul"):
        torch.onnx.export(lambda x: x * table.get(x.size(0), 3.1), torch.randn(2, 2), dynamic_axes={"x": [0]})


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"dynamic_axes": {"z": [0]}}, "'z'"),
        ({"dynamic_axes": {"x": [5]}}, "5"),
        ({"dynamic_axes": {"x": {0: "n", 1: "n"}}}, "'n'"),
        ({"input_names": ["a", "b"]}, "input_names"),
        ({"output_names": ["a", "b"]}, "output_names"),
        ({"dynamic_shapes": ({0: "n"},), "dynamic_axes": {"x": [0]}}, "one of them"),
        ({"input_names": ["weight"]}, "weight"),
        ({"output_names": ["x"]}, "'x'"),
    ],
)
def test_bad_names_and_dimensions(settings, message):
    class Model(nn.Linear):
        def forward(self, x):
            return super().forward(x)

    with pytest.raises(ValueError, match=message):
        torch.onnx.export(Model(3, 2), torch.randn(2, 3), **settings)


# -- writes
# ------------------------------------------------------------


def in_place(x):
    y = x + 1
    y.mul_(2).add_(x)
    y[0] = 0.0
    y[:, 1] = x[:, 2]
    y[y > 2] = -1
    y[..., ::2] += 3
    return y


def test_writes_become_values():
    export(in_place, [torch.randn(3, 4)], [torch.randn(5, 4)], dynamic_axes={"x": [0]})


def test_write_into_new_tensor():
    def model(x):
        out = torch.zeros(x.size(0), 6)
        out[:, :4] = x
        return out

    export(model, [torch.randn(3, 4)], [torch.randn(5, 4)], dynamic_axes={"x": [0]})


def test_write_through_a_view():
    def model(x):
        y = x + 1
        y[0].zero_()
        return y * 2

    export(model, [torch.randn(3, 4)], [torch.randn(5, 4)], dynamic_axes={"x": [0]})


def test_write_to_outside_tensor_is_refused():
    outside = torch.zeros(3)

    def model(x):
        outside[0] = x.sum()
        return outside + x

    with pytest.raises(errors.OnnxExporterError, match="made before the export"):
        torch.onnx.export(model, torch.randn(3))


# -- refusals
# ------------------------------------------------------------


class WithInverse(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(x)


def test_unsupported_operator_names_its_module():
    with pytest.raises(errors.UnsupportedOperatorError, match=r"linalg_inv.*module '0\.body'") as caught:
        inner = nn.Module()
        inner.body = WithInverse()
        inner.forward = lambda x: inner.body(x)
        torch.onnx.export(nn.Sequential(inner), torch.eye(3))
    assert caught.value.operator == "linalg_inv_ex" and caught.value.module == "0.body"
    assert caught.value.file == __file__ and "return torch.linalg.inv(x)" in str(caught.value)


def test_unsupported_argument_is_named():
    with pytest.raises(errors.UnsupportedOperatorError, match="'scatter_reduce' .*reduce='mean'"):
        torch.onnx.export(
            lambda x: x.scatter_reduce(0, torch.tensor([0, 0]), x, reduce="mean"), torch.randn(2)
        )


def test_unused_unsupported_operator_is_left_out():
    def model(x):
        torch.linalg.inv(x)
        return x + 1

    assert node_types(export(model, [torch.eye(3)])) == ["Add"]


def test_reading_a_number_warns():
    with pytest.warns(errors.TracerWarning, match="item"):
        program = torch.onnx.export(lambda x: x * x.max().item(), torch.tensor([1.0, 2.0]))
    torch.testing.assert_close(program(torch.tensor([1.0, 5.0]))[0], torch.tensor([2.0, 10.0]))
    with pytest.warns(errors.TracerWarning, match="bool"):
        torch.onnx.export(lambda x: x if x.sum() > 0 else -x, torch.ones(2))


@pytest.mark.parametrize(
    "name", ["custom_opsets", "report", "custom_translation_table", "export_modules_as_functions"]
)
def test_arguments_that_do_not_exist_here(name):
    with pytest.raises(NotImplementedError, match=name):
        torch.onnx.export(nn.ReLU(), torch.ones(1), **{name: {"a": 1}})


def test_not_a_model():
    with pytest.raises(TypeError, match="int"):
        torch.onnx.export(3, torch.ones(1))
    with pytest.raises(errors.OnnxExporterError, match="float"):
        torch.onnx.export(lambda x: 1.5, torch.ones(1))


def test_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(errors.OnnxExporterError, match="pip install onnx"):
        torch.onnx.export(nn.ReLU(), torch.ones(1))


def test_signature_is_that_of_the_peer():
    import inspect

    peer = pytest.importorskip("torch")
    ours, theirs = (inspect.signature(module.onnx.export).parameters for module in (torch, peer))
    assert list(ours) == list(theirs)
    for name, parameter in theirs.items():
        assert ours[name].kind == parameter.kind, name
        if not hasattr(parameter.default, "name"):
            assert ours[name].default == parameter.default, name


def test_indexing():
    def model(x, i, mask):
        return (
            x[i],
            x[:, i],
            x[i, i],
            x[:, :, 0][..., None],
            x[mask],
            x[1:, None, ::2, -1],
            x[[0, 1], :, [1, 2]],
            x[-1, ..., 1:],
        )

    args = [torch.randn(3, 3, 4), torch.tensor([2, 0]), torch.tensor([True, False, True])]
    export(model, args)

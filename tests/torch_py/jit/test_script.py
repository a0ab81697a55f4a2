"""Scripted modules and functions run as Python, have a graph where they can, and are saved with it."""

import io
import pickle
from typing import Optional

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.export.models import GPT, ResNet, Tagger

nn = torch.nn
functional = torch.nn.functional


def reloaded(module):
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5)
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("shift", torch.arange(3.0))
        self.limit = 2.0

    def forward(self, x, mask: Optional[torch.Tensor] = None):  # noqa: UP045  # PyTorch's compiler reads it
        y = self.drop(torch.relu(self.linear(x)))
        y = y.clamp(max=self.limit) * self.scale + self.shift
        if mask is not None:
            y = y.masked_fill(mask, 0.0)
        return y.view(x.shape[0], -1)

    @torch.jit.export
    def twice(self, x):
        return 2 * x


def test_a_scripted_module_is_the_original():
    model = Gated()
    scripted = torch.jit.script(model)
    assert isinstance(scripted, torch.jit.ScriptModule) and scripted.original_name == "Gated"
    assert torch.jit.script(scripted) is scripted
    assert list(scripted.state_dict()) == list(model.state_dict()) and scripted.limit == 2.0
    assert torch.equal(scripted.twice(torch.ones(2)), torch.full((2,), 2.0))

    scripted.eval()
    x = torch.randn(4, 3)
    assert torch.equal(scripted(x), model.eval()(x))
    mask = torch.tensor([True, False, True])
    assert torch.equal(scripted(x, mask), model(x, mask))


@only_torch_py
def test_the_mode_is_that_of_the_original():
    model = Gated()
    scripted = torch.jit.script(model).eval()
    assert not model.training and not model.drop.training and not scripted.training
    assert scripted.train().training and model.drop.training
    assert scripted.get_parameter("scale") is model.scale


@only_torch_py
@pytest.mark.parametrize("make, inputs", [(ResNet, (2, 3, 32, 32)), (Gated, (4, 3))])
def test_a_scripted_module_is_saved_and_loaded(make, inputs):
    model = make().eval()
    loaded = reloaded(torch.jit.script(model))
    assert sorted(loaded.state_dict()) == sorted(model.state_dict()) and not loaded.training
    x = torch.randn(inputs)
    torch.testing.assert_close(loaded(x), model(x))
    # Layers of torch.nn know their mode.
    assert torch.equal(
        loaded.train().state_dict()[next(iter(model.state_dict()))], next(iter(model.parameters()))
    )


@only_torch_py
def test_a_tied_model_is_saved_and_loaded():
    model = GPT().eval()
    loaded = reloaded(torch.jit.script(model))
    tokens = torch.randint(0, 11, (3, 6))
    torch.testing.assert_close(loaded(tokens), model(tokens))
    assert loaded.get_parameter("head.weight") is loaded.get_parameter("tokens.weight")
    with pytest.raises(AssertionError, match="specialized to have value None"):
        loaded(tokens, tokens)


@only_torch_py
def test_recurrent_layers_are_saved():
    model = Tagger().eval()
    loaded = reloaded(torch.jit.script(model))
    words = torch.randint(0, 11, (3, 6))
    torch.testing.assert_close(loaded(words), model(words))


def test_a_scripted_function():
    @torch.jit.script
    def clipped(x, low: float = 0.5):
        """Doc."""
        return torch.clamp(x, min=low) + x.size(0)

    assert isinstance(clipped, torch.jit.ScriptFunction) and clipped.name == "clipped"
    assert torch.equal(clipped(torch.zeros(2)), torch.full((2,), 2.5))
    assert torch.equal(reloaded(clipped)(torch.zeros(2), 0.5), torch.full((2,), 2.5))
    assert "clamp" in clipped.code and "clamp" in str(clipped.graph)


@torch.jit.script
def absolute(x):
    if bool(x.sum() > 0):
        return x
    return -x


def test_control_flow_runs():
    assert torch.equal(absolute(torch.ones(2)), absolute(-torch.ones(2)))


@only_torch_py
def test_control_flow_is_not_saved_and_the_error_names_the_line():
    message = r"(?s)absolute runs as Python.*test_script\.py:\d+: if bool"
    with pytest.raises(NotImplementedError, match=message):
        absolute.save(io.BytesIO())
    with pytest.raises(NotImplementedError, match=message):
        absolute.code  # noqa: B018


@only_torch_py
def test_other_layers_and_hooks_are_not_saved():
    class Calls(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 4)

        def forward(self, x):
            return self.layer(x)

    x = torch.randn(3, 2, 4)
    model = Calls().eval()
    torch.testing.assert_close(reloaded(torch.jit.script(model))(x), model(x))
    model.layer.activation = lambda x: x
    with pytest.raises(NotImplementedError, match=r"'layer\.activation' cannot be saved"):
        reloaded(torch.jit.script(model))
    model = nn.Sequential(nn.ReLU())
    model[0].register_forward_hook(lambda *arguments: None)
    with pytest.raises(NotImplementedError, match="has hooks"):
        reloaded(torch.jit.script(model))
    with pytest.raises(AttributeError, match="neither scripted nor traced"):
        torch.jit.save(nn.ReLU(), io.BytesIO())


def test_freezing():
    model = torch.jit.script(Gated())
    with pytest.raises(RuntimeError, match="eval"):
        torch.jit.freeze(model)
    with pytest.raises((RuntimeError, TypeError), match="ScriptModule"):
        torch.jit.freeze(nn.ReLU())

    frozen = torch.jit.freeze(model.eval())
    assert not list(frozen.parameters())
    x = torch.randn(2, 3)
    torch.testing.assert_close(frozen(x), model(x))
    torch.testing.assert_close(reloaded(frozen)(x), model(x))
    traced = torch.jit.freeze(torch.jit.trace(model, x))
    assert not list(traced.parameters())
    torch.testing.assert_close(traced(x), model(x))
    torch.testing.assert_close(reloaded(traced)(x), model(x))


def test_optimizing_for_inference():
    model = torch.jit.script(ResNet().eval())
    x = torch.randn(2, 3, 32, 32)
    optimized = torch.jit.optimize_for_inference(model)
    torch.testing.assert_close(optimized(x), model(x), atol=1e-4, rtol=1e-4)


@only_torch_py
def test_files_of_pytorch_are_named(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("model/constants.pkl", b"")
    with pytest.raises(RuntimeError, match="TorchScript"):
        torch.jit.load(tmp_path / "model.pt")
    with pytest.raises(ValueError, match="does not exist"):
        torch.jit.load(tmp_path / "absent.pt")


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        return torch.relu(self.linear(x))


@only_torch_py
@pytest.mark.parametrize(
    "change",
    [
        lambda p: p["nodes"][1].__setitem__(2, "os.system"),
        lambda p: p["nodes"][1].__setitem__(2, "torch.load"),
        lambda p: p["nodes"][1].__setitem__(2, "torch.from_file"),
        lambda p: p["nodes"][1].__setitem__(2, "torch.hub.load"),
        lambda p: p["nodes"][1].__setitem__(1, "call_method"),
        lambda p: p["nodes"][0].__setitem__(2, "x=print()"),
        lambda p: p["nodes"][1].__setitem__(0, "torch"),
        lambda p: p["layers"][0][1].update({"class": "Module.__subclasses__"}),
        lambda p: p["layers"][0][1].update({"class": "module.os"}),
        lambda p: p["layers"][0][1]["settings"].update({"bias": {"function": "eval"}}),
        lambda p: p["layers"][0][1]["settings"].update({"__class__": 1}),
        lambda p: p["layers"][0][1]["settings"].update({"_forward_hooks": {"dict": [[1, 2]]}}),
        lambda p: p["layers"][0].__setitem__(0, 'a"), print("'),
        lambda p: p["state"].append(["__class__", "parameter", True, 0]),
    ],
)
def test_hostile_files_are_refused(change):
    import json
    import zipfile

    file = io.BytesIO()
    torch.jit.save(torch.jit.script(Chain()), file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    content = json.loads(parts["program.json"])
    content["program"]["nodes"][1][1:3] = ["call_function", "torch.relu"]
    change(content["program"])
    parts["program.json"] = json.dumps(content)

    hostile = io.BytesIO()
    with zipfile.ZipFile(hostile, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(RuntimeError):
        torch.jit.load(hostile)


@only_torch_py
def test_script_modules_pickle():
    model = nn.Linear(2, 2)
    again = pickle.loads(pickle.dumps(torch.jit.script(model)))
    assert torch.equal(again(torch.ones(1, 2)), model(torch.ones(1, 2)))

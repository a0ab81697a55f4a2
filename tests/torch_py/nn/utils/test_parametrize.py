"""torch.nn.utils: parametrizations, the older normalisations by hooks, pruning, fusion, norms of
gradients."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest

from tests.subject import torch

nn = torch.nn
parametrize = importlib.import_module(f"{torch.__name__}.nn.utils.parametrize")
parametrizations = importlib.import_module(f"{torch.__name__}.nn.utils.parametrizations")
prune = importlib.import_module(f"{torch.__name__}.nn.utils.prune")
stateless = importlib.import_module(f"{torch.__name__}.nn.utils.stateless")


def close(a: Any, b: Any, tolerance: float = 1e-5) -> None:
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


class Symmetric(nn.Module):
    def forward(self, X: Any) -> Any:
        return X.triu() + X.triu(1).mT

    def right_inverse(self, A: Any) -> Any:
        return A.triu()


class Double(nn.Module):
    def forward(self, X: Any) -> Any:
        return 2 * X

    def right_inverse(self, A: Any) -> Any:
        return A / 2


# Parametrizations
# ------------------------------------------------------------


def test_parametrization_from_registration_to_removal() -> None:
    layer = nn.Linear(3, 3)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert (
        parametrize.is_parametrized(layer)
        and parametrize.is_parametrized(layer, "weight")
        and not parametrize.is_parametrized(layer, "bias")
    )
    assert isinstance(layer, nn.Linear) and type(layer).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert layer.parametrizations.weight.original is weight
    assert torch.equal(layer.weight, layer.weight.mT)
    layer(torch.ones(2, 3)).sum().backward()
    assert weight.grad is not None
    target = torch.tensor([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])
    layer.weight = target
    assert torch.equal(layer.weight, target)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight is weight and torch.equal(weight, target)
    assert list(layer.state_dict()) == ["bias", "weight"] and not hasattr(layer, "parametrizations")


def test_a_later_parametrization_acts_on_the_earlier() -> None:
    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    before = layer.weight.detach().clone()
    original = layer.parametrizations.weight.original.detach().clone()
    parametrize.register_parametrization(layer, "weight", Double())
    close(layer.weight, 2 * before)
    assert len(layer.parametrizations.weight) == 2 and torch.equal(
        layer.parametrizations.weight.original, original
    )
    layer.weight = before
    close(layer.weight, before)
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    close(layer.weight, (before / 2).triu())


class OneWay(nn.Module):
    def forward(self, X: Any) -> Any:
        return X.triu()


class Refusing(OneWay):
    def right_inverse(self, X: Any) -> Any:
        raise NotImplementedError("not this way")


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (OneWay, None, RuntimeError, "parametrization OneWay does not implement right_inverse"),
        (Double, OneWay, RuntimeError, "parametrization OneWay does not implement right_inverse"),
        (OneWay, Double, RuntimeError, "parametrization OneWay does not implement right_inverse"),
        (Refusing, None, NotImplementedError, "not this way"),
    ],
)
def test_assignment_needs_right_inverses(first: Any, second: Any, error: Any, message: str) -> None:
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", first())
    if second is not None:
        parametrize.register_parametrization(layer, "weight", second())
    before = layer.parametrizations.weight.original.detach().clone()
    with pytest.raises(error, match=message):
        layer.weight = torch.ones(2, 2)
    assert torch.equal(layer.parametrizations.weight.original, before)


def test_cached_computes_once() -> None:
    calls = []

    class Counting(nn.Module):
        def forward(self, X: Any) -> Any:
            calls.append(1)
            return X * 1

    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Counting())
    calls.clear()
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
    assert len(calls) == 1
    assert layer.weight is not first and len(calls) == 2


def test_parametrized_buffers_and_copies() -> None:
    module = nn.Module()
    module.register_buffer("scale", torch.ones(2))
    parametrize.register_parametrization(module, "scale", Double())
    assert list(module.parameters()) == [] and module.scale.tolist() == [1, 1]
    other = copy.deepcopy(module)
    other.scale = torch.tensor([3.0, 4.0])
    assert module.scale.tolist() == [1, 1] and other.scale.tolist() == [3, 4]
    parametrize.remove_parametrizations(other, "scale")
    assert parametrize.is_parametrized(module) and dict(other.named_buffers())["scale"].tolist() == [3, 4]
    with pytest.raises(
        RuntimeError, match="Serialization of parametrized modules is only supported through state_dict"
    ):
        pickle.dumps(module)


def test_transfer() -> None:
    source, target = nn.Linear(3, 3), nn.Linear(3, 3)
    parametrizations.weight_norm(source)
    parametrize.transfer_parametrizations_and_params(source, target)
    assert (
        torch.equal(source.weight, target.weight)
        and target.parametrizations.weight.original0 is not source.parametrizations.weight.original0
    )


class Taller(nn.Module):
    def forward(self, X: Any) -> Any:
        return torch.cat([X, X])


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda layer: parametrize.register_parametrization(layer, "no", Double()),
            "does not have a parameter, a buffer, or a parametrized",
        ),
        (
            lambda layer: parametrize.register_parametrization(layer, "weight", Taller()),
            "may not change the shape",
        ),
        (
            lambda layer: parametrize.remove_parametrizations(layer, "weight"),
            "does not have a parametrization on weight",
        ),
        (
            lambda layer: parametrizations.orthogonal(layer, orthogonal_map="no"),
            "orthogonal_map has to be one of",
        ),
        (lambda layer: parametrizations.orthogonal(layer, "bias"), "Expected a matrix or batch of matrices"),
        (
            lambda layer: parametrizations.spectral_norm(layer, n_power_iterations=0),
            "Expected n_power_iterations to be positive",
        ),
        (lambda layer: parametrizations.weight_norm(layer, "no"), "no parameter or buffer with name 'no'"),
    ],
)
def test_bad_parametrizations(act: Any, message: str) -> None:
    layer = nn.Linear(2, 3)
    with pytest.raises(ValueError, match=message):
        act(layer)
    assert type(layer) is nn.Linear and list(layer.state_dict()) == ["weight", "bias"]


def test_unsafe_parametrization_may_change_the_shape() -> None:
    layer = parametrize.register_parametrization(nn.Linear(2, 3), "weight", Taller(), unsafe=True)
    assert layer.weight.shape == (6, 2)


# The ready ones, against the peer
# ------------------------------------------------------------

READY = [
    ("weight_norm", {}),
    ("weight_norm", {"dim": None}),
    ("weight_norm", {"dim": 1}),
    ("spectral_norm", {}),
    ("spectral_norm", {"n_power_iterations": 3, "dim": 1}),
    *[
        ("orthogonal", {"orthogonal_map": each, "use_trivialization": base})
        for each in ("matrix_exp", "cayley", "householder")
        for base in (True, False)
    ],
    ("orthogonal", {}),
]


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (4, 4)])
@pytest.mark.parametrize("name, options", READY)
def test_ready_parametrizations_against_peer(name: str, options: Any, shape: Any) -> None:
    peer = pytest.importorskip("torch")
    theirs = getattr(importlib.import_module("torch.nn.utils.parametrizations"), name)(
        peer.nn.Linear(*shape), **options
    )
    ours = getattr(parametrizations, name)(nn.Linear(*shape), **options)
    assert repr(ours) == repr(theirs)
    state = {key: torch.from_numpy(value.numpy().copy()) for key, value in theirs.state_dict().items()}
    assert not any(ours.load_state_dict(state))
    x = torch.randn(5, shape[0])
    for training in (False, True):
        ours.train(training), theirs.train(training)
        result, expected = ours(x), theirs(peer.from_numpy(x.numpy()))
        close(result.detach(), torch.from_numpy(expected.detach().numpy()))
    result.square().sum().backward()
    expected.square().sum().backward()
    for (key, mine), (_, their) in zip(ours.named_parameters(), theirs.named_parameters()):
        torch.testing.assert_close(
            mine.grad, torch.from_numpy(their.grad.numpy()), rtol=1e-4, atol=1e-4, msg=key
        )


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (4, 4)])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_is(kind: str, shape: Any, trivial: bool) -> None:
    layer = parametrizations.orthogonal(nn.Linear(*shape), orthogonal_map=kind, use_trivialization=trivial)
    weight = layer.weight.detach()
    tall = weight if weight.shape[0] >= weight.shape[1] else weight.mT
    close(tall.mT @ tall, torch.eye(3 if 3 in shape else 4))
    if trivial or kind == "householder":
        other = nn.init.orthogonal_(torch.empty(shape[1], shape[0]))
        layer.weight = other
        close(layer.weight.detach(), other)


def test_unitary_of_complex_matrices() -> None:
    module = nn.Module()
    module.weight = nn.Parameter(torch.randn(3, 3, dtype=torch.complex64))
    parametrizations.orthogonal(module)
    close(module.weight.detach().mH @ module.weight.detach(), torch.eye(3, dtype=torch.complex64))
    other = nn.Module()
    other.weight = nn.Parameter(torch.randn(3, 2, dtype=torch.complex64))
    with pytest.raises(ValueError, match="householder parametrization does not support complex"):
        parametrizations.orthogonal(other, orthogonal_map="householder")


def test_spectral_norm_gives_unit_norm() -> None:
    layer = parametrizations.spectral_norm(nn.Conv2d(3, 4, 3), n_power_iterations=30)
    layer(torch.randn(1, 3, 5, 5))
    matrix = layer.eval().weight.detach().flatten(1)
    close(torch.linalg.matrix_norm(matrix, 2), torch.tensor(1.0), 1e-4)


def test_weight_norm_reads_older_checkpoints() -> None:
    with pytest.warns(FutureWarning, match="deprecated"):
        older = nn.utils.weight_norm(nn.Linear(3, 2))
    newer = parametrizations.weight_norm(nn.Linear(3, 2))
    assert not any(newer.load_state_dict(older.state_dict()))
    close(newer.weight, older.weight)


# The older ones
# ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("name, parts", [("weight_norm", ["g", "v"]), ("spectral_norm", ["orig", "u", "v"])])
@pytest.mark.parametrize("layer", ["Conv2d", "ConvTranspose2d"])
def test_hooked_normalisations_against_peer(name: str, parts: list[str], layer: str) -> None:
    peer = pytest.importorskip("torch")
    theirs = getattr(peer.nn.utils, name)(getattr(peer.nn, layer)(3, 4, 3))
    ours = getattr(nn.utils, name)(getattr(nn, layer)(3, 4, 3))
    assert (
        list(ours.state_dict())
        == list(theirs.state_dict())
        == ["bias", *(f"weight_{part}" for part in parts)]
    )
    assert dict(ours.state_dict()._metadata[""]) == dict(theirs.state_dict()._metadata[""])
    ours.load_state_dict(
        {key: torch.from_numpy(value.numpy().copy()) for key, value in theirs.state_dict().items()}
    )
    x = torch.randn(2, 3, 5, 5)
    result, expected = ours(x), theirs(peer.from_numpy(x.numpy()))
    close(result.detach(), torch.from_numpy(expected.detach().numpy()))
    with pytest.raises(RuntimeError, match=f"Cannot register two {name} hooks on the same parameter weight"):
        getattr(nn.utils, name)(ours)
    value = ours.eval()(x).detach()
    getattr(nn.utils, f"remove_{name}")(ours)
    assert (
        list(ours.state_dict()) == ["bias", "weight"]
        and not ours._forward_pre_hooks
        and not ours._state_dict_hooks
    )
    close(ours(x).detach(), value)
    with pytest.raises(ValueError, match=f"{name} of 'weight' not found in"):
        getattr(nn.utils, f"remove_{name}")(ours)


# Pruning
# ------------------------------------------------------------


def numbered(rows: int = 3, columns: int = 4) -> Any:
    layer = nn.Linear(columns, rows)
    layer.weight.data = torch.arange(float(rows * columns)).view(rows, columns) - 5
    return layer


def test_pruning_once_and_again() -> None:
    layer = numbered()
    original = layer.weight
    hook = prune.L1Unstructured.apply(layer, "weight", 3)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]]
    assert (
        list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"] and layer.weight_orig is original
    )
    prune.ln_structured(layer, "weight", 1, 2, 0)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]
    assert isinstance(next(iter(layer._forward_pre_hooks.values())), prune.PruningContainer) and isinstance(
        hook, prune.L1Unstructured
    )
    layer(torch.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == layer.weight_mask.tolist()
    expected = layer.weight.detach().clone()
    assert prune.is_pruned(layer)
    prune.remove(layer, "weight")
    assert not prune.is_pruned(layer) and layer.weight is original and torch.equal(layer.weight, expected)


@pytest.mark.parametrize("n", [2, "fro"])
def test_norms_of_structured_pruning(n: Any) -> None:
    layer = prune.ln_structured(numbered(), "weight", 1, n, 0)
    assert layer.weight_mask.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]]


def test_global_pruning() -> None:
    a, b = numbered(2, 2), numbered(2, 2)
    b.weight.data += 2
    prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=3)
    # a is -5 to -2, b is -3 to 0: the three nearest to zero are b's -0, -1 and one of the two -2
    dropped = [4 - int(layer.weight_mask.sum()) for layer in (a, b)]
    assert sum(dropped) == 3 and dropped[1] >= 2 and b.weight[1].tolist() == [0, 0]


def test_random_pruning_drops_the_largest_draws() -> None:
    torch.manual_seed(0)
    draws = torch.rand(16)
    torch.manual_seed(0)
    layer = prune.random_unstructured(torch.nn.utils.skip_init(nn.Linear, 4, 4), "weight", 5)
    assert torch.equal(layer.weight_mask.flatten() == 0, draws >= draws.topk(5).values[-1])


@pytest.mark.parametrize("count", [0, 2, 0.25, 1.0])
def test_random_pruning_drops_as_many_as_asked(count: Any) -> None:
    layer = numbered(4, 4)
    prune.random_unstructured(layer, "weight", count)
    assert int((layer.weight_mask == 0).sum()) == (count if isinstance(count, int) else round(count * 16))
    layer = numbered(4, 4)
    prune.random_structured(layer, "weight", count, dim=1)
    assert int((layer.weight_mask.sum(0) == 0).sum()) == (
        count if isinstance(count, int) else round(count * 4)
    )


@pytest.mark.parametrize(
    "act, error, message",
    [
        (
            lambda layer: prune.l1_unstructured(layer, "weight", 1.5),
            ValueError,
            "amount=1.5 should either be a float in the range",
        ),
        (lambda layer: prune.l1_unstructured(layer, "weight", -1), ValueError, "amount=-1 should"),
        (lambda layer: prune.l1_unstructured(layer, "weight", "1"), TypeError, "Invalid type for amount: 1"),
        (
            lambda layer: prune.l1_unstructured(layer, "weight", 100),
            ValueError,
            "amount=100 should be smaller than the number of parameters",
        ),
        (
            lambda layer: prune.ln_structured(layer, "bias", 1, 2, 0),
            ValueError,
            "Structured pruning can only be applied to a multidimensional",
        ),
        (lambda layer: prune.ln_structured(layer, "weight", 1, 2, 5), IndexError, "Invalid index 5"),
        (
            lambda layer: prune.custom_from_mask(layer, "weight", torch.ones(1)),
            AssertionError,
            "the mask must have the shape",
        ),
        (
            lambda layer: prune.remove(layer, "weight"),
            ValueError,
            "has to be pruned before pruning can be removed",
        ),
        (
            lambda layer: prune.global_unstructured(3, prune.L1Unstructured),
            TypeError,
            "parameters is not an Iterable",
        ),
    ],
)
def test_bad_pruning_changes_nothing(act: Any, error: type, message: str) -> None:
    layer = numbered()
    with pytest.raises(error, match=message):
        act(layer)
    assert list(layer.state_dict()) == ["weight", "bias"] and not layer._forward_pre_hooks


# The rest
# ------------------------------------------------------------


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_fusion_of_convolution_and_norm(transposed: bool, bias: bool) -> None:
    conv = (nn.ConvTranspose2d if transposed else nn.Conv2d)(3, 4, 3, bias=bias)
    bn = nn.BatchNorm2d(4)
    bn(torch.randn(8, 4, 5, 5) * 2 + 1)
    nn.init.normal_(bn.weight), nn.init.normal_(bn.bias)
    conv.eval(), bn.eval()
    fused = nn.utils.fuse_conv_bn_eval(conv, bn, transpose=transposed)
    x = torch.randn(2, 3, 6, 6)
    close(fused(x), bn(conv(x)), 1e-4)
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        nn.utils.fuse_conv_bn_eval(conv.train(), bn)


def test_fusion_of_linear_and_norm() -> None:
    linear, bn = nn.Linear(3, 4).eval(), nn.BatchNorm1d(4)
    bn(torch.randn(8, 4) * 2 + 1)
    bn.eval()
    x = torch.randn(5, 3)
    close(nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), 1e-4)
    with pytest.raises(AssertionError, match="To fuse"):
        nn.utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(3).eval())


@pytest.mark.parametrize("order", [1, 2, 2.5, float("inf")])
def test_norms_of_gradients(order: float) -> None:
    tensors = [torch.randn(3), torch.randn(2, 2)]
    whole = torch.cat([each.flatten() for each in tensors])
    total = nn.utils.get_total_norm(tensors, order)
    close(total, torch.linalg.vector_norm(whole, order))
    parameters = [nn.Parameter(each) for each in tensors]
    for parameter in parameters:
        parameter.grad = parameter.detach().clone()
    nn.utils.clip_grads_with_norm_(parameters, float(total) / 2, total)
    close(parameters[0].grad, tensors[0] / 2, 1e-4)
    with pytest.raises(RuntimeError, match="is non-finite"):
        nn.utils.get_total_norm([torch.tensor([float("nan")])], order, error_if_nonfinite=True)


def test_skip_init() -> None:
    layer = nn.utils.skip_init(nn.Linear, 3, 4)
    assert layer.weight.device.type == "cpu" and layer.weight.shape == (4, 3) and layer.weight.requires_grad
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        nn.utils.skip_init(nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        nn.utils.skip_init(int)


def test_memory_format_of_weights() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2))
    nn.utils.convert_conv2d_weight_memory_format(model, torch.channels_last)
    assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
    assert model[1].weight.is_contiguous()


def test_stateless_call() -> None:
    layer = nn.Linear(2, 2)
    with pytest.warns(FutureWarning, match="torch.func.functional_call"):
        result = stateless.functional_call(
            layer, {"weight": torch.zeros(2, 2), "bias": torch.ones(2)}, torch.ones(1, 2)
        )
    assert result.tolist() == [[1, 1]]


# Hooks on all modules
# ------------------------------------------------------------


def test_hooks_on_all_modules() -> None:
    everywhere = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    seen: list[Any] = []
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    handles = [
        everywhere.register_module_forward_pre_hook(
            lambda module, args: seen.append(("pre", type(module).__name__))
        ),
        everywhere.register_module_forward_hook(
            lambda module, args, kwargs, output: seen.append(("post", len(kwargs))), with_kwargs=True
        ),
        everywhere.register_module_full_backward_hook(
            lambda module, grad_in, grad_out: seen.append(("backward", type(module).__name__))
        ),
        everywhere.register_module_full_backward_pre_hook(
            lambda module, grad_out: seen.append(("backward_pre", type(module).__name__))
        ),
    ]
    model(torch.ones(1, 2, requires_grad=True)).sum().backward()
    assert seen[:3] == [("pre", "Sequential"), ("pre", "Linear"), ("post", 0)]
    assert [entry for entry in seen if entry[0] == "backward"] == [
        ("backward", name) for name in ("ReLU", "Linear", "Sequential")
    ]
    assert [entry[1] for entry in seen if entry[0] == "backward_pre"] == ["Sequential", "ReLU", "Linear"]
    for handle in handles:
        handle.remove()
    seen.clear()
    model(torch.ones(1, 2))
    assert seen == []


def test_always_called_hook_on_all_modules() -> None:
    everywhere = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    seen: list[Any] = []
    with everywhere.register_module_forward_hook(
        lambda module, args, output: seen.append(output), always_call=True
    ):
        with pytest.raises(RuntimeError):
            nn.Linear(2, 2)(torch.ones(3))
    assert seen == [None]


def test_hooks_on_registrations() -> None:
    everywhere = importlib.import_module(f"{torch.__name__}.nn.modules.module")
    seen: list[str] = []
    note = lambda module, name, value: seen.append(name)  # noqa: E731
    handles = [
        everywhere.register_module_parameter_registration_hook(note),
        everywhere.register_module_buffer_registration_hook(note),
        everywhere.register_module_module_registration_hook(note),
    ]
    model = nn.Module()
    model.weight = nn.Parameter(torch.ones(1))
    model.register_buffer("steps", torch.ones(1))
    model.child = nn.Identity()
    for handle in handles:
        handle.remove()
    model.other = nn.Identity()
    assert seen == ["weight", "steps", "child"]


def test_set_submodule() -> None:
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    model.set_submodule("0.0", nn.Identity())
    assert isinstance(model[0][0], nn.Identity)
    model.set_submodule("0.1", nn.ReLU())
    assert len(model[0]) == 2
    with pytest.raises(AttributeError, match="has no attribute `7`"):
        model.set_submodule("0.7", nn.ReLU(), strict=True)
    with pytest.raises(ValueError, match="without a target name"):
        model.set_submodule("", nn.ReLU())
    with pytest.raises(ValueError, match="is not an nn.Module"):
        model.set_submodule("0", 3)

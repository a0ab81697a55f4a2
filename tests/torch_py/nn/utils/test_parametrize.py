"""Parametrizations of modules, and weight and spectral normalization by hooks."""

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

    assert parametrize.is_parametrized(layer)
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")

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

    message = "Serialization of parametrized modules is only supported through state_dict"
    with pytest.raises(RuntimeError, match=message):
        pickle.dumps(module)


def test_transfer() -> None:
    source, target = nn.Linear(3, 3), nn.Linear(3, 3)
    parametrizations.weight_norm(source)
    parametrize.transfer_parametrizations_and_params(source, target)
    assert torch.equal(source.weight, target.weight)
    assert target.parametrizations.weight.original0 is not source.parametrizations.weight.original0


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


# Parametrizations of the library, compared with PyTorch
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
def test_library_parametrizations_agree_with_pytorch(name: str, options: Any, shape: Any) -> None:
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
        result = ours(x)
        expected = theirs(peer.from_numpy(x.numpy()))
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
def test_orthogonal_weights_are_orthogonal(kind: str, shape: Any, trivial: bool) -> None:
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


# Normalizations by hooks
# ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("name, parts", [("weight_norm", ["g", "v"]), ("spectral_norm", ["orig", "u", "v"])])
@pytest.mark.parametrize("layer", ["Conv2d", "ConvTranspose2d"])
def test_hooked_normalizations_agree_with_pytorch(name: str, parts: list[str], layer: str) -> None:
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
    result = ours(x)
    expected = theirs(peer.from_numpy(x.numpy()))
    close(result.detach(), torch.from_numpy(expected.detach().numpy()))

    with pytest.raises(RuntimeError, match=f"Cannot register two {name} hooks on the same parameter weight"):
        getattr(nn.utils, name)(ours)

    value = ours.eval()(x).detach()
    getattr(nn.utils, f"remove_{name}")(ours)

    assert list(ours.state_dict()) == ["bias", "weight"]
    assert not ours._forward_pre_hooks
    assert not ours._state_dict_hooks
    close(ours(x).detach(), value)

    with pytest.raises(ValueError, match=f"{name} of 'weight' not found in"):
        getattr(nn.utils, f"remove_{name}")(ours)

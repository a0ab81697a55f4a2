"""torch.nn.Module and its containers: registration, traversal, hooks, state dicts, text."""

from __future__ import annotations

import copy
import importlib
from collections import OrderedDict
from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py.outcomes import outcome

nn = torch.nn


def net() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


# Registration
# ------------------------------------------------------------


def test_assignment_registers() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))
            self.child = nn.Linear(2, 1)
            self.register_buffer("steps", torch.zeros(1))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)
            self.other = torch.ones(1)

    model = Model()
    assert [name for name, _ in model.named_parameters()] == ["weight", "child.weight", "child.bias"]
    assert [name for name, _ in model.named_buffers()] == ["steps", "scratch"]
    assert list(model.state_dict()) == ["weight", "steps", "child.weight", "child.bias"]
    assert [name for name, _ in model.named_modules()] == ["", "child"]


def test_assignment_before_init_is_an_error() -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter(torch.ones(1))

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__\(\) call"):
        Early()


@pytest.mark.parametrize(
    "name, value, error, message",
    [
        ("weight", 1.0, TypeError, "cannot assign 'float' as parameter 'weight'"),
        ("child", 1.0, TypeError, "cannot assign 'float' as child module 'child'"),
        ("buffer", 1.0, TypeError, "cannot assign 'float' as buffer 'buffer'"),
    ],
)
def test_registered_names_keep_their_kind(name: str, value: Any, error: type, message: str) -> None:
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(1))
    module.child = nn.Identity()
    module.register_buffer("buffer", torch.ones(1))
    with pytest.raises(error, match=message):
        setattr(module, name, value)
    setattr(module, name, None)
    assert getattr(module, name) is None


@pytest.mark.parametrize(
    "name, error, match",
    [
        (1, TypeError, "should be a string"),
        ("a.b", KeyError, "contain"),
        ("", KeyError, "empty"),
        ("forward", KeyError, "already exists"),
    ],
)
def test_names_that_cannot_be_registered(name: Any, error: type, match: str) -> None:
    module = nn.Module()
    for register in (
        lambda: module.register_parameter(name, None),
        lambda: module.register_buffer(name, None),
        lambda: module.add_module(name, None),
    ):
        with pytest.raises(error, match=match):
            register()


def test_computed_tensor_is_refused_as_parameter() -> None:
    module = nn.Module()
    with pytest.raises(TypeError, match="torch.nn.Parameter or None required"):
        module.register_parameter("weight", torch.ones(2))


def test_parameter_replaces_plain_attribute_and_is_deleted() -> None:
    module = nn.Module()
    module.x = 3
    module.x = nn.Parameter(torch.ones(1))
    assert "x" not in vars(module) and isinstance(module.x, nn.Parameter)
    del module.x
    with pytest.raises(AttributeError, match="has no attribute 'x'"):
        _ = module.x


def test_parameter_type_and_flags() -> None:
    source = torch.ones(2)
    parameter = nn.Parameter(source)
    assert isinstance(parameter, torch.Tensor) and parameter.requires_grad and parameter.is_leaf
    assert parameter.data_ptr() == source.data_ptr()
    assert not nn.Parameter(source, requires_grad=False).requires_grad
    assert not isinstance(parameter * 2, nn.Parameter)
    assert not isinstance(source, nn.Parameter)
    twin = copy.deepcopy(parameter)
    assert isinstance(twin, nn.Parameter) and twin.data_ptr() != parameter.data_ptr()


def test_buffer_class() -> None:
    module = nn.Module()
    module.mean = nn.Buffer(torch.ones(2))
    module.scratch = nn.Buffer(torch.ones(2), persistent=False)
    assert list(module.state_dict()) == ["mean"] and len(list(module.buffers())) == 2


def test_shared_parameters_come_once() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    assert len(list(model.parameters())) == 3
    assert len(list(model.named_parameters(remove_duplicate=False))) == 4
    assert len(model.state_dict()) == 4


def test_get_by_path() -> None:
    model = nn.Sequential(OrderedDict(body=net()))
    assert model.get_submodule("body.0") is model.body[0] and model.get_submodule("") is model
    assert model.get_parameter("body.0.bias") is model.body[0].bias
    with pytest.raises(AttributeError, match="has no attribute `nothing`"):
        model.get_submodule("body.nothing")
    with pytest.raises(AttributeError):
        model.get_parameter("body.0.nothing")


def test_modes_and_apply() -> None:
    model = net()
    assert model.eval() is model and not any(module.training for module in model.modules())
    model.train()
    assert all(module.training for module in model.modules())
    seen: list[str] = []
    model.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "ReLU", "Linear", "Sequential"]
    with pytest.raises(ValueError, match="training mode is expected to be boolean"):
        model.train("yes")
    model.requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_conversion_keeps_identity() -> None:
    model = nn.BatchNorm1d(2)
    weight = model.weight

    assert model.double() is model and model.weight is weight
    assert weight.dtype == torch.float64
    assert model.running_mean.dtype == torch.float64
    assert model.num_batches_tracked.dtype == torch.int64

    model.to(torch.float32)
    model.to("cpu")
    model.to(torch.ones(1, dtype=torch.float16))
    assert weight.dtype == torch.float16

    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        model.to(torch.int64)


def test_zero_grad() -> None:
    model = nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()
    model.zero_grad(set_to_none=False)
    assert model.weight.grad.tolist() == [[0.0, 0.0]]
    model.zero_grad()
    assert model.weight.grad is None


def test_repr_of_modules() -> None:
    model = nn.Sequential(
        OrderedDict(a=nn.Linear(1, 2, bias=False), b=nn.Sequential(nn.ReLU(inplace=True), nn.Dropout(0.1)))
    )

    assert repr(model) == (
        "Sequential(\n  (a): Linear(in_features=1, out_features=2, bias=False)\n  (b): Sequential(\n"
        "    (0): ReLU(inplace=True)\n    (1): Dropout(p=0.1, inplace=False)\n  )\n)"
    )

    assert repr(nn.Conv2d(2, 4, 3, padding=1, dilation=2, groups=2, bias=False)) == (
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), groups=2, "
        "bias=False)"
    )

    assert (
        repr(nn.ParameterList([torch.ones(2, 3)]))
        == "ParameterList(  (0): Parameter containing: [torch.float32 of size 2x3])"
    )


def test_missing_forward() -> None:
    with pytest.raises(
        NotImplementedError, match=r'Module \[Module\] is missing the required "forward" function'
    ):
        nn.Module()(1)


# Hooks
# ------------------------------------------------------------


def test_forward_hooks_change_arguments_and_results() -> None:
    layer = nn.Identity()
    first = layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    second = layer.register_forward_hook(lambda module, args, output: output * 10)
    assert layer(torch.tensor(1.0)).item() == 20.0
    first.remove()
    assert layer(torch.tensor(1.0)).item() == 10.0
    second.remove()
    assert layer(torch.tensor(1.0)).item() == 1.0


def test_hook_order_keywords_and_always() -> None:
    class Scale(nn.Module):
        def forward(self, x: Any, factor: float = 1.0) -> Any:
            if factor == 0:
                raise RuntimeError("no")
            return x * factor

    calls: list[str] = []
    layer = Scale()
    layer.register_forward_hook(lambda m, a, o: calls.append("second"))
    layer.register_forward_hook(lambda m, a, o: calls.append("first"), prepend=True)
    layer.register_forward_pre_hook(lambda m, a, k: (a, {**k, "factor": k["factor"] + 1}), with_kwargs=True)
    layer.register_forward_hook(
        lambda m, a, k, o: calls.append(f"always {k}"), with_kwargs=True, always_call=True
    )
    assert layer(torch.tensor(2.0), factor=2.0).item() == 6.0
    assert calls == ["first", "second", "always {'factor': 3.0}"]
    with pytest.raises(RuntimeError, match="no"):
        layer(torch.tensor(2.0), factor=-1.0)
    assert len(calls) == 4 and calls[-1].startswith("always")


def test_full_backward_hook() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 1, bias=False)

    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[2.0, 3.0]]))
    layer.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.append((grad_input, grad_output))
    )

    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    (grad_input,), (grad_output,) = seen[0]

    assert grad_input.tolist() == [[2.0, 3.0]]
    assert grad_output.tolist() == [[1.0]]
    assert x.grad.tolist() == [[2.0, 3.0]]


def test_full_backward_hooks_replace_gradients() -> None:
    layer = nn.Identity()
    layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 2,))
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] + 1,))
    x = torch.ones(2, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_backward_hook_without_differentiable_input() -> None:
    seen: list[Any] = []
    layer = nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
    with pytest.warns(UserWarning, match="with respect to module outputs since no inputs require gradients"):
        layer(torch.ones(1, 2)).sum().backward()
    assert seen == [(None,)]


# State dicts
# ------------------------------------------------------------


def test_state_dict_round_trip() -> None:
    source, target = net(), net()
    result = target.load_state_dict(source.state_dict())
    assert str(result) == "<All keys matched successfully>"
    for left, right in zip(source.parameters(), target.parameters()):
        assert torch.equal(left, right) and left.data_ptr() != right.data_ptr()


def test_state_dict_is_detached_and_versioned() -> None:
    model = nn.BatchNorm1d(2)
    state = model.state_dict()
    assert not state["weight"].requires_grad and state["weight"].data_ptr() == model.weight.data_ptr()
    assert model.state_dict(keep_vars=True)["weight"] is model.weight
    assert state._metadata[""] == {"version": 2}
    assert list(model.state_dict(prefix="net."))[0] == "net.weight"


def test_load_reports_all_problems() -> None:
    state = net().state_dict()
    del state["0.bias"]
    state["2.weight"] = torch.ones(3, 3)
    state["extra"] = torch.ones(1)

    with pytest.raises(RuntimeError) as caught:
        net().load_state_dict(state)

    assert str(caught.value) == (
        "Error(s) in loading state_dict for Sequential:\n\t"
        'Missing key(s) in state_dict: "0.bias". \n\t'
        'Unexpected key(s) in state_dict: "extra". \n\t'
        "size mismatch for 2.weight: copying a param with shape torch.Size([3, 3]) from checkpoint, "
        "the shape in current model is torch.Size([2, 4])."
    )


def test_load_not_strict_returns_keys() -> None:
    state = net().state_dict()
    del state["0.bias"]
    state["0.weights"] = state["extra.weight"] = torch.ones(1)
    result = net().load_state_dict(state, strict=False)
    assert result.missing_keys == ["0.bias"] and sorted(result.unexpected_keys) == [
        "0.weights",
        "extra.weight",
    ]


def test_load_not_strict_still_checks_shapes() -> None:
    with pytest.raises(RuntimeError, match="size mismatch for 0.weight"):
        net().load_state_dict({"0.weight": torch.ones(1, 1)}, strict=False)


def test_load_wrong_types() -> None:
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        net().load_state_dict([1])
    with pytest.raises(RuntimeError, match='While copying the parameter named "0.weight", expected'):
        net().load_state_dict({"0.weight": 1}, strict=False)


def test_load_assign() -> None:
    model = nn.Linear(2, 1)
    state = {"weight": torch.ones(1, 2, dtype=torch.float64), "bias": torch.ones(1)}
    model.load_state_dict(state, assign=True)
    assert model.weight.dtype == torch.float64
    assert isinstance(model.weight, nn.Parameter)
    assert model.weight.requires_grad


def test_extra_state_and_hooks() -> None:
    class Counter(nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    source, target = Counter(), Counter()
    source.count = 5
    state = source.state_dict()
    assert state == {"_extra_state": {"count": 5}}
    target.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    target.load_state_dict(state)
    assert target.count == 5
    target.load_state_dict({})


def test_old_batch_norm_state_has_no_batch_count() -> None:
    model = nn.BatchNorm1d(2)
    state = OrderedDict(
        (key, value) for key, value in model.state_dict().items() if key != "num_batches_tracked"
    )
    model.load_state_dict(state)


def test_deepcopy_and_pickle() -> None:
    import pickle

    model = net()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        x = torch.randn(2, 3)
        assert torch.equal(twin(x), model(x)) and twin[0].weight is not model[0].weight


# Containers
# ------------------------------------------------------------


def test_sequential_as_a_list() -> None:
    model = net()
    assert len(model) == 3 and isinstance(model[-1], nn.Linear) and len(model[:2]) == 2
    model.append(nn.Tanh()).insert(1, nn.Identity())
    assert [type(module).__name__ for module in model] == ["Linear", "Identity", "ReLU", "Linear", "Tanh"]
    del model[1]
    assert list(dict(model.named_children())) == ["0", "1", "2", "3"]
    assert len(net() + net()) == 6
    with pytest.raises(IndexError):
        model[10]


def test_module_list_and_dict() -> None:
    layers = nn.ModuleList([nn.Linear(1, 1)])
    layers.extend([nn.ReLU()])
    layers += [nn.Tanh()]
    assert len(layers) == 3 and len(list(layers.parameters())) == 2 and isinstance(layers.pop(0), nn.Linear)
    table = nn.ModuleDict({"relu": nn.ReLU()})
    table.update({"linear": nn.Linear(1, 1)})
    assert list(table) == ["relu", "linear"] and "relu" in table and len(table) == 2
    with pytest.raises(TypeError):
        layers.append(3)


def test_parameter_containers() -> None:
    values = nn.ParameterList([torch.ones(1), nn.Parameter(torch.ones(2))])
    values.append(torch.ones(3))
    assert [name for name, _ in values.named_parameters()] == ["0", "1", "2"] and len(values) == 3
    table = nn.ParameterDict({"a": torch.ones(1)})
    assert repr(table) == "ParameterDict(  (a): Parameter containing: [torch.FloatTensor of size 1])"
    assert isinstance(table["a"], nn.Parameter) and list(table.keys()) == ["a"]


def test_modules_move_to_the_meta_device():
    module = torch.nn.BatchNorm1d(3)
    module.weight.grad = torch.ones(3)
    module.to("meta")
    assert all(tensor.is_meta for tensor in module.state_dict().values()) and module.weight.grad.is_meta
    assert type(module.weight) is torch.nn.Parameter and module.weight.requires_grad
    module.to_empty(device="cpu")
    assert module.weight.shape == (3,) and not module.weight.is_meta and len(list(module.parameters())) == 2
    kept = module.weight
    assert module.double().weight is kept


def test_names_in_messages():
    module = torch.nn.Linear(2, 2)

    with pytest.raises(AttributeError, match="Linear has no attribute `foo`"):
        module.get_parameter("foo")
    with pytest.raises(AttributeError, match="`in_features` is not an nn.Parameter"):
        module.get_parameter("in_features")
    with pytest.raises(AttributeError, match="`weight` is not a buffer"):
        module.get_buffer("weight")

    result = module.load_state_dict({}, strict=False)
    assert repr(result) == "_IncompatibleKeys(missing_keys=['weight', 'bias'], unexpected_keys=[])"
    assert (
        repr(torch.nn.BatchNorm1d(3))
        == "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )
    assert repr(torch.nn.LayerNorm(3)) == "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(torch.nn.GroupNorm(1, 2)) == "GroupNorm(1, 2, eps=1e-05, affine=True, bias=True)"

    module.register_full_backward_hook(lambda *arguments: None)
    assert (
        type(module(torch.ones(1, 2, requires_grad=True)).grad_fn).__name__ == "BackwardHookFunctionBackward"
    )


def test_lists_of_equal_modules_are_shown_once():
    modules = nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3), nn.ReLU(), nn.Linear(2, 3)])
    line = "Linear(in_features=2, out_features=3, bias=True)"
    assert repr(modules) == f"ModuleList(\n  (0-1): 2 x {line}\n  (2): ReLU()\n  (3): {line}\n)"
    assert repr(nn.ModuleList()) == "ModuleList()"
    assert (
        repr(nn.ModuleList([nn.Sequential(nn.ReLU())] * 2))
        == "ModuleList(\n  (0-1): 2 x Sequential(\n    (0): ReLU()\n  )\n)"
    )


def test_post_hooks_change_the_state_dict_in_place():
    layer = nn.Linear(1, 1)
    handle = layer.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.pop("bias"))
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        layer.state_dict()
    handle.remove()
    layer.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.__delitem__("bias"))
    assert list(layer.state_dict()) == ["weight"]


def test_error_names_objects_that_are_not_modules() -> None:
    with pytest.raises(TypeError, match=r"nn\.functional.*relu is not a Module subclass"):
        nn.Sequential(nn.Linear(1, 1), nn.functional.relu)
    with pytest.raises(TypeError, match=r"activation\.ReLU is not a Module subclass"):
        nn.Sequential(nn.ReLU)
    with pytest.raises(TypeError, match="^int is not a Module subclass"):
        nn.Sequential(3)
    assert torch.typename(nn.ReLU).endswith("activation.ReLU") and torch.typename(
        nn.functional.relu
    ).endswith("functional.relu")


MODULE_CALLS = {"indent": lambda t: t.nn.modules.module._addindent("a\nb", 2)}


@pytest.mark.parametrize("call", MODULE_CALLS.values(), ids=MODULE_CALLS)
def test_indentation_agrees_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)


def test_deprecated_modules_warn() -> None:
    with pytest.warns(FutureWarning, match="Container"):
        container = nn.Container(a=nn.Linear(1, 2))
    assert list(container.state_dict()) == ["a.weight", "a.bias"]
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d(reduction="sum")
    assert isinstance(loss, nn.NLLLoss) and loss.reduction == "sum"


def test_parameter_dictionaries() -> None:
    parameters = nn.ParameterDict({"a": torch.ones(1), "b": torch.zeros(1)})
    assert parameters.setdefault("c", torch.ones(2)).shape == (2,) and list(reversed(parameters)) == [
        "c",
        "b",
        "a",
    ]
    assert parameters.popitem()[0] == "c" and list(parameters.copy()) == ["a", "b"]
    assert list((parameters | nn.ParameterDict({"d": torch.ones(1)})).keys()) == ["a", "b", "d"]
    parameters.clear()
    assert len(parameters) == 0 and not list(parameters.parameters())


@only_torch_py
def test_base_classes_of_normalizations():
    from torch_py.nn.modules.batchnorm import _BatchNorm, _NormBase
    from torch_py.nn.modules.dropout import _DropoutNd

    instance = torch.nn.InstanceNorm2d(2)
    batch = torch.nn.BatchNorm2d(2)
    assert isinstance(instance, _NormBase)
    assert isinstance(batch, _NormBase)
    assert isinstance(torch.nn.Dropout(), _DropoutNd)
    assert isinstance(batch, _BatchNorm) and not isinstance(instance, _BatchNorm)


def test_hooks_of_all_modules_are_seen():
    from torch_py.nn.modules import module

    handle = module.register_module_forward_hook(lambda *arguments: None)
    try:
        assert len(module._global_forward_hooks) == 1 and not module._global_forward_pre_hooks
    finally:
        handle.remove()
    assert not module._global_forward_hooks


def test_prefix_is_consumed():
    from torch_py.nn.modules.utils import consume_prefix_in_state_dict_if_present

    state = torch.nn.DataParallel(torch.nn.Linear(2, 2)).state_dict()
    consume_prefix_in_state_dict_if_present(state, "module.")
    torch.nn.Linear(2, 2).load_state_dict(state)
    assert list(state) == ["weight", "bias"] and "" in state._metadata


def test_equal_modules_of_a_list_are_shown_once() -> None:
    nn = torch.nn
    shown = repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.Tanh())]))
    assert shown == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Sequential(\n    (0): Tanh()\n  )\n)"
    assert repr(nn.ModuleList()) == "ModuleList()"


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

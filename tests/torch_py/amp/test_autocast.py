"""torch.autocast: the dtypes that operators choose, and weights that are converted once."""

from __future__ import annotations

import gc
import importlib
import threading
import weakref
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

nn, F = torch.nn, torch.nn.functional
TorchDispatchMode = importlib.import_module(f"{torch.__name__}.utils._python_dispatch").TorchDispatchMode


def floats(*shape: int, dtype: Any = None) -> Any:
    return torch.randn(*shape, dtype=dtype or torch.float32)


LOWER = {
    "mm": lambda: torch.mm(floats(2, 3), floats(3, 4)),
    "matmul": lambda: floats(2, 3) @ floats(3),
    "linear": lambda: F.linear(floats(2, 3), floats(4, 3), floats(4)),
    "conv2d": lambda: F.conv2d(floats(1, 2, 4, 4), floats(3, 2, 3, 3)),
    "attention": lambda: F.scaled_dot_product_attention(
        floats(1, 2, 4, 4), floats(1, 2, 4, 4), floats(1, 2, 4, 4)
    ),
    "addmm": lambda: torch.addmm(floats(2, 2), floats(2, 3), floats(3, 2)),
}
WIDER = {
    "mse_loss": lambda: F.mse_loss(floats(3, dtype=torch.bfloat16), floats(3, dtype=torch.bfloat16)),
    "prod": lambda: torch.prod(floats(3, dtype=torch.bfloat16)),
    "cross_entropy": lambda: F.cross_entropy(floats(3, 4, dtype=torch.bfloat16), torch.tensor([0, 1, 2])),
    "inv": lambda: torch.linalg.inv(torch.eye(3, dtype=torch.bfloat16)),
}
UNCHANGED = {
    "add": lambda: floats(3) + floats(3),
    "relu": lambda: torch.relu(floats(3)),
    "softmax": lambda: F.softmax(floats(3), dim=0),
    "double": lambda: floats(2, 2, dtype=torch.float64) @ floats(2, 2, dtype=torch.float64),
}


@pytest.mark.parametrize("narrow", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", LOWER)
def test_products_take_the_narrow_dtype(name: str, narrow: Any) -> None:
    with torch.autocast("cpu", dtype=narrow):
        assert LOWER[name]().dtype == narrow
    assert LOWER[name]().dtype == torch.float32


@pytest.mark.parametrize("name", WIDER)
def test_losses_take_float32(name: str) -> None:
    with torch.autocast("cpu"):
        assert WIDER[name]().dtype == torch.float32


@pytest.mark.parametrize("name", UNCHANGED)
def test_the_rest_is_left_alone(name: str) -> None:
    expected = UNCHANGED[name]().dtype
    with torch.autocast("cpu"):
        assert UNCHANGED[name]().dtype == expected


def test_joining_takes_the_widest() -> None:
    with torch.autocast("cpu"):
        assert torch.cat([floats(2), floats(2, dtype=torch.bfloat16)]).dtype == torch.float32
        assert torch.stack([floats(2, dtype=torch.bfloat16)] * 2).dtype == torch.bfloat16


# PyTorch has no policy for these, but for what they call there: nll_loss, pow, _cudnn_rnn.
OF_PARTS = {"nll_loss_nd", "nll_loss_forward", "nll_loss_backward"}
OF_PARTS |= {"square", "lstm", "gru", "rnn_tanh", "rnn_relu"}


@only_torch_py
@pytest.mark.parametrize("device", ["CPU", "CUDA"])
def test_policies_are_those_of_the_peer(device: str) -> None:
    """The operators with a policy of a device are those that PyTorch has one for."""
    peer = pytest.importorskip("torch")
    import re
    from pathlib import Path

    import yaml

    declared: dict[str, bool] = {}
    document = yaml.safe_load((Path(__file__).parents[3] / "native_functions.yaml").read_text())
    for entries in document["topics"].values():
        for entry in entries:
            policy = entry.get("autocast", {})
            declared[entry["func"].split("(")[0]] = isinstance(policy, str) or device in policy

    theirs = {
        name.removeprefix("aten::")
        for name in peer._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
        and re.search(rf"^Autocast{device}:", peer._C._dispatch_dump(name), re.MULTILINE)
    }
    assert [name for name in sorted(theirs & declared.keys()) if not declared[name]] == []

    ours = {name for name, has_policy in declared.items() if has_policy}
    assert sorted(name for name in ours - theirs if name.split(".")[0] not in OF_PARTS) == []


def test_model_trains() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 1))
    x, y = floats(16, 4), floats(16, 1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = model(x)
        loss = F.mse_loss(result, y)
    assert result.dtype == torch.bfloat16 and loss.dtype == torch.float32
    loss.backward()
    for parameter in model.parameters():
        assert parameter.grad.dtype == torch.float32
    reference = F.mse_loss(model(x), y)
    assert abs(float(loss) - float(reference)) < 0.1


@pytest.mark.parametrize(
    "options", [{}, {"bidirectional": True}, {"num_layers": 2}, {"proj_size": 2}], ids=str
)
@pytest.mark.parametrize("packed", [False, True])
def test_lstm_trains(options: dict[str, Any], packed: bool) -> None:
    model = nn.LSTM(3, 4, **options)
    x = floats(5, 2, 3)
    given = nn.utils.rnn.pack_sequence([x[:, 0], x[:3, 1]]) if packed else x
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = model(given)[0]
    values, reference = (result.data, model(given)[0].data) if packed else (result, model(x)[0])
    torch.testing.assert_close(
        values.float(), reference, rtol=0, atol=2**-7
    )  # the precision of bfloat16 for values below one
    values.float().sum().backward()
    assert all(parameter.grad.dtype == torch.float32 for parameter in model.parameters())


def test_blocks_nest() -> None:
    x = floats(2, 2)
    with torch.autocast("cpu"):
        assert torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", enabled=False):
            assert not torch.is_autocast_enabled("cpu") and (x @ x).dtype == torch.float32
            with torch.autocast("cpu", dtype=torch.float16):
                assert (x @ x).dtype == torch.float16
        assert (x @ x).dtype == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")

    @torch.autocast("cpu")
    def product(a: Any) -> Any:
        return a @ a

    assert product(x).dtype == torch.bfloat16
    with pytest.raises(KeyError):
        with torch.autocast("cpu"):
            raise KeyError
    assert not torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") == torch.bfloat16


def test_other_threads_are_not_in_the_block() -> None:
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((floats(2, 2) @ floats(2, 2)).dtype))
        thread.start()
        thread.join()
    assert seen == [torch.float32]


@only_torch_py
def test_weights_are_converted_once_and_let_go() -> None:
    weight = floats(3, 3).requires_grad_()
    x = floats(3, 3)
    saved: list[Any] = []

    with torch.autocast("cpu"):
        for _ in range(2):
            result = x @ weight
            saved.append(result.grad_fn.next_functions[1][0])
        assert saved[0] is saved[1] and saved[0] is not None
        reference = weakref.ref(weight)

    (x @ weight).sum().backward()
    del weight, result, saved
    gc.collect()
    assert reference() is None


def test_weights_used_without_grad_first() -> None:
    weight = floats(3, 3).requires_grad_()
    with torch.autocast("cpu"):
        with torch.no_grad():
            floats(3, 3) @ weight
        (floats(3, 3) @ weight).sum().backward()
    assert weight.grad is not None


def test_weights_changed_between_blocks() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        assert (torch.ones(2, 2) @ weight).sum() == 8
    with torch.no_grad():
        weight.mul_(2)
    with torch.autocast("cpu"):
        assert (torch.ones(2, 2) @ weight).sum() == 16


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: torch.autocast(3), ValueError, "Expected `device_type` of type `str`"),
        (lambda: torch.autocast("nope"), RuntimeError, "Expected one of"),
    ],
)
def test_bad_device_types(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_dtypes_that_are_not_possible() -> None:
    with pytest.warns(UserWarning, match="the target dtype"):
        block = torch.autocast("cpu", dtype=torch.float64)
    with block:
        assert (floats(2, 2) @ floats(2, 2)).dtype == torch.float32
    if not torch.cuda.is_available():
        with pytest.warns(UserWarning, match="CUDA is not available"):
            torch.autocast("cuda")


def test_own_functions() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu")
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a @ b

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            a, b = ctx.saved_tensors
            result = grad @ b.t()
            assert result.dtype == torch.bfloat16
            return result.float(), a.t().mm(grad).float()

    class Exact(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx: Any, a: Any) -> Any:
            return a @ a

        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    a, b = floats(2, 2).requires_grad_(), floats(2, 2).requires_grad_()
    with torch.autocast("cpu"):
        result = Product.apply(a, b)
        assert result.dtype == torch.bfloat16
        assert Exact.apply(a.detach().bfloat16()).dtype == torch.float32
    result.sum().backward()
    assert a.grad.dtype == torch.float32


def test_older_homes() -> None:
    with pytest.warns(FutureWarning, match=r"Please use `torch.amp.autocast\('cpu', args...\)` instead"):
        block = torch.cpu.amp.autocast()
    with block:
        assert (floats(2, 2) @ floats(2, 2)).dtype == torch.bfloat16
    assert torch.is_autocast_cpu_enabled() is False and torch.get_autocast_cpu_dtype() == torch.bfloat16
    with pytest.warns((FutureWarning, UserWarning)):
        torch.cuda.amp.GradScaler()


@only_torch_py
def test_weights_that_change_inside_are_converted_again() -> None:  # PyTorch keeps using the old ones
    weight, x = torch.ones(2, 2, requires_grad=True), torch.ones(1, 2)
    seen = []

    with torch.autocast("cpu"):
        for change in (
            lambda: None,
            lambda: weight.mul_(2),
            lambda: setattr(weight, "data", torch.full((2, 2), 5.0)),
        ):
            with torch.no_grad():
                change()
            seen.append((x @ weight).sum().item())

        for kind, options in (
            (torch.optim.SGD, {}),
            (torch.optim.Adam, {}),
            (torch.optim.AdamW, {"fused": True, "weight_decay": 0.0}),
        ):
            weight.grad = torch.ones(2, 2)
            kind([weight], lr=1.0, **options).step()
            seen.append((x @ weight).sum().item())

    assert seen == [4, 8, 20, 16, 12, 8]


# The place of the key among others


def test_modes_see_converted_arguments() -> None:
    seen = []

    class Dtypes(TorchDispatchMode):  # type: ignore[misc,valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((func, [a.dtype for a in args if isinstance(a, torch.Tensor)]))
            return func(*args, **(kwargs or {}))

    a, b = floats(2, 2), floats(2, 2)
    with torch.autocast("cpu"), Dtypes():
        torch.mm(a, b)
    assert seen[-1] == (torch.ops.aten.mm.default, [torch.bfloat16, torch.bfloat16]) and len(seen) == 3


def test_batches_and_tangents_are_converted() -> None:
    batch, other = floats(3, 2, 2), floats(2, 2)
    with torch.autocast("cpu"):
        narrow = torch.vmap(torch.mm, (0, None))(batch, other)
        value, tangent = torch.func.jvp(lambda x: torch.mm(x, other), (other,), (other,))
        gradient = torch.func.grad(lambda x: torch.mm(x, other).float().sum())(other)
    assert narrow.dtype == value.dtype == tangent.dtype == torch.bfloat16
    assert gradient.dtype == torch.float32
    torch.testing.assert_close(narrow.float(), batch @ other, rtol=0.05, atol=0.05)


def test_graphs_contain_the_conversions() -> None:
    make_fx = importlib.import_module(f"{torch.__name__}.fx.experimental.proxy_tensor").make_fx
    a, b = floats(2, 2), floats(2, 2)
    with torch.autocast("cpu"):
        graph = make_fx(torch.mm)(a, b)
    assert graph(a, b).dtype == torch.bfloat16
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert targets[-1] is torch.ops.aten.mm.default and len(targets) == 3


def test_kernels_in_python_for_our_operators() -> None:
    library = torch.library.Library("aten", "IMPL")
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)

    def hypot(x: Any, y: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return torch.hypot(x.double(), y.double())

    library.impl("hypot", hypot, "AutocastCPU")
    try:
        with torch.autocast("cpu"):
            assert torch.hypot(floats(2), floats(2)).dtype == torch.float64
        assert torch.hypot(floats(2), floats(2)).dtype == torch.float32
    finally:
        library._destroy()


@only_torch_py
def test_the_profiler_lists_a_call_once() -> None:
    a, b = floats(2, 2), floats(2, 2)
    with torch.profiler.profile() as profile, torch.autocast("cpu"):
        torch.mm(a, b)
    counts = {event.key: event.count for event in profile.key_averages()}
    assert counts["aten::mm"] == 1


@only_torch_py
def test_keys_of_tensors() -> None:
    assert "AutocastCPU" in torch._C._dispatch_keys(floats(1))
    assert not any("Autocast" in key for key in torch._C._dispatch_keys(torch.ones(1, device="meta")))

"""The cache of packed weights: it is used in inference, and never after a weight has changed."""

from __future__ import annotations

import copy
import gc
import io
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py
F = torch.nn.functional


def numbers(*shape: int, dtype: Any = torch.float32) -> Any:
    values = np.random.default_rng(sum(shape)).standard_normal(shape, dtype=np.float32)
    return torch.tensor(values).to(dtype)


class Use:
    """A call with a weight large enough to be kept, and the same call with a copy of the weight."""

    def __init__(self, weight: Any, call: Callable[[Any], Any]) -> None:
        self.weight = weight
        self._call = call

    def __call__(self) -> Any:
        with torch.no_grad():
            return self._call(self.weight)

    def expected(self) -> Any:
        with torch.no_grad():
            return self._call(self.weight.detach().clone())

    def check(self) -> None:
        """Thrice, because an entry is made at the second use."""
        for _ in range(3):
            assert torch.equal(self(), self.expected())


def convolution(dtype: Any = torch.float32) -> Use:
    x = numbers(2, 16, 9, 9, dtype=dtype)
    return Use(numbers(40, 16, 3, 3, dtype=dtype), lambda w: F.conv2d(x, w, padding=1))


def channels_last_convolution() -> Use:
    x = numbers(2, 16, 9, 9).to(memory_format=torch.channels_last)
    weight = numbers(40, 16, 3, 3).to(memory_format=torch.channels_last)
    return Use(weight, lambda w: F.conv2d(x, w, padding=1))


def depthwise() -> Use:
    x = numbers(1, 300, 7, 7).to(memory_format=torch.channels_last)
    return Use(numbers(300, 1, 3, 3), lambda w: F.conv2d(x, w, padding=1, groups=300))


def pointwise() -> Use:
    x = numbers(2, 60, 5, 7)
    return Use(numbers(70, 60, 1, 1), lambda w: F.conv2d(x, w))


def transposed() -> Use:
    x = numbers(1, 24, 6, 6)
    return Use(numbers(24, 32, 4, 4), lambda w: F.conv_transpose2d(x, w, stride=2))


def linear(dtype: Any = torch.float32, rows: int = 4) -> Use:
    """Few rows of numbers that need no conversion are packed only if the weight lies across the depth."""
    x = numbers(rows, 300, dtype=dtype)
    bias = numbers(70, dtype=dtype)
    return Use(numbers(300, 70, dtype=dtype).t(), lambda w: F.linear(x, w, bias))


def converted_linear(dtype: Any, rows: int = 4) -> Use:
    x = numbers(rows, 300, dtype=dtype)
    bias = numbers(70, dtype=dtype)
    return Use(numbers(70, 300, dtype=dtype), lambda w: F.linear(x, w, bias))


USES: dict[str, Callable[[], Use]] = {
    "convolution": convolution,
    "convolution, channels last": channels_last_convolution,
    "convolution, double": lambda: convolution(torch.float64),
    "convolution, bfloat16": lambda: convolution(torch.bfloat16),
    "convolution, half": lambda: convolution(torch.float16),
    "depthwise": depthwise,
    "pointwise": pointwise,
    "transposed": transposed,
    "linear": linear,
    "linear, double": lambda: linear(torch.float64),
    "linear, bfloat16, one row": lambda: converted_linear(torch.bfloat16, 1),
    "linear, half": lambda: converted_linear(torch.float16),
    "linear, sixteen rows": lambda: linear(rows=16),
}


@pytest.fixture(autouse=True)
def empty() -> Any:
    torch._C._clear_packed_weights()
    yield
    torch._C._clear_packed_weights()


def statistics() -> dict[str, int]:
    return torch._C._packed_weights_statistics()


def hits_of(call: Callable[[], Any]) -> int:
    before = statistics()["hits"]
    call()
    return statistics()["hits"] - before


# --- Use ---


@pytest.mark.parametrize("name", USES)
def test_a_weight_is_kept_at_its_second_use(name):
    use = USES[name]()
    expected = use.expected()
    assert torch.equal(use(), expected) and statistics()["entries"] == 0
    assert torch.equal(use(), expected) and statistics()["entries"] == 1
    assert hits_of(lambda: torch.testing.assert_close(use(), expected, rtol=0, atol=0)) == 1


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 13, 14, 15, 16, 17])
@pytest.mark.parametrize("inner", [64, 255, 256, 257, 600, 1025])
def test_products_with_kept_weights_have_the_same_bits(rows, inner):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        x = numbers(rows, inner, dtype=dtype)
        for weight in (numbers(67, inner, dtype=dtype), numbers(inner, 67, dtype=dtype).t()):
            for bias in (None, numbers(67, dtype=dtype)):
                use = Use(weight, lambda w, x=x, b=bias: F.linear(x, w, b))
                expected = use.expected()
                assert all(torch.equal(use(), expected) for _ in range(3))


def test_a_transposed_weight_is_packed_from_its_place():
    stored = numbers(300, 70)
    use = Use(stored.t(), lambda w: F.linear(numbers(4, 300), w))
    use.check()
    assert statistics()["entries"] == 1


def test_views_of_one_memory_have_entries_of_their_own():
    both = numbers(2, 40, 16, 3, 3)
    x = numbers(1, 16, 8, 8)
    first, second = (Use(both[i], lambda w: F.conv2d(x, w)) for i in range(2))
    first.check()
    second.check()
    assert statistics()["entries"] == 2
    both.mul_(2)
    assert statistics()["entries"] == 0
    first.check()
    second.check()


def test_arguments_of_the_convolution_are_part_of_the_key():
    weight = numbers(32, 8, 3, 3)
    x = numbers(2, 32, 8, 8)
    calls = [
        Use(weight, lambda w: F.conv2d(x, w, groups=4, padding=1)),
        Use(weight, lambda w: F.conv2d(x[:, :8], w, stride=2)),
        Use(weight, lambda w: F.conv2d(x[:, :8].to(memory_format=torch.channels_last), w)),
        Use(weight, lambda w: F.conv2d(x[:, :8, :3, :3], w)),
        Use(weight, lambda w: F.conv_transpose2d(x, w, dilation=2)),
        Use(weight, lambda w: F.conv_transpose2d(x, w, groups=4)),
    ]
    for _ in range(2):
        for call in calls:
            call.check()


def test_weights_that_autograd_follows_are_not_kept():
    use = linear()
    use.weight.requires_grad_()
    for _ in range(3):
        use._call(use.weight)
    assert statistics()["entries"] == 0
    use.check()  # without gradients
    assert statistics()["entries"] == 1


def test_inference_mode():
    with torch.inference_mode():
        use = linear()
        use.check()
        use.weight.mul_(2)
        use.check()


def test_small_weights_are_not_kept():
    use = Use(numbers(4, 3, 3, 3), lambda w: F.conv2d(numbers(1, 3, 5, 5), w))
    use.check()
    assert statistics()["entries"] == 0


# --- Changes ---


def optimizer_step(w: Any) -> None:
    w.requires_grad_()
    w.grad = torch.ones_like(w)
    torch.optim.SGD([w], lr=0.5).step()
    w.requires_grad_(False)


def adam_step(w: Any) -> None:
    w.requires_grad_()
    w.grad = torch.ones_like(w)
    torch.optim.AdamW([w], lr=0.5, foreach=True).step()
    w.requires_grad_(False)


def load_state(w: Any) -> None:
    module = torch.nn.Module()
    module.w = torch.nn.Parameter(w, requires_grad=False)
    assert module.w.untyped_storage()._address() == w.untyped_storage()._address()
    module.load_state_dict({"w": w + 1})


def through_a_thread(w: Any) -> None:
    thread = threading.Thread(target=lambda: w.add_(1))
    thread.start()
    thread.join()


def through_an_exported_buffer(w: Any) -> None:
    memoryview(w.untyped_storage()).cast("B")[1] = 7


def through_a_loaded_file(w: Any) -> None:
    file = io.BytesIO()
    torch.save(w, file)
    file.seek(0)
    w.copy_(torch.load(file) + 1)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "in place": lambda w: w.mul_(2),
    "a view in place": lambda w: w[3].zero_(),
    "a strided view": lambda w: w.as_strided((85,), (1,), 5).add_(1),
    "data": lambda w: w.data.mul_(2),
    "a detached tensor": lambda w: w.detach().add_(1),
    "an element": lambda w: w.__setitem__((0,) * w.dim(), 9),
    "a mask": lambda w: w.__setitem__(w > 0, 0),
    "fill": lambda w: w.fill_(0.5),
    "copy": lambda w: w.copy_(w.flip(0)),
    "out": lambda w: torch.add(w, 1, out=w),
    "out of a view": lambda w: torch.mul(w[1], 3, out=w[1]),
    "out of data": lambda w: torch.neg(w, out=w.data),
    "out of several": lambda w: torch.frexp(w * 1, out=(w, torch.empty(w.shape, dtype=torch.int32))),
    "random": lambda w: w.uniform_(),
    "initialized": lambda w: torch.nn.init.normal_(w),
    "indices": lambda w: w.index_add_(0, torch.tensor([1, 2]), w[:2].clone()),
    "scatter": lambda w: w.index_fill_(0, torch.tensor([0]), 3),
    "foreach": lambda w: torch._foreach_add_([w], 1),
    "another storage": lambda w: w.set_(w.flip(0).contiguous()),
    "the same storage, another place": lambda w: w.set_(
        torch.cat([w, w + 1]).untyped_storage(), w.numel(), w.shape, w.stride()
    ),
    "data replaced": lambda w: setattr(w, "data", w + 1),
    "a storage filled": lambda w: w.untyped_storage().fill_(0),
    "a byte of the storage": lambda w: w.untyped_storage().__setitem__(1, 7),
    "bytes of the storage": lambda w: w.untyped_storage().__setitem__(slice(0, 8), 7),
    "a storage copied": lambda w: w.untyped_storage().copy_((w + 1).untyped_storage()),
    "a buffer": through_an_exported_buffer,
    "NumPy": lambda w: np.add(w.numpy(), 1, out=w.numpy()),
    "an array": lambda w: np.asarray(w).__setitem__(1, 5),
    "DLPack": lambda w: np.from_dlpack(w).__getitem__(0) is None or torch.from_dlpack(w).mul_(2),
    "another tensor on the storage": lambda w: (
        torch.empty(0, dtype=w.dtype).set_(w.untyped_storage(), 0, (w.numel(),), (1,)).add_(1)
    ),
    "a typed view": lambda w: w.view(torch.int32).bitwise_xor_(1 << 20),
    "shared memory": lambda w: w.share_memory_().add_(1),
    "SGD": optimizer_step,
    "AdamW": adam_step,
    "load_state_dict": load_state,
    "a file": through_a_loaded_file,
    "a thread": through_a_thread,
    "swapped": lambda w: torch.utils.swap_tensors(w, w + 1),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("make", [convolution, channels_last_convolution, depthwise, linear])
def test_results_follow_every_change(make, name):
    use = make()
    use.check()
    before = use()
    CHANGES[name](use.weight)
    assert not torch.equal(use(), before)
    use.check()
    CHANGES[name](use.weight)
    use.check()


@pytest.mark.parametrize("export", ["numpy", "array", "dlpack", "memoryview", "data_ptr", "storage"])
def test_memory_that_others_may_write_is_not_watched(export):
    use = linear()
    use.check()
    view: Any = None
    if export == "numpy":
        view = use.weight.numpy()
    elif export == "array":
        view = np.asarray(use.weight)
    elif export == "dlpack":
        view = np.from_dlpack(use.weight)
    elif export == "memoryview":
        view = np.asarray(memoryview(use.weight))
    else:
        import ctypes

        pointer = use.weight.data_ptr() if export == "data_ptr" else use.weight.untyped_storage().data_ptr()
        size = use.weight.numel()
        view = np.ctypeslib.as_array((ctypes.c_float * size).from_address(pointer))
    for _ in range(3):
        use.check()
        if view.flags.writeable:
            view += 1
        else:
            use.weight.add_(1)
        use.check()
    assert statistics()["entries"] <= 1 and hits_of(use) == 0


def test_memory_of_others_is_not_watched():
    array = np.random.default_rng(0).standard_normal((70, 300), dtype=np.float32)
    use = Use(torch.from_numpy(array), lambda w: F.linear(numbers(4, 300), w))
    for _ in range(3):
        use.check()
        array += 1
        use.check()
    assert statistics()["entries"] == 0


def test_comparing_addresses_inside_the_library_does_not_expose_weights():
    layer = torch.nn.Linear(300, 70).bfloat16().requires_grad_(False)
    use = Use(layer.weight, lambda w: F.linear(numbers(4, 300, dtype=torch.bfloat16), w))
    use.check()
    copy.deepcopy(layer)
    torch.save(layer.state_dict(), io.BytesIO())
    use.check()
    assert hits_of(use) == 1


def test_an_entry_leaves_with_its_weight():
    use = convolution()
    use.check()
    assert statistics()["entries"] == 1
    del use
    gc.collect()
    assert statistics() == {**statistics(), "entries": 0, "bytes": 0}


def test_memory_that_is_used_again_has_other_contents():
    for i in range(20):
        weight = torch.full((70, 300), float(i))
        Use(weight, lambda w: F.linear(numbers(4, 300), w)).check()
        del weight


# --- Bounds ---


def test_the_least_recently_used_entry_leaves_first():
    # In float16, because a library may multiply float32. Packed as floats, 16 weights do not fit.
    x = torch.ones(2, 1024, dtype=torch.float16)
    weights = [torch.full((1024, 1024), float(i), dtype=torch.float16) for i in range(18)]
    uses = [Use(w, lambda w: F.linear(x, w)) for w in weights]
    for use in uses[:15]:
        use(), use()
    assert statistics()["entries"] == 15 and hits_of(uses[0]) == 1

    for use in uses[15:]:
        use(), use()
    assert statistics()["bytes"] <= 64 << 20
    assert hits_of(uses[0]) == 1 and hits_of(uses[17]) == 1 and hits_of(uses[1]) == 0
    for i, use in enumerate(uses):
        assert torch.equal(use(), torch.full((2, 1024), 1024.0 * i, dtype=torch.float16))


def test_a_weight_larger_than_the_cache_is_not_kept():
    x = torch.ones(2, 4096)
    weight = torch.ones(4200, 4096)
    for _ in range(3):
        assert torch.equal(F.linear(x, weight), torch.full((2, 4200), 4096.0))
    assert statistics()["entries"] == 0


# --- Threads and processes ---


def test_threads_read_while_others_are_changed():
    failures: list[str] = []

    def run(seed: int) -> None:
        make = (convolution, linear, depthwise)[seed % 3]
        use = make()
        for i in range(30):
            use.weight.fill_(seed + i)
            expected = use.expected()
            for _ in range(3):
                if not torch.equal(use(), expected):
                    failures.append(f"{seed} {i}")

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_weight_that_is_read_while_it_changes_is_not_kept_as_it_was_then():
    """With several cores, some of the calls pack what a change has not reached yet."""
    use = Use(torch.zeros(2000, 1500).t(), lambda w: F.linear(torch.ones(4, 2000), w))
    even = (torch.arange(2000) % 2 == 0).expand(1500, 2000)

    for i in range(30):
        use.check()
        thread = threading.Thread(target=use.weight.masked_fill_, args=(even, i + 1))
        thread.start()
        while thread.is_alive():
            use()
        thread.join()
        use.check()


def test_threads_share_an_entry():
    use = convolution()
    expected = use.expected()
    results: list[bool] = []

    def run() -> None:
        results.extend(torch.equal(use(), expected) for _ in range(50))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200 and all(results) and statistics()["entries"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_goes_on_with_the_entries():
    use = linear()
    use.check()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            use.check()
            use.weight.add_(1)
            use.check()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    use.check()

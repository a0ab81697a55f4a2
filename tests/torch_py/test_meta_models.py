"""Models on the meta device: made without memory, filled later. Asking for elements is an error."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

from tests.subject import only_torch_py, torch

nn = torch.nn


def model() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2, bias=False))


def test_a_model_is_made_without_memory() -> None:
    with torch.device("meta"):
        made = nn.Linear(10**6, 10**6)
        x = torch.randn(8, 10**6)
        made(x).sum().backward()
    assert made.weight.is_meta and made.weight.grad.is_meta
    assert isinstance(made.weight, nn.Parameter) and made.weight.requires_grad


def test_memory_is_given_and_filled() -> None:
    with torch.device("meta"):
        made = model()
    made.to_empty(device="cpu")
    for module in made.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    assert not any(tensor.is_meta for tensor in (*made.parameters(), *made.buffers()))
    assert made(torch.randn(5, 3)).isfinite().all()


def test_a_state_is_assigned() -> None:
    source = model()
    with torch.device("meta"):
        made = model()
    made.load_state_dict(source.state_dict(), assign=True)
    x = torch.randn(5, 3)
    made.eval()
    source.eval()
    torch.testing.assert_close(made(x), source(x))
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in made.parameters())


def test_copying_a_state_into_meta_parameters_warns() -> None:
    with torch.device("meta"):
        made = nn.Linear(3, 4)
    with pytest.warns(UserWarning, match="meta parameter"):
        made.load_state_dict(nn.Linear(3, 4).state_dict())
    assert made.weight.is_meta


def test_moving_a_meta_model_names_to_empty() -> None:
    with torch.device("meta"):
        made = model()
    with pytest.raises(NotImplementedError, match="to_empty"):
        made.to("cpu")
    assert model().to("meta")[0].weight.is_meta


def test_meta_tensors_are_copied_and_saved() -> None:
    with torch.device("meta"):
        made = model()
    twin = copy.deepcopy(made)
    assert twin[0].weight.is_meta and twin[0].weight is not made[0].weight

    file = io.BytesIO()
    torch.save(made.state_dict(), file)
    assert file.tell() < 20_000
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["0.weight"].is_meta and loaded["0.weight"].shape == (4, 3)
    assert pickle.loads(pickle.dumps(torch.empty(2, 3, device="meta"))).shape == (2, 3)


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.item(),
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: np.asarray(x),
        lambda x: bool(x),
        lambda x: int(x),
        lambda x: float(x),
        lambda x: [1, 2][x],
        lambda x: x.cpu(),
        lambda x: torch.ones(1).copy_(x),
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: torch.ones(1)[x > 0],
        lambda x: torch.unique(x),
        lambda x: x.masked_select(x > 0),
        lambda x: torch.equal(x, x),
        lambda x: torch.tensor([x]),
    ],
)
def test_elements_are_refused(ask: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((RuntimeError, TypeError, NotImplementedError, ValueError, IndexError)):
            ask(torch.ones(1, dtype=torch.int64, device="meta"))


@only_torch_py
@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.__dlpack__(),
        lambda x: memoryview(x),
        lambda x: bytes(x.untyped_storage()),
        lambda x: x.untyped_storage().tolist(),
        lambda x: x.untyped_storage()[0],
        lambda x: x.untyped_storage().fill_(1),
        lambda x: x.share_memory_(),
    ],
)
def test_memory_is_refused_or_absent(ask: Any) -> None:
    try:
        ask(torch.ones(3, device="meta"))
    except (RuntimeError, TypeError, BufferError, NotImplementedError, IndexError):
        pass


def test_masks_assign_on_meta() -> None:
    x = torch.zeros(3, 4, device="meta")
    x[x > 0] = 1
    x[0] = torch.ones(4, device="meta")
    assert x.shape == (3, 4)


def zeros(module: Any) -> None:
    module.to_empty(device="cpu", recurse=False)
    for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
        nn.init.zeros_(tensor)


@only_torch_py
def test_meta_parameters_are_sharded_and_filled(tmp_path: Any) -> None:
    from torch_py import distributed
    from torch_py.distributed.fsdp import FSDPModule, FullyShardedDataParallel, fully_shard

    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        with torch.device("meta"):
            made = model()
        filled = FullyShardedDataParallel(copy.deepcopy(made))
        assert filled(torch.randn(2, 3)).isfinite().all()
        chosen = FullyShardedDataParallel(copy.deepcopy(made), param_init_fn=zeros)
        assert chosen(torch.ones(2, 3)).tolist() == [[0.0, 0.0]] * 2

        fully_shard(made)
        assert isinstance(made, FSDPModule) and all(p.is_meta for p in made.parameters())
        made.to_empty(device="cpu")
        made.load_state_dict(model().state_dict())
        assert made(torch.randn(2, 3)).shape == (2, 2)
    finally:
        distributed.destroy_process_group()

"""The packages of torch.distributed in one process, where each computes what the module alone would."""

from __future__ import annotations

import importlib
import threading
from datetime import timedelta

import pytest

import torch_py as torch
from torch_py import distributed as dist

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def world():
    dist.init_process_group("gloo", world_size=1, rank=0)
    yield dist.group.WORLD
    if dist.is_initialized():
        dist.destroy_process_group()


def network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))


def train(model, optimizer, steps=3):
    torch.manual_seed(1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(5, 3)).square().mean().backward()
        optimizer.step()
    return [parameter.detach().clone() for parameter in model.parameters()]


@pytest.mark.parametrize(
    "name",
    "nn nn.functional optim _tensor _composable _composable.fsdp fsdp fsdp.wrap fsdp.api checkpoint "
    "checkpoint.state_dict checkpoint.stateful algorithms algorithms.join tensor tensor.parallel "
    "tensor.experimental tensor.placement_types distributed_c10d _functional_collectives constants "
    "algorithms._checkpoint.checkpoint_wrapper".split(),
)
def test_packages_import(name):
    module = importlib.import_module(f"torch_py.distributed.{name}")
    assert module.__doc__ and all(hasattr(module, each) for each in getattr(module, "__all__", ()))


def test_zero_redundancy_optimizer_is_its_optimizer(world):
    expected_model, model = network(), network()
    expected = train(expected_model, torch.optim.Adam(expected_model.parameters(), lr=0.1))
    optimizer = dist.optim.ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    got = train(model, optimizer)
    assert all(map(torch.equal, expected, got))

    schedule.step()
    assert optimizer.param_groups[0]["lr"] == optimizer.optim.param_groups[0]["lr"] == 0.05
    with pytest.raises(RuntimeError, match="has not been consolidated"):
        optimizer.state_dict()
    optimizer.consolidate_state_dict()
    other = dist.optim.ZeroRedundancyOptimizer(network().parameters(), torch.optim.Adam, lr=1.0)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == 0.05 and len(other.state) == 4
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(1))]})
    assert len(optimizer.param_groups) == len(optimizer.optim.param_groups) == 2


def test_zero_redundancy_optimizer_needs_a_world():
    with pytest.raises(ValueError, match="not been initialized"):
        dist.optim.ZeroRedundancyOptimizer(network().parameters(), torch.optim.SGD, lr=0.1)


def test_post_local_sgd(world):
    from torch_py.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager

    model = network()
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = dist.optim.PostLocalSGDOptimizer(inner, PeriodicModelAverager(period=4, warmup_steps=1))
    train(model, optimizer)
    assert optimizer.state_dict()["step"] == 3
    optimizer.load_state_dict({**optimizer.state_dict(), "step": 7})
    assert optimizer.averager.step == 7
    with pytest.raises(ValueError, match="must be a positive"):
        PeriodicModelAverager(period=0)


def test_join_runs_the_hooks_once(world):
    from torch_py.distributed.algorithms import Join, Joinable, JoinHook

    ended = []

    class Hook(JoinHook):
        def post_hook(self, is_last_joiner):
            ended.append(is_last_joiner)

    class Part(Joinable):
        join_device = torch.device("cpu")
        join_process_group = world

        def join_hook(self, **kwargs):
            return Hook()

    with Join([Part(), Part()]):
        assert Join.notify_join_context(Part()) is None
    assert ended == [True, True]
    with pytest.raises(ValueError, match="at least one joinable"):
        Join([])


def test_collectives_with_gradients(world):
    x = torch.arange(3.0, requires_grad=True)
    functional = dist.nn.functional
    (gathered,) = functional.all_gather(x)
    results = [
        gathered,
        functional.all_reduce(x),
        functional.broadcast(x, 0),
        functional.reduce(x, 0),
        functional.scatter([x]),
        functional.reduce_scatter(torch.zeros(3), [x]),
        functional.all_to_all([torch.zeros(3)], [x])[0],
        functional.all_to_all_single(torch.zeros(3), x),
        functional.gather(x)[0],
    ]
    assert all(torch.equal(result, x) and result is not x for result in results)

    sum(results).sum().backward()
    assert x.grad.tolist() == [9, 9, 9]
    with pytest.raises(ValueError, match="rank 0"):
        functional.broadcast(x, 1)


def test_functional_collectives(world):
    from torch_py.distributed import _functional_collectives as collectives

    x = torch.arange(4.0)
    mesh = dist.init_device_mesh("cpu", (1,))
    for result in (
        collectives.all_reduce(x, "sum", mesh),
        collectives.all_gather_tensor(x, 0, world),
        collectives.reduce_scatter_tensor(x, "sum", 0, [0]),
        collectives.all_to_all_single(x, None, None, world),
        collectives.permute_tensor(x, [0], world),
    ):
        assert torch.equal(collectives.wait_tensor(result), x) and result is not x

    assert torch.equal(collectives.all_to_all_single(x, [4], [4], (mesh, 0)), x)
    for refused in (
        lambda: collectives.all_reduce(x, "sum", [0, 1]),
        lambda: collectives.all_reduce(x, "sum", [[0], [1]]),
        lambda: collectives.all_reduce(x, "sums", world),
        lambda: collectives.all_to_all_single(x, [3], None, world),
    ):
        with pytest.raises(ValueError, match="expected"):
            refused()


def test_ranks_of_groups_and_sizes_of_parts_are_checked(world):
    x = torch.zeros(2)
    for refused in (
        lambda: dist.broadcast(x, group_src=1),
        lambda: dist.reduce(x, group_dst=1),
        lambda: dist.all_to_all_single(torch.zeros(2), x, [1, 1]),
        lambda: dist.nn.functional.all_to_all_single(torch.zeros(2), x, input_split_sizes=[3]),
        lambda: dist.all_gather_coalesced([[x]], [x, x]),
    ):
        with pytest.raises(ValueError, match="expected"):
            refused()
    with pytest.raises(ValueError, match="must be positive"):
        dist.new_subgroups(0)


def test_remaining_collectives(world):
    x = torch.arange(2.0)
    out = torch.zeros(2)
    dist.reduce_scatter_tensor(out, x)
    assert out.tolist() == [0, 1]
    dist.all_gather_coalesced([[out]], [x + 1])
    assert out.tolist() == [1, 2]
    assert dist.all_reduce_coalesced([x]) is None and dist.barrier() is None

    group, groups = dist.new_subgroups(1)
    assert dist.get_world_size(group) == 1 and groups == [group]
    assert dist.distributed_c10d._get_default_group() is world and world.barrier().wait()
    assert not dist.distributed_c10d._rank_not_in_group(world)
    assert dist.get_default_backend_for_device("cpu") == "gloo"

    for call in (lambda: dist.send(x, 1), lambda: dist.batch_isend_irecv([]), lambda: dist.nn.RemoteModule()):
        with pytest.raises(NotImplementedError, match=r"torch\.distributed\.\w+"):
            call()


def test_stores():
    store = dist.TCPStore("localhost", 0, world_size=1, is_master=True, timeout=timedelta(seconds=0.05))
    assert store.add("n", 3) == 3 and store.add("n", -1) == 2 and store.get("n") == b"2"
    prefixed = dist.PrefixStore("a", store)
    prefixed.set("k", "v")
    assert store.get("a/k") == b"v" and prefixed.check(["k"]) and store.num_keys() == 2
    assert store.compare_set("a/k", "v", "w") == b"w" and store.compare_set("a/k", "v", "x") == b"w"
    assert store.compare_set("new", "", "1") == b"1" and store.compare_set("none", "a", "b") == b"a"
    assert store.delete_key("new") and not store.delete_key("new")
    with pytest.raises(dist.DistStoreError, match="missing"):
        store.get("missing")
    prefixed.set_timeout(timedelta(seconds=0.01))
    assert store.timeout == timedelta(seconds=0.01)

    shared = dist.HashStore()
    thread = threading.Timer(0.05, lambda: shared.set("late", b"here"))
    thread.start()
    assert shared.get("late") == b"here"
    thread.join()
    with pytest.raises(NotImplementedError, match="world_size=2"):
        dist.FileStore("f", 2)


def test_meshes():
    try:
        mesh = dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
        assert (mesh.ndim, mesh.shape, mesh.size(), mesh.get_coordinate()) == (2, (1, 1), 1, [0, 0])
        assert mesh["data"].mesh_dim_names == ("data",) and mesh["data"].get_group().size() == 1
        assert mesh.get_local_rank("model") == 0 and mesh._flatten("all").shape == (1,)
        assert mesh == dist.DeviceMesh("cpu", [[0]], mesh_dim_names=("data", "model")) != mesh["data"]
        with pytest.raises(KeyError, match="pipe"):
            mesh["pipe"]
        with pytest.raises(ValueError, match="is not a dimension"):
            mesh.get_group("pipe")
        with pytest.raises(NotImplementedError, match=r"one process only.*\(2, 1\)"):
            dist.init_device_mesh("cpu", (2, 1))
    finally:
        dist.destroy_process_group()


def test_dtensor_of_one_device(world):
    from torch_py.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

    mesh = dist.init_device_mesh("cpu", (1,))
    plain = torch.arange(6.0).reshape(2, 3).requires_grad_()
    spread = distribute_tensor(plain, mesh, [Shard(1)])
    assert spread.placements == (Shard(1),) and spread.device_mesh is mesh and spread.is_leaf
    assert spread.placements[0].is_shard(1) and not Partial().is_replicate()

    result = (spread * 2 + torch.ones(3)).sum()
    assert type(result) is DTensor and result.placements == (Replicate(),) and result.item() == 36
    result.backward()
    assert spread.grad.to_local().tolist() == [[2, 2, 2], [2, 2, 2]]
    assert type(spread.full_tensor()) is torch.Tensor and torch.equal(spread.full_tensor(), plain)
    assert spread.redistribute(placements=[Replicate()]).placements == (Replicate(),)

    local = torch.ones(2, requires_grad=True)
    DTensor.from_local(local, mesh).mul(3).sum().to_local().backward()
    assert local.grad.tolist() == [3, 3]
    assert dist.tensor.zeros(2, 2, device_mesh=mesh).full_tensor().tolist() == [[0, 0], [0, 0]]

    with pytest.raises(ValueError, match="placement for each"):
        distribute_tensor(plain, mesh, [Shard(0), Shard(1)])
    with pytest.raises(RuntimeError, match="leaf"):
        distribute_tensor(plain * 2, mesh)
    with pytest.raises(RuntimeError, match="distribute_tensor"):
        DTensor(plain)


def test_modules_of_dtensors_train(world):
    mesh = dist.init_device_mesh("cpu", (1,))
    expected_model, model = network(), dist.tensor.distribute_module(network(), mesh)
    assert all(isinstance(each, (dist.tensor.DTensor)) for each in model.parameters())
    expected = train(expected_model, torch.optim.SGD(expected_model.parameters(), lr=0.1))
    got = train(model, torch.optim.SGD(model.parameters(), lr=0.1))
    assert all(torch.allclose(left, right.full_tensor()) for left, right in zip(expected, got))


def test_parallel_styles_leave_one_process_whole(world):
    from torch_py.distributed.tensor import parallel

    model = network()
    mesh = dist.init_device_mesh("cpu", (1,))
    plan = {"0": parallel.ColwiseParallel(), "*": parallel.RowwiseParallel(input_layouts=None)}
    assert parallel.parallelize_module(model, mesh, plan) is model
    assert torch.equal(model(torch.ones(2, 3)), network()(torch.ones(2, 3)))
    with pytest.raises(TypeError, match="Expect Union"):
        parallel.parallelize_module(model, mesh, 3)


def test_fully_sharded_data_parallel(world):
    from torch_py.distributed import fsdp

    expected_model = network()
    policy = fsdp.wrap.ModuleWrapPolicy({torch.nn.Linear})
    model = fsdp.FullyShardedDataParallel(network(), auto_wrap_policy=policy)
    assert len(fsdp.FullyShardedDataParallel.fsdp_modules(model)) == 3
    assert len(fsdp.FullyShardedDataParallel.fsdp_modules(model, root_only=True)) == 1
    assert model.check_is_root() and not model.module[0].check_is_root()
    assert list(model.state_dict()) == list(expected_model.state_dict())
    assert [name for name, _ in model.named_parameters()] == list(expected_model.state_dict())
    model.load_state_dict(expected_model.state_dict())

    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    expected = train(expected_model, torch.optim.Adam(expected_model.parameters(), lr=0.1))
    assert all(map(torch.equal, expected, train(model, optimizer)))

    named = fsdp.FullyShardedDataParallel.optim_state_dict(model, optimizer)
    assert list(named["state"]) == list(expected_model.state_dict())
    numbered = fsdp.FullyShardedDataParallel.optim_state_dict_to_load(model, optimizer, named)
    assert list(numbered["state"]) == [0, 1, 2, 3]
    with fsdp.FullyShardedDataParallel.summon_full_params(model), model.no_sync():
        assert float(model.clip_grad_norm_(1.0)) > 0

    with pytest.raises(NotImplementedError, match="param_dtype"):
        half = fsdp.MixedPrecision(param_dtype=torch.float16)
        fsdp.FullyShardedDataParallel(network(), mixed_precision=half)
    with pytest.raises(NotImplementedError, match="offload"):
        fsdp.FullyShardedDataParallel(network(), cpu_offload=fsdp.CPUOffload(True))
    with torch.device("meta"):
        meta = network()
    with pytest.raises(RuntimeError, match="meta device"):
        fsdp.FullyShardedDataParallel(meta, param_init_fn=lambda module: None)
    with pytest.raises(TypeError, match="auto_wrap"):
        fsdp.FullyShardedDataParallel(network(), auto_wrap=policy)


def test_wrapping_policies():
    from functools import partial

    from torch_py.distributed.fsdp import wrap

    class Wrapper(torch.nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

    model = network()
    wrap.wrap_submodules(model, partial(wrap.size_based_auto_wrap_policy, min_num_params=12), Wrapper)
    assert [type(child) for child in model] == [Wrapper, torch.nn.ReLU, torch.nn.Linear]
    model = network()
    layers = partial(wrap.transformer_auto_wrap_policy, transformer_layer_cls={torch.nn.ReLU})
    wrap.wrap_submodules(model, layers, Wrapper)
    assert [type(child) for child in model] == [torch.nn.Linear, Wrapper, torch.nn.Linear]
    with wrap.enable_wrap(wrapper_cls=Wrapper):
        assert type(wrap.wrap(torch.nn.ReLU())) is Wrapper
    assert type(wrap.wrap(torch.nn.ReLU())) is torch.nn.ReLU


def test_fully_shard(world):
    from torch_py.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

    expected_model, model = network(), network()
    for layer in model:
        fully_shard(layer)
    assert fully_shard(model) is model and isinstance(model, FSDPModule)
    assert isinstance(model, torch.nn.Sequential) and isinstance(model[0], torch.nn.Linear)
    model.set_requires_gradient_sync(False)
    assert model.unshard(async_op=True).wait() is None
    expected = train(expected_model, torch.optim.SGD(expected_model.parameters(), lr=0.1))
    assert all(map(torch.equal, expected, train(model, torch.optim.SGD(model.parameters(), lr=0.1))))
    with pytest.raises(NotImplementedError, match="param_dtype"):
        fully_shard(network(), mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16))


def test_activation_checkpoints():
    from torch_py.distributed.algorithms._checkpoint import checkpoint_wrapper as wrappers

    expected_model, model = network(), network()
    keys = list(model.state_dict())
    wrappers.apply_activation_checkpointing(model, check_fn=lambda each: isinstance(each, torch.nn.Linear))
    assert type(model[0]) is wrappers.CheckpointWrapper and type(model[1]) is torch.nn.ReLU
    assert list(model.state_dict()) == keys and model[0].in_features == 3
    model.load_state_dict(expected_model.state_dict())
    expected = train(expected_model, torch.optim.SGD(expected_model.parameters(), lr=0.1))
    assert all(map(torch.equal, expected, train(model, torch.optim.SGD(model.parameters(), lr=0.1))))
    reentrant = wrappers.checkpoint_wrapper(network(), wrappers.CheckpointImpl.REENTRANT)
    x = torch.ones(1, 3, requires_grad=True)
    reentrant(input=x).sum().backward()
    assert x.grad is not None and reentrant._checkpoint_wrapped_module[0].weight.grad is not None


def test_checkpoints_of_one_process(tmp_path):
    from torch_py.distributed import checkpoint
    from torch_py.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    train(model, optimizer)
    weights, state = get_state_dict(model, optimizer)
    assert list(state["state"]) == list(weights)
    checkpoint.save({"model": weights, "optimizer": state, "epoch": 3}, checkpoint_id=tmp_path / "a")

    other = network()
    second = torch.optim.Adam(other.parameters(), lr=1.0)
    train(other, second, steps=1)
    loaded = dict(zip(("model", "optimizer"), get_state_dict(other, second)), epoch=0)
    checkpoint.load(loaded, checkpoint_id=tmp_path / "a")
    set_state_dict(other, second, model_state_dict=loaded["model"], optim_state_dict=loaded["optimizer"])
    assert loaded["epoch"] == 3 and second.param_groups[0]["lr"] == 0.1
    assert all(map(torch.equal, train(model, optimizer), train(other, second)))

    with pytest.raises(RuntimeError, match="Missing key in checkpoint state_dict: other"):
        checkpoint.load({"other": 1}, checkpoint_id=tmp_path / "a")
    with pytest.raises(ValueError, match=r"Size mismatch.*0\.weight"):
        checkpoint.load({"model": {"0.weight": torch.zeros(2)}}, checkpoint_id=tmp_path / "a")
    with pytest.raises(RuntimeError, match="no complete checkpoint"):
        checkpoint.load({}, checkpoint_id=tmp_path / "nothing")
    with pytest.raises(NotImplementedError, match="planner"):
        checkpoint.save({}, checkpoint_id=tmp_path / "b", planner=object())


def test_objects_save_and_load_their_state(tmp_path):
    from torch_py.distributed import checkpoint

    class Counter:
        def __init__(self, count):
            self.count = count

        def state_dict(self):
            return {"count": self.count, "seen": [torch.tensor(self.count)]}

        def load_state_dict(self, state_dict):
            self.count = state_dict["count"]

    future = checkpoint.async_save({"counter": Counter(5)}, checkpoint_id=tmp_path)
    assert future.done() and future.wait() is None
    counter = Counter(0)
    checkpoint.load({"counter": counter}, checkpoint_id=tmp_path)
    assert counter.count == 5
    formats = importlib.import_module("torch_py.distributed.checkpoint.format_utils")
    formats.dcp_to_torch_save(tmp_path, tmp_path / "file.pt")
    assert torch.load(tmp_path / "file.pt")["counter.count"] == 5

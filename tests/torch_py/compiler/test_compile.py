"""torch.compile, torch.jit, torch.fx and their relatives without a compiler."""

import contextlib
import warnings

import pytest

import torch_py as torch


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def double(x):
    """Twice."""
    return 2 * x


def test_compiled_functions_do_what_they_did():
    for compiled in (
        torch.compile(double),
        torch.compile(mode="max-autotune")(double),
        torch.compile()(double),
        torch.compile(double, backend="eager"),
    ):
        assert compiled(torch.ones(2)).tolist() == [2, 2] and compiled.__doc__ == "Twice."
    assert torch.compile(double, disable=True) is double


def test_notice_is_given_once():
    from torch_py import _notices

    _notices._warn.cache_clear()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.compile(double)
        torch.compile(double)
    assert len(seen) == 1 and "runs eagerly" in str(seen[0].message) and seen[0].filename == __file__


@pytest.mark.parametrize(
    "options", [{"mode": "fastest"}, {"mode": "default", "options": {"x": 1}}, {"backend": 3}]
)
def test_bad_options_of_compile(options):
    with pytest.raises(RuntimeError, match="torch.compile"):
        torch.compile(double, **options)


def test_compiled_module():
    inner = torch.nn.Linear(2, 3)
    module = torch.compile(inner)
    assert isinstance(module, torch._dynamo.OptimizedModule) and module._orig_mod is inner
    assert list(module.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"] and module.out_features == 3
    module.scale = 2
    assert inner.scale == 2 and not module.eval().training and not inner.training
    assert torch.equal(module(torch.ones(1, 2)), inner(torch.ones(1, 2)))
    module.load_state_dict(module.state_dict())
    assert [name for name, _ in module.named_parameters()] == ["_orig_mod.weight", "_orig_mod.bias"]


def test_module_compiled_in_place():
    module = torch.nn.Linear(2, 3)
    before = module(torch.ones(2))
    assert module.compile(mode="default") is None
    assert torch.equal(module(torch.ones(2)), before) and list(module.state_dict()) == ["weight", "bias"]
    with pytest.raises(RuntimeError, match="nonsense"):
        module.compile(mode="nonsense")


def test_questions_of_the_compiler():
    assert not torch.compiler.is_compiling() and not torch.jit.is_scripting() and not torch.jit.is_tracing()
    assert (
        torch.compiler.disable(double) is double and torch.compiler.disable(recursive=False)(double) is double
    )
    with torch.compiler.set_stance("force_eager"), torch._dynamo.config.patch(cache_size_limit=3):
        assert torch._dynamo.config.cache_size_limit == 3
    assert torch._dynamo.config.cache_size_limit == 8
    with pytest.raises(RuntimeError, match="stance"):
        torch.compiler.set_stance("sideways")


def test_script_returns_what_it_got():
    module = torch.nn.Linear(1, 1)
    assert (
        torch.jit.script(module) is module
        and torch.jit.script(double) is double
        and torch.jit.trace(double, torch.ones(1)) is double
    )
    assert (
        torch.jit.ignore(double) is double
        and torch.jit.ignore(drop=True)(double) is double
        and torch.jit.unused(double) is double
    )
    assert torch.jit.annotate(int, 3) == 3 and torch.jit.Attribute(3, int).value == 3
    with pytest.raises(TypeError, match="func"):
        torch.jit.trace(3, ())


@pytest.mark.parametrize(
    "value, kind, expected",
    [
        ([1, 2], list[int], True),
        ([1, "a"], list[int], False),
        ({"a": 1}, dict[str, int], True),
        (None, int | None, True),
        ((1, "a"), tuple[int, str], True),
        (3, int, True),
    ],
)
def test_isinstance_of_containers(value, kind, expected):
    assert torch.jit.isinstance(value, kind) is expected


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.jit.save(None, "x"),
        lambda: torch.jit.load("x"),
        lambda: torch.fx.symbolic_trace(double),
        lambda: torch.fx.Graph(),
        lambda: torch._dynamo.export(double),
        lambda: torch.SymInt(3),
        lambda: torch.ao.quantization.convert(None),
    ],
)
def test_what_is_not_there_says_so(call):
    with pytest.raises(NotImplementedError, match="torch"):
        call()


def test_world_of_one():
    dist = torch.distributed
    assert not dist.is_available() and not dist.is_initialized()
    with pytest.raises(ValueError, match="not been initialized"):
        dist.get_rank()
    with pytest.raises(NotImplementedError, match="world_size=2"):
        dist.init_process_group("gloo", world_size=2, rank=0)
    dist.init_process_group("gloo", world_size=1, rank=0)
    try:
        assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
        x = torch.arange(3.0)
        assert dist.all_reduce(x, async_op=True).wait() and x.tolist() == [0, 1, 2]
        gathered = [torch.zeros(3)]
        dist.all_gather(gathered, x)
        assert gathered[0].tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="rank 0"):
            dist.broadcast(x, src=1)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
        with model.no_sync():
            model(torch.ones(1, 2)).sum().backward()
        assert list(model.state_dict()) == ["module.weight", "module.bias"]
    finally:
        dist.destroy_process_group()


def test_data_parallel_runs_the_module():
    inner = torch.nn.Linear(2, 1)
    model = torch.nn.DataParallel(inner)
    assert torch.equal(model(torch.ones(1, 2)), inner(torch.ones(1, 2))) and list(model.state_dict()) == [
        "module.weight",
        "module.bias",
    ]
    with pytest.raises(RuntimeError, match="device_ids"):
        torch.nn.DataParallel(inner, device_ids=[0])


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "mtia"])
def test_devices_that_are_not_there(kind):
    module = getattr(torch, kind)
    assert not module.is_available() and module.device_count() == 0 and module.memory_allocated() == 0
    module.manual_seed(0)
    module.empty_cache()
    with pytest.raises((AssertionError, RuntimeError), match=kind):
        module.current_device()
    with pytest.raises((AssertionError, RuntimeError), match=kind):
        module.Stream()
    with module.device(None), contextlib.ExitStack():
        pass


def test_switches_hold_inside_blocks():
    with torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=True):
        assert torch.backends.cudnn.benchmark and torch.backends.cudnn.deterministic
    assert not torch.backends.cudnn.benchmark and torch.backends.cudnn.version() is None
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        pass
    with pytest.raises(AssertionError, match="backends"), torch.nn.attention.sdpa_kernel("math"):
        pass
    assert torch.accelerator.current_accelerator() is None
    with pytest.raises(RuntimeError, match="accelerator"):
        torch.accelerator.synchronize()


@pytest.mark.parametrize("name", ["quint4x2", "float4_e2m1fn_x2", "qint8"])
def test_absent_dtypes_are_refused_where_they_are_used(name):
    dtype = getattr(torch, name)
    assert repr(dtype) == f"torch.{name}" and dtype != torch.uint8
    with pytest.raises(TypeError, match="dtype"):
        torch.zeros(2, dtype=dtype)

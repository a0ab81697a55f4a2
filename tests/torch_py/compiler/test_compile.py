"""torch.compile of functions and modules, and the questions around it."""

import copy
import gc
import sys
import warnings
import weakref

import pytest

import torch_py as torch
from torch_py._dynamo.backends import registry


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "fastest"}, "Unrecognized mode=fastest, should be one of: default"),
        ({"mode": "default", "options": {"x": 1}}, "Either mode or options"),
        ({"options": {"x": 1}}, "Unexpected optimization option x, known options are"),
        ({"options": {"max_autotune": "yes"}}, "attr max_autotune, got str should be bool"),
        ({"backend": 3}, "torch.compile: expected the name of a backend"),
    ],
)
def test_bad_options_of_compile(options, message):
    with pytest.raises(RuntimeError, match=message):
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


def test_modules_compiled_in_place_run_compiled_code_with_their_hooks():
    module = torch.nn.Linear(2, 3)
    counter = torch._dynamo.testing.CompileCounter()
    module.compile(backend=counter)
    x = torch.ones(4, 2)
    before = module(x)
    handle = module.register_forward_hook(lambda module, args, result: result * 2)
    assert torch.equal(module(x), before * 2) and counter.frame_count == 2
    handle.remove()
    assert torch.equal(module(x), before) and counter.frame_count == 2
    assert torch.equal(copy.deepcopy(module)(x), before)


def test_methods_and_objects_with_call():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x, by=1):
            return x * self.factor * by

        def method(self, x):
            return x + self.factor

        @torch.compile(backend="eager")
        def decorated(self, x):
            return x - self.factor

    scaled = Scaled(3)
    x = torch.ones(2)
    assert torch.compile(scaled, backend="eager")(x, by=2).tolist() == [6, 6]
    assert torch.compile(scaled.method, backend="eager")(x).tolist() == [4, 4]
    assert scaled.decorated(x).tolist() == [-2, -2]
    scaled.factor = 5
    assert scaled.decorated(x).tolist() == [-4, -4]


def test_backends():
    assert "inductor" in torch.compiler.list_backends() and "eager" in torch._dynamo.list_backends(None)
    with pytest.raises(torch._dynamo.exc.InvalidBackend, match="no_such"):
        torch.compile(double, backend="no_such")

    def failing(graph, inputs):
        raise KeyError("inside")

    with torch._dynamo.config.patch(suppress_errors=False):
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="failing.*inside|inside"):
            torch.compile(double, backend=failing)(torch.ones(2))


def test_failures_of_the_compiler_run_eagerly(monkeypatch):
    def failing(graph, inputs):
        raise KeyError("inside")

    monkeypatch.setitem(registry._OWN, "failing", __name__)
    monkeypatch.setattr(sys.modules[__name__], "failing", failing, raising=False)
    compiled = torch.compile(lambda x: x + 1, backend="failing")
    with pytest.warns(UserWarning, match="runs eagerly.*backend 'failing' raised KeyError"):
        assert compiled(torch.ones(2)).tolist() == [2, 2]


def test_failures_of_backends_of_the_program_are_its_own():
    def failing(graph, inputs):
        raise KeyError("inside")

    def forgetful(graph, inputs):
        graph.recompile()

    for backend, text in ((failing, "KeyError"), (forgetful, "did not return a callable, but None")):
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=text):
            torch.compile(double, backend=backend)(torch.ones(2))

    with torch._dynamo.config.patch(suppress_errors=True), pytest.warns(UserWarning, match="KeyError"):
        assert torch.compile(double, backend=failing)(torch.ones(2)).tolist() == [2, 2]


def test_the_limit_of_pieces_of_code():
    def function(x, word):
        return x + len(word)

    def run(**settings):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="eager", **settings)
        return [compiled(torch.ones(1), word).item() for word in ("a", "bc", "def")]

    with torch._dynamo.config.patch(recompile_limit=2):
        assert run() == [2, 3, 4]
        with pytest.raises(torch._dynamo.exc.RecompileLimitExceeded, match=r"\(2\).*fullgraph.*reason"):
            run(fullgraph=True)
        with torch._dynamo.config.patch(fail_on_recompile_limit_hit=True):
            with pytest.raises(torch._dynamo.exc.FailOnRecompileLimitHit):
                run()


def test_disabled_functions_are_not_captured():
    counter = torch._dynamo.testing.CompileCounter()
    seen = []

    @torch.compiler.disable
    def outside(x):
        seen.append(torch.compiler.is_compiling())
        return x + 1

    def function(x):
        inside = torch.compiler.is_compiling() and torch._utils.is_compiling()
        return outside(x * 2) * 3, inside

    result, inside = torch.compile(function, backend=counter)(torch.ones(2))
    assert result.tolist() == [9, 9] and inside and seen == [False] and counter.frame_count == 2
    with pytest.raises(torch._dynamo.exc.Unsupported, match="disable"):
        torch.compile(function, backend=counter, fullgraph=True)(torch.ones(2))


def test_stances():
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x: x + 1, backend=counter)
    with torch.compiler.set_stance("force_eager"):
        compiled(torch.ones(2))
    with torch.compiler.set_stance("eager_on_recompile"):
        compiled(torch.ones(2))

    assert counter.frame_count == 0
    compiled(torch.ones(2))
    assert counter.frame_count == 1
    with torch.compiler.set_stance("fail_on_recompile"):
        compiled(torch.ones(2))
        with pytest.raises(RuntimeError, match=r"test_compile.py:\d+\) would be compiled anew"):
            compiled(torch.ones(3))
    torch.compiler.reset()
    compiled(torch.ones(2))
    assert counter.frame_count == 2


def test_marks_on_functions():
    @torch.compiler.allow_in_graph
    def opaque(x):
        return x * float(x.numel())

    @torch.compiler.assume_constant_result
    def constant():
        return int(torch.ones(3).sum().item())

    graphs = torch._dynamo.testing.EagerAndRecordGraphs()
    compiled = torch.compile(lambda x: opaque(x) + constant(), backend=graphs, fullgraph=True)
    assert compiled(torch.ones(2)).tolist() == [5, 5]
    assert opaque in [node.target for node in graphs.graphs[0].graph.nodes]


def test_questions_of_the_compiler():
    assert not torch.compiler.is_compiling() and not torch.jit.is_scripting() and not torch.jit.is_tracing()
    assert torch.compiler.disable(double)(2) == 4
    assert torch.compiler.disable(recursive=False)(double)(2) == 4
    with torch.compiler.set_stance("force_eager"), torch._dynamo.config.patch(cache_size_limit=3):
        assert torch._dynamo.config.cache_size_limit == 3
    assert torch._dynamo.config.cache_size_limit == 8
    with pytest.raises(RuntimeError, match="stance"):
        torch.compiler.set_stance("sideways")


def test_export_gives_one_graph():
    module = torch.nn.Linear(3, 3)
    result = torch._dynamo.export(lambda x: module(x).relu())(torch.ones(1, 3))
    graph = result.graph_module
    inputs = [
        module.weight if "weight" in n.name else module.bias if "bias" in n.name else torch.ones(1, 3)
        for n in graph.graph.nodes
        if n.op == "placeholder"
    ]
    assert torch.equal(graph(*inputs)[0], module(torch.ones(1, 3)).relu())
    assert result.guards.check((torch.ones(1, 3),)) is None
    assert "size(0)" in result.guards.check((torch.ones(2, 3),))
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch._dynamo.export(lambda x: x.sum().item())(torch.ones(3))


def test_settings_are_as_before_after_a_patch():
    config = torch._dynamo.config
    limit = config.recompile_limit
    with config.patch({"recompile_limit": 3, "capture_scalar_outputs": True}):
        assert (config.recompile_limit, config.capture_scalar_outputs) == (3, True)
    assert (config.recompile_limit, config.capture_scalar_outputs) == (limit, False)

    with pytest.raises(AttributeError, match="of_nobody"), config.patch(recompile_limit=3, of_nobody=1):
        pass
    assert config.recompile_limit == limit and not hasattr(config, "of_nobody")


def test_a_method_that_is_compiled_already():
    class Scaled:
        factor = 3

        @torch.compile(backend="eager")
        def scaled(self, x):
            return x * self.factor

    assert torch.compile(Scaled().scaled, backend="eager")(torch.ones(1)).tolist() == [3]
    assert torch.compile(Scaled.scaled, backend="eager")(Scaled(), torch.ones(1)).tolist() == [3]


def test_modes_see_operators_of_compiled_functions():
    from torch_py.utils.flop_counter import FlopCounterMode

    compiled = torch.compile(lambda a, b: (a @ b).relu())
    a = torch.ones(4, 4)
    for _ in range(2):
        compiled(a, a)
        with FlopCounterMode(display=False) as counter:
            compiled(a, a)
        assert counter.get_total_flops() == 2 * 4**3


@pytest.mark.parametrize("make", [
    lambda module: module.compile(backend="eager"),
    lambda module: setattr(module, "forward", torch.compile(module.forward, backend="eager")),
    lambda module: setattr(module, "parts", [torch.compile(module, backend="eager")]),
])  # fmt: skip
@pytest.mark.parametrize("is_called", [False, True])
def test_modules_that_lead_to_their_compiled_code_are_freed(make, is_called):
    module = torch.nn.Linear(2, 2)
    make(module)
    if is_called:
        module(torch.ones(2))
    alive = weakref.ref(module)
    del module
    gc.collect()
    assert alive() is None

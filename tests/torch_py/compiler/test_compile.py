"""torch.compile without a compiler: functions and modules run as they are."""

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
    assert torch.compiler.disable(double) is double
    assert torch.compiler.disable(recursive=False)(double) is double
    with torch.compiler.set_stance("force_eager"), torch._dynamo.config.patch(cache_size_limit=3):
        assert torch._dynamo.config.cache_size_limit == 3
    assert torch._dynamo.config.cache_size_limit == 8
    with pytest.raises(RuntimeError, match="stance"):
        torch.compiler.set_stance("sideways")

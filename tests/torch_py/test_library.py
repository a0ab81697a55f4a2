"""torch.library: operators written in Python."""

import pytest

import torch_py as torch


@pytest.fixture
def scale():
    @torch.library.custom_op("tests::scale", mutates_args=())
    def scale(x: torch.Tensor, factor: float = 2.0, *, shift: int = 0) -> torch.Tensor:
        return torch.tensor(x.detach().numpy() * factor + shift)

    return scale


def test_call_defaults_and_schema(scale):
    assert str(scale._schema) == "tests::scale(Tensor x, float factor=2.0, *, SymInt shift=0) -> Tensor"
    assert torch.ops.tests.scale(torch.ones(2)).tolist() == [2, 2]
    assert torch.ops.tests.scale.default(torch.ones(2), 3.0, shift=1).tolist() == [4, 4]
    assert scale(x=torch.ones(1), factor=5.0).tolist() == [5]


@pytest.mark.parametrize(
    "arguments, keywords",
    [((), {}), ((3,), {}), ((torch.ones(1), 1.0, 2), {}), ((torch.ones(1),), {"what": 1})],
)
def test_bad_calls(scale, arguments, keywords):
    with pytest.raises(RuntimeError, match="tests::scale"):
        scale(*arguments, **keywords)


def test_meta_tensors_need_a_shape_rule(scale):
    with pytest.raises(NotImplementedError, match="meta"):
        scale(torch.ones(2, device="meta"))
    scale.register_fake(lambda x, factor=2.0, *, shift=0: torch.empty_like(x))
    assert scale(torch.ones(2, device="meta")).shape == (2,)
    assert torch.library.opcheck(scale, (torch.ones(3),))["test_faketensor"] == "SUCCESS"
    scale.register_fake(lambda x, factor=2.0, *, shift=0: torch.empty(1, device="meta"))
    with pytest.raises(AssertionError, match="register_fake"):
        torch.library.opcheck(scale, (torch.ones(3),))


def test_gradient(scale):
    x = torch.ones(2, requires_grad=True)
    y = scale(x, 3.0)
    assert y.requires_grad
    with pytest.raises(RuntimeError, match="no autograd formula"):
        y.sum().backward()

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        ctx.factor = inputs[1]
        assert keyword_only_inputs == {"shift": 0}

    torch.library.register_autograd(
        "tests::scale", lambda ctx, grad: (grad * ctx.factor, None), setup_context=setup_context
    )
    scale(x, 3.0).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_define_and_impl():
    torch.library.define("tests::twice", "(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="Could not run 'tests::twice'"):
        torch.ops.tests.twice(torch.ones(1))

    @torch.library.impl("tests::twice", "cpu")
    def twice(x):
        return x + x

    assert torch.ops.tests.twice(torch.ones(1)).tolist() == [2]
    library = torch.library.Library("tests", "FRAGMENT")
    assert (
        library.define("pair(Tensor x, int[] sizes=[1, 2], str mode='a, b') -> (Tensor, Tensor)")
        == "tests::pair"
    )
    library.impl("pair", lambda x, sizes, mode: (x.clone(), x.new_zeros(sizes)), "CompositeExplicitAutograd")
    assert [tuple(part.shape) for part in torch.ops.tests.pair(torch.ones(3))] == [(3,), (1, 2)]


@pytest.mark.parametrize("schema", ["x", "(Tensor) -> Tensor", "(Tensor x)"])
def test_bad_schemas(schema):
    with pytest.raises(ValueError, match="schema"):
        torch.library.define("tests::bad", schema)


def test_functions_without_types_are_refused():
    with pytest.raises(ValueError, match="annotation"):
        torch.library.infer_schema(lambda x: x, mutates_args=())


def test_own_operators_cannot_be_declared_anew():
    with pytest.raises(NotImplementedError, match="native_functions"):
        torch.library.Library("aten", "DEF").define("new(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.library.Library("aten", "IMPL").impl("add.Nobody", lambda x, y: x, "CPU")
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.library.register_fake("tests::nobody", lambda x: x)


def test_native_operators_by_overload():
    assert torch.ops.aten.add.Tensor(torch.ones(1), torch.ones(1)).tolist() == [2]
    assert "Tensor" in torch.ops.aten.add.overloads() and torch.ops.aten.relu.default(
        torch.tensor([-1.0])
    ).tolist() == [0]
    with pytest.raises(AttributeError, match="no overload name"):
        _ = torch.ops.aten.add.Sideways
    with pytest.raises(AttributeError, match="no_such"):
        _ = torch.ops.aten.no_such


def test_operators_are_looked_up_once():
    assert torch.ops.aten.relu is vars(torch.ops.aten)["relu"]
    assert torch.ops is vars(torch)["ops"]

    library = torch.library.Library("tests", "FRAGMENT")
    library.define("grows(Tensor x) -> Tensor")
    assert torch.ops.tests.grows.overloads() == ["default"]
    library.define("grows.more(Tensor x, int n) -> Tensor")
    assert torch.ops.tests.grows.overloads() == ["default", "more"]


def test_the_same_operator_twice():
    library = torch.library.Library("tests", "FRAGMENT")
    library.define("once(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="multiple times"):
        library.define("once(Tensor x) -> Tensor")
    library._destroy()
    library.define("once(Tensor x, int n) -> Tensor")


@pytest.mark.parametrize("schema", ["(Tensor x) -> ", "(Foo x) -> Tensor", "(Tensor x) -> (Tensor, Foo)"])
def test_types_that_do_not_exist(schema: str):
    with pytest.raises(RuntimeError):
        torch.library.define("tests::unknown_type", schema)


@pytest.mark.parametrize(
    "results, value",
    [("Tensor", 5), ("()", 3), ("int", 2.5), ("Tensor[]", [5]), ("Tensor?", 5)],
)
def test_results_that_do_not_fit_the_schema(results: str, value: object):
    library = torch.library.Library("tests", "FRAGMENT")
    library.define(f"returns(Tensor x) -> {results}")
    library.impl("returns", lambda x: value, "CPU")
    with pytest.raises(RuntimeError):
        torch.ops.tests.returns(torch.ones(2))


def test_opcheck_finds_a_write_of_equal_values():
    library = torch.library.Library("tests_writes", "DEF")
    library.define("clear(Tensor x) -> Tensor")
    library.impl("clear", lambda x: x.zero_().clone(), "CPU")
    torch.library.register_fake("tests_writes::clear", lambda x: torch.empty_like(x))

    operator = torch.ops.tests_writes.clear.default
    for tensor in (torch.ones(2), torch.zeros(2), torch.tensor([float("nan")])):
        with pytest.raises(Exception, match="Argument x is not defined as mutable but was mutated"):
            torch.library.opcheck(operator, (tensor,), test_utils="test_schema")


def test_opcheck_finds_nan_and_signs_of_zeros_unchanged():
    library = torch.library.Library("tests_copies", "DEF")
    library.define("copied(Tensor x) -> Tensor")
    library.impl("copied", lambda x: x.clone(), "CPU")
    torch.library.register_fake("tests_copies::copied", lambda x: torch.empty_like(x))

    given = torch.tensor([float("nan"), -0.0, 1.0])
    checks = ("test_schema", "test_faketensor")
    result = torch.library.opcheck(torch.ops.tests_copies.copied.default, (given,), test_utils=checks)
    assert set(result.values()) == {"SUCCESS"}

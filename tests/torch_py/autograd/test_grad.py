"""The Python side of autograd: grad modes, grad and backward, custom Functions, gradcheck itself, the
functional interface."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

autograd = torch.autograd
gradcheck, gradgradcheck = autograd.gradcheck, autograd.gradgradcheck


def double(*shape: int, dtype: Any = None) -> Any:
    return torch.randn(*shape, dtype=dtype or torch.float64, requires_grad=True)


# Grad modes
# ------------------------------------------------------------


def test_modes_nest_and_come_back() -> None:
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_mode_can_be_entered_twice() -> None:
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    "decorate", ["no_grad()", "no_grad", "inference_mode()", "inference_mode", "set_grad_enabled(False)"]
)
def test_modes_decorate_functions(decorate: str) -> None:
    @eval(f"torch.{decorate}", {"torch": torch})
    def mode(value: int = 1) -> Any:
        """What it says."""
        return torch.is_grad_enabled(), value

    assert mode(value=2) == (False, 2) and mode.__doc__ == "What it says." and torch.is_grad_enabled()


def test_modes_decorate_generators() -> None:
    @torch.no_grad()
    def values() -> Any:
        received = yield torch.is_grad_enabled()
        try:
            yield torch.is_grad_enabled(), received
        except KeyError:
            yield "caught", torch.is_grad_enabled()
        return "end"

    generator = values()
    assert next(generator) is False and torch.is_grad_enabled()
    assert generator.send("sent") == (False, "sent") and torch.is_grad_enabled()
    assert generator.throw(KeyError()) == ("caught", False)
    with pytest.raises(StopIteration) as stopped:
        next(generator)
    assert stopped.value.value == "end"


def test_set_grad_enabled_as_function_and_context() -> None:
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_modes_belong_to_a_thread() -> None:
    seen: list[bool] = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


# grad and backward
# ------------------------------------------------------------


def test_grad_leaves_grad_alone() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (gradient,) = autograd.grad((x * x).sum(), x)
    assert gradient.tolist() == [2.0, 4.0] and x.grad is None


def test_grad_of_higher_order() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    for expected in (32.0, 48.0, 48.0, 24.0):
        (y,) = autograd.grad(y, x, create_graph=True)
        assert y.item() == expected


def test_unused_inputs() -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        autograd.grad(x.sum(), [x, unused])
    assert autograd.grad(x.sum(), [x, unused], allow_unused=True)[1] is None
    assert autograd.grad(x.sum(), [x, unused], materialize_grads=True)[1].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError):
        autograd.grad(x.sum(), [x, unused], allow_unused=False, materialize_grads=True)


def test_backward_into_chosen_inputs() -> None:
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    autograd.backward((x * y).sum(), inputs=[x])
    assert x.grad.item() == 1.0 and y.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        autograd.backward((x * y).sum(), inputs=[])


def test_several_outputs_and_weights() -> None:
    x = torch.ones(2, requires_grad=True)
    autograd.backward([x * 2, (x * x).sum()], [torch.tensor([1.0, 10.0]), None])
    assert x.grad.tolist() == [4.0, 22.0]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
        (lambda x: x.backward(torch.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda x: autograd.grad(x.sum(), []), RuntimeError, "cannot be empty"),
        (lambda x: x.backward("one"), TypeError, "gradients can be either Tensors or None"),
        (lambda x: torch.ones(1).backward(), RuntimeError, "does not require grad"),
    ],
)
def test_errors(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call(torch.ones(2, requires_grad=True) * 2)


@only_torch_py
def test_as_many_gradients_as_outputs() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        autograd.grad([x * 2], x, [torch.ones(2), torch.ones(2)])


def test_batched_gradients() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (rows,) = autograd.grad(x * x, x, torch.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


# Function
# ------------------------------------------------------------


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: float = 1.0) -> Any:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * 3 * x * x * ctx.scale, None


def test_function_is_differentiated_twice() -> None:
    x = double(3)
    assert gradcheck(lambda x: Cube.apply(x, 2.0), x) and gradgradcheck(lambda x: Cube.apply(x, 2.0), x)
    assert type(Cube.apply(x, 2.0).grad_fn).__name__ == "CubeBackward"


def test_function_with_setup_context() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    assert gradcheck(Product.apply, (double(2), double(2)))


def test_function_with_several_outputs() -> None:
    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            whole = x.floor()
            ctx.mark_non_differentiable(whole)
            return x - whole, whole

        @staticmethod
        def backward(ctx: Any, fraction: Any, whole: Any) -> Any:
            assert whole.tolist() == [0.0, 0.0]
            return fraction

    x = torch.tensor([1.5, 2.5], requires_grad=True)
    fraction, whole = Split.apply(x)
    assert fraction.requires_grad and not whole.requires_grad
    fraction.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_function_in_place() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    y = x * 3
    assert Double.apply(y) is y
    y.sum().backward()
    assert y.tolist() == [6.0, 6.0] and x.grad.tolist() == [6.0, 6.0]


def test_gradients_that_are_not_materialised() -> None:
    seen: list[Any] = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            seen.append(second)
            return first

    x = torch.ones(1, requires_grad=True)
    Two.apply(x)[0].backward()
    assert seen == [None]


def test_function_errors() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad, grad

    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        Wrong.apply(torch.ones(1, requires_grad=True)).backward()
    with pytest.raises(NotImplementedError):

        class Empty(torch.autograd.Function):
            pass

        Empty.apply(torch.ones(1))


def test_once_differentiable() -> None:
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2 * ctx.saved_tensors[0]

    x = torch.tensor(3.0, requires_grad=True)
    weight = torch.tensor(1.0, requires_grad=True)
    (gradient,) = autograd.grad(Once.apply(x), x, weight, create_graph=True)
    assert gradient.item() == 6.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.backward()


def test_saved_tensors_hooks() -> None:
    packed: list[Any] = []

    def pack(tensor: Any) -> int:
        packed.append(tensor.detach().clone())
        return len(packed) - 1

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda index: packed[index]):
        y = x * x
    assert packed
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


# gradcheck itself
# ------------------------------------------------------------


class Off(torch.autograd.Function):
    """A derivative that is wrong by one part in a hundred."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2.02


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_finds_wrong_derivatives(fast: bool) -> None:
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Off.apply, double(2, 2), fast_mode=fast)
    assert gradcheck(Off.apply, double(2, 2), fast_mode=fast, raise_exception=False) is False
    assert gradcheck(Off.apply, double(2, 2), fast_mode=fast, atol=0.1)


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_of_complex_functions(fast: bool) -> None:
    z, x = double(3, dtype=torch.complex128), double(3)
    assert gradcheck(lambda z: z * z, z, fast_mode=fast)
    assert gradcheck(lambda z: z.abs(), z, fast_mode=fast)
    assert gradcheck(lambda x, z: x * z, (x, z), fast_mode=fast)
    assert gradcheck(lambda x: x * (1 + 2j), x, fast_mode=fast)
    assert gradgradcheck(lambda x, z: x * z * z, (x, z), fast_mode=fast)


def test_gradcheck_of_several_inputs_and_outputs() -> None:
    assert gradcheck(lambda a, b, c: (a @ b, a.sum() * c), (double(2, 3), double(3, 2), 2.0))
    assert gradcheck(lambda a: a.t().reshape(-1), double(2, 3).detach().t().requires_grad_())


def test_gradcheck_of_outputs_without_gradient() -> None:
    assert gradcheck(lambda a: (a * 2, torch.ones(2, dtype=torch.float64)), double(2))
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda a: a.detach() * 2, double(2))


def test_gradcheck_of_inputs_it_cannot_take() -> None:
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda a: a, torch.ones(1))
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(lambda a: a * 1, torch.ones(1, requires_grad=True), atol=1.0)
    with pytest.raises(RuntimeError):
        gradcheck(lambda a: a * 1, torch.ones(1, dtype=torch.float64).expand(3).detach().requires_grad_())


def test_gradcheck_notices_chance() -> None:
    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * (1 + 1e-7 * torch.rand(1, dtype=torch.float64))

    with pytest.raises(RuntimeError, match="not reentrant"):
        gradcheck(Noisy.apply, double(2))
    assert gradcheck(Noisy.apply, double(2), nondet_tol=1e-5)


def test_gradcheck_leaves_inputs_as_they_were() -> None:
    x = double(3)
    before = x.tolist()
    gradcheck(lambda x: x.sin(), x)
    assert x.tolist() == before and x.grad is None


def test_gradcheck_sees_parameters_of_a_module() -> None:
    layer = torch.nn.Linear(2, 2).double()
    x = double(3, 2)
    assert gradcheck(lambda *everything: layer(x), (x, *layer.parameters()))


def test_gradgradcheck_finds_wrong_second_derivatives() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2 * ctx.saved_tensors[0].detach()

    assert gradcheck(Square.apply, double(2))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradgradcheck(Square.apply, double(2))


def test_gradgradcheck_with_given_weights() -> None:
    x = double(2, 2)
    assert gradgradcheck(lambda x: x * x, x, torch.ones(2, 2, dtype=torch.float64))
    assert gradgradcheck(lambda x: x.exp(), x, gen_non_contig_grad_outputs=True)


# functional
# ------------------------------------------------------------


def test_jacobian_and_hessian() -> None:
    x = torch.tensor([1.0, 2.0])
    functional = autograd.functional
    assert functional.jacobian(lambda x: x * x, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert functional.hessian(lambda x: (x**3).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    blocks = functional.jacobian(lambda x, y: (x * y, x.sum()), (x, torch.ones(2)))
    assert blocks[0][1].tolist() == [[1.0, 0.0], [0.0, 2.0]] and blocks[1][1].tolist() == [0.0, 0.0]
    second = functional.hessian(lambda x, y: (x * y).sum(), (x, torch.ones(2)))
    assert second[0][1].tolist() == [[1.0, 0.0], [0.0, 1.0]] and second[0][0].tolist() == [
        [0.0, 0.0],
        [0.0, 0.0],
    ]


def test_products_with_vectors() -> None:
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    functional = autograd.functional
    assert functional.vjp(lambda x: x * x, x, v)[1].tolist() == [6.0, 20.0]
    assert functional.jvp(lambda x: x * x, x, v)[1].tolist() == [6.0, 20.0]
    assert functional.hvp(lambda x: (x**3).sum(), x, v)[1].tolist() == [18.0, 60.0]
    assert functional.vhp(lambda x: (x**3).sum(), x, v)[1].tolist() == [18.0, 60.0]
    with pytest.raises(RuntimeError):
        functional.vjp(lambda x: x * x, x)


def test_strict_and_recorded_jacobian() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    with pytest.raises(RuntimeError):
        autograd.functional.jacobian(lambda x: torch.ones(1), x, strict=True)
    recorded = autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    assert autograd.grad(recorded.sum(), x)[0].item() == 6.0


# Warnings
# ------------------------------------------------------------


def test_asking_a_computed_tensor_for_its_gradient_warns() -> None:
    leaf = torch.ones(2, requires_grad=True)
    computed = leaf * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert computed.grad is None


def test_no_warning_where_the_gradient_is_kept(recwarn: pytest.WarningsRecorder) -> None:
    leaf = torch.ones(2, requires_grad=True)
    kept = leaf * 2
    kept.retain_grad()
    assert (
        leaf.grad is None and kept.grad is None and torch.ones(2).grad is None and kept.detach().grad is None
    )
    kept.sum().backward()
    assert kept.grad.tolist() == [1, 1] and not recwarn.list

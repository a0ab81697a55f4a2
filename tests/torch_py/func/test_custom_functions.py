"""torch.autograd.Function inside vmap, grad, jvp and their compositions."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

func = torch.func
forward_ad = torch.autograd.forward_ad


class Cube(torch.autograd.Function):
    """x ** 3 * factor with rules that return twice the derivative.

    The factor of two tells these rules from those of the operators inside.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, factor: Any) -> Any:
        return x**3 * factor

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        x, factor = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        ctx.factor = factor

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * gradient * 3 * x**2 * ctx.factor, None

    @staticmethod
    def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * tangent * 3 * x**2 * ctx.factor


class Product(torch.autograd.Function):
    """A product and a sum: two outputs of two inputs."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, y: Any) -> Any:
        return x * y, x.sum()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, of_product: Any, of_sum: Any) -> Any:
        x, y = ctx.saved_tensors
        return of_product * y + of_sum, of_product * x


def cube(x: Any) -> Any:
    return Cube.apply(x, 5.0)


def close(result: Any, expected: Any) -> None:
    torch.testing.assert_close(result, expected)


BATCH = torch.tensor([[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]])
X = BATCH[0]


def test_backward_of_members() -> None:
    close(func.vmap(cube)(BATCH), 5 * BATCH**3)
    close(func.grad(lambda x: cube(x).sum())(X), 30 * X**2)
    close(func.vmap(func.grad(lambda x: cube(x).sum()))(BATCH), 30 * BATCH**2)
    close(func.grad(lambda x: func.vmap(cube)(x).sum())(BATCH), 30 * BATCH**2)
    close(func.vmap(func.vmap(func.grad(cube)))(BATCH), 30 * BATCH**2)
    close(func.vmap(func.grad(cube), in_dims=0, out_dims=0)(BATCH[1]), 30 * BATCH[1] ** 2)
    close(func.vmap(func.vmap(cube), in_dims=1, out_dims=1)(BATCH), 5 * BATCH**3)


def test_second_derivatives() -> None:
    close(func.vmap(func.grad(func.grad(cube)))(X), 60 * X)
    close(func.jacrev(func.jacrev(cube))(X[0]), 60 * X[0])
    close(func.hessian(lambda x: cube(x).sum())(X), torch.diag(60 * X))


@only_torch_py  # PyTorch's generated rule loses the tangent of saved tensors and gives 0
def test_tangents_of_tangents() -> None:
    close(func.jacfwd(func.jacfwd(cube))(X[1]), 60 * X[1])


def test_jacobians() -> None:
    close(func.jacrev(cube)(X), torch.diag(30 * X**2))
    close(func.jacfwd(cube)(X), torch.diag(30 * X**2))
    close(torch.autograd.functional.jacobian(cube, X), torch.diag(30 * X**2))


def test_tangents() -> None:
    value, tangent = func.jvp(cube, (X,), (torch.ones(3),))
    close(value, 5 * X**3)
    close(tangent, 30 * X**2)
    close(func.vmap(lambda x: func.jvp(cube, (x,), (torch.ones(3),))[1])(BATCH), 30 * BATCH**2)
    close(func.jvp(func.vmap(cube), (BATCH,), (torch.ones(2, 3),))[1], 30 * BATCH**2)
    with forward_ad.dual_level():
        close(forward_ad.unpack_dual(cube(forward_ad.make_dual(X, torch.ones(3)))).tangent, 30 * X**2)


def test_tangents_are_differentiable() -> None:
    x = X.clone().requires_grad_()
    func.jvp(cube, (x,), (torch.ones(3),))[1].sum().backward()
    close(x.grad, 60 * X)
    close(func.grad(lambda x: func.jvp(cube, (x,), (torch.ones(3),))[1].sum())(X), 60 * X)


def test_several_outputs() -> None:
    def total(x: Any, y: Any) -> Any:
        product, sum_ = Product.apply(x, y)
        return (product * 3).sum() + sum_

    y = torch.tensor([1.0, 2.0, 3.0])
    of_x, of_y = func.vmap(func.grad(total, argnums=(0, 1)), in_dims=(0, None))(BATCH, y)
    close(of_x, (3 * y + 1).expand(2, 3))
    close(of_y, 3 * BATCH)
    shared = y.clone().requires_grad_()
    product, sums = func.vmap(Product.apply, in_dims=(0, None))(BATCH, shared)
    close(sums, BATCH.sum(-1))
    product.sum().backward()
    close(shared.grad, BATCH.sum(0))  # all members share it


def test_own_rule_for_batches() -> None:
    seen = []

    class Tenfold(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: int) -> Any:
            return x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any, factor: int) -> Any:
            seen.append((info.batch_size, info.randomness, in_dims))
            return x * factor * 10, 0

    close(func.vmap(Tenfold.apply, in_dims=(0, None))(BATCH, 2), BATCH * 20)
    assert seen == [(2, "error", (0, None))]
    assert Tenfold.apply(X, 2).tolist() == [2, 4, 6]


def rule(**methods: Any) -> Any:
    common = {
        "forward": staticmethod(lambda x: x * 2),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
    }
    return type("Twice", (torch.autograd.Function,), {**common, **methods})


def test_missing_rules_are_errors() -> None:
    with pytest.raises(RuntimeError, match="does not have vmap support"):
        func.vmap(rule().apply)(BATCH)
    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and an overridden vmap"):
        func.vmap(rule(generate_vmap_rule=True, vmap=staticmethod(lambda info, dims, x: (x, 0))).apply)(BATCH)
    with pytest.raises(RuntimeError, match="two returns, an output and out_dims"):
        func.vmap(rule(vmap=staticmethod(lambda info, dims, x: x)).apply)(BATCH)
    with pytest.raises(NotImplementedError, match="must implement the jvp function"), forward_ad.dual_level():
        rule().apply(forward_ad.make_dual(X, torch.ones(3)))

    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

    with pytest.raises(RuntimeError, match="must override the setup_context"):
        func.vmap(Old.apply)(BATCH)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own
def test_tangents_of_a_function_with_ctx_in_forward() -> None:
    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: int) -> Any:
            ctx.save_for_forward(x)
            ctx.k = k
            return x * k

        @staticmethod
        def jvp(ctx: Any, tangent: Any, _: Any) -> Any:
            (x,) = ctx.saved_tensors
            return tangent * x * ctx.k * 7

    with forward_ad.dual_level():
        result = Old.apply(forward_ad.make_dual(X, torch.ones(3)), 2)
        close(forward_ad.unpack_dual(result).tangent, 14 * X)


def test_levels_end_after_errors() -> None:
    def fail(ctx: Any, gradient: Any) -> Any:
        raise KeyError("backward")

    wrong = rule(generate_vmap_rule=True, backward=staticmethod(fail))
    with pytest.raises(KeyError):
        func.vmap(func.grad(lambda x: wrong.apply(x).sum()))(BATCH)
    close(func.vmap(func.grad(lambda x: (x**2).sum()))(BATCH), 2 * BATCH)


def test_a_class_named_function() -> None:
    class Function(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = 3

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * ctx.factor

    x = X.clone().requires_grad_()
    Function.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


# Arguments of transforms
# ------------------------------------------------------------


def test_keyword_arguments_are_not_mapped() -> None:
    assert func.vmap(lambda x, y=None: x + y)(torch.arange(2), y=torch.arange(3)).tolist() == [
        [0, 1, 2],
        [1, 2, 3],
    ]
    assert func.vmap(lambda x, y: x * y["k"], chunk_size=1)(torch.arange(2.0), y={"k": 2}).tolist() == [0, 2]


def test_arguments_that_are_not_tensors_are_refused() -> None:
    for transform in (func.grad, func.jacrev, func.grad_and_value):
        with pytest.raises(ValueError, match="must be Tensor"):
            transform(lambda x: x)(3.0)


def test_strict_jvp() -> None:
    with pytest.raises(RuntimeError, match="independent of the inputs"):
        func.jvp(lambda x: torch.ones(3), (X,), (X,), strict=True)
    assert func.jvp(lambda x: x * 0, (X,), (X,), strict=True)[1].tolist() == [0, 0, 0]


def test_functional_call_refuses() -> None:
    layer = torch.nn.Linear(2, 2)
    for wrong in (3, [3], None):
        with pytest.raises(ValueError, match="parameter_and_buffer_dicts"):
            func.functional_call(layer, wrong, (torch.ones(2),))

    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(2, 2, bias=False)
            self.second = torch.nn.Linear(2, 2, bias=False)
            self.second.weight = self.first.weight

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    eye = torch.eye(2)
    other = torch.eye(2) * 3
    with pytest.raises(ValueError, match="which are tied"):
        func.functional_call(Tied(), {"first.weight": eye, "second.weight": other}, (torch.ones(2),))
    assert func.functional_call(
        Tied(), {"first.weight": other, "second.weight": other}, (torch.ones(2),)
    ).tolist() == [9, 9]
    apart = func.functional_call(
        Tied(), {"first.weight": eye, "second.weight": other}, (torch.ones(2),), tie_weights=False
    )
    assert apart.tolist() == [3, 3]


def test_batch_norm_without_running_statistics() -> None:
    net = torch.nn.Sequential(
        torch.nn.BatchNorm1d(2), torch.nn.Sequential(torch.nn.BatchNorm2d(3), torch.nn.Linear(2, 2))
    )
    assert func.replace_all_batch_norm_modules_(net) is net
    for norm in (net[0], net[1][0]):
        assert norm.running_mean is None and norm.running_var is None and norm.num_batches_tracked is None
        assert norm.track_running_stats is False
    alone = func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2))
    assert alone.running_mean is None
    x = torch.randn(3, 4, 2)
    close(func.vmap(alone)(x), torch.stack([alone(member) for member in x]))


def test_threads_have_transforms_of_their_own() -> None:
    entered = threading.Event()
    inside = threading.Event()
    found = []

    def draw(x: Any) -> Any:
        entered.set()
        inside.wait(10)
        return x + torch.rand(1)

    thread = threading.Thread(
        target=lambda: found.append(func.vmap(draw, randomness="different")(torch.zeros(2)).shape)
    )
    thread.start()
    entered.wait(10)

    def wait(x: Any) -> Any:
        inside.set()
        thread.join(10)
        return x

    func.vmap(wait)(X)
    assert [tuple(shape) for shape in found] == [(2, 1)]


@only_torch_py  # PyTorch shares one level among all threads
def test_threads_have_levels_of_their_own() -> None:
    found = []

    def other() -> None:
        with pytest.raises(RuntimeError, match="no level exists"):
            forward_ad.make_dual(X, X)
        with forward_ad.dual_level():
            found.append(forward_ad.unpack_dual(forward_ad.make_dual(X, X) * 2).tangent)

    with forward_ad.dual_level():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        close(forward_ad.unpack_dual(forward_ad.make_dual(X, X) * 3).tangent, 3 * X)
    close(found[0], 2 * X)


def test_custom_operators_keep_their_gradients() -> None:
    @torch.library.custom_op(
        "tests_of_func::squared", mutates_args=(), schema="(Tensor x, float factor) -> Tensor"
    )
    def squared(x: Any, factor: float) -> Any:
        return x * x * factor

    def backward(ctx: Any, gradient: Any) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 2 * x * ctx.factor, None

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.factor = inputs[1]

    squared.register_autograd(backward, setup_context=setup_context)
    close(func.vmap(lambda x: squared(x, 3.0))(X), 3 * X**2)
    x = X.clone().requires_grad_()
    func.vmap(lambda x: squared(x, 3.0))(x).sum().backward()
    close(x.grad, 6 * X)
    if torch.__name__ == "torch_py":  # PyTorch has no rule for this
        close(func.vmap(func.grad(lambda x: squared(x, 3.0)))(X), 6 * X)

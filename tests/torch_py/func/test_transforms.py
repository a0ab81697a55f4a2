"""torch.func and torch.autograd.forward_ad: gradients, Jacobians, vmap and dual tensors."""

from __future__ import annotations

import pytest

from tests.subject import only_torch_py, torch

func = torch.func
F = torch.nn.functional


def close(actual, expected):
    torch.testing.assert_close(actual, expected)


def test_gradients_of_gradients():
    x = torch.linspace(-1, 2, 5)
    first = func.grad(lambda x: x.sin().sum())
    close(first(x), x.cos())
    close(func.grad(lambda x: first(x).sum())(x), -x.sin())
    assert not first(x).requires_grad


def test_arguments_auxiliary_values_and_structures():
    def loss(weights, x):
        y = weights["a"] * x + weights["b"]
        return (y * y).sum(), y

    weights = {"a": torch.tensor(2.0), "b": torch.tensor(-1.0)}
    x = torch.arange(3.0)
    gradient, (value, y) = func.grad_and_value(loss, has_aux=True)(weights, x)
    close(y, 2 * x - 1)
    close(value, (y * y).sum())
    close(gradient["a"], (2 * y * x).sum())
    close(gradient["b"], (2 * y).sum())
    by_both = func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1)
    close(by_both, (x + 1, x))


def test_gradients_reach_tensors_outside():
    scale = torch.tensor(3.0, requires_grad=True)
    gradient = func.grad(lambda x: (scale * x * x).sum())(torch.ones(2))
    assert gradient.requires_grad
    gradient.sum().backward()
    close(scale.grad, torch.tensor(4.0))


def test_views_from_before_their_base_required_gradients():
    """They require gradients, too, but have no history."""
    base = torch.ones(3)
    view = base[1:]
    base.requires_grad_()

    def square(v):
        return (v * v).sum()

    gradient = func.grad(square)
    assert gradient(view).requires_grad
    assert torch.compile(gradient, backend="aot_eager")(view).requires_grad
    assert all(value.requires_grad for value in func.grad_and_value(square)(view))


def test_outer_gradients_do_not_leak_in():
    x = torch.ones(2, requires_grad=True)
    y = func.grad(lambda v: (v**3).sum())(x)
    close(torch.autograd.grad(y.sum(), x)[0], 6 * torch.ones(2))


def test_vjp_and_jvp():
    a = torch.arange(6.0).reshape(2, 3)
    b = torch.arange(3.0)
    value, product = func.vjp(lambda a, b: {"y": a @ b}, a, b)
    close(value["y"], a @ b)
    close(
        product({"y": torch.tensor([1.0, 2.0])}),
        (torch.tensor([1.0, 2.0])[:, None] * b, a.T @ torch.tensor([1.0, 2.0])),
    )
    value, moved = func.jvp(lambda a, b: a @ b, (a, b), (torch.ones(2, 3), torch.ones(3)))
    close(value, a @ b)
    close(moved, torch.ones(2, 3) @ b + a @ torch.ones(3))


def test_products_of_vjp_are_a_tuple():
    x = torch.arange(3.0)
    products = func.vjp(lambda x: (x * x, x.sum()), x)[1]((torch.ones(3), torch.tensor(5.0)))
    assert isinstance(products, tuple) and len(products) == 1
    close(products[0], 2 * x + 5)
    (of_pair,) = func.vjp(lambda pair: pair[0] * pair[1], (x, x + 1))[1](torch.ones(3))
    close(of_pair[0], x + 1)
    with pytest.raises(RuntimeError, match="pytree structure of cotangents"):
        func.vjp(lambda x: x, x)[1]((torch.ones(3),))


@pytest.mark.parametrize("jacobian", ["jacrev", "jacfwd"])
def test_jacobians(jacobian):
    transform = getattr(func, jacobian)
    x = torch.arange(3.0)
    y = torch.arange(6.0).reshape(2, 3)
    close(transform(lambda x: x * x.sum())(x), torch.eye(3) * x.sum() + x[:, None])
    by_x, by_y = transform(lambda x, y: y @ x, argnums=(0, 1))(x, y)
    close(by_x, y)
    assert by_y.shape == (2, 2, 3)
    close(by_y[1, 1], x)
    outputs = transform(lambda x: {"a": x.sum(), "b": (x * x, x[0])})(x)
    close(outputs["a"], torch.ones(3))
    close(outputs["b"][0], torch.diag(2 * x))


def test_hessian():
    x = torch.tensor([1.0, 2.0])
    close(func.hessian(lambda x: x[0] ** 2 * x[1])(x), torch.tensor([[4.0, 2.0], [2.0, 0.0]]))


def test_gradients_of_each_sample():
    weight, bias = torch.randn(2, 3), torch.randn(2)
    x = torch.randn(5, 3)
    y = torch.tensor([0, 1, 1, 0, 1])

    def loss(parameters, x, y):
        return F.cross_entropy(F.linear(x, *parameters)[None], y[None])

    by_sample = func.vmap(func.grad(loss), in_dims=(None, 0, 0))((weight, bias), x, y)
    for i in range(5):
        alone = func.grad(loss)((weight, bias), x[i], y[i])
        close(by_sample[0][i], alone[0])
        close(by_sample[1][i], alone[1])


def test_an_ensemble_of_modules():
    models = [
        torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)) for _ in range(3)
    ]
    parameters, buffers = func.stack_module_state(models)
    x = torch.randn(6, 3)
    found = func.vmap(lambda p, b: func.functional_call(models[0], (p, b), (x,)))(parameters, buffers)
    for model, rows in zip(models, found):
        close(rows, model(x))


def test_functional_call_leaves_the_module_alone():
    module = torch.nn.Linear(2, 1)
    before = module.weight
    result = func.functional_call(
        module, {"weight": torch.zeros(1, 2), "bias": torch.ones(1)}, (torch.ones(3, 2),)
    )
    close(result, torch.ones(3, 1))
    assert module.weight is before
    with pytest.raises(RuntimeError):
        func.functional_call(module, {"nothing": torch.zeros(1)}, (torch.ones(3, 2),), strict=True)


def test_vmap_dimensions():
    x = torch.arange(6.0).reshape(2, 3)
    y = torch.arange(12.0).reshape(4, 3)
    close(torch.vmap(torch.dot)(x, x), (x * x).sum(1))
    close(torch.vmap(lambda a: a * 2, in_dims=1, out_dims=1)(x), x * 2)
    close(torch.vmap(torch.vmap(torch.dot, (0, None)), (None, 0))(x, y), y @ x.T)
    close(torch.vmap(lambda a: a * 2, chunk_size=2)(y), y * 2)
    first, second = torch.vmap(lambda a: (a.sum(), a + 1), out_dims=(0, 1))(x)
    close(first, x.sum(1))
    close(second, x.T + 1)


@pytest.mark.parametrize(
    "mapped, arguments, error",
    [
        (lambda: torch.vmap(torch.sin), (), ValueError),
        (lambda: torch.vmap(torch.sin, in_dims=2), (torch.ones(3),), ValueError),
        (lambda: torch.vmap(torch.add), (torch.ones(3), torch.ones(2)), ValueError),
        (lambda: torch.vmap(torch.sin, in_dims=None), (torch.ones(3),), ValueError),
        (lambda: torch.vmap(lambda x: 3), (torch.ones(3),), ValueError),
        (lambda: torch.vmap(lambda x: x.item()), (torch.ones(3),), RuntimeError),
        (lambda: torch.vmap(lambda x: x if x > 0 else -x), (torch.ones(3),), RuntimeError),
        (lambda: torch.vmap(lambda x: torch.rand_like(x)), (torch.ones(3),), RuntimeError),
        (lambda: torch.vmap(lambda x: torch.zeros(()).add_(x)), (torch.ones(3),), RuntimeError),
        (lambda: torch.vmap(torch.sin, randomness="often"), (torch.ones(3),), RuntimeError),
        (lambda: func.grad(lambda x: x * 2), (torch.ones(3),), RuntimeError),
        (lambda: func.grad(lambda x: 3.0), (torch.ones(3),), RuntimeError),
        (lambda: func.grad(lambda x: x.sum(), argnums=1), (torch.ones(3),), RuntimeError),
    ],
)
def test_errors(mapped, arguments, error):
    with pytest.raises(error):
        mapped()(*arguments)


def test_dropout_that_does_nothing_is_not_random():
    x = torch.ones(2, 3)
    close(torch.vmap(lambda x: F.dropout(x, 0.5, False))(x), x)
    close(torch.vmap(torch.nn.Dropout(0.5).eval())(x), x)


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_randomness(randomness):
    torch.manual_seed(0)
    a, b = torch.vmap(lambda x: torch.rand_like(x), randomness=randomness)(torch.ones(2, 1000))
    assert bool((a == b).all()) == (randomness == "same")


def test_writing_in_place():
    def update(x):
        y = x.clone()
        y[0] = x[1]
        y.mul_(2)
        return y

    x = torch.arange(6.0).reshape(2, 3)
    expected = torch.stack([update(x[0]), update(x[1])])
    close(torch.vmap(update)(x), expected)
    value, tangent = func.jvp(update, (x[0],), (torch.ones(3),))
    close(value, expected[0])
    close(tangent, 2 * torch.ones(3))


def test_dual_tensors():
    forward_ad = torch.autograd.forward_ad
    x = torch.arange(3.0)
    direction = torch.ones(3)

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, direction)
        y = dual.sin() * dual
        value, tangent = forward_ad.unpack_dual(y)
        assert forward_ad.unpack_dual(x).tangent is None

    close(value, x.sin() * x)
    close(tangent, x.cos() * x + x.sin())

    with pytest.raises(RuntimeError):
        forward_ad.make_dual(x, direction)
    with forward_ad.dual_level(), pytest.raises(ValueError):
        forward_ad.make_dual(torch.arange(3), torch.arange(3))


def test_forward_over_reverse():
    x = torch.linspace(0.5, 2, 4)
    v = torch.randn(4)
    _, product = func.jvp(func.grad(lambda x: (x**3).sum()), (x,), (v,))
    close(product, 6 * x * v)
    outside = func.grad(lambda x: func.jvp(torch.sin, (x,), (v,))[1].sum())(x)
    close(outside, -x.sin() * v)


@only_torch_py
def test_wrapped_tensors_are_not_pickled():
    import pickle

    with pytest.raises(RuntimeError):
        torch.vmap(lambda x: pickle.dumps(x))(torch.ones(2))


class Scaled(torch.autograd.Function):
    """k x^3 with the wrong derivative 4 k x^2, which shows whose rule was used."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, k=1.0):
        return k * x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.k = inputs[1]

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return 4 * ctx.k * gradient * x * x, None


def test_own_functions_of_batches_use_their_own_gradient():
    x = torch.tensor([1.0, 2.0, 3.0])
    close(func.vmap(func.grad(lambda t: Scaled.apply(t, 2.0)))(x), 8 * x * x)
    close(func.grad(lambda t: func.vmap(Scaled.apply)(t).sum())(x), 4 * x * x)
    close(func.vmap(func.vmap(func.grad(Scaled.apply)))(x.expand(2, 3)), (4 * x * x).expand(2, 3))
    close(func.vmap(func.grad(func.grad(Scaled.apply)))(x), 8 * x)
    close(func.jacrev(Scaled.apply)(x), torch.diag(4 * x * x))
    value, pull = func.vjp(func.vmap(Scaled.apply), x)
    close(value, x**3)
    close(pull(torch.ones(3))[0], 4 * x * x)  # the transform has ended


def test_own_functions_of_batches_and_what_members_share():
    class Product(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(a, b):
            return a @ b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, gradient):
            a, b = ctx.saved_tensors
            return gradient @ b.mT if ctx.needs_input_grad[
                0
            ] else None, a.mT @ gradient if ctx.needs_input_grad[1] else None

    weight = torch.arange(6.0).view(2, 3).requires_grad_()
    batch = torch.arange(12.0).view(2, 3, 2)
    func.vmap(lambda b: Product.apply(weight, b))(batch).sum().backward()
    close(weight.grad, batch.sum((0, 2)).expand(2, 3))
    of_each = func.vmap(func.grad(lambda w, b: Product.apply(w, b).sum()), (None, 0))(weight.detach(), batch)
    close(of_each, batch.sum(2)[:, None].expand(2, 2, 3))


def test_own_functions_with_a_method_for_batches():
    class Cumulated(torch.autograd.Function):
        @staticmethod
        def forward(x, dim):
            return torch.from_numpy(x.detach().numpy().cumsum(dim))  # does not support transforms

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.dim = inputs[1]

        @staticmethod
        def backward(ctx, gradient):
            return Cumulated.apply(gradient.flip(ctx.dim), ctx.dim).flip(ctx.dim), None

        @staticmethod
        def vmap(info, in_dims, x, dim):
            assert info.batch_size == 2 and info.randomness == "error" and in_dims[1] is None
            return Cumulated.apply(x.movedim(in_dims[0], 0), dim + 1), 0

    x = torch.arange(6.0).view(2, 3)
    close(func.vmap(lambda row: Cumulated.apply(row, 0))(x), x.cumsum(1))
    slopes = func.vmap(
        func.grad(lambda row: (Cumulated.apply(row, 0) * torch.tensor([1.0, 2.0, 4.0])).sum())
    )(x)
    close(slopes, torch.tensor([7.0, 6.0, 4.0]).expand(2, 3))


def test_jacobians_of_numbers():
    x = torch.tensor(2.0)
    close(func.jacrev(lambda t: t**3)(x), 3 * x * x)
    close(func.hessian(lambda t: t**3)(x), 6 * x)
    close(func.vmap(func.hessian(lambda t: t**3))(x.expand(2)), 6 * x.expand(2))

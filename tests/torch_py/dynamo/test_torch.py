"""Parts of torch in compiled functions: modules, custom functions, transforms, random numbers, modes."""

import copy
import pickle

import pytest

import torch_py as torch
import torch_py.nn.functional as F
from tests.torch_py.dynamo.comparing import check, equal
from torch_py import nn
from torch_py._dynamo.testing import CompileCounter, EagerAndRecordGraphs
from torch_py.utils.checkpoint import checkpoint

ROWS = torch.randn(4, 6)
IMAGES = torch.randn(2, 3, 8, 8)
STEPS = torch.randn(5, 2, 6)
WEIGHT = torch.randn(6, 6)
LINEAR = nn.Linear(6, 3)
PARAMETERS = {name: value.detach() for name, value in LINEAR.named_parameters()}

MODULES = {
    "perceptron": lambda: (
        nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Dropout(0.5), nn.Linear(8, 2)),
        ROWS,
    ),
    "convolutions": lambda: (
        nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(4, 2),
        ),
        IMAGES,
    ),
    "lstm": lambda: (nn.LSTM(6, 4, 2), STEPS),
    "gru": lambda: (nn.GRU(6, 4, batch_first=True, bidirectional=True), STEPS),
    "cell": lambda: (nn.LSTMCell(6, 4), ROWS),
    "attention": lambda: (nn.MultiheadAttention(6, 2), STEPS, STEPS, STEPS),
    "encoder": lambda: (
        nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 16, batch_first=True), 2),
        STEPS,
    ),
    "embedding": lambda: (nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2)), torch.tensor([[1, 2]])),
    "norms": lambda: (
        nn.Sequential(nn.GroupNorm(1, 3), nn.InstanceNorm2d(3), nn.Upsample(scale_factor=2)),
        IMAGES,
    ),
    "weight norm": lambda: (nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)), ROWS),
    "spectral norm": lambda: (nn.utils.parametrizations.spectral_norm(nn.Linear(6, 3)), ROWS),
    "loss": lambda: (nn.CrossEntropyLoss(), ROWS, torch.tensor([0, 1, 2, 3])),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    """As one graph, with the same results, gradients, buffers and random numbers."""
    module, *args = MODULES[name]()
    other = copy.deepcopy(module)
    counter = CompileCounter()
    compiled = torch.compile(other, backend=counter, fullgraph=True)

    for _ in range(2):
        results = []
        for run in (module, compiled):
            torch.manual_seed(1)
            result = run(*args)
            results.append(result)
            leaves = torch.utils._pytree.tree_leaves(result)
            if any(leaf.requires_grad for leaf in leaves):
                sum(leaf.sum() for leaf in leaves).backward()
        assert equal(*results)
        assert equal(dict(module.state_dict()), dict(other.state_dict()))
        assert equal([p.grad for p in module.parameters()], [p.grad for p in other.parameters()])
    assert counter.frame_count == 1


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


def test_custom_functions_are_one_node():
    x = torch.randn(3, requires_grad=True)
    graphs = EagerAndRecordGraphs()
    result = torch.compile(lambda x: Scaled.apply(x * 2, 3).sum(), backend=graphs, fullgraph=True)(x)
    result.backward()
    assert x.grad.tolist() == [6, 6, 6]
    assert any(node.target == Scaled.apply for node in graphs.graphs[0].graph.nodes)


def penalized(net, x):
    y = net(x).square().sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    return slope.norm() + y


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_gradients_in_a_function_are_one_node(backend):
    net = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))
    found = []
    for function in (penalized, torch.compile(penalized, backend=backend, fullgraph=True)):
        x = ROWS.clone().requires_grad_()
        net.zero_grad()
        loss = function(net, x)
        loss.backward()
        found.append([loss.detach(), x.grad, *(p.grad for p in net.parameters() if p.grad is not None)])
    assert len(found[0]) == len(found[1]) == 6
    for expected, actual in zip(*found):
        torch.testing.assert_close(actual, expected)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_through_what_was_computed_outside_are_a_break(backend):
    def slopes(x, w):
        return torch.autograd.grad((x * w).sum(), [x, w])

    w = WEIGHT.clone().requires_grad_()
    with pytest.raises(torch._dynamo.exc.Unsupported, match="outside of the graph"):
        torch.compile(slopes, backend=backend, fullgraph=True)(w * 2, w)
    expected = slopes(w * 2, w)
    for actual, one in zip(torch.compile(slopes, backend=backend)(w * 2, w), expected):
        assert torch.equal(actual, one)


TRANSFORMS = {
    "vmap": lambda x: torch.vmap(lambda row: (row @ WEIGHT).sum())(x * 2) + 1,
    "vmap of a local tensor": lambda x: (lambda b: torch.vmap(lambda row: (row * b).sum())(x))(x.sum(0)),
    "in_dims": lambda x: torch.vmap(lambda a, b: a + b, in_dims=(0, None), out_dims=1)(x, WEIGHT[0]),
    "chunks": lambda x: torch.vmap(lambda row: row.cos(), chunk_size=2)(x),
    "grad": lambda x: torch.func.grad(lambda t: (t**2).sum())(x),
    "values in containers": lambda x: torch.func.grad_and_value(
        lambda given: ((given["x"] ** 2).sum(), {"twice": [given["x"] * 2]}), has_aux=True
    )({"x": x}),
    "value": lambda x: torch.func.grad_and_value(lambda t: ((t @ WEIGHT) ** 2).sum())(x),
    "gradients of samples": lambda x: torch.vmap(torch.func.grad(lambda row: ((row @ WEIGHT) ** 2).sum()))(x),
    "jacrev": lambda x: torch.func.jacrev(lambda t: t.sin())(x[0]),
    "jacfwd": lambda x: torch.func.jacfwd(lambda t: t.sin())(x[0]),
    "hessian": lambda x: torch.func.hessian(lambda t: t.sin().sum())(x[0]),
    "functional_call": lambda x: torch.func.functional_call(LINEAR, dict(LINEAR.named_parameters()), (x,)),
    "gradients of parameters": lambda x: torch.func.grad(
        lambda given: torch.func.functional_call(LINEAR, given, (x,)).sum()
    )(PARAMETERS),
    "jvp": lambda x: torch.func.jvp(lambda t: t.sin(), (x,), (x,)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    check(TRANSFORMS[name], ROWS, graphs=1)


def test_transforms_that_keep_the_graph_of_autograd_are_breaks():
    check(lambda x: torch.func.vjp(lambda t: t.sin(), x)[1](x), ROWS, fullgraph=False)


def test_autocast():
    def mixed(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            inside = x @ WEIGHT
        return inside, x @ WEIGHT, torch.is_autocast_enabled("cpu")

    check(mixed, ROWS, graphs=1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        check(lambda x: x @ WEIGHT, ROWS, graphs=1)


def test_random_numbers_are_those_of_eager():
    def noisy(x):
        return x + torch.rand_like(x) + torch.randn(6) + F.dropout(x)

    compiled = torch.compile(noisy, backend="eager", fullgraph=True)
    for _ in range(2):
        torch.manual_seed(3)
        expected = noisy(ROWS)
        torch.manual_seed(3)
        assert torch.equal(compiled(ROWS), expected)


def test_training_steps_change_the_same_parameters():
    def trained(compile):
        torch.manual_seed(0)
        model = nn.Linear(6, 2)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        step = compile(step)
        losses = [step(ROWS).item() for _ in range(4)]
        return losses, list(model.parameters())

    assert equal(trained(lambda step: step), trained(lambda step: torch.compile(step, backend="eager")))


def test_changes_of_tensors_and_views():
    def change(x, y):
        view = x[1:]
        view.mul_(2)
        y[0] = 7
        return x.sum(), view, y.t()

    check(change, torch.arange(6.0), torch.ones(2, 3), graphs=1)


def test_state_of_modules_changes():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0
            self.seen = []
            self.register_buffer("total", torch.zeros(()))

        def forward(self, x):
            self.count += 1
            self.seen.append(x.shape)
            self.total = self.total + x.sum()
            self.last = x * self.count
            return self.last

    check(lambda module, x: (module(x), module)[0], Counting(), ROWS)
    module = Counting()
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    for number in range(1, 4):
        assert torch.equal(compiled(ROWS), ROWS * number)
    assert module.count == 3 and len(module.seen) == 3 and torch.allclose(module.total, 3 * ROWS.sum())


def test_graphs_have_lines_names_and_example_values():
    graphs = EagerAndRecordGraphs()

    def function(x, scale):
        return (x * scale).relu()

    torch.compile(function, backend=graphs)(ROWS, torch.ones(6))
    nodes = list(graphs.graphs[0].graph.nodes)
    assert [node.name for node in nodes] == ["x", "scale", "mul", "relu", "output"]
    assert "return (x * scale).relu()" in nodes[2].meta["stack_trace"]
    assert all(node.meta["example_value"].shape == (4, 6) for node in nodes[2:4])
    assert [node.op for node in nodes] == ["placeholder"] * 2 + ["call_function", "call_method", "output"]


def _reshaped_argument(x, w):
    rows = x[1:]
    x.t_()
    return x, rows, x.squeeze(), x[0]


def _view_of_a_constant(x, w):
    numbers = torch.tensor([1.0, 2.0])
    return numbers, numbers.view(-1)


def _filled_through_repeated_elements(x, w):
    x.expand(2, *x.shape).fill_(0.5)
    return torch.relu(x)


def _hidden_view_is_changed(x, w):
    found = F.gelu(w)
    found.t_()
    torch._dynamo.graph_break()
    found[found > 0.1] = 0.5
    return found


def _grad_mode_is_switched_on(x, w):
    with torch.no_grad():
        found = w.sin()
        torch._dynamo.graph_break()
        with torch.enable_grad():
            found = found + w.tanh()
            found[0] = 1.0
            rows = found[1:]
    return found, rows, found.sin()


def _changed_after_a_break_without_grad(x, w):
    found = F.gelu(w)
    with torch.no_grad():
        torch._dynamo.graph_break()
    found.relu_()
    return found


def _reshaped_after_a_break(x, w):
    found = w.flip(-1)
    torch._dynamo.graph_break()
    found.t_()
    return found, found[1:]


def _written_by_strides_between_temporaries(x, w):
    bias = w.tanh() * 2
    base, rows = w.exp(), (w * bias)[:2]
    return torch.as_strided_scatter(base, rows, (2, 6), (6, 1), 6).sin().sum() + bias.sum()


CHANGES = (
    _reshaped_after_a_break,
    _written_by_strides_between_temporaries,
    _reshaped_argument,
    _view_of_a_constant,
    _filled_through_repeated_elements,
    _hidden_view_is_changed,
    _grad_mode_is_switched_on,
    _changed_after_a_break_without_grad,
)


@pytest.mark.parametrize("program", CHANGES, ids=lambda function: function.__name__.strip("_"))
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_views_changes_and_modes_through_autograd(program, backend):
    found = []
    for function in (program, torch.compile(program, backend=backend)):
        x, w = ROWS.clone(), WEIGHT.clone().requires_grad_()
        results = function(x, w)
        results = results if isinstance(results, tuple) else (results,)
        terms = [result.sum() for result in results if result.requires_grad]
        if terms:
            sum(terms).backward()
        sharing = [a.data_ptr() == b.data_ptr() for a in (*results, x) for b in results]
        found.append(([r.detach() for r in results], [r.requires_grad for r in results], sharing, w.grad))

    assert found[0][1:3] == found[1][1:3]
    for expected, actual in zip([*found[0][0], found[0][3]], [*found[1][0], found[1][3]]):
        torch.testing.assert_close(actual, expected)
        assert expected is None or actual.stride() == expected.stride()


@pytest.mark.parametrize("program", [lambda x: x.sigmoid().amax(1), lambda x: x.exp().abs().max()])
def test_gradients_of_extremes_find_the_elements_again(program):
    """Backward compares with what forward has found: it must have the same bits."""
    found = []
    for function in (program, torch.compile(program)):
        x = torch.randn(64, 48, generator=torch.Generator().manual_seed(0)).requires_grad_()
        function(x).sum().backward()
        found.append(x.grad)
    torch.testing.assert_close(found[1], found[0])


def test_truth_values_next_to_functions_of_packs():
    program = torch.compile(lambda x: (x.sigmoid(), x.sigmoid() > 0.5, x.tanh() > 0.1))
    x = torch.randn(5, 40)
    torch.testing.assert_close(program(x), (x.sigmoid(), x.sigmoid() > 0.5, x.tanh() > 0.1))


def test_means_of_means_have_the_dtype_of_eager_for_all_sizes():
    def program(x):
        return F.conv2d(x, x[:1, :, :2, :2]).clamp(0, 1).mean()

    compiled = torch.compile(program)
    for batch in (2, 3, 4):
        x = torch.randn(batch, 3, 5, 5).requires_grad_()
        y = x.detach().clone().requires_grad_()
        compiled(x).backward()
        program(y).backward()
        torch.testing.assert_close(x.grad, y.grad)


def test_graph_modules_and_questions_are_followed():
    traced = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(6, 4), nn.Tanh()))

    def program(x):
        key = pickle.dumps({"width": 6})
        scale = 2 if torch.distributed.is_initialized() or torch.onnx.is_in_onnx_export() else 1
        return traced(x) * scale, len(key)

    check(program, ROWS, graphs=1)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_backward_hooks_of_modules_are_called_in_backward(backend):
    module = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))
    compiled = torch.compile(module, backend=backend)
    compiled(ROWS).sum().backward()  # without hooks

    seen = []
    module[1].register_full_backward_hook(lambda _, inputs, outputs: seen.append(outputs[0].clone()))
    for _ in range(2):
        compiled(ROWS).sum().backward()
    module(ROWS).sum().backward()
    assert len(seen) == 3 and torch.equal(seen[0], seen[2]) and torch.equal(seen[1], seen[2])


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_assignments_by_their_methods(backend):
    def function(x):
        y = x * 2
        y.__setitem__(0, 5)
        torch.Tensor.__setitem__(y, (slice(1, 3), 2), x[0, 0])
        x.__setitem__(3, y[0])
        return y.__iadd__(1).__neg__()

    compiled = torch.compile(function, backend=backend, fullgraph=True)
    x, y = ROWS.clone(), ROWS.clone()
    assert equal(compiled(x), function(y)) and equal(x, y)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_hooks_of_saved_tensors_see_those_of_the_call_only(backend):
    module = nn.Sequential(nn.Linear(6, 4), nn.Tanh())
    compiled = torch.compile(module, backend=backend)

    def saved_by_a_call():
        saved = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
            compiled(ROWS)
        return [(type(one), one.shape) for one in saved]

    first = saved_by_a_call()  # which compiles
    assert first == saved_by_a_call()


def _checkpointed_step(module, call, seed):
    torch.manual_seed(seed)
    module.zero_grad()
    x = ROWS.clone().requires_grad_()
    result = call(x)
    result.sum().backward()
    return result.detach(), x.grad, module[0].weight.grad


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_checkpoints_and_compiled_code(backend, reentrant, inside):
    module = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Tanh())

    def program(x):
        return checkpoint(module, x, use_reentrant=reentrant).sin() * 2

    if inside:
        compiled = torch.compile(program, backend=backend)
    else:
        layer = torch.compile(module, backend=backend)
        compiled = lambda x: checkpoint(layer, x, use_reentrant=reentrant).sin() * 2  # noqa: E731

    for seed in range(2):
        actual = _checkpointed_step(module, compiled, seed)
        assert equal(_checkpointed_step(module, program, seed), actual)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_second_run_of_compiled_code_ends_early(backend):
    """Where functions whose graph raises an exception run eagerly, as they do by default."""
    module = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
    layer = torch.compile(module, backend=backend)
    gradients = []
    with torch._dynamo.config.patch(suppress_errors=None):
        for function in (module, layer, layer):
            x = torch.ones(2, 3, requires_grad=True)
            checkpoint(function, x, use_reentrant=False).sum().backward()
            gradients.append(x.grad)
    assert all(torch.allclose(gradient, gradients[0]) for gradient in gradients)


def test_a_checkpoint_without_gradients_is_captured():
    module = nn.Linear(6, 6)

    def program(x):
        with torch.no_grad():
            return checkpoint(module, x, use_reentrant=False).sin()

    check(program, ROWS, graphs=1)


def test_hooks_of_all_modules_are_not_for_graphs_of_transforms():
    compiled = torch.compile(lambda x: torch.vmap(lambda v: v * 2)(x), backend="eager")
    handle = nn.modules.module.register_module_forward_hook(lambda module, inputs, output: output * 2)
    try:
        assert compiled(torch.ones(2)).tolist() == [2, 2]
    finally:
        handle.remove()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_transforms_around_compiled_functions(backend, recwarn):
    """They run the function itself: the transform needs its operators."""

    def function(x):
        return (x.sin() * x.sum()).tanh()

    compiled = torch.compile(function, backend=backend)
    x = torch.randn(3, 4)
    transforms = [
        lambda f: torch.func.vmap(f)(x),
        lambda f: torch.func.jvp(f, (x,), (x,))[1],
        lambda f: torch.func.jacfwd(f)(x[0]),
        lambda f: torch.func.grad(lambda v: f(v).sum())(x),
    ]
    for transform in transforms:
        torch.testing.assert_close(transform(compiled), transform(function))
    assert not [one for one in recwarn.list if "runs eagerly" in str(one.message)]


def sum_of_sines(x, factor=2.0):
    return (x.sin() * factor).sum()


@pytest.mark.parametrize(
    ("transform", "x"),
    [
        (torch.func.vmap(sum_of_sines), ROWS),
        (torch.func.grad(sum_of_sines), ROWS),
        (torch.func.grad_and_value(sum_of_sines), ROWS),
        (torch.func.vmap(torch.func.grad(sum_of_sines)), ROWS),
        (torch.func.jacrev(torch.sin), ROWS[0]),
        (torch.func.jacfwd(torch.sin), ROWS[0]),
        (torch.func.hessian(sum_of_sines), ROWS[0]),
    ],
)
def test_compiled_transforms_are_one_graph(transform, x):
    check(transform, x, graphs=1)
    compiled = torch.compile(transform, fullgraph=True)
    torch.testing.assert_close(compiled(x), transform(x))


def test_gradients_of_each_sample_are_one_graph():
    model = nn.Linear(3, 2)
    parameters = dict(model.named_parameters())

    def loss(weights, x, y):
        return (torch.func.functional_call(model, weights, (x,)) - y).square().sum()

    def gradients(weights, x, y):
        return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, x, y)

    x, y = torch.randn(4, 3), torch.randn(4, 2)
    compiled = torch.compile(gradients, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(parameters, x, y), gradients(parameters, x, y))

"""Programs for sizes that vary: kernels and steps merged from those of several sizes."""

import pytest

import torch_py as torch
from torch_py._dynamo.testing import CompileCounterWithBackend
from torch_py._dynamo.utils import counters
from torch_py._functorch.aot.varying import trace_varying
from torch_py._inductor import varying
from torch_py._inductor.stages import CompiledGraph
from torch_py._inductor.varying import Merge, compile_varying
from torch_py._shapes.arguments import Arguments, NotFollowed, geometry_of
from torch_py._shapes.formulas import Symbol
from torch_py._shapes.sizes import Sizes
from torch_py._shapes.solver import Solver
from torch_py._shapes.stand_ins import RECORDINGS, stand_ins_of

F = torch.nn.functional
N, T = Symbol("n"), Symbol("t")


def compiled(function, tensors, dims):
    """The program of a function and the inputs of its graph; `dims` vary, by the position of the tensor."""
    sizes = Sizes()
    geometries = {
        position: geometry_of(
            tensors[position], {d: sizes.new(tensors[position].shape[d]).term for d in found}
        )
        for position, found in dims.items()
    }
    names = [f"x{number}" for number in range(len(tensors))]
    arguments = Arguments(tensors, geometries)
    traced = trace_varying(lambda recorder, given: list(function(*given)), arguments, sizes, names, None)
    graph = CompiledGraph(traced.module)
    compile_varying(graph)
    return graph, traced.inputs


PROGRAMS = {
    "attention block": (
        lambda x, w: [torch.softmax((x @ w).sin() * 2 + x.shape[0], -1).sum(1) + 1, (x @ w).mean()],
        [(4, 6, 8), (8, 5)],
        {0: [0, 1]},
        [[(2, 3, 8), (8, 5)], [(7, 64, 8), (8, 5)]],
    ),
    "norm": (
        lambda x, w: [F.layer_norm(F.gelu(x + w), (16,), w, w)],
        [(4, 6, 16), (16,)],
        {0: [0, 1]},
        [[(3, 5, 16), (16,)], [(2, 2, 16), (16,)]],
    ),
    "rows that vary": (
        lambda x: [x.softmax(-1), x.sum(0), x.var(-1), x.amax(-1) - x.t().amin(0)],
        [(4, 300)],
        {0: [0, 1]},
        [[(2, 2)], [(5, 64)], [(3, 1000)], [(130, 7)]],
    ),
    "images": (
        lambda x: [F.avg_pool2d(x.relu(), 3, 2, 1) + 1, x.sum((2, 3)), x.transpose(1, 2).contiguous().sin()],
        [(2, 3, 8, 10)],
        {0: [0, 2, 3]},
        [[(2, 3, 9, 9)], [(3, 3, 7, 64)]],
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_program_for_all_sizes(name):
    function, shapes, dims, others = PROGRAMS[name]
    graph, inputs = compiled(function, [torch.randn(shape) for shape in shapes], dims)
    for other in [shapes, *others]:
        tensors = [torch.randn(shape) for shape in other]
        computed = graph.program(*(source.of(tensors) for source in inputs))
        for one, expected in zip(computed, function(*tensors)):
            torch.testing.assert_close(one, expected)


def test_a_graph_with_rounded_sizes_is_planned_once_for_each_recording(monkeypatch):
    planned = []
    plan = varying.plan
    monkeypatch.setattr(varying, "plan", lambda *given: planned.append(given) or plan(*given))
    compiled(lambda x: [F.avg_pool2d(x, 3, 2, 1) + 1], [torch.randn(2, 3, 8, 10)], {0: [0, 2, 3]})
    assert len(planned) == RECORDINGS


@pytest.mark.parametrize(
    "function", [lambda x: [x.clone().fill_diagonal_(2)], lambda x: [x.diagonal().narrow(0, 0, 1) + 1]]
)
@pytest.mark.parametrize("dims", [[0, 1], [0]])
def test_the_smaller_one_of_two_sizes_is_not_always_the_same(function, dims):
    with pytest.raises(NotFollowed):
        compiled(function, [torch.randn(4, 6)], {0: dims})


def _diagonal(x, y, z):
    return z.diagonal() * 1 if x.size(0) < y.size(0) else z


def _filled(x, y, z):
    return z.clone().fill_diagonal_(2) if x.size(0) < y.size(0) else z


@pytest.mark.parametrize("dynamic", [True, None])
@pytest.mark.parametrize("function", [_diagonal, _filled])
def test_guards_on_other_sizes_do_not_tell_which_one_of_two_is_smaller(function, dynamic):
    compiled = torch.compile(function, dynamic=dynamic)
    for number, shape in enumerate([(7, 9), (8, 10), (6, 11), (11, 6)]):
        tensors = [torch.zeros(3 + number), torch.zeros(5 + number), torch.zeros(shape)]
        assert torch.equal(compiled(*tensors), function(*tensors))


@pytest.mark.parametrize(
    "function",
    [lambda x, y: torch.cat([x, y]).diagonal() * 1, lambda x, y: torch.cat([x, y]).fill_diagonal_(2)],
)
def test_a_size_may_be_larger_than_a_sum_of_others(function):
    compiled = torch.compile(function, dynamic=True)
    for rows, more, columns in [(6, 2, 7), (6, 2, 20), (30, 5, 20)]:
        tensors = torch.zeros(rows, columns), torch.zeros(more, columns)
        assert torch.equal(compiled(*tensors), function(*tensors))


def test_sizes_whose_order_is_guarded_need_one_program():
    def function(x, z):
        return z.clone().fill_diagonal_(2) if z.size(0) > z.size(1) and x.size(0) < 100 else z

    counter = CompileCounterWithBackend("inductor")
    compiled = torch.compile(function, backend=counter, dynamic=True)
    for rows, columns in [(9, 7), (11, 6), (20, 19)]:
        tensors = torch.zeros(5), torch.zeros(rows, columns)
        assert torch.equal(compiled(*tensors), function(*tensors))
    assert counter.frame_count == 1


def test_a_question_that_no_size_answers_is_asked_once():
    """Kernels that read pairs have another form for even sizes: no recording shows how halves are rounded."""
    with pytest.raises(NotFollowed, match="could not be determined"):
        compiled(lambda x: [x.unfold(-1, 2, 2).sin()], [torch.randn(5, 6)], {0: [0, 1]})


def test_texts_are_merged_number_by_number():
    all_sizes = [stand_ins_of([N, T], number) for number in range(3)]
    texts = [f"for (i < {s[N] * s[T]}) x[i * 8 + {2 * s[T]}] / {float(s[N])}f" for s in all_sizes]
    text, terms = Merge(Solver(all_sizes), {}).text(texts, "sizes")
    assert text == "for (i < sizes[0]) x[i * 8 + sizes[1]] / static_cast<float>(sizes[2])"
    assert list(map(str, terms)) == ["n*t", "2*t", "n"]


def test_texts_that_differ_otherwise_are_refused():
    merge = Merge(Solver([stand_ins_of([N], number) for number in range(3)]), {})
    with pytest.raises(NotFollowed, match="another form"):
        merge.text(["a + 1", "b + 1", "a + 1"], "sizes")
    with pytest.raises(NotFollowed, match="no formula"):
        merge.text(["1", "2", "9"], "sizes")


def test_halves_of_odd_and_of_even_sizes():
    """For odd sizes, s // 2 + 1 is (s + 1) // 2, and half as much as s + 1."""

    def joined(x):
        both = torch.cat([part * 2 for part in x.chunk(2)])
        return both[: both.shape[0] // 2 + 1] * 2

    def mean(x):
        return x[: x.shape[0] // 2 + 1].mean()

    for function in (joined, mean):
        compiled = torch.compile(function)
        for size in (9, 8, 4, 5, 2, 7):
            x = torch.randn(size, 4)
            torch.testing.assert_close(compiled(x), function(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [1, 3, 5, 7, 8, 10, 12, 48, 51, 100])
def test_blocks_of_columns_are_counted_exactly(width: int, dtype: torch.dtype) -> None:
    """Blocks of 256 among 5 * s0 columns are nearly those of 51 among s0."""

    def function(x: torch.Tensor) -> torch.Tensor:
        return (x @ weights).sum(0)

    weights = torch.randn(4, width, dtype=dtype)
    compiled = torch.compile(function)
    counters.clear()
    for count in (200, 300, 201, 2, 777, 1500):
        x = torch.randn(3, count, 4, dtype=dtype)
        torch.testing.assert_close(compiled(x), function(x))
    assert counters["stats"]["unique_graphs"] == 2

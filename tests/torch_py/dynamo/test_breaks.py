"""Ends of graphs: programs do and print what they did, and compiled code goes on afterwards."""

import asyncio
import collections
import sys

import pytest

import torch_py as torch
from tests.torch_py.dynamo.comparing import check, equal
from torch_py._dynamo import logs

ONES = torch.ones(3)


def in_the_middle(x):
    y = x + 1
    print("here")
    return y * 2


def helper(x):
    y = x + 1
    print("in the helper")
    return y * 2


def in_a_callee(x):
    a = x - 1
    b = helper(a)
    return a + b


def in_a_loop(x):
    for _ in range(4):
        x = x + 1
        print(x.sum().item())
    return x


def in_a_loop_that_counts(x):
    for i in range(3):
        x = x + i
        print(i)
    else:
        x = x * 2
    return x


def in_try(x):
    try:
        y = x + 1
        print("in try")
        raise ValueError(3)
    except ValueError as error:
        z = y * error.args[0]
    finally:
        z = z + 1
    return z


def in_an_except_clause(x):
    y = x
    try:
        y = x + 1
        print("a")
        int("no")
    except ValueError as error:
        y = y * 2
        print("handler", error)
        y = y + 1
    return y * 3


def raising_call(x):
    y = x + 1
    try:
        print("before")
        torch.ops.no_such_namespace.operator(y)
    except AttributeError:
        y = y * 2
    return y


class Swallows:
    def __enter__(self):
        return 3

    def __exit__(self, kind, *rest):
        print("exit", kind)
        return True


def in_with(x):
    with torch.no_grad():
        y = x + 1
        print(torch.is_grad_enabled())
        z = y * 2
    with Swallows() as k:
        z = z + k
        print("body")
        raise KeyError(1)
    return z, torch.is_grad_enabled()


def in_a_generator(x):
    def numbers():
        for i in range(3):
            print("yielding", i)
            yield x * i

    return list(numbers())


def in_a_closure(x):
    n = 0

    def inc(v):
        nonlocal n
        n += 1
        print("inc", n)
        return v + n

    return inc(x) + inc(x), n


def branch(x):
    y = x * 2
    if y.sum() > 3:
        y = y + 1
    else:
        y = y - 1
    return y


def conditions(x):
    return (x.sum() > 2 and x + 1), (x.sum() > 5 or x - 1), (x if x.sum() > 1 else -x), not x.sum() > 4


def while_of_data(x):
    n = 0
    while x.abs().sum() < 20:
        x = x * 2
        n += 1
    return x, n


def numbers_of_data(x):
    n = x.sum().item()
    return x * n, int(x[0]), float(x[1]), x.tolist(), x.long().tolist()[0]


def keywords(x):
    print("a", x.sum().item(), sep="-", end="!")
    (lambda *a, **k: print(a[1:], k))(*[x, 1], **{"k": 2})
    return x + 1


def leaving_exception(x):
    x = x + 1
    print("before")
    raise RuntimeError("out")


def explicit(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def texts(x):
    y = x + 1
    text = f"{y[0]:.2f} and {y}"
    return y * 2, text


def shape_of_data(x):
    y = torch.nonzero(x > 0)
    return y + 1


def in_an_operator(x):
    class Loud:
        def __add__(self, other):
            print("adding")
            return other * 2

    return (Loud() + x) + 1


def in_a_constructor(x):
    class Loud:
        def __init__(self, value):
            print("made")
            self.value = value + 1

    return Loud(x + 1).value * 2


def in_a_key_function(x):
    def key(v):
        print("key", v)
        return -v

    return sorted([1, 3, 2], key=key), x + 1


def nested_try(x):
    try:
        try:
            print("a")
            x = x + 1
            raise KeyError("k")
        except KeyError:
            raise ValueError("v") from None
        finally:
            print("finally")
    except ValueError as error:
        return x, str(error)


PROGRAMS = {
    in_the_middle: 2,
    in_a_callee: 2,
    in_a_loop: 2,
    in_a_loop_that_counts: None,
    in_try: 2,
    in_an_except_clause: None,
    raising_call: None,
    in_with: 2,
    in_a_generator: None,
    in_a_closure: 2,
    branch: 2,
    conditions: None,
    while_of_data: None,
    numbers_of_data: None,
    keywords: None,
    leaving_exception: None,
    explicit: 2,
    texts: None,
    shape_of_data: None,
    in_an_operator: None,
    in_a_constructor: None,
    in_a_key_function: None,
    nested_try: None,
}


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("sign", [1, -1])
def test_breaks(function, sign):
    check(function, ONES * sign, graphs=PROGRAMS[function], fullgraph=False)


def test_changes_before_a_break_are_visible():
    def change(x, items, entries):
        items.append(x + 1)
        entries["n"] = len(items)
        print(len(items), entries)
        items.append(x * 2)
        return items

    check(change, ONES, [1], {}, fullgraph=False)


def test_long_loops_need_no_depth():
    def loop(x):
        for _ in range(3000):
            x = x + 1
            torch._dynamo.graph_break()
        return x

    counter = check(loop, torch.zeros(1), fullgraph=False)
    assert counter.frame_count == 2


def test_messages_have_the_line_and_the_reason():
    def function(x):
        y = x + 1
        if y.sum() > 3:
            y = y * 2
        return y

    with pytest.raises(torch._dynamo.exc.Unsupported) as caught:
        torch.compile(function, fullgraph=True, backend="eager")(ONES)
    lines = str(caught.value).splitlines()
    assert len(lines) <= 8 and "if y.sum() > 3:" in lines[2]
    if sys.version_info >= (3, 11):  # which has the columns of instructions
        assert lines[3].strip() == "^" * len("y.sum() > 3")
    assert any("why: the value of a tensor" in line for line in lines) and "torch.where" in lines[-1]


def test_exceptions_have_the_traceback_of_the_program():
    import traceback

    def inner(x):
        print("x")
        return x + torch.ones(5)

    def outer(x):
        return inner(x * 2)

    with pytest.raises(RuntimeError) as caught:
        torch.compile(outer, backend="eager")(ONES)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "inner" in names
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "return x + torch.ones(5)" in text


def test_explain():
    report = torch._dynamo.explain(in_a_callee)(ONES)
    assert (report.graph_count, report.graph_break_count, report.op_count) == (2, 1, 4)
    assert "print" in report.break_reasons[0].reason and "Graph Break Count: 1" in str(report)


def a_generator(x):
    yield x + 1


def a_tuple_of_itself(x):
    inner = {"x": x + 1}
    whole = (inner,)
    inner["whole"] = whole
    return whole


def in_an_except_clause(x):
    try:
        raise KeyError
    except KeyError:
        print("here")
    return x + 1


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (a_generator, "generators and asynchronous functions are not compiled"),
        (a_tuple_of_itself, "a tuple that refers to itself"),
        (in_an_except_clause, "call of print"),
    ],
)
def test_functions_without_a_graph_say_why(program, reason, capsys):
    report = torch._dynamo.explain(program)(ONES)
    assert report.graph_count == 0 and [reason in one.reason for one in report.break_reasons] == [True]

    capsys.readouterr()
    logs._told.clear()
    torch._logging.set_logs(dynamo=True)
    try:
        compiled = torch.compile(program, backend="eager")
        compiled(ONES)
        compiled(ONES)
    finally:
        torch._logging.set_logs()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"[dynamo] {program.__name__} runs eagerly") and reason in line


def test_an_exception_of_the_program_is_a_break(graph_breaks):
    """The function runs eagerly to raise it itself."""

    def program(x):
        raise ValueError(f"no {len(x)}")

    check(program, ONES)
    assert [reason.what for reason in graph_breaks] == ["ValueError: no 3"]


def test_a_call_that_reads_elements_is_a_break(graph_breaks):
    """The program does not see that tensors have no elements while it is captured."""

    def program(scores, labels, lengths):
        try:
            return torch.nn.functional.ctc_loss(scores * 2, labels, lengths, lengths)
        except RuntimeError:
            return "refused"

    check(program, torch.zeros(4, 1, 3), torch.tensor([[1, 2]]), torch.tensor([2]), fullgraph=False)
    assert graph_breaks[0].why == "the value of a tensor is not known while the graph is captured"


def test_writing_to_expanded_memory_is_refused_where_it_is_written():
    def program(x):
        y = torch.zeros(1).expand(3)
        try:
            y.copy_(x)
        except RuntimeError:
            return x + 1
        return x

    check(program, ONES)


async def _asynchronous(x):
    await asyncio.sleep(0)
    return torch.sin(x) + 1


async def _items(x):
    for number in range(2):
        yield x + number


async def _all_items(x):
    return [item async for item in _items(x)]


def _runs_a_coroutine(x):
    return asyncio.run(_asynchronous(x * 2))


def _steps(x):
    yield x
    yield x * 2


@pytest.mark.parametrize("function", [_asynchronous, _all_items])
def test_asynchronous_functions_run_eagerly(function, graph_breaks):
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    expected = asyncio.run(function(torch.ones(2)))
    assert equal(asyncio.run(compiled(torch.ones(2))), expected)
    assert ["not compiled" in reason.why for reason in graph_breaks] == [True]


def test_generators_run_eagerly(graph_breaks):
    assert equal(list(torch.compile(_steps, fullgraph=True)(torch.ones(2))), list(_steps(torch.ones(2))))
    assert ["not compiled" in reason.why for reason in graph_breaks] == [True]


def test_calls_of_coroutines_are_breaks(graph_breaks):
    check(_runs_a_coroutine, torch.ones(2), fullgraph=False)
    assert len(graph_breaks) >= 1


def _sorted_by_texts(x, table):
    table["tensor"] = x + 1
    return [name for name, _ in sorted(table.items(), key=str)], x * 2


def test_texts_of_tensors_that_sorted_reads_are_breaks(graph_breaks):
    check(_sorted_by_texts, torch.ones(2), {"word": "a"}, fullgraph=False)
    assert {str(found) for found in graph_breaks} == {"sorted() of tensors"}


class _Sized:
    def size(self, x):
        return 1, int(x[0])


class _Twice(_Sized):
    def sizes(self, x):
        first = (*self.size(x), 7)
        return first, super().size(x)


def test_super_after_a_break(graph_breaks):
    """The continuation has the cell of `__class__`, which nothing has read before."""
    assert torch.compile(_Twice().sizes, backend="eager")(torch.tensor([3])) == ((1, 3, 7), (1, 3))
    assert {str(found) for found in graph_breaks} == {"Tensor.__int__() gives a number"}


def _changes_in_part(x, wide):
    try:
        torch._foreach_add_([x, wide], [torch.ones(2), torch.ones(2)])
    except RuntimeError:
        return x * 2


def test_calls_that_fail_after_changes_are_breaks(graph_breaks):
    """The first tensor has changed when the second one raises the error that the program catches."""
    check(_changes_in_part, torch.ones(2), torch.ones(3), fullgraph=False)
    assert {str(found) for found in graph_breaks} == {"_foreach_add_"}


def test_lazy_modules_get_their_shapes_where_a_graph_ends(graph_breaks, recwarn):
    layers = torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.ReLU(), torch.nn.LazyLinear(2))
    compiled = torch.compile(layers, backend="eager")
    for _ in range(3):
        result = compiled(ONES)
    assert torch.equal(result, layers(ONES)) and not recwarn.list
    assert "call of _infer_parameters" in {reason.what for reason in graph_breaks}
    assert type(layers[0]) is torch.nn.Linear


def test_the_first_parameter_of_a_module(graph_breaks):
    class Placed(torch.nn.Linear):
        def forward(self, x):
            first = next(self.parameters())
            return super().forward(x.to(first.device, first.dtype))

    layer = Placed(3, 2)
    assert torch.equal(torch.compile(layer, backend="eager", fullgraph=True)(ONES), layer(ONES))


def _shown(x):
    print(end="")
    return x + 1


@pytest.mark.parametrize("program", [
    lambda x: [one := [], one.append(_shown(x)), one[0] * 2],
    lambda x: x.add(_shown(x)),
    lambda x: ("-".join([str(_shown(x).shape)]), x),
    lambda x: {}.get("a", _shown(x)),
    lambda x: x.view(-1).index_fill_(0, torch.tensor([0]), _shown(x)[0]),
])  # fmt: skip
def test_methods_that_wait_for_an_argument_are_those_of_any_object(program, graph_breaks):
    """A method of a new object is a new one in each call."""
    compiled = torch.compile(program, backend=(counter := torch._dynamo.testing.CompileCounter()))
    graphs = []
    for _ in range(3):
        results = [str(function(torch.arange(3.0))) for function in (program, compiled)]
        assert results[0] == results[1]
        graphs.append(counter.frame_count)
    assert graphs[0] == graphs[2] and {reason.what for reason in graph_breaks} == {"call of print"}


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict])
def test_views_of_dictionaries_outlive_graphs(kind):
    """They show what is added later."""

    def program(x, numbers):
        values, keys = numbers.values(), {"one": x}.keys()
        numbers["two"] = x * 4
        y = x.sin()
        print("in between")
        numbers["three"] = y
        for value in values:
            y = y + value
        return y, keys, list(numbers.items()), values

    found = []
    for call in (program, torch.compile(program, backend="eager")):
        y, keys, items, values = call(ONES, kind(one=ONES))
        found.append((y, list(keys), items, list(values), type(keys), type(values)))
    assert equal(*found)
    assert torch._dynamo.explain(program)(ONES, kind(one=ONES)).graph_count > 0


@pytest.mark.parametrize("owner", ["model", "optimizer"])
def test_clearing_gradients_is_a_single_break(owner):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    owners = {"model": model, "optimizer": optimizer}

    def step(x):
        owners[owner].zero_grad()
        return model(x).sum()

    found = torch._dynamo.explain(step)(torch.ones(4, 2))
    assert (found.graph_count, found.graph_break_count) == (1, 1)
    assert "zero_grad" in str(found.break_reasons[0])


D = torch.distributions
DISTRIBUTIONS = {
    "categorical": lambda x: D.Categorical(logits=x).log_prob(torch.tensor(1)),
    "bernoulli": lambda x: D.Bernoulli(logits=x).log_prob(torch.ones(3)),
    "sample": lambda x: D.OneHotCategorical(logits=x).sample(),
    "normal": lambda x: D.MultivariateNormal(x, torch.eye(3)).log_prob(x),
    "mixture": lambda x: D.MixtureSameFamily(D.Categorical(logits=x), D.Normal(x, 1.0)).log_prob(x),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_end_no_graph(name):
    program = DISTRIBUTIONS[name]
    x = torch.tensor([0.1, 0.2, 0.3])
    torch.manual_seed(0)
    found = torch.compile(program, fullgraph=True, backend="aot_eager")(x)
    torch.manual_seed(0)
    torch.testing.assert_close(found, program(x))

"""Assertions on tensors: graphs are made for those that hold, and functions run again where one fails."""

import contextlib
import gc
import re
import weakref

import pytest

import torch_py as torch
from tests.torch_py.dynamo import asserting
from tests.torch_py.dynamo.comparing import check, equal, observed

ONES = torch.ones(3)


@pytest.mark.parametrize("value", [1.0, -1.0, 60.0])
def test_assertions_on_tensors_are_no_breaks(value, graph_breaks):
    """The graph is made for those that hold; where one fails, the function raises it itself."""
    compiled = torch.compile(asserting.asserted, backend="eager", fullgraph=True)
    assert equal(compiled(ONES, []), asserting.asserted(ONES, []))
    check(asserting.asserted, torch.full((3,), value), [])
    assert not graph_breaks


def _outcomes(function):
    """With an assertion that holds, and with one that fails, including the buffers and the next draw."""
    asserting.NORM.reset_running_stats()
    torch.manual_seed(0)
    calls = [observed(function, [torch.full((3,), value)]) for value in (1.0, -5.0)]
    return calls, torch.rand(1), {name: value.clone() for name, value in asserting.NORM.named_buffers()}


@pytest.mark.parametrize(
    ("function", "effect"),
    [
        (asserting.asserted_after_a_change, "changes L\\['x'\\]"),
        (asserting.asserted_before_statistics, "changes .*num_batches_tracked"),
        (asserting.asserted_before_a_custom_function, "calls Function.apply"),
    ],
)
def test_assertions_in_graphs_with_lasting_effects_are_breaks(function, effect, graph_breaks):
    """The function could not be run again from its beginning."""
    assert equal(_outcomes(torch.compile(function, backend="eager")), _outcomes(function))
    assert re.match("a check of a tensor: where it fails, .* the graph " + effect, graph_breaks[0].reason)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "function",
    [
        asserting.asserted_after_changes_of_own_tensors,
        asserting.asserted_after_a_draw,
        asserting.asserted_before_a_draw,
    ],
)
def test_assertions_in_graphs_without_lasting_effects(function, backend):
    """The function draws the same numbers when it runs again."""
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    assert equal(_outcomes(compiled), _outcomes(function))


def test_draws_from_a_generator_are_taken_back():
    generator = torch.Generator()

    def function(x):
        noise = torch.rand(3, generator=generator)
        return asserting.asserted_for_the_graph(noise, x)

    found = []
    for tried in (function, torch.compile(function, backend="eager", fullgraph=True)):
        generator.manual_seed(0)
        found += [[observed(tried, [torch.tensor([position])]) for position in (1, 7, 2)]]
    assert equal(*found)


def test_changes_inside_of_operators_happen_once():
    """The name of `batch_norm` does not say that it changes the mean."""

    def function(x, mean, variance, position):
        return torch.nn.functional.batch_norm(x, mean, variance, training=True)[position]

    compiled = torch.compile(function, backend="eager")
    with torch._dynamo.config.patch(suppress_errors=None):
        for position in (0, 7):
            args = [torch.ones(2, 3), torch.zeros(3), torch.ones(3), torch.tensor([position])]
            assert equal(observed(compiled, args), observed(function, args))


@pytest.mark.parametrize("backend", ["eager", lambda graph, inputs: graph])
def test_assertions_come_before_errors_of_the_graph(backend):
    compiled = torch.compile(asserting.asserted_for_the_graph, backend=backend)
    for position in (1, 7):
        args = [ONES, torch.tensor([position])]
        assert equal(observed(compiled, args), observed(asserting.asserted_for_the_graph, args))


@pytest.mark.parametrize(
    "function", [asserting.checked, asserting.checked_and_handled, asserting.checked_by_a_distribution]
)
def test_branches_that_only_raise(function, graph_breaks):
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    for value in (1.0, 7.0, 2.0, 70.0, -1.0, 3.0):
        args = [torch.full((3,), value)]
        assert equal(observed(compiled, args), observed(function, args))
    assert not graph_breaks


def _suppressed(x):
    if x.sum() > 0:
        with contextlib.suppress(KeyError):
            raise KeyError
    return x * 2


def _handled_within(x):
    if x.sum() > 0:
        try:
            raise KeyError
        except KeyError:
            x = x + 1
    return x * 2


@pytest.mark.parametrize("function", [_suppressed, _handled_within])
def test_branches_that_handle_what_they_raise_are_breaks(function, graph_breaks):
    check(function, ONES, fullgraph=False)
    check(function, -ONES, fullgraph=False)
    assert "a branch on a tensor" in {str(found) for found in graph_breaks}


def test_branches_that_do_more_are_breaks(graph_breaks):
    def function(x):
        if x.sum() > 10:
            x = x + 1
            if x.shape[0] == 3:
                raise ValueError("three")
        return x * 2

    check(function, ONES * 20, fullgraph=False)
    check(function, ONES, fullgraph=False)
    assert "a branch on a tensor" in {str(found) for found in graph_breaks}


def test_assertions_that_a_graph_alone_would_not_check(graph_breaks):
    with pytest.raises(torch._dynamo.exc.Unsupported, match="why: the graph alone would not check it"):
        torch._dynamo.export(asserting.asserted)(ONES, [])
    with torch._dynamo.config.patch(rewrite_assert_with_torch_assert=False):
        check(asserting.asserted, ONES, [], fullgraph=False)
    assert "a check of a tensor" in {str(found) for found in graph_breaks}


def test_export_changes_no_settings_of_other_threads():
    """Which the program sees, too."""

    def function(x):
        return x * (2 if torch._dynamo.config.rewrite_assert_with_torch_assert else 3)

    (result,) = torch._dynamo.export(function)(ONES).graph_module(ONES)
    assert equal(result, ONES * 2)


def _failing(graph, inputs):
    def run(*tensors):
        raise ValueError("this backend fails")

    return run


def test_results_are_kept_where_a_graph_with_assertions_fails():
    """The function has run, with its effects, to find out whether the assertions hold."""
    log = []
    compiled = torch.compile(asserting.asserted, backend=_failing)
    with pytest.warns(UserWarning, match="runs eagerly, as its graph raised ValueError: this backend fails"):
        result = compiled(ONES, log)
    assert equal((result, log), (asserting.asserted(ONES, []), [1, 2]))


# Memory


def _fails_alone(x, position, total):
    return x[position] * 2


def _fails_in_a_continuation(x, position, total):
    y = x * 2
    torch._dynamo.graph_break()
    total.add_(1)
    return y[position]


@pytest.mark.parametrize("function", [_fails_alone, _fails_in_a_continuation])
def test_errors_of_graphs_keep_no_arguments_alive(function):
    """Without waiting for the collection of cycles."""
    compiled = torch.compile(function, backend="eager")
    total = torch.zeros(1)
    with torch._dynamo.config.patch(suppress_errors=None):
        compiled(torch.ones(4), torch.tensor([1]), total)
        gc.collect()
        gc.disable()

        try:
            x = torch.ones(4)
            alive = weakref.ref(x)
            try:
                compiled(x, torch.tensor([9]), total)
            except IndexError:
                del x
            assert alive() is None
        finally:
            gc.enable()

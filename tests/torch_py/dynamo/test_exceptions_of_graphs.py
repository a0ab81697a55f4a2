"""Exceptions that graphs raise, and those of their capture that a program handles."""

from __future__ import annotations

from typing import Any

import pytest

import torch_py as torch
from torch_py import nn


@pytest.mark.parametrize("suppress_errors", [True, None])
def test_an_exception_of_a_graph_reaches_the_handlers_of_the_program(suppress_errors: bool | None):
    """Values can be refused that the capture does not know."""

    def program(x, indices):
        try:
            with torch.no_grad():
                return torch.sin(x), x[indices]
        except IndexError:
            return "refused", torch.is_grad_enabled()

    compiled = torch.compile(program, backend="eager")
    with torch._dynamo.config.patch(suppress_errors=suppress_errors):
        assert compiled(torch.ones(3), torch.tensor([2]))[1].tolist() == [1]
        with pytest.warns(UserWarning, match="as its graph raised IndexError"):
            assert compiled(torch.ones(3), torch.tensor([5])) == ("refused", True)
        assert compiled(torch.ones(3), torch.tensor([6])) == ("refused", True)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_an_exception_of_a_graph_has_the_lines_of_the_program(backend: str):
    def chosen(x, indices):
        return x[indices]

    def program(x, indices):
        return chosen(x + 1, indices)

    compiled = torch.compile(program, backend=backend)
    with torch._dynamo.config.patch(suppress_errors=None):
        compiled(torch.ones(3), torch.tensor([2]))
        with pytest.raises(IndexError) as raised:
            compiled(torch.ones(3), torch.tensor([5]))
    assert [entry.name for entry in raised.traceback][-2:] == ["program", "chosen"]


def test_an_exception_of_a_compiled_graph_of_the_program_itself_leaves():
    """Its backend may raise it on purpose."""

    def refusing(module, inputs):
        def run(*values):
            raise KeyError("refused")

        return run

    with torch._dynamo.config.patch(suppress_errors=None), pytest.raises(KeyError):
        torch.compile(lambda x: x + 1, backend=refusing)(torch.ones(3))


class _Leaving:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("enters")

    def __exit__(self, *error):
        self.log.append("leaves")


class _Counting(nn.Module):
    """Changes buffers and draws, between two calls that may fail."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4, 3)
        self.norm = nn.BatchNorm1d(3)

    def forward(self, indices, more, log):
        with _Leaving(log):
            try:
                x = torch.dropout(self.norm(self.embedding(indices)), 0.5, True)
                return x + self.embedding(more)
            except IndexError:
                return "refused"
            finally:
                log.append("ends")


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("first", [7, 1])
def test_handlers_see_exceptions_of_graphs_that_change_tensors(backend: str, first: int):
    """If nothing was changed before. Graphs of aot_eager change tensors at their end."""
    module = _Counting()
    compiled = torch.compile(module, backend=backend)
    good, bad = torch.tensor([0, 1]), torch.tensor([first, 7])
    log: list[str] = []
    with torch._dynamo.config.patch(suppress_errors=None):
        compiled(good, good, [])
        torch.manual_seed(2)
        if backend == "eager" and first == 1:
            with pytest.raises(IndexError):
                compiled(good, bad, log)
            assert log == [] and module.norm.num_batches_tracked == 2
            return
        with pytest.warns(UserWarning, match="as its graph raised IndexError"):
            assert compiled(bad if first == 7 else good, bad, log) == "refused"

    assert log == ["enters", "ends", "leaves"]
    assert module.norm.num_batches_tracked == (1 if first == 7 else 2)
    drawn = torch.rand(1)
    torch.manual_seed(2)
    if first == 1:
        torch.dropout(torch.ones(2, 3), 0.5, True)
    assert torch.equal(drawn, torch.rand(1))


def _after_two_calls(program: Any, backend: str) -> list[float]:
    """What a tensor of zeros is after two calls of a compiled program that changes it and takes elements at
    positions, of which the second raises."""
    compiled = torch.compile(program, backend=backend)
    x = torch.zeros(3)
    with torch._dynamo.config.patch(suppress_errors=None):
        compiled(x, torch.tensor([2]))
        with pytest.raises(IndexError):
            compiled(x, torch.tensor([5]))
    return x.tolist()


def test_changes_that_versions_do_not_tell_are_not_made_twice():
    def program(x, indices):
        x.data.add_(1)
        return x[indices]

    assert _after_two_calls(program, "eager") == [2, 2, 2]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_changes_before_a_result_without_history(backend: str):
    """Versions tell of them: they were made before."""

    def program(x, indices):
        x.add_(1)
        return x.data, x[indices]

    assert _after_two_calls(program, backend) == [2, 2, 2]


def test_programs_see_no_errors_of_fake_tensors():
    def program(x):
        try:
            return x + torch.ones(3, device="meta")
        except RuntimeError as error:
            return type(error), str(error)

    assert torch.compile(program, backend="eager")(torch.ones(3)) == program(torch.ones(3))


@pytest.mark.parametrize("copy", [torch.Tensor.copy_, lambda x, other: other.to("cpu")])
def test_what_happens_before_a_copy_from_the_meta_device_is_kept(copy):
    """The copy fails in each call, but not of fake tensors."""

    def program(x, y):
        x.unsqueeze_(0)
        x.add_(1)
        copy(y, torch.ones(3, device="meta"))

    x = torch.zeros(3)
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
        torch.compile(program, backend="aot_eager")(x, torch.ones(3))
    assert x.tolist() == [[1, 1, 1]]


def test_keywords_that_are_no_strings_are_refused():
    def program(x):
        try:
            return dict(**{1: x})
        except TypeError as error:
            return str(error)

    assert torch.compile(program, backend="eager")(torch.ones(3)) == program(torch.ones(3))

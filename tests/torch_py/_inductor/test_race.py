"""`mode="max-autotune"`: kernels that lose against the operators that they replace are not used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py._inductor.programs import compiled, make

pytestmark = only_torch_py


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the test's own, and races in every compilation."""
    from torch_py._inductor import config

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    with config.patch(max_autotune=True), torch._dynamo.config.patch(suppress_errors=False):
        yield tmp_path


def block(x: Any, weight: Any) -> Any:
    y = torch.softmax(x * 2, -1)
    return torch.nn.functional.layer_norm(y @ weight, (weight.shape[1],)) + x


def decided(monkeypatch: pytest.MonkeyPatch, **seconds: float) -> list[list[str]]:
    """Lets races end with these times, and notes what took part in each."""
    from torch_py._inductor import race

    seen: list[list[str]] = []

    def times(sides: dict[str, Any]) -> dict[str, float]:
        seen.append(list(sides))
        for program, given in sides.values():
            program(*given)
        return {name: seconds.get(name, 1.0) for name in sides}

    monkeypatch.setattr(race, "_times", times)
    return seen


def test_nests_that_lose_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = decided(monkeypatch, loops=2.0, both=0.5)
    x, weight = make(8, 64), make(64, 64)
    found = compiled(block, x, weight)
    assert not found.kernels and " = _softmax(" in found.program.debug()
    assert seen == [["loops", "calls"], ["loops", "calls"], ["kernels", "calls", "both"]]
    torch.testing.assert_close(found(x, weight)[0], block(x, weight))


def test_nests_that_win_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = decided(monkeypatch, calls=2.0)
    found = compiled(block, make(8, 64), make(64, 64))
    assert len(found.kernels) == 2 and seen[-1] == ["kernels", "calls"]


def test_one_of_two_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_py._inductor import race

    decided(monkeypatch)
    monkeypatch.setattr(race, "_loses", lambda contest, key, library: "softmax" in contest.name)
    x, weight = make(8, 64), make(64, 64)
    found = compiled(block, x, weight)
    assert " = _softmax(" in found.program.debug() and len(found.kernels) == 1
    torch.testing.assert_close(found(x, weight)[0], block(x, weight))


def test_all_operators_are_called_where_that_is_best(monkeypatch: pytest.MonkeyPatch) -> None:
    decided(monkeypatch, loops=1.0, kernels=1.0, calls=0.99)
    assert compiled(block, make(8, 64), make(64, 64)).kernels  # a difference that may be chance
    decided(monkeypatch, loops=1.0, kernels=1.0, calls=0.5)
    with torch._inductor.config.patch(autotune_local_cache=False):
        assert not compiled(block, make(8, 64), make(64, 64)).kernels


def test_races_are_kept(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    seen = decided(monkeypatch, loops=2.0)
    for _ in range(2):
        compiled(block, make(8, 64), make(64, 64))
    assert len(seen) == 3 == len(list(folder.rglob("*.race")))

    for path in folder.rglob("*.race"):
        path.write_text("{damaged")
    compiled(block, make(8, 64), make(64, 64))
    assert len(seen) == 6


def test_equal_layers_are_raced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = decided(monkeypatch)

    def layers(x: Any) -> Any:
        for _ in range(4):
            x = torch.tanh(x @ x) + 1
        return x

    compiled(layers, make(8, 8))
    assert seen == [["loops", "calls"], ["kernels", "calls"]]


def test_results_of_one_operator_are_raced_together() -> None:
    from torch_py._inductor import config
    from torch_py._inductor.debug import compiled_graphs
    from torch_py._inductor.race import contests_of

    def norm(x: Any, weight: Any, bias: Any) -> Any:
        return torch.nn.functional.layer_norm(x, (32,), weight, bias)

    arguments = [torch.randn(*sizes, requires_grad=True) for sizes in ((8, 32), (32,), (32,))]
    with config.patch(max_autotune=False):
        _, backward = compiled_graphs(norm, *arguments)
    (contest,) = contests_of(backward)
    assert len(contest.nests) == 2 and len(contest.called) == 1

    loops, read = contest.loops(backward.library)
    calls, _ = contest.calls()
    given = {node.name: torch.rand(node.meta["val"].shape) for node in contest.inputs}
    expected = calls(*given.values())
    actual = loops(*(given[contest_node(backward, buffer)] for buffer in read))
    for one, other in zip(actual, expected):
        torch.testing.assert_close(one, other)


def contest_node(graph: Any, buffer: Any) -> str:
    """The name of the node whose value a buffer is."""
    return str(graph.graph.nodes[buffer].name)


def test_real_races_keep_results_and_random_numbers() -> None:
    def training(x: Any, weight: Any) -> Any:
        return torch.nn.functional.dropout(block(x, weight), 0.5).sum()

    x = torch.randn(16, 32, requires_grad=True)
    weight = torch.randn(32, 32, requires_grad=True)
    raced = torch.compile(training, mode="max-autotune")
    results = []
    for run in (training, raced):
        torch.manual_seed(3)
        loss = run(x, weight)
        results.append([loss, *torch.autograd.grad(loss, [x, weight]), torch.rand(2)])
    for one, other in zip(*results):
        torch.testing.assert_close(one, other)


def test_sizes_that_vary_are_not_raced(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = decided(monkeypatch)
    run = torch.compile(lambda x: torch.softmax(x, -1), dynamic=True, mode="max-autotune")
    torch.testing.assert_close(run(torch.ones(3, 5)), torch.softmax(torch.ones(3, 5), -1))
    assert not seen


def test_nothing_is_raced_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = decided(monkeypatch)
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.warns(UserWarning, match="one by one"):
        compiled(block, make(8, 64), make(64, 64))
    assert not seen


def test_a_race_of_the_graph_does_only_what_the_program_does() -> None:
    """Custom operators run once, own generators are not drawn from, and errors of random elements are no
    reason to fail."""
    made = []

    @torch.library.custom_op("test_race::note", mutates_args=())
    def note(x: torch.Tensor) -> torch.Tensor:
        made.append(1)
        return x.clone()

    note.register_fake(torch.empty_like)
    generator = torch.Generator()
    x = torch.eye(3) * 2
    programs = [
        lambda x: note(x.exp() + 1) * 2,
        lambda x: x.exp() + torch.rand(3, generator=generator),
        lambda x: torch.linalg.cholesky(x) * 2 + 1,
    ]
    for program in programs:
        compiled = torch.compile(program)
        made.clear()
        generator.manual_seed(1)
        found = compiled(x)
        assert len(made) == (program is programs[0])

        generator.manual_seed(1)
        torch.testing.assert_close(found, program(x))

"""Programs that are kept on disk, by the graphs that they were compiled from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from torch_py._C._compiler import Slot

import torch_py as torch
from torch_py._inductor import config, entries, graph_cache, stages
from torch_py._inductor.cache import Cache
from torch_py._inductor.entries import NotWrittenError, decoded, encoded

nn = torch.nn


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The graphs that are compiled, with an empty cache."""
    found: list[Any] = []
    original = stages.compile_graph

    def counting(module: Any) -> Any:
        found.append(module)
        return original(module)

    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(Cache, "_opened", None)
    monkeypatch.setattr(stages, "compile_graph", counting)
    # Calls come from a cache of their own (test_call_cache.py).
    monkeypatch.setattr(graph_cache, "_keeps_calls", lambda: False)
    return found


def _trained(make: Any, *arguments: Any) -> list[Any]:
    """Results and gradients of a module, compiled, in a process that knows nothing of earlier ones."""
    torch.manual_seed(0)
    module = make()
    torch._dynamo.reset()
    result = torch.compile(module)(*arguments)
    if result.requires_grad:
        result.sum().backward()
    return [result.detach(), *(p.grad for p in module.parameters()), *module.buffers()]


MODULES = {
    "mlp": (lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2)), (3, 4)),
    "conv": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), (2, 2, 8, 8)),
    "dropout": (lambda: nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5)), (3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_second_compilations_are_read(name: str, compilations: list[Any]):
    make, shape = MODULES[name]
    x = torch.randn(shape)
    first = _trained(make, x)
    count = len(compilations)
    second = _trained(make, x)
    assert len(compilations) == count > 0
    for one, other in zip(first, second):
        assert torch.equal(one, other) and one.stride() == other.stride()


def test_embeddings_and_constants(compilations: list[Any]):
    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(5, 3)

        def forward(self, tokens: Any) -> Any:
            return self.words(tokens) * torch.tensor([1.0, 2.0, 3.0])

    tokens = torch.tensor([[1, 4], [0, 1]])
    first, second = _trained(Words, tokens), _trained(Words, tokens)
    assert len(compilations) == 2
    assert all(map(torch.equal, first, second))
    with pytest.raises(IndexError):
        _trained(Words, tokens + 3)


def test_changes_of_arguments(compilations: list[Any]):
    def step(x: Any, y: Any) -> Any:
        x.normal_()
        y.add_(x)
        return y.sum()

    found = []
    for _ in range(2):
        torch._dynamo.reset()
        torch.manual_seed(3)
        x, y = torch.zeros(4), torch.ones(4)
        found.append([torch.compile(step)(x, y), x, y])
    assert len(compilations) == 1
    assert all(map(torch.equal, *found))


VARYING = {
    "sizes": (lambda: nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8)), [(3, 4), (5, 4), (7, 4)]),
    "images": (lambda: nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)), [(5, 2, 9, 8), (6, 2, 10, 7)]),
}


@pytest.mark.parametrize("name", VARYING)
def test_programs_for_sizes_that_vary(name: str, compilations: list[Any]):
    make, shapes = VARYING[name]
    inputs = [torch.randn(shape) for shape in shapes]

    def trained() -> list[Any]:
        torch.manual_seed(0)
        module = make()
        torch._dynamo.reset()
        compiled = torch.compile(module, dynamic=True)
        results = [compiled(x) for x in inputs]
        sum(result.sum() for result in results).backward()
        return [*(result.detach() for result in results), *(p.grad for p in module.parameters())]

    first = trained()
    assert len(compilations) == 2
    second = trained()
    assert len(compilations) == 2
    for one, other in zip(first, second):
        assert torch.equal(one, other) and one.stride() == other.stride()


def test_programs_for_numbers_that_vary(compilations: list[Any]):
    def count(function: Any) -> int:
        torch._dynamo.reset()
        compiled = torch.compile(function, dynamic=True)
        for number in (2, 3, 30):
            x = torch.randn(number, 6)
            torch.testing.assert_close(compiled(x, number * 7), function(x, number * 7))
        return len(compilations)

    assert count(lambda x, n: x * n + x.size(0)) == 1
    assert count(lambda x, n: x * n + x.size(0)) == 1
    assert count(lambda x, n: x * x.size(0) + n) == 2
    assert count(lambda x, n: x * n + x.size(1)) == 3
    assert count(lambda x, n: x * n + x.size(0) // 2) == 4
    assert count(lambda x, n: x * (n / 3) + x.size(0)) == 5
    assert count(lambda x, n: x * (n / 3) + x.size(0)) == 5


def test_what_the_key_covers(compilations: list[Any]):
    def count(function: Any, *arguments: Any) -> int:
        torch._dynamo.reset()
        torch.compile(function)(*arguments)
        return len(compilations)

    x = torch.ones(4, 6)
    assert count(lambda x: x * 2 + 1, x) == 1
    assert count(lambda x: x * 2 + 1, x) == 1
    assert count(lambda x: x * 2.0 + 1, x) == 2
    assert count(lambda x: x * 3 + 1, x) == 3
    assert count(lambda x: x * 2 + 1, x.t()) == 4
    assert count(lambda x: x * 2 + 1, x.double()) == 5
    assert count(lambda x: x * 2 + 1, x[:3]) == 6
    with config.patch({"cpp.simdlen": 256}):
        assert count(lambda x: x * 2 + 1, x) == 7
    with config.patch(force_disable_caches=True):
        assert count(lambda x: x * 2 + 1, x) == 8
    assert count(lambda x: x * 2 + 1, x) == 8


@pytest.mark.parametrize("damage", ["cut", "changed", "no library", "other key"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_damaged_entries_are_made_anew(damage: str, dynamic: bool, compilations: list[Any], tmp_path: Path):
    def run() -> Any:
        torch._dynamo.reset()
        return torch.compile(lambda x: torch.sin(x) + 1, dynamic=dynamic)(torch.ones(3))

    expected = run()
    (entry,) = tmp_path.glob("kernels/*/*.graph")
    content = entry.read_bytes()
    if damage == "cut":
        entry.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        entry.write_bytes(content.replace(b"float32", b"float64"))
    elif damage == "other key":
        other = Cache.opened()
        other.write("0" * 64, ".graph", content[:-32])
        other.place("0" * 64, ".graph").replace(entry)
    else:
        for library in tmp_path.glob("kernels/*/*.so"):
            library.unlink()

    assert torch.equal(run(), expected)
    assert len(compilations) == 2
    assert entry.read_bytes() == content


def test_values_as_json():
    aten = torch.ops.aten
    numbers = [None, True, 3, -0.0, float("inf"), 0.1]
    containers = [(1, [2, (3,)]), {"a": (1,)}, ("s0", 2, "*"), Slot(4), "text"]
    kinds = [torch.float16, torch.strided, torch.channels_last, torch.device("cpu"), int, aten.add.Tensor]
    values: list[Any] = [*numbers, *containers, *kinds]
    for value in values:
        found = decoded(json.loads(json.dumps(encoded(value))))
        assert type(found) is type(value)
        assert found == value or repr(found) == repr(value)
    with pytest.raises(NotWrittenError):
        encoded(print)
    for strange in (["system", "ls"], [], {"a": 1}, ["dtype", "nn"], ["OpOverload", "not there"], 1.5):
        with pytest.raises(ValueError):
            decoded(strange)


@pytest.mark.parametrize(
    "name", ["_inductor/fuse.py", "_shapes/solver.py", "_tensor.py", "_generated/lowerings.py", "_C."]
)
def test_keys_name_the_files_of_the_library(name: str):
    package = Path(torch.__file__).parent
    assert f"{package}/{name}" in entries._build()


def test_a_changed_source_makes_other_keys(tmp_path: Path):
    folder = tmp_path / "part"
    (folder / "__pycache__").mkdir(parents=True)
    source = folder / "module.py"
    source.write_text("x = 1")

    before = list(entries._files(str(tmp_path)))
    (folder / "__pycache__" / "module.py").write_text("")
    (folder / "notes.txt").write_text("")
    assert list(entries._files(str(tmp_path))) == before

    source.write_text("x = 10")
    assert list(entries._files(str(tmp_path))) != before

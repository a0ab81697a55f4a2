"""`mode=` and `options=` of `torch.compile`: what they are called, and what they do."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py


def softmax_of_sum(x: Any, y: Any) -> Any:
    return torch.softmax(x + y, -1)


def compiled_with(function: Any, *args: Any, **options: Any) -> list[Any]:
    """What the graphs of a call were compiled to."""
    from torch_py._inductor import config
    from torch_py._inductor.debug import compiled_graphs

    with config.patch(options):
        return compiled_graphs(function, *args)


def test_modes_are_pytorchs() -> None:
    peer: Any = pytest.importorskip("torch._inductor")
    ours = torch._inductor
    assert ours.list_mode_options() == peer.list_mode_options()
    assert ours.list_mode_options("max-autotune") == peer.list_mode_options("max-autotune")
    assert set(ours.list_options()) <= {*peer.list_options(), "use_mixed_mm", "force_disable_caches"}
    with pytest.raises(RuntimeError):
        ours.list_mode_options("fastest")


@pytest.mark.parametrize("mode", ["default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs"])
def test_modes_compute_the_same(mode: str) -> None:
    x, y = torch.randn(8, 64), torch.randn(8, 64)
    result = torch.compile(softmax_of_sum, mode=mode)(x, y)
    torch.testing.assert_close(result, softmax_of_sum(x, y))


def test_options_hold_for_one_function() -> None:
    seen = []

    def note(graph: Any) -> None:
        seen.append(torch._inductor.config.max_fusion_size)

    options = {"max-fusion-size": 1, "post_grad_custom_pre_pass": note}
    torch.compile(lambda x: x + 1, options=options)(torch.ones(2))
    torch.compile(lambda x: x + 2)(torch.ones(2))
    assert seen == [1] and torch._inductor.config.max_fusion_size == 64


def test_the_size_of_nests() -> None:
    x, y = torch.randn(8, 64), torch.randn(8, 64)
    (fused,) = compiled_with(softmax_of_sum, x, y)
    (apart,) = compiled_with(softmax_of_sum, x, y, max_fusion_size=1)
    assert len(fused.kernels) == 1 < len(apart.kernels)
    torch.testing.assert_close(apart.program(x, y)[0], softmax_of_sum(x, y))


def test_operators_are_called() -> None:
    x = torch.randn(8, 64)
    (compiled,) = compiled_with(softmax_of_sum, x, x, fallback_by_default=True)
    assert not compiled.kernels and " = _softmax(" in compiled.program.debug()


def arena_of(compiled: Any) -> int:
    """The bytes of the arena of a program."""
    from torch_py._inductor.assemble import plan_memory

    return plan_memory(compiled.schedule, {b.memory for b in compiled.graph.outputs}).size


def test_memory_is_used_again() -> None:
    def chain(x: Any) -> Any:
        for _ in range(6):
            x = torch.sin(x) @ torch.ones(16, 16)
        return x

    (compiled,) = compiled_with(chain, torch.ones(16, 16))
    once = arena_of(compiled)
    with torch._inductor.config.patch(allow_buffer_reuse=False):
        assert arena_of(compiled) > 2 * once


def test_16_bits_are_rounded_between_operators() -> None:
    def rest(x: Any) -> Any:
        return (x + 1e-3) - x

    x = torch.ones(8, dtype=torch.bfloat16)
    (exact,) = compiled_with(rest, x)
    (rounded,) = compiled_with(rest, x, emulate_precision_casts=True)
    assert exact.program(x)[0].float().max() > 0 and torch.equal(rounded.program(x)[0], rest(x))


@pytest.mark.parametrize(
    ("option", "flag"),
    [
        ({"cpp.simdlen": 256}, "-mprefer-vector-width=256"),
        ({"cpp.simdlen": 1}, "-fno-tree-vectorize"),
        ({"cpp.enable_unsafe_math_opt_flag": True}, "-fassociative-math"),
        ({"cpp.enable_floating_point_contract_flag": "fast"}, "-ffp-contract=fast"),
    ],
)
def test_flags_of_the_compiler(option: dict[str, Any], flag: str) -> None:
    from torch_py._inductor.compile_cpp import flags

    assert flag not in flags()
    with torch._inductor.config.patch(option):
        assert flag in flags()
    x = torch.randn(8, 64)
    result = torch.compile(softmax_of_sum, options=option)(x, x)
    torch.testing.assert_close(result, softmax_of_sum(x, x))


def test_no_vectors_means_no_packs() -> None:
    x = torch.randn(8, 64)
    (plain,) = compiled_with(lambda x: torch.exp(x) * 2, x, **{"cpp.simdlen": 1})
    (packs,) = compiled_with(lambda x: torch.exp(x) * 2, x)
    assert "for_packs" in packs.source and "for_packs" not in plain.source


def test_the_compiler_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch_py._inductor.compile_cpp import NoCompilerError, find_compiler

    with torch._inductor.config.patch({"cpp.cxx": ("no-such-compiler", "g++")}):
        assert find_compiler() == shutil.which("g++")
    with torch._inductor.config.patch({"cpp.cxx": "no-such-compiler"}), pytest.raises(NoCompilerError):
        find_compiler()


@pytest.mark.parametrize(("threads", "share"), [(1, 4096), (2, 2048), (3, 1366), (-1, 2)])
def test_threads_of_kernels(threads: int, share: int) -> None:
    x = torch.randn(4096, 512)
    (usual,) = compiled_with(lambda x: torch.sin(x).sum(-1), x)
    (divided,) = compiled_with(lambda x: torch.sin(x).sum(-1), x, **{"cpp.threads": threads})
    assert "for 4096 by 2\n" in usual.program.debug()
    assert f"for 4096 by {share}\n" in divided.program.debug()


def test_passes_of_the_user() -> None:
    from torch_py._inductor import config

    seen: dict[str, list[str]] = {}

    def noting(name: str) -> Any:
        def note(graph: Any) -> None:
            seen.setdefault(name, []).append(" ".join(str(node.target) for node in graph.nodes))

        return note

    names = [
        "pre_grad_custom_pass", "joint_custom_pre_pass", "joint_custom_post_pass",
        "post_grad_custom_pre_pass", "post_grad_custom_post_pass",
    ]  # fmt: skip
    with config.patch({name: noting(name) for name in names}):
        torch.compile(lambda x: torch.sin(x))(torch.ones(2, requires_grad=True)).sum().backward()
    assert list(seen) == names and [len(texts) for texts in seen.values()] == [1, 1, 1, 2, 2]
    assert "sin_backward" in seen["joint_custom_pre_pass"][0] and "sin_backward" in seen[names[-1]][1]


def test_a_pass_changes_the_graph() -> None:
    def twice(graph: Any) -> None:
        for node in graph.find_nodes(op="call_function", target=torch.sin):
            node.target = torch.cos

    options = {"pre_grad_custom_pass": twice}
    assert torch.compile(lambda x: torch.sin(x), options=options)(torch.zeros(2)).tolist() == [1, 1]


@pytest.mark.parametrize("bits", [3, "wide", -1])
def test_vectors_have_the_width_of_a_processor(bits: object) -> None:
    from torch_py._inductor.compile_cpp import vector_bits

    patched = torch._inductor.config.patch({"cpp.simdlen": bits})
    with patched, pytest.raises(RuntimeError, match=f"simdlen is {bits!r}, expected"):
        vector_bits()

"""Instruction sets of kernels: which are built for an architecture, and with which flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.build import isa, sources
from tools.build.errors import BuildError

ROOT = Path(__file__).parents[2]


def names(chosen: tuple[isa.InstructionSet, ...]) -> list[str]:
    return [one.name for one in chosen]


def test_all_of_the_architecture_by_default() -> None:
    assert names(isa.selected((), "x86_64")) == ["DEFAULT", "AVX2", "AVX512"]
    assert names(isa.selected((), "aarch64")) == ["DEFAULT"]


def test_restriction_keeps_the_order_of_precedence() -> None:
    chosen = isa.selected(("AVX512", "DEFAULT"), "x86_64")
    assert names(chosen) == ["DEFAULT", "AVX512"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (("DEFAULT", "AVX3"), "no instruction set AVX3 here; there are DEFAULT, AVX2, AVX512"),
        (("AVX2",), "DEFAULT must be among them"),
    ],
)
def test_wrong_restriction(wanted: tuple[str, ...], message: str) -> None:
    with pytest.raises(BuildError, match=message):
        isa.selected(wanted, "x86_64")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("aten/native/cpu/SumKernel.isa.cpp", True),
        ("aten/native/cpu/reduction/SumKernel.isa.cpp", True),
        ("aten/native/cpu/reduction/SumKernel.cpp", False),
        ("aten/vec/Exp.isa.cpp", True),
        ("aten/vec/Exp.cpp", False),
        ("aten/native/Sum.cpp", False),
        ("torch_py/csrc/aten/native/cpu/X.isa.cpp", False),
    ],
)
def test_kernel_files(path: str, expected: bool) -> None:
    assert isa.is_kernel_file(path) is expected


def test_wider_instruction_sets_are_linked_later(miniature: Path) -> None:
    """Note [Link order and instruction sets]"""
    chosen = isa.selected((), "x86_64")
    order = [unit.isa.name if unit.isa else "" for unit in sources.core_units(chosen)]
    assert order == sorted(order, key=["", "DEFAULT", "AVX2", "AVX512"].index)
    assert order.count("AVX512") == 1


def test_what_is_compiled_for_size_comes_after_what_is_compiled_for_speed(miniature: Path) -> None:
    nodes = miniature / "build/generated/torch_py/csrc/autograd/generated/SumNodes.cpp"
    nodes.parent.mkdir(parents=True)
    nodes.write_text("")
    order = [unit.flavour for unit in sources.core_units(isa.selected((), "x86_64"))]
    assert order == ["baseline"] * 3 + ["DEFAULT", "small", "AVX2", "AVX512"]


@pytest.mark.parametrize(
    ("head", "default", "wider"),
    [
        ("// Sums.\n", "DEFAULT", "AVX2"),
        ("// Sums.\n// Compiled with -O3.\n", "DEFAULT", "AVX2_unrolled"),
        ("// Sums, of which some are long. Compiled\n// with -O3.\n", "DEFAULT", "AVX2_unrolled"),
        ("// Sums. Compiled for size.\n", "DEFAULT_small", "AVX2"),
        ("#include <cmath>\n// Compiled with -O3.\n", "DEFAULT", "AVX2"),
    ],
)
def test_flags_of_an_instruction_set_depend_on_the_head(
    head: str, default: str, wider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "available", lambda: (isa.DEFAULT, isa.AVX2))
    kernel = tmp_path / "SumKernel.isa.cpp"
    kernel.write_text(head + "int value;\n")
    place = "aten/native/cpu/SumKernel.isa.cpp"
    assert sources.flavour_of(kernel, place, isa.DEFAULT) == default
    assert sources.flavour_of(kernel, place, isa.AVX2) == wider
    assert sources.flavour_of(kernel, "aten/native/Sum.cpp", None) == "baseline"


def test_what_kernel_files_say_of_flags_is_read() -> None:
    files = sorted((ROOT / "aten").rglob("*.isa.cpp"))
    saying = [path for path in files if "Compiled" in path.read_text(encoding="utf-8")]
    unrolled = [path for path in files if sources.flavour_of(path, "", isa.AVX2) == "AVX2_unrolled"]
    assert saying == unrolled and any(path.name.startswith("Gemm") for path in unrolled)


def test_blas_is_a_library_of_its_own(miniature: Path) -> None:
    core = {unit.source for unit in sources.core_units(())}
    assert core == {"c10/util/Version.cpp", "aten/native/Sum.cpp", "torch_py/csrc/autograd/Engine.cpp"}
    assert [unit.source for unit in sources.blas_units(())] == ["aten/blas/Gemm.cpp"]

"""Files of backends: what is generated from them, and the problems that are reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codegen.cli.main import main

ROOT = Path(__file__).resolve().parents[2]

FUNCTIONS = """\
#include "aten/core/Tensor.h"
namespace at::native::mydev {
int device_count() { return 1; }
void* allocate(size_t bytes, int device) { return nullptr; }
void release(void* data, int device) {}
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, size_t bytes) {}
void neg_kernel(TensorIteratorBase& iter) {}
void other_kernel(const Tensor& self) {}
static void hidden_kernel(TensorIteratorBase& iter) {}
}
"""
FILE = """\
backend: mydev
device:
  count: device_count
  allocate: allocate
  release: release
  copy: copy_bytes
dispatch:
  PrivateUse1:
    neg: neg_kernel
"""


def run(command: str, folder: Path, text: str) -> int:
    (folder / "aten/native").mkdir(parents=True, exist_ok=True)
    (folder / "aten/native/Device.cpp").write_text(FUNCTIONS)
    (folder / "backend.yaml").write_text(text)
    options = ["--yaml", str(folder / "backend.yaml")]
    if command == "generate":
        options += ["--output", str(folder / "generated")]
    return main([command, *options])


def test_generated_files(tmp_path: Path) -> None:
    assert run("generate", tmp_path, FILE) == 0

    kernels = (tmp_path / "generated/register/Kernels.cpp").read_text()
    assert "void neg_kernel(TensorIteratorBase& iter);" in kernels
    assert "loops::neg_loop.set(DeviceType::PrivateUse1, &neg_kernel);" in kernels
    device = (tmp_path / "generated/register/Device.cpp").read_text()
    assert "mydev::allocate(bytes, chosen)" in device

    (row,) = json.loads((tmp_path / "generated/kernels.json").read_text())
    assert row["name"] == "neg" and "float32" in row["dtypes"]
    listed = (tmp_path / "generated/fallbacks.md").read_text()
    assert "- `mul.Tensor`\n" in listed and "- `neg`\n" not in listed


def test_hooks_of_its_own(tmp_path: Path) -> None:
    """A backend with streams writes the hooks itself."""
    text = "backend: mydev\ndevice:\n  hooks: my_hooks\ndispatch:\n  PrivateUse1:\n    neg: neg_kernel\n"
    (tmp_path / "aten/native").mkdir(parents=True)
    (tmp_path / "aten/native/Hooks.cpp").write_text("c10::DeviceHooks& my_hooks() { return *made; }\n")
    assert run("generate", tmp_path, text) == 0
    device = (tmp_path / "generated/register/Device.cpp").read_text()
    assert "c10::set_device_hooks(DeviceType::PrivateUse1, &mydev::my_hooks());" in device
    assert "class Memory" not in device


@pytest.mark.parametrize(
    "before, after, problem",
    [
        ("backend: mydev", "backend: My-Dev", "yaml:1:10: backend: 'My-Dev' is not a name of a device"),
        ("    neg:", "    negg:", "backend.yaml:9:5: negg: unknown operator 'negg'; did you mean neg?"),
        ("neg: neg_kernel", "neg: neg_kernl", "'neg_kernl' is not defined; did you mean neg_kernel?"),
        ("neg: neg_kernel", "neg: other_kernel", "'other_kernel' has other parameters; write void other"),
        ("    neg: neg_kernel", "    reshape: neg_kernel", "'reshape' has no loop: it is a view, or made of"),
        ("  copy: copy_bytes\n", "", "device: 'copy' is missing; write copy: FUNCTION"),
        ("  copy:", "  coppy:", "unknown key 'coppy'; did you mean copy?"),
        ("dispatch:", "dispatcher:", "unknown key 'dispatcher'; did you mean dispatch?"),
        ("PrivateUse1", "CUDA", "dispatch: no kernels for PrivateUse1"),
        ("backend: mydev", "backend: cuda", "yaml:1:10: backend: 'cuda' is a device of torch_py already"),
        (
            "  PrivateUse1:",
            "  CPU:\n    abs: neg_kernel\n  PrivateUse1:",
            "yaml:8:3: dispatch: a backend has kernels for PrivateUse1 alone, not for CPU",
        ),
        (
            "neg: neg_kernel",
            "neg: hidden_kernel",
            "yaml:9:10: neg: 'hidden_kernel' is local to its file; move it out of the unnamed namespace",
        ),
    ],
)
def test_problems(
    before: str, after: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert before in FILE
    assert run("check", tmp_path, FILE.replace(before, after, 1)) == 1
    assert problem in capsys.readouterr().err


def test_macros_of_kernels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "neg_kernel(TensorIteratorBase& iter) {\n  AT_DISPATCH_FLOATNG(iter.dtype(), name, [&] {});\n}"
    monkeypatch.setitem(
        globals(), "FUNCTIONS", FUNCTIONS.replace("neg_kernel(TensorIteratorBase& iter) {}", wrong)
    )
    assert run("check", tmp_path, FILE) == 1
    wanted = "aten/native/Device.cpp:8:3: neg_kernel: no set of dtypes has the macro AT_DISPATCH_FLOATNG"
    assert wanted in capsys.readouterr().err

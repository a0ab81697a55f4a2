"""A small checkout to make mistakes in."""

from __future__ import annotations

from pathlib import Path

import pytest

_KERNELS = {
    "aten/native/Errors.cpp": """\
namespace at::native {
Tensor composite_function(const Tensor& self) { return self; }
void mutate(const Tensor& self) {}
TensorSpec some_shape(const Tensor& self) { return self; }
} // namespace at::native
""",
    "aten/native/cpu/ErrorsKernel.cpp": """\
namespace at::native {

void declared_only(TensorIteratorBase& iter);
namespace {
void hidden_kernel(TensorIteratorBase& iter) {
  loop(iter);
}
} // namespace
void f_kernel(TensorIteratorBase& iter) {
  declared_only(iter);
}
void g_kernel(TensorIteratorBase& iter) {}
void shaped_kernel(const Tensor& self, const Tensor& out0) {}
} // namespace at::native
""",
    "tests/ops/samples/pointwise.py": '@samples("unary")\ndef unary(): ...\n',
}


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for path, text in _KERNELS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder

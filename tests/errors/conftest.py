"""A small checkout in which tests make mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.model import Program, load

# Macros write kernels of any type; the typed ones are compared with what an entry needs.
_KERNELS = {
    "torch_py/version.py": '__version__ = "0.3.1"\n',
    "aten/native/Errors.cpp": """\
namespace at::native {
ANY_FUNCTION(composite_function)
ANY_FUNCTION(mutate)
ANY_FUNCTION(some_shape)
Tensor typed_function(const Tensor& self) { return self; }
TensorSpec typed_shape(const Tensor& self) { return self; }
} // namespace at::native
namespace at {
TensorSpec stray_shape(const Tensor& self) { return self; }
Tensor stray_function(const Tensor& self) { return self; }
} // namespace at
""",
    "aten/native/cpu/ErrorsKernel.isa.cpp": """\
namespace at::native {
inline namespace CPU_CAPABILITY {
void declared_only(TensorIteratorBase& iter);
namespace {
void hidden_kernel(TensorIteratorBase& iter) {
  loop(iter);
}
} // namespace
void typed_kernel(TensorIteratorBase& iter) {
  declared_only(iter);
}
ANY_FUNCTION(f_kernel)
ANY_FUNCTION(g_kernel)
ANY_FUNCTION(shaped_kernel)
void typed_shaped_kernel(const Tensor& self,
                         const at::Tensor & out0) {}
void narrow_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING(iter.common_dtype(), "narrow", [&] { loop<scalar_t>(iter); });
}
void twice_kernel(TensorIteratorBase& iter) {}
#if 0
void left_out_kernel(TensorIteratorBase& iter) {}
#endif
} // namespace CPU_CAPABILITY
void baseline_kernel(TensorIteratorBase& iter) {}
} // namespace at::native
void stray_kernel(TensorIteratorBase& iter) {
  loop(iter, '{', "{");
}
""",
    "aten/native/cpu/ErrorsKernel.cpp": """\
namespace at::native {
void twice_kernel(TensorIteratorBase& iter) {}
}
""",
    "torch_py/__init__.py": """\
from torch_py.compiler import compile as compile
_LAZY_MODULES = ("nn", "optim")
""",
    "torch_py/_tensor_methods.py": """\
@_method
def backward(self): ...
""",
    "torch_py/csrc/bindings/tensor/TensorProperties.cpp": """\
PyGetSetDef properties[] = {
    {"data", get_data, set_data, "The tensor without its graph.", nullptr},
};
""",
    "torch_py/csrc/bindings/exchange/TensorExchange.cpp": """\
PyMethodDef methods[] = {
    {"numpy", as_method(numpy), METH_FASTCALL | METH_KEYWORDS, ""},
};
""",
    "tests/ops/samples/unary.py": '@samples("unary")\ndef unary(): ...\n',
}


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    for path, text in _KERNELS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture(scope="session")
def tree() -> Program:
    """The operators of the library, which formulas may call."""
    return load(Path(__file__).parents[2] / "native_functions.yaml")

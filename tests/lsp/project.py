"""A small checkout that tests edit: a file of operators, the C++ that it names, and samples."""

from __future__ import annotations

from pathlib import Path

OPERATORS = """\
# Ünïcödé in a comment: 𝔸 takes two units of UTF-16.
dtype_sets:
  floating: [float32, float64]
  all: [floating, int64]

requirements:
  positive:
    check: p > 0
    message: "p must be positive, got {p}"

reasons:
  random: it returns random numbers

topics:
  Arithmetic:
    - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
      variants: function, method
      structure: pointwise
      dtypes: all
      dispatch:
        CPU: mul_kernel
      derivatives:
        self: grad * other
        other: grad * self
      lowering: self * other
      reference: self * other
      samples: binary
      doc: The product of ``self`` and ``other``.

    - func: neg(Tensor self) -> Tensor
      structure: pointwise
      dtypes: all
      expr: -self
      samples: unary
      doc: Negates.

  Capping:
    - func: capped(Tensor self, float cap=1.0) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: cap * tanh(self / cap)
      derivatives:
        self: mul(grad, 1 - result * result / (cap * cap))
      requires:
        - check: cap > 0
          message: "𝔸 cap must be positive, got {cap}"
      foreach: _foreach_capped(Tensor[] self, float cap=1.0) -> Tensor[]
      samples: unary
      doc: |
        ``cap * tanh(self / cap)``, between ``-cap`` and ``cap``.

    - func: shrunk(Tensor self, float p) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: self * p
      requires: positive
      samples: unary
      doc: Scales ``self``.

    - func: total(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
      structure: reduction
      dtypes: floating
      non_differentiable: random
      reference: np.sum(self, axis=dim, keepdims=keepdim)
      samples: unary
      doc: A sum.
"""

_FILES = {
    "native_functions.yaml": OPERATORS,
    "aten/native/cpu/ArithmeticKernel.isa.cpp": """\
namespace at::native {
inline namespace CPU_CAPABILITY {

void mul_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_ALL(iter.common_dtype(), "mul", [&] { loop<scalar_t>(iter); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
""",
    "aten/native/cpu/CappingKernel.isa.cpp": """\
namespace at::native {
inline namespace CPU_CAPABILITY {

void total_kernel(TensorIteratorBase& iter) {
  AT_DISPATCH_FLOATING(iter.common_dtype(), "total", [&] { loop<scalar_t>(iter); });
}

}  // namespace CPU_CAPABILITY
}  // namespace at::native
""",
    "tests/ops/samples/unary.py": """\
@samples("unary")
def unary(make): ...


@samples("binary")
def binary(make): ...
""",
}


def write_project(folder: Path) -> Path:
    """Writes the checkout. Returns the path of its operators."""
    for name, text in _FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "native_functions.yaml"

"""Writes a file with any number of entries, and their kernels, to measure the generator with."""

from __future__ import annotations

import sys
from pathlib import Path

ENTRIES_PER_TOPIC = 100

_HEAD = """\
dtype_sets:
  floating: [float32, float64]

requirements:
  filled: numel(self) > 0

topics:
  Called:
    - func: tanh(Tensor self) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: tanh(self)
      doc: What derivatives of the others call.
    - func: pow(Tensor self, Tensor exponent) -> Tensor
      structure: pointwise
      dtypes: floating
      scalars: exponent
      expr: self ** exponent
      non_differentiable: it is called with numbers
      doc: What derivatives of the others call, too.

"""
# The kinds of entries take turns. Each names one of the entries before it, as derivatives do.
_FORMULA = """\
    - func: wave{n}(Tensor self, float scale=1.0) -> Tensor
      variants: function, method, out
      structure: pointwise
      dtypes: floating
      expr: scale * tanh(self / scale) + {n} * self
      doc: The wave with the number {n}, of ``self`` and ``scale``.

"""
_WITH_DERIVATIVE = """\
    - func: bend{n}(Tensor self, Tensor other) -> Tensor
      variants: function, method, inplace, out
      structure: pointwise
      dtypes: floating
      derivatives:
        self: grad * {m}
        other: stack{before}(grad, other)
      requires:
        - dim(self) > 0
        - filled
      doc: A kernel with the number {n}.

"""
_COMPOSITE = """\
    - func: stack{n}(Tensor self, Tensor other) -> Tensor
      structure: composite
      doc: A composition with the number {n}.

"""
_LOOP = "void bend{n}_kernel(TensorIteratorBase& iter) {{}}\n"
_FUNCTION = "Tensor stack{n}(const Tensor& self, const Tensor& other) {{ return self; }}\n"


def write_entries(folder: Path, count: int) -> Path:
    """The declarations, in a folder that also has their C++ and samples."""
    parts = [_HEAD]
    kernels: dict[str, list[str]] = {}
    for n in range(count):
        topic = f"Topic{n // ENTRIES_PER_TOPIC:03}"
        if n % ENTRIES_PER_TOPIC == 0:
            parts.append(f"  {topic}:\n")
        kind = (_COMPOSITE, _FORMULA, _WITH_DERIVATIVE)[n % 3]
        parts.append(kind.format(n=n, m=n % 7 + 1, before=n - n % 3))
        own = kernels.setdefault(topic, [])
        own += {0: [_FUNCTION.format(n=n)], 2: [_LOOP.format(n=n)]}.get(n % 3, [])

    for topic, definitions in kernels.items():
        path = folder / "aten/native" / f"{topic}.cpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(["namespace at::native {\n", *definitions, "}\n"]))
    path = folder / "native_functions.yaml"
    path.write_text("".join(parts))
    return path


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    print(write_entries(folder, int(sys.argv[2])))

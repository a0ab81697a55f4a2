"""Examples in ``doc:`` that are right: none is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

_ENTRY = """\
topics:
  Examples:
    - func: f(Tensor self) -> Tensor
      structure: composite
      dispatch:
        All: composite_function
      samples: unary
      doc: |
        Text.

        Example:
"""
_ELIDED = """\
>>> torch.f(torch.ones(2000))
tensor([1.,
        ..., 2.])
"""
_SHORTENED = """\
>>> torch.f(torch.ones(2000))
tensor([[1., 2.],
        ...
        [1., 2.]])
... and more
"""
_CONTINUED = """\
>>> for size in (1, 2):
...     torch.f(
...         torch.ones(size),
...     )
...
tensor([1.])
tensor([1., 1.])
"""
_ERROR = """\
>>> torch.f(2)
Traceback (most recent call last):
...
TypeError: not a tensor
"""


@pytest.mark.parametrize("example", [_ELIDED, _SHORTENED, _CONTINUED, _ERROR])
def test_examples_are_accepted(example: str, checkout: Path, tree: Program):
    lines = (f"            {line}\n" for line in example.splitlines())
    problems = Diagnostics()
    read_program(checkout / "examples.yaml", problems, tree, checkout, text=_ENTRY + "".join(lines))
    assert not problems, problems.render()

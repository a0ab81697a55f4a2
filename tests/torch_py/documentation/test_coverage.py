"""Every public function and class has a summary, explains its arguments and shows an example.

`python -m tests.torch_py.documentation.test_coverage` prints what is lacking, and the counts by module.
"""

from __future__ import annotations

import inspect
from collections import Counter

import torch_py
from tests.torch_py.documentation.public import everything, lacks


def incomplete() -> dict[str, str]:
    """What each name lacks."""
    found = {f"{module}.{name}": lacks(value) for module, name, value in everything()}
    return {name: problem for name, problem in found.items() if problem}


def test_public_names_are_documented() -> None:
    missing = [f"{name} lacks {problem}" for name, problem in incomplete().items()]
    assert not missing, "write the documentation (see docs/documenting.md):\n" + "\n".join(missing)


def test_operators_of_one_signature_show_it() -> None:
    assert str(inspect.signature(torch_py.sum)) == (
        "(input, dim=None, keepdim=False, *, dtype=None, out=None)"
    )
    assert str(inspect.signature(torch_py.Tensor.sum)) == "(self, /, dim=None, keepdim=False, *, dtype=None)"
    assert (torch_py.sum.__doc__ or "").startswith("The sum")


def test_operators_with_overloads_list_them() -> None:
    first, *_ = (torch_py.max.__doc__ or "").splitlines()
    assert first.startswith("max(input: Tensor, dim: int, keepdim: bool = False, *, out")


def test_every_text_signature_is_valid() -> None:
    for _, name, value in everything():
        if getattr(value, "__text_signature__", None) is not None and not inspect.isclass(value):
            assert inspect.signature(value) is not None, name


if __name__ == "__main__":
    problems = incomplete()
    total = Counter(module for module, _, _ in everything())
    lacking = Counter(name.rpartition(".")[0] for name in problems)
    for name, problem in problems.items():
        print(f"{name} lacks {problem}")
    for module, count in total.items():
        print(f"{module:30} {count - lacking[module]:5} of {count}")
    print(f"{'all':30} {sum(total.values()) - len(problems):5} of {sum(total.values())}")

"""What is said where the C++ compiler refuses kernels."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

pytestmark = only_torch_py


@pytest.fixture
def broken_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels with four errors, one on each line."""
    from torch_py._inductor import stages

    errors = "".join(f"int broken_{number} = missing_{number};\n" for number in range(4))
    monkeypatch.setattr(stages, "includes", lambda text: errors)


def warning_of(**options: Any) -> str:
    compiled = torch.compile(lambda x: x + 1.25, options=options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert compiled(torch.ones(3)).tolist() == [2.25] * 3
    (text,) = [str(warning.message) for warning in caught if "runs eagerly" in str(warning.message)]
    return text


@pytest.mark.usefixtures("broken_kernels")
def test_the_warning_has_the_first_errors_of_the_compiler() -> None:
    text = warning_of()
    assert "cannot compile kernels.cpp: kernels.cpp:3:" in text
    assert [f"missing_{number}" in text for number in range(4)] == [True, True, True, False]
    assert text.count("error:") == 3 and "/torch_py-" not in text
    assert text.endswith("(TORCH_COMPILE_DEBUG=1 keeps it)")


@pytest.mark.usefixtures("broken_kernels")
def test_the_warning_names_the_source_if_it_is_kept(tmp_path: Path) -> None:
    text = warning_of(**{"trace.enabled": True, "trace.debug_dir": str(tmp_path)})
    (kept,) = tmp_path.rglob("kernels.cpp")
    assert text.endswith(f"({kept})") and "missing_0" in kept.read_text()


def test_errors_in_options_of_the_compiler() -> None:
    text = warning_of(**{"cpp.enable_floating_point_contract_flag": "sometimes"})
    assert "error:" in text and "sometimes" in text

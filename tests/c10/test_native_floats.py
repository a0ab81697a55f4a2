"""float16 and bfloat16 in kernels on a GPU: nvcc gets instructions for the conversions."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """\
#include "c10/util/BFloat16.h"
#include "c10/util/Half.h"

__global__ void add(c10::Half* a, c10::BFloat16* b) {
  a[0] = a[0] + a[1];
  b[0] = b[0] + b[1];
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
@pytest.mark.parametrize("architecture, rounds_bfloat16", [("90", True), ("75", False)])
def test_kernels_convert_by_instructions(tmp_path: Path, architecture: str, rounds_bfloat16: bool):
    source, output = tmp_path / "kernel.cu", tmp_path / "kernel.ptx"
    source.write_text(KERNEL)
    command = ["nvcc", "-std=c++20", "-I", str(ROOT), f"-arch=compute_{architecture}", "-ptx"]
    subprocess.run([*command, "-o", str(output), str(source)], check=True)

    text = output.read_text()
    assert text.count("cvt.f32.f16") == 2 and text.count("cvt.rn.f16.f32") == 1
    assert ("cvt.rn.bf16.f32" in text) == rounds_bfloat16

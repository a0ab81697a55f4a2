"""Marks for profilers: `torch.cuda.nvtx` without a profiler, and with a library that acts as one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading

import pytest

from tests.subject import torch

nvtx = torch.cuda.nvtx

# Writes each call down. Functions by their numbers in the interface; ranges count from 100, depths from 50.
PROFILER = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*Function)(void);
typedef struct { size_t bytes; int (*find)(int, Function***, unsigned*); } Callbacks;
typedef struct { size_t bytes; uint32_t version, reserved; void (*accept)(uint32_t); } Version;

static FILE* file;
static void mark(const char* text) { fprintf(file, "mark %s\n", text); fflush(file); }
static uint64_t start(const char* text) {
  fprintf(file, "start %s\n", text);
  fflush(file);
  return 1ull << 63;
}
static void end(uint64_t id) { fprintf(file, "end %llx\n", (unsigned long long)id); fflush(file); }
static int push(const char* text) { fprintf(file, "push %s\n", text); fflush(file); return 50; }
static int pop(void) { fprintf(file, "pop\n"); fflush(file); return 51; }

int InitializeInjectionNvtx2(const void* (*find_table)(uint32_t)) {
  file = fopen(getenv("MARKS"), "w");
  const Version* version = find_table(3);
  version->accept(1);
  fprintf(file, "version %u\n", version->version);
  const Callbacks* callbacks = find_table(1);
  Function** table = 0;
  unsigned size = 0;
  if (!callbacks || find_table(9) || callbacks->find(77, &table, &size)) return 0;
  if (!callbacks->find(1, &table, &size) || size < 12) return 0;
  *table[2] = (Function)mark;
  *table[5] = (Function)start;
  *table[7] = (Function)end;
  *table[9] = (Function)push;
  *table[11] = (Function)pop;
  return 1;
}
"""

PROGRAM = """
import torch_py as torch
nvtx = torch.cuda.nvtx
torch.ones(1, device="cuda")
nvtx.mark("here")
assert nvtx.range_push("outer") == 50 and nvtx.range_pop() == 51
number = nvtx.range_start("far")
assert number == 1 << 63
nvtx.range_end(number)
with nvtx.range("step {} of {total}", 3, total=9):
    pass
"""

EXPECTED = "version 3,mark here,push outer,pop,start far,end 8000000000000000,push step 3 of 9,pop"


def without_marks(**variables: str) -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name != "NVTX_INJECTION64_PATH"} | variables


def test_ranges_count_their_depth():
    assert [nvtx.range_push("a"), nvtx.range_push("b"), nvtx.range_push("c")] == [0, 1, 2]
    assert [nvtx.range_pop(), nvtx.range_pop(), nvtx.range_pop()] == [2, 1, 0]
    assert nvtx.range_pop() == -2  # NVTX's answer without a range
    assert nvtx.range_push("a") == nvtx.range_pop() == 0
    assert nvtx.mark("here") is None


def test_depths_are_the_threads_own():
    nvtx.range_push("outer")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(nvtx.range_push("other")))
    thread.start()
    thread.join()
    assert seen == [0] and nvtx.range_pop() == 0


def test_ranges_that_overlap_have_numbers():
    first, second = nvtx.range_start("a"), nvtx.range_start("b")
    assert first != second and nvtx.range_end(first) is None and nvtx.range_end(second) is None
    with pytest.raises(TypeError):
        nvtx.range_end("a")


def test_blocks_and_decorators():
    @nvtx.range("work")
    def work():
        return nvtx.range_push("inside"), nvtx.range_pop()

    assert work() == work() == (1, 1)
    with pytest.raises(ZeroDivisionError), nvtx.range("step {}", 3):
        1 / 0  # noqa: B018
    assert nvtx.range_push("after") == nvtx.range_pop() == 0


def test_a_profiler_hears_of_all_marks(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    source = tmp_path / "profiler.c"
    library = tmp_path / "profiler.so"
    marks = tmp_path / "marks"
    source.write_text(PROFILER)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)

    environment = without_marks(NVTX_INJECTION64_PATH=str(library), MARKS=str(marks))
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, timeout=120)
    assert marks.read_text().splitlines() == EXPECTED.split(",")


def test_a_library_that_is_missing_is_no_obstacle(tmp_path):
    program = "import torch_py as t; t.ones(1, device='cuda'); print(t.cuda.nvtx.range_push('a'))"
    environment = without_marks(NVTX_INJECTION64_PATH=str(tmp_path / "absent.so"))
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "0\n" and "absent.so" in done.stderr

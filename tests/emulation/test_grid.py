"""The emulation itself: correct kernels run in every order, and each kind of fault is found."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

HERE = Path(__file__).resolve().parent
FLAGS = ("-O1", "-g1", "-DTORCH_PY_CUDA_EMULATION", "-Itests/emulation/include")
SOURCES = (
    *(f"tests/emulation/{name}.cpp" for name in ("block_run", "fences", "fiber", "grid", "meetings")),
    "tests/emulation/matrices.cpp",
    "tests/emulation/memory_operations.cpp",
    "tests/emulation/shared_memory.cpp",
    "tests/emulation/watching.cpp",
    "tests/emulation/checks/without_runtime.cpp",
    "c10/cuda/Launch.cpp",
    *(f"c10/dispatch/{name}.cpp" for name in ("DispatchKey", "OperatorEntry", "RunningOperator", "Schema")),
    "c10/util/Exception.cpp",
)
RUNTIME_SOURCES = (
    *(f"c10/cuda/{name}.cpp" for name in ("Functions", "Launch", "Mailbox", "Runtime")),
    *(f"c10/dispatch/{name}.cpp" for name in ("DispatchKey", "OperatorEntry", "RunningOperator", "Schema")),
    "c10/util/Exception.cpp",
)
ORDERS = ("ascending", "descending", "shuffled:1", "shuffled:2")


class Mode:
    """The emulation compiled with some flags, and drivers linked to it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.flags = (*FLAGS, *flags)

    def object(self, source: str) -> str:
        path = self.folder / f"{Path(source).stem}.o"
        return str(path) if path.exists() else cpp_driver.object_file(path, source, *self.flags)

    def driver(self, name: str) -> Path:
        program = self.folder / name
        if not program.exists():
            self.link(program, name, [self.object(source) for source in SOURCES])
        return program

    def link(self, program: Path, driver: str, objects: list[str]) -> Path:
        return cpp_driver.build(program, [f"tests/emulation/checks/{driver}.cpp", *objects], *self.flags)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Mode:
    return Mode(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def race_mode(tmp_path_factory: pytest.TempPathFactory) -> Mode:
    return Mode(tmp_path_factory.mktemp("race"), "-fsanitize=thread")


@pytest.fixture(scope="module")
def address_mode(tmp_path_factory: pytest.TempPathFactory) -> Mode:
    return Mode(tmp_path_factory.mktemp("address"), "-fsanitize=address")


def test_correct_kernels_in_every_order(plain: Mode) -> None:
    assert cpp_driver.run(plain.driver("correct_driver")) == "ok\n"


def test_switches_by_ucontext(plain: Mode, tmp_path: Path) -> None:
    # What processors without a switch in assembly use.
    switches = Mode(tmp_path, "-DTORCH_PY_FIBER_UCONTEXT").object("tests/emulation/fiber.cpp")
    others = [plain.object(source) for source in SOURCES if not source.endswith("fiber.cpp")]
    program = plain.link(tmp_path / "ucontext", "correct_driver", [switches, *others])
    assert cpp_driver.run(program) == "ok\n"


def test_kernels_with_the_emulated_runtime(plain: Mode, tmp_path: Path) -> None:
    emulation = [f"tests/emulation/{path.name}" for path in sorted(HERE.glob("*.cpp"))]
    objects = [plain.object(source) for source in (*emulation, *RUNTIME_SOURCES)]
    program = plain.link(tmp_path / "runtime", "runtime_driver", objects)
    assert cpp_driver.run(program) == "ok\n"


# A fault, what its message says, and the markers of the lines that it names, in order.
FAULTS = {
    "different_barriers": (
        r"different barriers: thread .* is in sync_block at {}, while thread .* is in sync_block at {}",
        ("line A", "line B"),
    ),
    "ended_before_barrier": (
        r"thread .* is in sync_block at {}, while thread \(5,0,0\) of block \(.,0,0\) has ended",
        ("line A",),
    ),
    "barrier_of_half_a_warp": (
        r"waits for what never comes: thread .* in sync_block at {}, while thread .* in sync_warp at {}",
        ("line A", "line B"),
    ),
    "different_shuffles": (
        r"different calls: thread .* is in shuffle_down at {} .*, while thread .* is in shuffle_down at {}",
        ("line A", "line B"),
    ),
    "different_masks": (
        r"different masks: thread .* is in shuffle_xor at {} with mask .*, while .* at {} with mask",
        ("line A", "line A"),
    ),
    "ended_lane": (r"shuffle_down at {} with mask 0xffffffff, .*thread \(9,0,0\).* has ended", ("line A",)),
    "absent_lane": (
        r"thread \(.*\) calls shuffle_down at {} with mask 0xffffffff, "
        r"which names lane 8; the block has no such thread",
        ("line A",),
    ),
    "not_in_own_mask": (
        r"calls shuffle_index at {} with mask 0x000000ff, which does not name its own lane",
        ("line A",),
    ),
    "reads_outside_mask": (
        r"thread \(\d+,0,0\) of block \(0,0,0\) calls shuffle_down at {} with mask 0x0000ffff, "
        r"and reads from lane 16, which the mask does not name",
        ("line A",),
    ),
    "pauses_for_ever": (r"pauses at {} for what never comes", ("line A",)),
    "spins_for_ever": (r"waits at {} without simt::pause\(\)", ("line A",)),
    "too_much_shared": (r"no shared memory left for large \(64000 bytes\)", ()),
    "no_dynamic_shared": (r"uses dynamic shared memory, but the launch gave it none", ()),
    "misaligned_copy": (r"copies 16 bytes from or to an address that is not aligned", ()),
    "throws": (r"an object of the kernel's own", ()),
    "large_block": (r"f: CUDA refused the launch: a block has more than 1024 threads", ()),
    "empty_grid": (r"f: CUDA refused the launch: the grid has no blocks", ()),
    "large_dynamic_shared": (r"f: CUDA refused the launch: a block has at most 227 KiB", ()),
}


def marked_line(function: str, marker: str) -> int:
    """The line of `function` in the driver of faults that ends with `// marker`."""
    lines = (HERE / "checks/faults_driver.cpp").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if f"SIMT_KERNEL {function}(" in line)
    return next(i for i in range(start, len(lines)) if lines[i].endswith(f"// {marker}")) + 1


def either_order(pattern: str, places: list[str]) -> str:
    """The message with its places; which of two threads comes first depends on the order."""
    orders = {tuple(places), tuple(reversed(places))}
    return "|".join(pattern.format(*map(re.escape, one)) for one in sorted(orders))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(plain: Mode, fault: str, order: str) -> None:
    pattern, markers = FAULTS[fault]
    places = [f"tests/emulation/checks/faults_driver.cpp:{marked_line(fault, marker)}" for marker in markers]
    said = cpp_driver.run(plain.driver("faults_driver"), fault, TORCH_PY_EMULATION_ORDER=order)
    assert re.search(either_order(pattern, places), said), said


def results(plain: Mode, kernel: str) -> list[float]:
    driver = plain.driver("faults_driver")
    return [float(cpp_driver.run(driver, kernel, TORCH_PY_EMULATION_ORDER=order)) for order in ORDERS]


def test_missing_barriers_give_wrong_numbers_in_some_order(plain: Mode) -> None:
    assert any(math.isnan(value) for value in results(plain, "missing_barrier"))
    assert any(wrong > 0 for wrong in results(plain, "missing_warp_barrier"))
    # Deferred copies are made at the wait, so without it there is nothing to read in any order.
    assert all(math.isnan(value) for value in results(plain, "missing_wait"))


def run_sanitized(mode: Mode, kernel: str, **settings: str) -> str:
    """What a sanitizer says about a kernel of the driver; empty if nothing."""
    result = subprocess.run(
        [mode.driver("sanitized_driver"), kernel],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **settings},
    )
    if result.returncode == 0:
        assert result.stdout == "ran\n"
        return ""
    return result.stderr


CLEAN = (
    "elementwise",
    "reduction",
    "one_pass",
    "columns_in_one_pass",
    "warp_exchange",
    "chained_sum",
    "deferred_copies",
    "matrices",
)
RACES = {
    "reduction_without_barrier": ("sample_kernels.h", 2),
    "one_pass_without_fences": ("sample_kernels.h", 2),
    "columns_without_fences": ("sample_kernels.h", 2),
    "warp_exchange_without_sync": ("sample_kernels.h", 2),
    "blocks_write_same": ("sanitized_driver.cpp", 1),
}


@pytest.mark.parametrize("kernel", [*CLEAN, "blocks_add", "deep_stack", "two_launches"])
def test_race_mode_accepts_what_is_ordered(race_mode: Mode, kernel: str) -> None:
    assert run_sanitized(race_mode, kernel) == ""


@pytest.mark.parametrize("kernel", RACES)
def test_race_mode_names_both_places(race_mode: Mode, kernel: str) -> None:
    said = run_sanitized(race_mode, kernel)
    assert "ThreadSanitizer: data race" in said

    # The first frame of each access is a line of the kernel.
    file, distinct = RACES[kernel]
    first_report = said.split("SUMMARY")[0]
    accesses = re.findall(
        rf"(?:Write|Read|read|write) of size .*\n +#0 .*{re.escape(file)}:(\d+)", first_report
    )
    assert len(accesses) == 2 and len(set(accesses)) == distinct, said

    threads = re.findall(r"Thread T\d+ 'thread \((\d+,\d+,\d+)\) of block \((\d+,\d+,\d+)\)'", first_report)
    assert len(threads) >= 2 and threads[0] != threads[1], said


@pytest.mark.parametrize("kernel", [*CLEAN, "blocks_add", "two_launches"])
def test_race_mode_takes_blocks_that_it_does_not_watch_for_ordered(race_mode: Mode, kernel: str) -> None:
    assert run_sanitized(race_mode, kernel, TORCH_PY_EMULATION_WATCH="1") == ""
    assert run_sanitized(race_mode, kernel, TORCH_PY_EMULATION_WATCH="0") == ""


@pytest.mark.parametrize("kernel", RACES)
def test_race_mode_looks_at_the_first_launches_only(race_mode: Mode, kernel: str, tmp_path: Path) -> None:
    watched = tmp_path / "watched.txt"
    settings = {"TORCH_PY_EMULATION_WATCHED": str(watched)}
    assert run_sanitized(race_mode, kernel, TORCH_PY_EMULATION_WATCH="0", **settings) == ""
    assert not watched.exists()

    said = run_sanitized(race_mode, kernel, TORCH_PY_EMULATION_WATCH="1", **settings)
    assert "ThreadSanitizer: data race" in said
    assert re.fullmatch(r"(\w+ 0x[0-9a-f]+ blocks?\n)+", watched.read_text())


@pytest.mark.parametrize("kernel", [*CLEAN, "transpose", "deep_stack", "fault"])
def test_address_mode_accepts_correct_kernels(address_mode: Mode, kernel: str) -> None:
    assert run_sanitized(address_mode, kernel) == ""


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        ("elementwise_beyond", "add"),
        ("shared_beyond", "beyond_shared"),
        ("dynamic_shared_beyond", "beyond_dynamic_shared"),
    ],
)
def test_address_mode_finds_one_element_too_many(address_mode: Mode, kernel: str, function: str) -> None:
    said = run_sanitized(address_mode, kernel)
    assert "AddressSanitizer" in said
    assert re.search(rf"#0 \S+ in (\(anonymous namespace\)::)?{function}\b", said), said


def test_nvcc_compiles_the_same_kernels(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("no nvcc")

    flags = ("-arch=sm_90", "-std=c++20", "--extended-lambda", "--expt-relaxed-constexpr")
    command = [
        "nvcc",
        *flags,
        "-Werror=all-warnings",
        "-I.",
        "-c",
        "tests/emulation/checks/native_kernels.cu",
    ]

    result = subprocess.run(
        [*command, "-o", str(tmp_path / "kernels.o")],
        cwd=cpp_driver.REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr

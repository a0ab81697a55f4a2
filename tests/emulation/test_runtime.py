"""The emulated CUDA runtime: memory, streams, graphs, processes, and the backend's core on top of it."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

ROOT = Path(__file__).resolve().parents[2]
HEADERS = Path("/usr/local/cuda/include")
FLAGS = ("-O1", "-g1", "-DTORCH_PY_CUDA_EMULATION", "-Itests/emulation/include", "-Ibuild/generated")
RUNTIME = ("copies", "devices", "events", "graphs", "ipc", "memory", "streams", "virtual_memory")
ORDERS = ("late", "now", "1", "2", "3", "5")

MEMORY = (
    "fresh_memory_is_filled",
    "copies_stay_in_their_block",
    "rows_are_copied_with_pitch",
    "memory_in_use_is_not_freed",
    "pointers_are_known",
    "host_arguments_are_refused",
    "peers_need_access",
    "granules_move",
    "wrong_mappings_are_refused",
    "driver_functions_are_found",
)
STREAMS = (
    "work_runs_when_waited_for",
    "pinned_memory_is_read_late_and_pageable_at_once",
    "events_order_streams",
    "legacy_stream_waits_for_blocking_streams",
    "queries_end",
    "events_measure_time",
    "devices_are_kept_apart",
    "dead_handles_are_refused",
    "host_functions_run_in_order",
    "faults_stay",
)
GRAPHS = (
    "replays_read_present_values",
    "forks_join",
    "missing_joins_are_refused",
    "waits_for_work_outside_are_refused",
    "captures_do_not_merge",
    "waiting_is_refused",
    "modes_decide_about_allocations",
    "captures_end_where_they_began",
    "blocking_streams_and_the_legacy_stream",
    "freed_memory_is_found_at_launch",
)
PROCESSES = ("memory_and_events_are_shared", "granules_are_exported", "forked_processes_cannot_use_cuda")
BACKEND = (
    "devices_and_guards",
    "streams_of_the_pool",
    "events_between_streams",
    "copies_between_devices",
    "reports_become_errors",
    "reports_keep_their_names",
    "full_mailboxes_are_raised_by_launches",
    "faults_name_suspects",
    "graphs_replay",
    "replays_outlive_their_graph",
    "captures_that_fail",
    "failures_reset_graphs",
    "memory_is_shared",
)
CASES = [
    (driver, case)
    for driver, cases in (
        ("memory", MEMORY),
        ("streams", STREAMS),
        ("graphs", GRAPHS),
        ("processes", PROCESSES),
    )
    for case in cases
]


class Drivers:
    """The emulated runtime compiled with some flags, and drivers linked to it."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder = folder
        self.flags = (*FLAGS, *flags)
        self.objects: list[str] = []

    def program(self, name: str) -> Path:
        program = self.folder / name
        if program.exists():
            return program

        if not self.objects:
            self.objects = [
                cpp_driver.object_file(
                    self.folder / f"{source}.o", f"tests/emulation/{source}.cpp", *self.flags
                )
                for source in RUNTIME
            ]
        driver = f"tests/emulation/checks/{name}_driver.cpp"
        return cpp_driver.build(program, [driver, *self.objects], *self.flags)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Drivers:
    return Drivers(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Drivers:
    return Drivers(tmp_path_factory.mktemp("sanitized"), "-fsanitize=address,undefined")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("driver", "case"), CASES)
def test_in_every_order(plain: Drivers, driver: str, case: str, order: str) -> None:
    output = cpp_driver.run(plain.program(driver), case, TORCH_PY_EMULATED_STREAMS=order)
    assert output.splitlines()[-1] == "ok"


@pytest.mark.parametrize(("driver", "case"), CASES)
def test_with_sanitizers(sanitized: Drivers, driver: str, case: str) -> None:
    output = cpp_driver.run(sanitized.program(driver), case, ASAN_OPTIONS="detect_leaks=0")
    assert output.splitlines()[-1] == "ok"


def test_size_of_memory(plain: Drivers) -> None:
    assert cpp_driver.run(plain.program("memory"), "memory_ends", TORCH_PY_EMULATED_MEMORY_MIB="8") == "ok\n"


@pytest.mark.parametrize("support", ["0", "2"])
def test_without_virtual_memory(plain: Drivers, support: str) -> None:
    program = plain.program("memory")
    output = cpp_driver.run(program, "virtual_memory_is_absent", TORCH_PY_EMULATED_VIRTUAL_MEMORY=support)
    assert output == "ok\n"


@pytest.mark.parametrize("build", ["plain", "sanitized"])
def test_host_cannot_read_device_memory(build: str, request: pytest.FixtureRequest) -> None:
    program = request.getfixturevalue(build).program("memory")
    result = subprocess.run([program, "host_reads_device_memory"], capture_output=True, text=True, timeout=60)
    assert result.stdout == "before\n"
    if build == "plain":
        assert result.returncode == -signal.SIGSEGV
    else:
        assert re.search(r"SEGV.*\n.*\n(.*\n)*?.*memory_driver\.cpp:\d+", result.stderr)


def test_kernel_that_writes_behind_a_block(plain: Drivers, sanitized: Drivers) -> None:
    assert cpp_driver.run(plain.program("memory"), "kernel_writes_behind_a_block") == "ok\n"
    program = sanitized.program("memory")
    result = subprocess.run(
        [program, "kernel_writes_behind_a_block"], capture_output=True, text=True, timeout=60
    )
    assert "use-after-poison" in result.stderr
    assert "memory_driver.cpp" in result.stderr


@pytest.mark.parametrize("case", ["missing_waits_show", "legacy_stream_does_not_wait_for_others"])
def test_missing_order_shows_when_work_is_late(plain: Drivers, case: str) -> None:
    assert cpp_driver.run(plain.program("streams"), case) == "ok\n"


def test_seeds_draw_different_orders(plain: Drivers) -> None:
    program = plain.program("streams")
    seen = {
        seed: cpp_driver.run(program, "seeds_draw_orders", TORCH_PY_EMULATED_STREAMS=seed).splitlines()[0]
        for seed in "12345"
    }
    assert len(set(seen.values())) > 1
    assert all(sorted(order) == sorted("abcdefgh" * 2) for order in seen.values())
    again = cpp_driver.run(program, "seeds_draw_orders", TORCH_PY_EMULATED_STREAMS="1").splitlines()[0]
    assert again == seen["1"]


def test_wait_without_end(plain: Drivers) -> None:
    program = plain.program("processes")
    environment = {"TORCH_PY_EMULATED_PATIENCE_SECONDS": "1"}
    assert cpp_driver.run(program, "waits_without_end_are_found", **environment) == "ok\n"


def test_without_devices(plain: Drivers) -> None:
    program = plain.program("processes")
    assert cpp_driver.run(program, "no_devices", TORCH_PY_EMULATED_DEVICES="0") == "ok\n"


# The backend's core, from its own sources, on the emulated runtime


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = ROOT / "torch_py/lib/libtorch_py.so"
    if not library.exists():
        pytest.skip("needs the library: make")

    folder = tmp_path_factory.mktemp("backend")
    paths = [*(ROOT / "tests/emulation").glob("*.cpp"), *(ROOT / "c10/cuda").rglob("*.cpp")]
    names = sorted(path.relative_to(ROOT).as_posix() for path in paths)
    objects = [
        cpp_driver.object_file(
            folder / f"{name.replace('/', '_')}.o", name, *FLAGS, "-Wno-missing-field-initializers"
        )
        for name in names
    ]
    driver = "tests/emulation/checks/backend_driver.cpp"
    return cpp_driver.build(
        folder / "backend", [driver, *objects, str(library)], *FLAGS, f"-Wl,-rpath,{library.parent}"
    )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("case", BACKEND)
def test_backend(backend: Path, case: str, order: str) -> None:
    assert cpp_driver.run(backend, case, TORCH_PY_EMULATED_STREAMS=order).splitlines()[-1] == "ok"


@pytest.mark.parametrize(
    ("case", "variable", "value"),
    [
        ("faults_name_suspects", "TORCH_PY_CUDA_BLOCKING", "1"),
        ("absence_is_explained", "TORCH_PY_EMULATED_DEVICES", "0"),
        ("memory_ends", "TORCH_PY_EMULATED_MEMORY_MIB", "8"),
    ],
)
def test_backend_with_settings(backend: Path, case: str, variable: str, value: str) -> None:
    assert cpp_driver.run(backend, case, **{variable: value}) == "ok\n"


# The real headers


def _declarations(header: str) -> tuple[dict[str, str], dict[str, str]]:
    """Enumerators with their numbers, and functions with the types of their parameters."""
    text = re.sub(r"//.*", "", (ROOT / "tests/emulation/include" / header).read_text())
    numbers = dict(re.findall(r"\b(cuda[A-Z]\w*|CU_\w+|CUDA_\w+) = (\w+)[,\n]", text))
    numbers |= dict(re.findall(r"#define (cuda[A-Z]\w*) (0x\w+)\n", text))
    functions = {}
    for result, name, parameters in re.findall(
        r"^(cudaError_t|CUresult|const char\*) (cu\w+)\(([^)]*)\);", text, re.MULTILINE
    ):
        types = [re.sub(r"\s*=.*", "", one).strip() for one in parameters.split(",") if one.strip()]
        types = [re.sub(r"(\w+)$", "", one) if len(one.split()) > 1 else one for one in types]
        functions[name] = f"{result} (*)({', '.join(types)})"
    return numbers, functions


@pytest.mark.skipif(not (HEADERS / "cuda_runtime_api.h").exists(), reason="no headers of CUDA")
@pytest.mark.parametrize("header", ["emulation/host.h", "cuda.h"])
def test_declarations_are_those_of_cuda(tmp_path: Path, header: str) -> None:
    numbers, functions = _declarations(header)
    assert len(numbers) > 20 and len(functions) > 10
    lines = [f"#include <{name}.h>" for name in ("cuda", "cuda_profiler_api", "cuda_runtime_api")]
    lines += [f"static_assert({name} == {value});" for name, value in numbers.items()]
    lines += [
        f"constexpr {kind.replace('(*)', f'(*use_{name})')} = &{name};" for name, kind in functions.items()
    ]
    source = tmp_path / "declarations.cpp"
    source.write_text("\n".join(lines) + "\n")
    compiler = shutil.which("g++") or "g++"
    command = [compiler, "-std=c++20", "-fsyntax-only", "-w", f"-I{HEADERS}", str(source)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:4000]

"""Reports of sanitizers are found, each place once, and a copy of the checkout follows its files."""

from __future__ import annotations

from pathlib import Path

from tools.sanitize.reports import findings

OVERFLOW = """\
aten/native/A.cpp:12:5: runtime error: signed integer overflow: {0} + 5 cannot be represented in type 'int'
    #0 0x7f8e in at::native::a() (/lib/libtorch_py.so+0x2b)
"""
OVERRUN = """\
==17==WARNING: AddressSanitizer failed to allocate 0x4000000000000 bytes
=================================================================
==17==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x7f thread T0
READ of size 4 at 0x602000000014 thread T0
    #0 0x7f8e in at::native::b() aten/native/B.cpp:3
SUMMARY: AddressSanitizer: heap-buffer-overflow aten/native/B.cpp:3 in at::native::b()
"""


def test_findings_of_all_processes(tmp_path: Path) -> None:
    (tmp_path / "report-undefined.17").write_text(OVERFLOW.format(9223372036854775807) + OVERFLOW.format(-3))
    (tmp_path / "report-undefined.18").write_text(OVERFLOW.format(12))
    (tmp_path / "report.17").write_text(OVERRUN)

    found = findings(tmp_path)
    overrun, overflow = sorted(found)
    assert overrun == "AddressSanitizer: heap-buffer-overflow aten/native/B.cpp:3 in at::native::b()"
    assert overflow.endswith("N + N cannot be represented in type 'int'")
    assert found[overflow][0] == 3 and "libtorch_py.so" in found[overflow][1]
    assert found[overrun][0] == 1 and "READ of size 4" in found[overrun][1]


def test_warnings_of_refused_allocations_are_not_findings(tmp_path: Path) -> None:
    (tmp_path / "report.17").write_text(OVERRUN.splitlines()[0])
    assert findings(tmp_path) == {}

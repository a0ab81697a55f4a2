"""A miniature repository that builds in seconds: one file of each kind, and a generator of ten lines."""

from __future__ import annotations

from pathlib import Path

import pytest

EXPORT = '__attribute__((visibility("default")))'

FILES = {
    "c10/util/Version.h": f"#pragma once\n{EXPORT} int version();\n",
    "c10/util/Version.cpp": '#include "c10/util/Version.h"\nint version() { return 7; }\n',
    "aten/blas/Gemm.cpp": f"{EXPORT} int gemm() {{ return 3; }}\n",
    "aten/native/Sum.cpp": '#include "c10/util/Version.h"\nint gemm();\nint hidden_helper() { return gemm() '
    "+ version(); }\n"
    f"{EXPORT} int sum() {{ return hidden_helper(); }}\n",
    "aten/native/cpu/SumKernel.isa.cpp": "namespace at::native::CPU_CAPABILITY { int sum_kernel() { return "
    "1; } }\n",
    "torch_py/csrc/autograd/Engine.cpp": "int engine() { return 1; }\n",
    "torch_py/csrc/bindings/Module.cpp": "#include <Python.h>\nint sum();\n"
    'static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr, nullptr, nullptr, '
    "nullptr, nullptr};\n"
    f'extern "C" {EXPORT} PyObject* torch_py_initialize_module() {{\n'
    "  PyObject* module = PyModule_Create(&definition);\n"
    '  PyModule_AddIntConstant(module, "sum", sum());\n  return module;\n}\n',
    "torch_py/csrc/stub.cpp": "#include <Python.h>\n"
    'extern "C" PyObject* torch_py_initialize_module();\nPyMODINIT_FUNC PyInit__C() { return '
    "torch_py_initialize_module(); }\n",
    "torch_py/__init__.py": "",
    "codegen/__init__.py": "",
    "codegen/__main__.py": "import pathlib, sys\n"
    "if pathlib.Path('refuse').exists(): sys.exit('native_functions.yaml:3:5: add: no such kernel')\n"
    "output = pathlib.Path(sys.argv[sys.argv.index('--output') + 1])\n"
    "path = output / 'aten/native/cpu/GeneratedKernel.isa.cpp'\n"
    "path.parent.mkdir(parents=True, exist_ok=True)\n"
    "if not path.exists(): path.write_text('namespace at::native::CPU_CAPABILITY { int generated() { return "
    "2; } }\\n')\n",
}


@pytest.fixture
def miniature(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from tools.build import driver

    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(driver, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path

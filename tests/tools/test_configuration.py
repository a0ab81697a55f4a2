"""The variables that configure the build: defaults, values and errors."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from tools.build import bootstrap
from tools.build.configuration import VARIABLES, Configuration, describe
from tools.build.errors import BuildError
from tools.build.toolchain import find_compiler, other_python, this_python

ROOT = Path(__file__).parents[2]


def test_nothing_set() -> None:
    configuration = Configuration.from_environment({})
    assert configuration.ccache
    assert not configuration.debug
    assert configuration.jobs is None
    assert configuration.instruction_sets == ()


def test_lists_are_split() -> None:
    configuration = Configuration.from_environment(
        {"TORCH_PY_ISAS": "default, avx512", "TORCH_PY_CXXFLAGS": "-g  -O0"}
    )
    assert configuration.instruction_sets == ("DEFAULT", "AVX512")
    assert configuration.compile_flags == ("-g", "-O0")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("TORCH_PY_BLAS", "atlas", "TORCH_PY_BLAS='atlas': expected one of mkl, openblas, builtin"),
        ("TORCH_PY_DEBUG", "yes", "TORCH_PY_DEBUG='yes': expected one of 0, 1"),
        ("MAX_JOBS", "0", "MAX_JOBS='0': expected a positive number"),
        (
            "TORCH_PY_CUDA_ARCHS",
            "sm_90",
            "TORCH_PY_CUDA_ARCHS='sm_90': expected compute capabilities such as 80,90",
        ),
        ("MAX_JOBS", "many", "MAX_JOBS='many': expected a positive number"),
    ],
)
def test_wrong_value(name: str, text: str, message: str) -> None:
    with pytest.raises(BuildError) as raised:
        Configuration.from_environment({name: text})
    assert str(raised.value) == message


def test_every_variable_is_described() -> None:
    for variable in VARIABLES:
        assert f"{variable.name} " in describe()


def test_contributing_names_every_variable() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    assert [variable.name for variable in VARIABLES if variable.name not in text] == []


def test_missing_compiler_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="sudo apt install g\\+\\+"):
        find_compiler("")
    with pytest.raises(BuildError, match="CXX=g\\+\\+-99: no such program"):
        find_compiler("g++-99")


def test_requirements_follow_the_choice_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    def blas_packages(choice: str) -> set[str]:
        monkeypatch.setenv("TORCH_PY_BLAS", choice)
        return {
            name.split(">")[0]
            for name in bootstrap.requirements("build")
            if name.startswith(("mkl", "scipy-openblas"))
        }

    assert blas_packages("mkl") == blas_packages("") == {"mkl-static", "mkl-include", "scipy-openblas32"}
    assert blas_packages("openblas") == {"scipy-openblas32"}
    assert blas_packages("builtin") == set()


def test_no_requirement_is_listed_twice() -> None:
    for group in ("build", "demo", "test", "lint"):
        names = [
            requirement.split(";")[0].split(">")[0].split("=")[0].strip()
            for requirement in bootstrap.requirements(group)
        ]
        assert len(names) == len(set(names)), names


def test_changed_requirements_are_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert not bootstrap.is_current(tmp_path, "build")
    (tmp_path / bootstrap.STAMP.format(group="build")).write_text(bootstrap.fingerprint("build"))
    assert bootstrap.is_current(tmp_path, "build")
    monkeypatch.setenv("TORCH_PY_BLAS", "openblas")
    assert not bootstrap.is_current(tmp_path, "build")


def test_pip_knows_what_make_has_built(tmp_path: Path) -> None:
    bootstrap.register(tmp_path)
    bootstrap.register(tmp_path)
    (found,) = importlib.metadata.distributions(path=[str(tmp_path)])
    assert (found.name, found.version) == ("torch_py", bootstrap.version())
    assert 'pyyaml>=6.0; extra == "operators"' in (found.requires or [])
    assert {str(file) for file in found.files or []} >= {
        bootstrap.IMPORT_PATH,
        f"{found.name}-{found.version}.dist-info/RECORD",
    }


def test_an_installation_of_pip_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "torch_py-0.0.9.dist-info"
    folder.mkdir()
    (folder / "INSTALLER").write_text("pip\n")
    bootstrap.register(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]


def test_a_long_download_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "import sys, time; print('Downloading mkl (228 MB)', flush=True); time.sleep(0.5); "
        "print('no', file=sys.stderr); sys.exit(3)"
    )
    assert bootstrap.run_with_news([sys.executable, "-c", program], 0.2) == (3, "no\n")
    assert " s: Downloading mkl (228 MB)\n" in capsys.readouterr().out
    assert bootstrap.run_with_news([sys.executable, "-c", "print('quick')"]) == (0, "")
    assert capsys.readouterr().out == ""


def test_python_of_other_headers(tmp_path: Path) -> None:
    (tmp_path / "patchlevel.h").write_text("#define PY_MAJOR_VERSION 3\n#define PY_MINOR_VERSION 99\n")
    found = other_python(str(tmp_path))
    assert found.include == str(tmp_path)
    assert ".cpython-399-" in found.suffix


def test_python_of_another_interpreter() -> None:
    assert other_python(sys.executable) == this_python()


@pytest.mark.parametrize("named", ["/nowhere/python", "{folder}"])
def test_python_without_headers_is_refused(tmp_path: Path, named: str) -> None:
    with pytest.raises(BuildError, match="TORCH_PY_PYTHON"):
        other_python(named.format(folder=tmp_path))

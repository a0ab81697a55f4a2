"""``native_functions.lock`` tells changes that break programs from others, and asks why."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.model import load
from codegen.model.lock import Row, changes, lock_path, read_lock, rows_of
from tests.codegen.test_cli import YAML, checkout

__all__ = ["checkout"]
_SCHEMA = "blend(Tensor self, Tensor other, float weight=0.5, *, int? n=None) -> Tensor"
_NAMES = ("torch.blend", "Tensor.blend")
_DTYPES = ("f32", "f64")


def _changes(schema: str = _SCHEMA, names: str = "", dtypes: str = "") -> list[tuple[bool, str]]:
    before = Row(_SCHEMA, _NAMES, _DTYPES)
    after = Row(schema, tuple(names.split()) or _NAMES, tuple(dtypes.split()) or _DTYPES)
    return [(c.is_breaking, c.what) for c in changes({"blend": before}, {"blend": after})]


@pytest.mark.parametrize(
    "right, wrong, what",
    [
        ("Tensor other, ", "", "the argument 'other' is gone"),
        ("other", "another", "the argument 'other' is gone"),
        ("Tensor self, Tensor other", "Tensor other, Tensor self", "the argument 'self' is at another place"),
        ("weight=0.5", "weight=0.7", "the default of 'weight' is 0.7, not 0.5"),
        ("float weight=0.5", "float weight", "'weight' has no default"),
        ("float weight", "Scalar weight", "'weight' is Scalar, not float"),
        ("int? n=None", "int? n=None, bool flag", "the argument 'flag' is new and has no default"),
        ("float weight=0.5, *", "*, float weight=0.5", "the argument 'weight' is at another place"),
        ("-> Tensor", "-> (Tensor, Tensor)", "it returns Tensor, Tensor"),
        ("Tensor self", "Tensor(a!) self", "'self' is written to"),
    ],
)
def test_breaking_schemas(right: str, wrong: str, what: str):
    assert (True, what) in _changes(_SCHEMA.replace(right, wrong, 1))


@pytest.mark.parametrize(
    "right, other, what",
    [
        ("weight=0.5, *", "weight=0.5, int k=1, *", "the argument 'k' is new"),
        ("int? n=None", "int? n=None, bool flag=False", "the argument 'flag' is new"),
        ("Tensor other", "Tensor? other", "'other' is Tensor?, not Tensor"),
    ],
)
def test_compatible_schemas(right: str, other: str, what: str):
    assert _changes(_SCHEMA.replace(right, other, 1)) == [(False, what)]


def test_names_and_dtypes():
    assert not _changes()
    assert _changes(names="torch.blend") == [(True, "the name Tensor.blend is gone")]
    assert _changes(names="torch.blend Tensor.blend torch.mix") == [(False, "the name torch.mix is new")]
    assert _changes(dtypes="f32") == [(True, "the dtype f64 is gone")]
    assert _changes(dtypes="f32 f64 bf16") == [(False, "the dtype bf16 is new")]


def test_history():
    plain = Row(_SCHEMA, _NAMES, ())
    dated = Row(_SCHEMA, _NAMES, (), ("since 0.2",))
    assert str(dated) == f"{_SCHEMA} | torch.blend Tensor.blend |  | since 0.2"
    found = changes({"blend": plain}, {"blend": dated})
    assert [(c.is_breaking, c.what) for c in found] == [(False, "its history is since 0.2")]


def test_renaming_breaks_nothing():
    blend = Row(_SCHEMA, _NAMES, _DTYPES)
    names = ("torch.mix", "Tensor.mix", *_NAMES)
    mix = Row(_SCHEMA.replace("blend", "mix"), names, _DTYPES, ("was blend until 0.2",))
    found = changes({"blend": blend}, {"mix": mix})
    assert not any(c.is_breaking for c in found) and found[0].what == "it was called blend"

    forgotten = Row(mix.schema, names[:2], _DTYPES)
    found = changes({"mix": mix}, {"mix": forgotten})
    assert [c.what for c in found if c.is_breaking] == [
        "the name torch.blend is gone",
        "the name Tensor.blend is gone",
        "its former name blend is gone",
    ]
    assert [c.what for c in changes({"blend": blend}, {"mix": forgotten}) if c.is_breaking] == ["it is gone"]


def test_the_command(checkout: Path, capsys: pytest.CaptureFixture[str]):
    file = checkout / "native_functions.yaml"
    lock = checkout / "native_functions.lock"
    assert main(["check"]) == 0 and not lock.exists()  # a file of one's own needs no lock
    assert main(["lock"]) == 0 and main(["check"]) == 0
    assert "softcap(Tensor self, float cap) -> Tensor | torch.softcap " in lock.read_text()
    capsys.readouterr()

    file.write_text(YAML.replace("float cap)", "float cap, int n=1)").replace("cap * tanh", "n * cap * tanh"))
    assert main(["check"]) == 1
    expected = (
        "native_functions.yaml:5:13: softcap: compared with native_functions.lock, the argument 'n' is new; "
        "this breaks no program: record it with python -m codegen lock\n"
    )
    assert expected in capsys.readouterr().err
    assert main(["lock"]) == 0 and main(["check"]) == 0

    file.write_text(YAML)
    assert main(["lock"]) == 1
    assert "softcap: the argument 'n' is gone" in capsys.readouterr().err
    assert main(["lock", "--why", "nobody used n"]) == 0 and main(["check"]) == 0
    assert "# breaking: softcap: nobody used n\n" in lock.read_text()


def test_a_merge_with_conflicts(checkout: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["lock"]) == 0
    lock = checkout / "native_functions.lock"
    lock.write_text(f"<<<<<<< HEAD\n{lock.read_text()}")
    assert main(["check"]) == 1
    assert "native_functions.lock:1:1: lock: not a line of this file" in capsys.readouterr().err


def test_the_lock_of_the_tree_is_read_back():
    program = load(Path(__file__).resolve().parents[2] / "native_functions.yaml")
    assert read_lock(lock_path(program)).rows == rows_of(program)

"""torch.save and torch.load: round trips, sharing, refused classes, and files exchanged with PyTorch."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import threading
import zipfile
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()


def round_trip(value: Any, **keywords: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **keywords)


def example(dtype: Any) -> Any:
    return torch.tensor([[0, 1, 2], [3, 4, 5]]).to(dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name: str) -> None:
    value = example(getattr(torch, name))
    loaded = round_trip(value)
    assert loaded.dtype == value.dtype and torch.equal(loaded, value)


def test_structures() -> None:
    value = {
        "a": [torch.ones(2), 1, 2.5, "text", None, True, b"bytes", 1 + 2j],
        "b": (torch.Size([2, 3]), torch.float16, {1, 2}),
        "c": OrderedDict(x=1),
    }
    loaded = round_trip(value)
    assert torch.equal(loaded["a"][0], value["a"][0])
    assert loaded["a"][1:] == value["a"][1:] and loaded["b"] == value["b"] and loaded["c"] == value["c"]
    assert type(loaded["b"][0]) is torch.Size and loaded["b"][1] is torch.float16
    assert round_trip(torch.device("cpu")) == torch.device("cpu")


def test_strides_offsets_and_sharing() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    whole, column, transposed = round_trip([base, base[:, 1], base.t()])
    assert column.stride() == (4,) and transposed.stride() == (1, 4) and column.storage_offset() == 1
    whole[0, 1] = 100
    assert column[0].item() == 100 and transposed[1, 0].item() == 100


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,)])
def test_small_shapes(shape: tuple[int, ...]) -> None:
    loaded = round_trip(torch.ones(shape))
    assert loaded.shape == shape and torch.equal(loaded, torch.ones(shape))


def test_parameters_and_flags() -> None:
    parameter, leaf, frozen = round_trip(
        [
            torch.nn.Parameter(torch.ones(2)),
            torch.ones(2, requires_grad=True),
            torch.nn.Parameter(torch.ones(1), requires_grad=False),
        ]
    )
    assert isinstance(parameter, torch.nn.Parameter) and parameter.requires_grad
    assert type(leaf) is torch.Tensor and leaf.requires_grad and leaf.is_leaf and not frozen.requires_grad


def test_model_and_optimizer_state(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()

    path = tmp_path / "checkpoint.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, path)
    loaded = torch.load(path)

    twin = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    twin.load_state_dict(loaded["model"])
    torch.optim.Adam(twin.parameters()).load_state_dict(loaded["optimizer"])

    assert loaded["epoch"] == 3 and loaded["model"]._metadata["1"] == {"version": 2}
    for left, right in zip(model.state_dict().values(), twin.state_dict().values()):
        assert torch.equal(left, right)


def test_whole_module_needs_trust(tmp_path: Path) -> None:
    path = tmp_path / "module.pt"
    torch.save(torch.nn.Linear(2, 1), path)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(path)
    assert torch.load(path, weights_only=False).in_features == 2


class Evil:
    def __reduce__(self) -> Any:
        return os.system, ("true",)


class Harmless:
    def __init__(self) -> None:
        self.value = 3


def test_code_is_not_run() -> None:
    with pytest.raises(pickle.UnpicklingError, match="system"):
        round_trip(Evil())


def test_allowed_classes() -> None:
    with pytest.raises(pickle.UnpicklingError, match="Harmless"):
        round_trip(Harmless())
    with torch.serialization.safe_globals([Harmless]):
        assert round_trip(Harmless()).value == 3
    with pytest.raises(pickle.UnpicklingError):
        round_trip(Harmless())
    torch.serialization.add_safe_globals([Harmless])
    try:
        assert Harmless in torch.serialization.get_safe_globals() and round_trip(Harmless()).value == 3
    finally:
        torch.serialization.clear_safe_globals()


def scaled(x: Any) -> Any:
    return 2 * x


def test_allowed_objects_are_stored_as_they_are() -> None:
    with torch.serialization.safe_globals([scaled, Harmless]):
        loaded = round_trip({"a": [scaled, (Harmless,)], Harmless: {scaled}}, weights_only=True)
    assert loaded["a"][0] is scaled and loaded["a"][1] == (Harmless,) and loaded[Harmless] == {scaled}
    kinds = [torch.Size, torch.Tensor, torch.nn.Parameter, OrderedDict, set]
    assert round_trip([*kinds, (torch.device,)], weights_only=True) == [*kinds, (torch.device,)]


@only_torch_py
@pytest.mark.parametrize("weights_only", [True, False])
def test_types_of_storages_are_loaded_as_classes(weights_only: bool) -> None:
    loaded = round_trip([torch.FloatStorage, torch.UntypedStorage, torch.ones(2)], weights_only=weights_only)
    assert loaded[:2] == [torch.FloatStorage, torch.UntypedStorage] and loaded[2].tolist() == [1.0, 1.0]


def transformer_parts() -> list[Any]:
    nn = torch.nn
    parts = [nn.TransformerEncoderLayer, nn.MultiheadAttention, nn.Linear, nn.Dropout, nn.LayerNorm]
    return [*parts, nn.modules.linear.NonDynamicallyQuantizableLinear, nn.functional.relu]


def test_whole_transformer_layer() -> None:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16).eval()
    example = torch.ones(1, 2, 8)
    with torch.serialization.safe_globals(transformer_parts()):
        loaded = round_trip(layer, weights_only=True)
    assert loaded.activation is torch.nn.functional.relu
    assert torch.equal(loaded(example), layer(example))


@only_torch_py
def test_restricted_files_with_layers_are_exchanged_with_pytorch() -> None:
    pytorch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16).eval()
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)

    parts = [
        getattr(sys.modules[part.__module__.replace("torch_py", "torch")], part.__name__)
        for part in transformer_parts()
    ]
    with pytorch.serialization.safe_globals(parts):
        theirs = pytorch.load(file, weights_only=True)
    back = io.BytesIO()
    pytorch.save(theirs, back)
    back.seek(0)

    with torch.serialization.safe_globals(transformer_parts()):
        ours = torch.load(back, weights_only=True)
    assert torch.equal(ours.linear1.weight, layer.linear1.weight)


@only_torch_py
def test_names_of_files_that_earlier_versions_wrote() -> None:
    """They name the package that exports a layer; PyTorch refuses that name."""
    structure = b"\x80\x02ctorch.nn\nLinear\n."
    with torch.serialization.safe_globals([torch.nn.Linear]):
        assert torch.load(archive(structure)) is torch.nn.Linear
    with pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.Linear"):
        torch.load(archive(structure))


def test_the_system_is_blocked_even_if_allowed() -> None:
    with (
        torch.serialization.safe_globals([os.system]),
        pytest.raises(pickle.UnpicklingError, match="blocked"),
    ):
        round_trip(os.system, weights_only=True)


@pytest.mark.parametrize("value", ["1", "y", "yes", "True"])
def test_the_environment_decides_what_is_trusted(monkeypatch: Any, value: str) -> None:
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", value)
    with pytest.warns(UserWarning, match="TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected"):
        assert round_trip(Harmless()).value == 3
    with pytest.raises(pickle.UnpicklingError):
        round_trip(Harmless(), weights_only=True)

    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", value)
    with pytest.raises(RuntimeError, match="Only one of"):
        round_trip(1)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0")
    with pytest.raises(pickle.UnpicklingError):
        round_trip(Harmless(), weights_only=False)


def archive(structure: bytes, **records: bytes) -> io.BytesIO:
    """An archive with a hand-made pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        target.writestr("archive/data.pkl", structure)
        target.writestr("archive/version", "3\n")
        for name, data in records.items():
            target.writestr(f"archive/data/{name.lstrip('_')}", data)
    file.seek(0)
    return file


def tensor_pickle(count: int, offset: int, size: int, stride: int) -> bytes:
    pid = (
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK%ctQ" % count
    )
    return (
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("
        + pid
        + b"K%c(K%ct(K%ct\x89ccollections\nOrderedDict\n)RtR." % (offset, size, stride)
    )


def test_hand_made_pickle_is_read() -> None:
    loaded = torch.load(archive(tensor_pickle(2, 0, 2, 1), _0=b"\x00\x00\x80\x3f\x00\x00\x00\x40"))
    assert loaded.tolist() == [1.0, 2.0]


@only_torch_py
@pytest.mark.parametrize(
    "count, offset, size, stride", [(2, 0, 3, 1), (2, 1, 2, 1), (2, 0, 2, 2), (9, 0, 9, 1)]
)
def test_tensors_that_reach_outside_their_storage(count: int, offset: int, size: int, stride: int) -> None:
    with pytest.raises(RuntimeError, match="needs|expected record"):
        torch.load(archive(tensor_pickle(count, offset, size, stride), _0=bytes(8)))


@only_torch_py
@pytest.mark.parametrize(
    "structure",
    [
        b"\x80\x02ccollections\nOrderedDict\n}X\x01\x00\x00\x00xK\x01sb.",  # sets an attribute of a class
        # of a function
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(N}X\x0c\x00\x00\x00__defaults__K\x01stb.",
        b"\x80\x02ctorch\nTensor\n(N}X\x07\x00\x00\x00allowedK\x01stb.",  # of a wrapper
    ],
)
def test_the_program_cannot_be_changed(structure: bytes) -> None:
    with pytest.raises((pickle.UnpicklingError, AttributeError, TypeError)):
        torch.load(archive(structure))


@only_torch_py
def test_not_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("hello")
    with pytest.raises(pickle.UnpicklingError, match="not a zip archive"):
        torch.load(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "absent")
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save(1, tmp_path / "absent" / "file.pt")
    with pytest.raises(AttributeError):
        torch.save(1, 3)


def test_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.pt"
    torch.save(torch.ones(1000), path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        torch.load(path)


@only_torch_py
def test_damaged_bytes_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "damaged.pt"
    torch.save(torch.arange(1000), path)
    data = bytearray(path.read_bytes())
    data[data.index(bytes([100, 0, 0, 0, 0, 0, 0, 0, 101]))] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(path)


def test_other_devices_need_map_location() -> None:
    structure = tensor_pickle(2, 0, 2, 1).replace(b"\x03\x00\x00\x00cpu", b"\x06\x00\x00\x00cuda:0")
    data = b"\x00\x00\x80\x3f\x00\x00\x00\x40"
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match=r"map_location=torch.device\('cpu'\)"):
            torch.load(archive(structure, _0=data))
    for location in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, place: storage):
        assert torch.load(archive(structure, _0=data), map_location=location).tolist() == [1.0, 2.0]


def test_one_memory_under_two_dtypes_is_an_error() -> None:
    x = torch.zeros(4)
    y = torch.empty(0, dtype=torch.int32)
    y.set_(x.untyped_storage(), 0, (4,), (1,))
    with pytest.raises(RuntimeError, match="view the same"):
        torch.save([x, y], io.BytesIO())


def test_layout_of_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    torch.save({"x": torch.ones(3), "y": torch.zeros(5)}, path)

    with zipfile.ZipFile(path) as zipped:
        names = set(zipped.namelist())
        assert {
            "weights/data.pkl",
            "weights/version",
            "weights/byteorder",
            "weights/data/0",
            "weights/data/1",
        } <= names
        assert zipped.read("weights/version") == b"3\n"

        for record in zipped.infolist():
            if "/data/" in record.filename:
                header = path.read_bytes()[record.header_offset : record.header_offset + 30]
                start = (
                    record.header_offset
                    + 30
                    + int.from_bytes(header[26:28], "little")
                    + int.from_bytes(header[28:30], "little")
                )
                assert start % 64 == 0, record.filename
        assert b"torch._utils\n_rebuild_tensor_v2" in zipped.read("weights/data.pkl")


@only_torch_py
def test_same_value_gives_the_same_file() -> None:
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        torch.save({"x": torch.ones(3)}, file)
    assert files[0].getvalue() == files[1].getvalue()


def test_pickle_and_attributes() -> None:
    x = torch.arange(6.0).reshape(2, 3)[:, 1:]
    x.note = "kept"
    loaded = pickle.loads(pickle.dumps(x))
    assert torch.equal(loaded, x) and loaded.note == "kept" and loaded.is_leaf
    parameter = pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(2))))
    assert isinstance(parameter, torch.nn.Parameter) and parameter.requires_grad
    assert round_trip(x).note == "kept"


EXCHANGE = """
import sys
import threading
import {module} as torch
mode, path = sys.argv[1:]
names = {dtypes!r}
values = {{name: torch.tensor([[0, 1, 2], [3, 4, 5]]).to(getattr(torch, name)) for name in names}}
base = torch.arange(12.0).reshape(3, 4)
values.update(column=base[:, 1], base=base, parameter=torch.nn.Parameter(torch.ones(2)))
values.update(size=torch.Size([2, 3]), dtype=torch.bfloat16)
values.update(model=torch.nn.Linear(2, 1).state_dict(), rest=[1, 2.5, "text", None, b"bytes", 1 + 2j, {{3}}])
if mode == "save":
    torch.save(values, path)
else:
    loaded = torch.load(path, weights_only=True)
    for name in [*names, "column", "base"]:
        assert loaded[name].dtype == values[name].dtype and torch.equal(loaded[name], values[name]), name
    loaded["base"][0, 1] = 9
    assert loaded["column"].stride() == (4,) and loaded["column"][0].item() == 9
    assert isinstance(loaded["parameter"], torch.nn.Parameter) and loaded["parameter"].requires_grad
    assert loaded["size"] == values["size"] and loaded["dtype"] is torch.bfloat16
    assert loaded["rest"] == values["rest"]
    torch.nn.Linear(2, 1).load_state_dict(loaded["model"])
    assert loaded["model"]._metadata[""] == {{"version": 1}}
"""


@only_torch_py
@pytest.mark.parametrize("writer, reader", [("torch_py", "torch"), ("torch", "torch_py")])
def test_files_are_exchanged_with_pytorch(writer: str, reader: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    path = str(tmp_path / "exchange.pt")
    for mode, module in (("save", writer), ("load", reader)):
        program = EXCHANGE.format(module=module, dtypes=DTYPES)
        result = subprocess.run([sys.executable, "-c", program, mode, path], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("make", [lambda t: t, lambda t: torch.nn.Parameter(t)], ids=["tensor", "parameter"])
def test_meta_tensors(tmp_path, make):
    tensor = make(torch.empty(2, 3, device="meta").t())
    torch.save({"t": tensor}, tmp_path / "meta.pt")
    loaded = torch.load(tmp_path / "meta.pt")["t"]
    assert type(loaded) is type(tensor)
    assert loaded.is_meta
    assert loaded.shape == (3, 2)
    assert loaded.stride() == (1, 3)
    assert loaded.requires_grad == tensor.requires_grad
    assert pickle.loads(pickle.dumps(tensor)).is_meta


# Mapped files, damaged records, complete files
# ------------------------------------------------------------


def test_mapped_files(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    x = torch.arange(100_000.0)
    torch.save({"x": x, "view": x[10:20], "none": torch.empty(0), "one": torch.tensor(3)}, path)

    loaded = torch.load(path, mmap=True)
    assert torch.equal(loaded["x"], x) and loaded["none"].shape == (0,) and int(loaded["one"]) == 3
    assert loaded["view"].untyped_storage().data_ptr() == loaded["x"].untyped_storage().data_ptr()

    loaded["x"].zero_()  # a copy in memory: the file stays
    assert torch.equal(torch.load(path)["x"], x)
    torch.save(torch.load(path, mmap=True), path)  # over the file that is mapped
    assert torch.equal(torch.load(path)["x"], x)

    with pytest.raises(ValueError, match="f must be a .* in order to use the mmap argument"):
        torch.load(io.BytesIO(path.read_bytes()), mmap=True)


@only_torch_py
@pytest.mark.parametrize("mapped", [False, True])
def test_records_that_the_file_does_not_have(tmp_path: Path, mapped: bool) -> None:
    path = tmp_path / "weights.pt"
    torch.save(torch.arange(1_000_000.0), path)
    data = bytearray(path.read_bytes())
    directory = data.rindex(b"PK\x01\x02", 0, data.rindex(b"data/0"))
    data[directory + 42 : directory + 46] = (len(data) - 40).to_bytes(
        4, "little"
    )  # the record claims to begin at the end of the file
    path.write_bytes(data)
    with pytest.raises((RuntimeError, OSError)):
        torch.load(path, mmap=mapped)


@only_torch_py
@pytest.mark.parametrize("elements", [10, 1_000_000])
def test_damage_is_noticed_in_small_and_large_records(tmp_path: Path, elements: int) -> None:
    path = tmp_path / "weights.pt"
    torch.save(torch.ones(elements), path)
    data = bytearray(path.read_bytes())
    data[data.index(b"\x00\x00\x80\x3f") + 4] ^= 1
    path.write_bytes(data)
    with pytest.raises(Exception, match="damaged|CRC"):
        torch.load(path)


@only_torch_py
def test_an_error_while_saving_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    link = tmp_path / "link.pt"
    torch.save(torch.ones(3), path)
    path.chmod(0o640)
    link.symlink_to(path)

    with pytest.raises(Exception, match="pickle|local object"):
        torch.save({"x": torch.zeros(10), "f": lambda: 0}, link)
    assert torch.equal(torch.load(path), torch.ones(3))

    torch.save(torch.zeros(2), link)
    assert link.is_symlink()
    assert torch.equal(torch.load(path), torch.zeros(2))
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.pt", "weights.pt"]


@only_torch_py
def test_killed_while_saving_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    torch.save(torch.ones(3), path)
    program = f"""
import os, {torch.__name__} as torch
class Killer:
    def __reduce__(self):
        os._exit(9)
torch.save([torch.zeros(1000), Killer()], {str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 9
    assert torch.equal(torch.load(path), torch.ones(3))


def test_saving_to_a_device_file() -> None:
    torch.save(torch.ones(3), "/dev/null")
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")


@only_torch_py
def test_threads_that_save_to_one_path(tmp_path: Any) -> None:
    """The file holds what one thread saved; the second thread does not write into the file of the first."""
    path = tmp_path / "x.pt"
    both = threading.Barrier(2, timeout=60)

    class Meeting:
        def __reduce__(self) -> Any:
            both.wait()
            return str, ("met",)

    def save(value: int) -> None:
        torch.save([Meeting(), torch.full((100000 * value,), float(value))], path)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(save, (1, 2)))
    _, loaded = torch.load(path, weights_only=False)
    assert loaded.shape == (100000 * int(loaded[0]),) and bool((loaded == loaded[0]).all())
    assert [each.name for each in tmp_path.iterdir()] == ["x.pt"]


class _Renaming:
    """A pickle module for files whose classes have moved."""

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            return complex if name == "Path" or name == "PosixPath" else super().find_class(module, name)

    load = staticmethod(pickle.load)


def test_load_reads_by_the_given_pickle_module(tmp_path: Path) -> None:
    torch.save({"moved": Path("2"), "x": torch.ones(2)}, tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt", pickle_module=_Renaming, weights_only=False)
    assert loaded["moved"] == complex("2") and loaded["x"].tolist() == [1.0, 1.0]


def test_records_of_a_file():
    file = io.BytesIO()
    torch.save({"a": torch.arange(3.0)}, file)
    file.seek(0)
    reader = torch.PyTorchFileReader(file)

    assert reader.has_record("data.pkl")
    assert "data/0" in reader.get_all_records()
    assert not reader.has_record("none")
    assert reader.get_storage_from_record("data/0", 3, torch.float32).tolist() == [0, 1, 2]

    with pytest.raises(RuntimeError, match="none"):
        reader.get_record("none")

"""torch.load of truncated or altered files raises a clear error, in bounded time and memory."""

from __future__ import annotations

import io
import os
import pickle
import random
import resource
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

REFUSED = (RuntimeError, pickle.UnpicklingError, EOFError)


def small_file() -> bytes:
    base = torch.arange(12.0).reshape(3, 4)
    value = {
        "base": base,
        "column": base[:, 1],
        "half": torch.ones(3, dtype=torch.bfloat16),
        "parameter": torch.nn.Parameter(torch.ones(2)),
    }
    rest = [1, 2.5, "text", None, b"bytes", {3}, (4,), torch.Size([1, 2]), torch.float32, torch.empty(0, 3)]
    file = io.BytesIO()
    torch.save({**value, "rest": rest}, file)
    return file.getvalue()


def without_checksums(data: bytes) -> bytes:
    """The archive with checksums of 0, which mean that records have none: an attacker could correct them."""
    changed = bytearray(data)
    place = -1
    while (place := data.find(b"PK\x01\x02", place + 1)) >= 0:
        changed[place + 16 : place + 20] = bytes(4)
    return bytes(changed)


@contextmanager
def little_memory() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def touch(value: Any) -> None:
    """Reads every number that a tensor claims to hold."""
    for each in (
        value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    ):
        touch(each)
    if isinstance(value, torch.Tensor) and value.numel() < 10**6 and not value.is_meta:
        value.clone()


def attempt(data: bytes, path: Path, way: int) -> None:
    """Loads the bytes as a stream, a file or a mapped file."""
    try:
        if way == 0:
            touch(torch.load(io.BytesIO(data)))
        else:
            path.write_bytes(data)
            touch(torch.load(path, mmap=way == 2))
    except REFUSED as error:
        assert not isinstance(error, RecursionError)


@only_torch_py
def test_hostile_files_in_the_old_format() -> None:
    """Pickles of the old format may be malicious programs, too; storages are named at the end."""
    file = io.BytesIO()
    torch.save([torch.ones(2)], file, _use_new_zipfile_serialization=False)

    data = file.getvalue()
    doubled = b")" + b"2\x86" * 40
    version = pickle.dumps(1001, 2)
    keys = pickle.dumps(["0"], 2)
    assert data.count(version) == data.count(keys) == 1

    for old, new in (
        (version, b"\x80\x02" + doubled + b"."),
        (keys, b"\x80\x02]" + doubled + b"a."),
        (keys, b"\x80\x02" + doubled + b"Q."),
    ):
        with pytest.raises(REFUSED):
            torch.load(io.BytesIO(data.replace(old, new)))

    for length in range(1, len(data), 7):
        with pytest.raises(REFUSED):
            torch.load(io.BytesIO(data[:length]))


@only_torch_py
def test_cut_off_anywhere(tmp_path: Path) -> None:
    data = small_file()
    for length in range(len(data)):
        with pytest.raises(REFUSED):
            torch.load(io.BytesIO(data[:length]))
        if length % 16 == 0:
            (tmp_path / "cut.pt").write_bytes(data[:length])
            with pytest.raises(REFUSED):
                torch.load(tmp_path / "cut.pt", mmap=True)


@only_torch_py
@pytest.mark.parametrize("seed", range(2))
def test_changed_anywhere(tmp_path: Path, seed: int) -> None:
    """While the format was developed, this ran with more than ten thousand seeds.

    What it found is tested below and in test_hostile_files.
    """
    generator = random.Random(seed)
    data = without_checksums(small_file())

    structure = data.index(b"data.pkl")
    with little_memory():
        for number in range(300):
            changed = bytearray(data)
            for _ in range(generator.choice([1, 1, 2, 4, 16])):
                place = generator.choice(
                    [
                        generator.randrange(len(data)),
                        structure + generator.randrange(600),
                        -generator.randrange(1, 900),
                    ]
                )
                place = min(place % len(data), len(changed) - 1)

                kind = generator.random()
                if kind < 0.5:
                    changed[place] ^= 1 << generator.randrange(8)
                elif kind < 0.8:
                    changed[place] = generator.choice([0, 255, 127, 128])
                elif kind < 0.9:
                    del changed[place : place + 4]
                else:
                    changed[place:place] = generator.randbytes(4)
            attempt(bytes(changed), tmp_path / "changed.pt", number % 3)


def set_in_directory(data: bytes, name: bytes, **fields: int) -> bytes:
    changed = bytearray(data)
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(name))
    places = {"method": (10, "<H"), "compressed": (20, "<I"), "size": (24, "<I"), "offset": (42, "<I")}
    for field, value in fields.items():
        struct.pack_into(places[field][1], changed, entry + places[field][0], value)
    return bytes(changed)


@only_torch_py
@pytest.mark.parametrize("way", [0, 1, 2], ids=["stream", "file", "mapped"])
@pytest.mark.parametrize(
    "fields",
    [
        {"compressed": 2**31, "size": 2**31},
        {"size": 2**31},
        {"compressed": 0},
        {"offset": 0},
        {"offset": 2**31},
        {"method": 8},
        {"method": 99},
    ],
    ids=str,
)
def test_records_that_are_not_what_the_directory_says(
    tmp_path: Path, way: int, fields: dict[str, int]
) -> None:
    data = set_in_directory(without_checksums(small_file()), b"data/0", **fields)
    with little_memory(), pytest.raises(RuntimeError, match="torch.load: "):
        if way:
            (tmp_path / "x.pt").write_bytes(data)
        torch.load(tmp_path / "x.pt" if way else io.BytesIO(data), mmap=way == 2)


@only_torch_py
def test_compressed_records_are_refused() -> None:
    for bomb in ("data.pkl", "byteorder", "data/0"):
        file = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(small_file())) as source,
            zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target,
        ):
            for name in source.namelist():
                content = source.read(name)
                packed = name.endswith(bomb)
                target.writestr(
                    zipfile.ZipInfo(name),
                    content + bytes(1 << 20) * packed,
                    zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED,
                )

        file.seek(0)
        with pytest.raises(RuntimeError, match="is compressed"):
            torch.load(file)


@only_torch_py
def test_records_over_one_another() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", b"\x80\x02N.")
        archive.writestr("a/data/0", bytes(1000))

    data = file.getvalue().replace(b"a/data/0", b"a/data/1", 1)
    first = data.index(b"PK\x01\x02")
    last = data.rindex(b"PK\x05\x06")
    second = data.rindex(b"PK\x01\x02")
    twice = data[first:second] + data[second:last] * 2
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 3, 3, len(twice), first, 0)

    with pytest.raises(RuntimeError, match="overlaps another one"):
        torch.load(io.BytesIO(data[:first] + twice + end))


def test_files_that_are_not_archives(tmp_path: Path) -> None:
    with pytest.raises(EOFError):
        torch.load(io.BytesIO())
    with pytest.raises(pickle.UnpicklingError):
        torch.load(io.BytesIO(bytes(2048)))
    for data in (b"PK\x03\x04 and no more", small_file()[:-10]):
        with pytest.raises(RuntimeError):
            torch.load(io.BytesIO(data))


@only_torch_py
def test_mapped_numbers_are_aligned(tmp_path: Path) -> None:
    """Programs other than PyTorch may store a record at any offset."""
    x = torch.arange(100.0)
    torch.save(x, tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as source, zipfile.ZipFile(tmp_path / "odd.pt", "w") as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name), source.read(name))
    loaded = torch.load(tmp_path / "odd.pt", mmap=True)
    assert loaded.data_ptr() % 16 == 0 and torch.equal(loaded, x)


# Streams
# ------------------------------------------------------------


class Trickling(io.RawIOBase):
    """Reads and writes a few bytes at a time."""

    def __init__(self, data: bytes = b"") -> None:
        self.file = io.BytesIO(data)

    def readinto(self, target: Any) -> int:
        return self.file.readinto(memoryview(target)[:7])

    def write(self, data: Any) -> int:
        return self.file.write(memoryview(data)[:7])

    def seek(self, *place: int) -> int:
        return self.file.seek(*place)

    def tell(self) -> int:
        return self.file.tell()

    def readable(self) -> bool:
        return True

    seekable = writable = readable


@only_torch_py
def test_streams_that_take_and_give_little() -> (
    None
):  # PyTorch writes a file that cannot be read, and fails to read this one
    stream = Trickling()
    torch.save({"x": torch.arange(1000)}, stream)
    data = stream.file.getvalue()
    for file in (io.BytesIO(data), Trickling(data)):
        assert torch.equal(torch.load(file)["x"], torch.arange(1000))


def test_a_pipe_can_be_written_but_not_read() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb") as target:
        torch.save(torch.ones(3), target)
    with os.fdopen(read, "rb") as source:
        with pytest.raises(OSError, match="seek"):
            torch.load(source)
        assert torch.load(io.BytesIO(source.read())).tolist() == [1, 1, 1]


def test_archive_after_other_bytes() -> None:
    file = io.BytesIO(b"something")
    file.seek(0, os.SEEK_END)
    torch.save([torch.ones(2)], file)
    file.seek(len(b"something"))
    assert torch.load(file)[0].tolist() == [1, 1]


ERRORS: list[tuple[str, Callable[[Any, Any], object]]] = [
    ("load bytes", lambda library, path: library.load(os.fsencode(path))),
    ("load None", lambda library, path: library.load(None)),
    ("load a folder", lambda library, path: library.load(path.parent)),
    ("load text", lambda library, path: library.load(io.StringIO("abc"))),
    ("a closed file", lambda library, path: library.load(closed_file())),
    ("save to bytes", lambda library, path: library.save(1, os.fsencode(path))),
    ("save to a folder", lambda library, path: library.save(1, path.parent)),
    ("save to no name", lambda library, path: library.save(1, "")),
    ("save to a full device", lambda library, path: library.save(library.ones(10000), "/dev/full")),
    ("save where nothing can be", lambda library, path: library.save(1, "/proc/x.pt")),
    ("another protocol", lambda library, path: library.save(1, io.BytesIO(), pickle_protocol=99)),
    ("map_location=3", lambda library, path: library.load(path, map_location=3)),
    ("map_location of a list", lambda library, path: library.load(path, map_location=["cpu"])),
    ("map_location to an unknown device", lambda library, path: library.load(path, map_location="bogus")),
    ("map_location to a number", lambda library, path: library.load(path, map_location={"cpu": 3})),
    (
        "a function that gives a number",
        lambda library, path: library.load(path, map_location=lambda storage, place: 3),
    ),
    ("both ways to read", lambda library, path: library.load(path, pickle_module=pickle, weights_only=True)),
    ("an unknown option", lambda library, path: library.load(path, foo=3)),
    ("an unknown option of pickle", lambda library, path: library.load(path, foo=3, weights_only=False)),
    ("a map of a stream", lambda library, path: library.load(io.BytesIO(path.read_bytes()), mmap=True)),
]


def closed_file() -> io.BytesIO:
    file = io.BytesIO(b"PK")
    file.close()
    return file


@only_torch_py
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", [call for _, call in ERRORS], ids=[name for name, _ in ERRORS])
def test_bad_arguments_raise_what_pytorch_raises(tmp_path: Path, call: Callable[[Any, Any], object]) -> None:
    peer = pytest.importorskip("torch")
    torch.save({"x": torch.ones(2)}, tmp_path / "x.pt")
    kinds = []
    for library in (torch, peer):
        with pytest.raises(Exception) as caught:
            call(library, tmp_path / "x.pt")
        kinds.append(caught.type)
    assert kinds[0] is kinds[1]


def test_where_storages_go(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save({"x": torch.arange(6.0).reshape(2, 3).t()}, path)

    for location in ("meta", torch.device("meta"), {"cpu": "meta"}):
        for mapped in (False, True):
            loaded = torch.load(path, map_location=location, mmap=mapped)["x"]
            assert loaded.is_meta and loaded.shape == (3, 2) and loaded.stride() == (1, 3)

    seen = []
    for chosen in (lambda storage: storage, lambda storage: None):
        loaded = torch.load(
            path,
            map_location=lambda storage, place, chosen=chosen: (
                seen.append((storage.nbytes(), place)) or chosen(storage)
            ),
        )
        assert loaded["x"].tolist() == [[0, 3], [1, 4], [2, 5]]

    assert seen == [(24, "cpu")] * 2
    assert torch.load(path, pickle_module=pickle)["x"].shape == (3, 2)


# Writing
# ------------------------------------------------------------


@only_torch_py
def test_no_space_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / ("long" * 60 + ".pt")  # a longer name would exceed the limit
    torch.save(torch.ones(3), path)
    program = f"""
import resource, signal, torch_py as torch
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

try:
    torch.save(torch.zeros(1000000), {str(path)!r})
except RuntimeError as error:
    assert "cannot write" in str(error) and isinstance(error.__cause__, OSError)
else:
    raise AssertionError
"""

    assert subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[3]).returncode == 0
    assert torch.load(path).tolist() == [1, 1, 1] and os.listdir(tmp_path) == [path.name]


@only_torch_py
def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    torch.save(1, tmp_path / "x.pt")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "x.pt").stat().st_mode == (tmp_path / "plain").stat().st_mode


# Exchange with PyTorch
# ------------------------------------------------------------


def model_of(library: Any) -> Any:
    nn = library.nn
    return nn.Sequential(
        nn.Linear(4, 4),
        nn.BatchNorm1d(4),
        nn.Conv2d(1, 2, 3),
        nn.MultiheadAttention(4, 2),
        nn.ModuleDict({"a": nn.GELU()}),
        nn.ParameterList([nn.Parameter(library.ones(2))]),
        nn.TransformerEncoderLayer(4, 2),
    )


@only_torch_py
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ours_writes", [True, False], ids=["ours to PyTorch", "PyTorch to ours"])
def test_whole_modules_are_exchanged(ours_writes: bool) -> None:
    peer = pytest.importorskip("torch")
    writer, reader = (torch, peer) if ours_writes else (peer, torch)
    model = model_of(writer)
    file = io.BytesIO()
    writer.save(model, file)
    file.seek(0)

    loaded = reader.load(file, weights_only=False)
    assert type(loaded[0]) is reader.nn.Linear and type(loaded[0].weight) is reader.nn.Parameter
    for ours, theirs in zip(loaded.parameters(), model.parameters(), strict=True):
        assert ours.detach().numpy().tolist() == theirs.detach().numpy().tolist()

    x = reader.ones(3, 1, 4)
    loaded[6](loaded[3](x, x, x)[0] + loaded[0](x)).sum().backward()


@only_torch_py
@pytest.mark.filterwarnings("ignore")
def test_files_that_pytorch_writes_differently() -> None:
    peer = pytest.importorskip("torch")

    def through(value: Any, **options: Any) -> Any:
        file = io.BytesIO()
        peer.save(value, file)
        file.seek(0)
        return torch.load(file, **options)

    z = peer.tensor([1 + 2j])
    assert through(z.conj()).tolist() == [1 - 2j] and through(z.conj().imag).tolist() == [-2.0]
    assert through(peer.ones(2).untyped_storage()).tolist() == [0, 0, 128, 63] * 2
    peer.serialization.set_crc32_options(False)
    try:
        assert through(peer.ones(2)).tolist() == [1, 1]
    finally:
        peer.serialization.set_crc32_options(True)
    for value in (peer.eye(2).to_sparse(), peer.quantize_per_tensor(peer.ones(2), 0.1, 0, peer.quint8)):
        for options in ({}, {"weights_only": False}):
            with pytest.raises(pickle.UnpicklingError, match="this build does not have"):
                through(value, **options)


def test_storages(tmp_path: Path) -> None:
    torch.save([torch.ones(2).untyped_storage(), torch.zeros(0).untyped_storage()], tmp_path / "x.pt")
    full, empty = torch.load(tmp_path / "x.pt")
    assert full.tolist() == [0, 0, 128, 63] * 2 and empty.tolist() == []

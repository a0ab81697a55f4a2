"""Files of programs: what they keep, and files that are damaged or hostile."""

import io
import json
import random
import zipfile
from dataclasses import dataclass

import pytest

import torch_py as torch
from torch_py import nn
from torch_py.export import Dim, export, load, register_dataclass, save


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.register_buffer("mask", torch.tensor([True, False, True, True]))

    def forward(self, x):
        y = self.linear(x).masked_fill(self.mask, float("-inf")).softmax(1)
        return (y.to(torch.bfloat16), {"rows": x.shape[0]}, y[:, 1:])


def program():
    return export(Block(), (torch.ones(2, 3),), dynamic_shapes=({0: Dim("n", max=9)},))


def saved(what=None, **options):
    file = io.BytesIO()
    save(program() if what is None else what, file, **options)
    return file.getvalue()


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def changed(change):
    """A file whose program was changed by a function."""
    parts = members(saved())
    content = json.loads(parts["program.json"])
    change(content["program"])
    parts["program.json"] = json.dumps(content)
    return archive_of(parts)


def test_a_program_comes_back(tmp_path):
    original = program()
    save(original, tmp_path / "block.pt2")
    again = load(tmp_path / "block.pt2")
    assert str(again) == str(original) and again.call_spec == original.call_spec
    assert torch.equal(again.example_inputs[0][0], torch.ones(2, 3))
    x = torch.randn(7, 3)
    for one, other in zip(again.module()(x), original.module()(x), strict=True):
        assert one == other if isinstance(one, dict) else torch.equal(one, other)
    with pytest.raises(AssertionError, match="n <= 9"):
        again.module()(torch.ones(10, 3))


def test_extra_files():
    found = {"notes.txt": "", "absent": ""}
    load(io.BytesIO(saved(extra_files={"notes.txt": "hello", "bytes": b"\0"})), extra_files=found)
    assert found == {"notes.txt": b"hello", "absent": ""}


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int8, torch.bool, torch.complex64])
def test_tensors_of_all_kinds_come_back(dtype):
    class Holds(nn.Module):
        def __init__(self):
            super().__init__()
            base = torch.arange(12).reshape(3, 4).to(dtype)
            self.register_buffer("turned", base.t())
            self.register_buffer("part", base[1:, ::2])
            self.register_buffer("empty", torch.zeros(0, 3, dtype=dtype))
            self.register_buffer("wide", torch.ones(1, dtype=dtype).expand(5))

        def forward(self, x):
            return x + self.turned.sum().to(x.dtype)

    original = export(Holds(), (torch.ones(2, dtype=dtype),))
    again = load(io.BytesIO(saved(original)))
    for name, buffer in original.named_buffers():
        other = again.state_dict[name]
        assert torch.equal(other, buffer) and other.dtype == dtype and other.stride() == buffer.stride()
    assert (
        again.state_dict["turned"].untyped_storage().data_ptr()
        == again.state_dict["part"].untyped_storage().data_ptr()
    )


@dataclass
class Pair:
    first: torch.Tensor
    second: torch.Tensor


register_dataclass(Pair, serialized_type_name="tests.Pair")


def test_dataclasses_are_arguments_and_results():
    class Swap(nn.Module):
        def forward(self, pair):
            return Pair(pair.second + 1, pair.first)

    original = export(Swap(), (Pair(torch.zeros(1), torch.ones(1)),))
    found = load(io.BytesIO(saved(original))).module()(Pair(torch.zeros(1), torch.ones(1)))
    assert isinstance(found, Pair) and found.first == 2 and found.second == 0
    with pytest.raises(TypeError, match="Only dataclasses"):
        register_dataclass(int)


def test_what_is_not_a_program():
    with pytest.raises(TypeError, match="must be an instance of 'ExportedProgram'"):
        save(nn.ReLU(), io.BytesIO())
    with pytest.raises(RuntimeError, match="not a file of a saved program"):
        load(io.BytesIO(b"PK\x03\x04 nothing"))
    file = io.BytesIO()
    torch.save({"a": torch.ones(3)}, file)
    with pytest.raises(RuntimeError, match="not a file of a saved program"):
        load(file)
    with pytest.raises(FileNotFoundError):
        load("/no/such/file.pt2")


def node(name, program):
    return next(row for row in program["nodes"] if row["name"] == name)


def call(target, op="call_function"):
    def change(program):
        program["nodes"][-2].update(op=op, target=target)

    return change


HOSTILE = {
    "a function of Python": call("builtins.eval"),
    "a function of a module": call("os.system"),
    "an operator that opens files": call("aten::from_file"),
    "an unknown operator": call("aten::no_such"),
    "a method": call("__reduce_ex__", "call_method"),
    "a layer": call("linear", "call_module"),
    "an attribute": call("__class__", "get_attr"),
    "an unknown kind of node": call("x", "exec"),
    "a name that is code": lambda p: p["nodes"][0].update(name="x); import os; (x"),
    "a name of printed code": lambda p: p["nodes"][0].update(name="torch"),
    "a keyword as a name": lambda p: p["nodes"][0].update(name="lambda"),
    "a name twice": lambda p: p["nodes"][1].update(name=p["nodes"][0]["name"]),
    "a keyword that is code": lambda p: p["nodes"][-2].update(
        kwargs={"dict": [["a=1, **__import__('os')", 1]]}
    ),
    "a parameter that is code": lambda p: p.update(parameters=[["x=print(1)"], []]),
    "state that reaches into objects": lambda p: p["state"].update({"__class__.x": 0}),
    "state with a quote": lambda p: p["state"].update({'a"), print("': 0}),
    "a node before it is made": lambda p: p["nodes"][0].update(args={"tuple": [{"node": "softmax"}]}),
    "a value without a kind": lambda p: p["nodes"][-2].update(args={"tuple": [{}]}),
    "a value of an unknown kind": lambda p: p["nodes"][-2].update(args={"tuple": [{"pickle": "abc"}]}),
    "a missing tensor": lambda p: p["state"].update({"linear.weight": 99}),
    "missing state": lambda p: p["state"].pop("linear.weight"),
    "a shape beyond the bytes": lambda p: p["tensors"][0].update(shape=[1 << 40, 3]),
    "a negative stride": lambda p: p["tensors"][0].update(stride=[-1, 1]),
    "an offset beyond the bytes": lambda p: p["tensors"][0].update(offset=1 << 60),
    "a start beyond the bytes": lambda p: p["tensors"][0].update(start=1 << 60),
    "a shape of text": lambda p: p["tensors"][0].update(shape="12"),
    "an unknown dtype": lambda p: p["tensors"][0].update(dtype="__class__"),
    "bytes that are not bools": lambda p: p["tensors"][1].update(dtype="bool"),
    "a structure of another class": lambda p: p.update(in_spec=["os.system", None, []]),
    "a structure without keys": lambda p: p.update(out_spec=["dict", None, [None]]),
    "another signature": lambda p: p["inputs"].pop(),
    "fewer outputs": lambda p: p["outputs"].pop(),
    "an unknown operation": lambda p: node("x", p).update(value=[[{"formula": ["exec", 1]}], None, None]),
    "no nodes": lambda p: p.update(nodes=[]),
    "nodes of another type": lambda p: p.update(nodes={"a": 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_is_refused(name):
    with pytest.raises(RuntimeError):
        loaded = load(io.BytesIO(changed(HOSTILE[name])))
        loaded.module()


def test_containers_that_would_grow_are_refused():
    parts = members(saved())
    with pytest.raises(RuntimeError, match="compressed"):
        load(
            io.BytesIO(archive_of({**parts, "tensors.bin": bytes(1 << 20)}, compression=zipfile.ZIP_DEFLATED))
        )
    with pytest.raises(RuntimeError, match="version 7"):
        text = parts["program.json"].replace(b'"version": 1', b'"version": 7')
        load(io.BytesIO(archive_of({**parts, "program.json": text})))
    with pytest.raises(RuntimeError, match="damaged"):
        load(io.BytesIO(archive_of({**parts, "program.json": b"[" * 100_000})))


def test_every_damage_gives_an_error_or_a_program():
    data = saved()
    choice = random.Random(0)
    for _ in range(300):
        damaged = bytearray(data[: choice.choice((len(data), choice.randrange(len(data))))])
        for _ in range(choice.randrange(4)):
            if damaged:
                damaged[choice.randrange(len(damaged))] = choice.randrange(256)
        try:
            load(io.BytesIO(bytes(damaged)))
        except RuntimeError:
            pass


def test_every_changed_value_gives_an_error_or_a_program():
    """Values of the JSON are replaced by others; the rest of the file is right."""
    parts = members(saved())
    choice = random.Random(1)
    values = [None, -1, 0, 3, 1 << 70, 1.5, "", "x", "__class__", [], [1], {}, {"node": "x"}, True]
    for _ in range(400):
        content = json.loads(parts["program.json"])
        place = content["program"]
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = choice.choice(keys)
            if not isinstance(place[key], (dict, list)) or choice.random() < 0.2:
                place[key] = choice.choice(values)
                break
            place = place[key]

        try:
            loaded = load(io.BytesIO(archive_of({**parts, "program.json": json.dumps(content)})))
        except RuntimeError:
            continue

        try:
            str(loaded)
            loaded.module()(torch.ones(2, 3))
        except Exception as error:  # of a program that is another one now
            assert not isinstance(error, (SystemError, MemoryError))


# --- The contract of the operators that a program calls ---


def loaded_after(change):
    """The program after a change of the schemas in its file, as if they had been others when it was saved."""
    parts = members(saved())
    name = next(name for name in parts if name.endswith("json"))
    content = json.loads(parts[name])
    change(content["program"]["contract"]["operators"])
    return load(io.BytesIO(archive_of({**parts, name: json.dumps(content)})))


def changed_argument(operator, place, **fields):
    def change(operators):
        row = operators[operator][0][place]
        for field, value in fields.items():
            row[["name", "type", "default", "kwarg_only"].index(field)] = value

    return change


@pytest.mark.parametrize(
    "change, problem",
    [
        (
            changed_argument("aten::masked_fill.Scalar", 1, name="where"),
            "the argument 'where' was at place 2",
        ),
        (changed_argument("aten::masked_fill.Scalar", 2, type="str"), "'value' was str"),
        (changed_argument("aten::linear", 2, default="1"), None),
        (changed_argument("aten::_to_copy", 4, default="True"), "the default of 'non_blocking' was True"),
        (lambda operators: operators["aten::_softmax"].__setitem__(1, ["int"]), "the result was int"),
        (lambda operators: operators.clear(), None),
    ],
)
def test_a_changed_operator(change, problem):
    if problem is None:
        assert loaded_after(change) is not None
        return
    with pytest.raises(RuntimeError, match=problem) as caught:
        loaded_after(change)
    assert "export and save the program again" in str(caught.value)
    assert str(caught.value).count("(contract ") == 2


def test_files_without_contract_are_read():
    parts = members(saved())
    name = next(name for name in parts if name.endswith("json"))
    content = json.loads(parts[name])
    del content["program"]["contract"]
    assert load(io.BytesIO(archive_of({**parts, name: json.dumps(content)}))) is not None

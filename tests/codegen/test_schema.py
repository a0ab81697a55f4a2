"""codegen.schema: every schema prints back letter for letter, and a wrong one says where and what to
write."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from codegen.schema import (
    Annotation,
    BaseType,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    SchemaError,
    Symbol,
    default_problem,
    parse_default,
)

SCHEMAS = [
    line
    for line in (Path(__file__).parent / "schemas.txt").read_text().splitlines()
    if line and line[0] != "#"
]


def test_the_file_holds_a_few_hundred_schemas():
    assert len(SCHEMAS) >= 300
    assert len(set(SCHEMAS)) == len(SCHEMAS)


@pytest.mark.parametrize("text", SCHEMAS)
def test_schemas_print_as_they_were_written(text):
    schema = FunctionSchema.parse(text)
    assert str(schema) == text
    assert FunctionSchema.parse(str(schema)) == schema
    for argument in schema.arguments:
        assert argument.default is None or default_problem(argument.type, argument.default) is None
        assert text.startswith(str(argument), schema.place(argument.offset))
        assert text.startswith(argument.name, schema.place(argument.name_offset))


def peer_schemas() -> list[str]:
    """The ``func:`` lines of the peer's file, when it is installed."""
    package = importlib.util.find_spec("torchgen")
    if package is None or not package.submodule_search_locations:
        return []
    path = (
        Path(package.submodule_search_locations[0]) / "packaged" / "ATen" / "native" / "native_functions.yaml"
    )
    return re.findall(r"^- func: (.*?)\s*$", path.read_text(), re.MULTILINE) if path.is_file() else []


@pytest.mark.skipif(not peer_schemas(), reason="torchgen is not installed")
def test_schemas_of_pytorch_print_as_they_were_written():
    texts = peer_schemas()
    assert len(texts) >= 2500
    for text in texts:
        schema = FunctionSchema.parse(text)
        assert str(schema) == text
        wrong = [a for a in schema.arguments if a.default is not None and default_problem(a.type, a.default)]
        assert not wrong, text


def test_parts_of_a_schema():
    schema = FunctionSchema.parse(
        "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    )
    assert schema.base_name == "add_"
    assert schema.overload_name == "Tensor"
    assert schema.unambiguous_name == "add__Tensor"
    assert schema.is_inplace and schema.is_mutable and schema.returns_self
    assert not schema.is_view and not schema.is_out

    own = schema.arguments.self_argument
    assert own is not None and own.annotation == Annotation(("a",), is_write=True)
    assert [a.name for a in schema.arguments.post_self] == ["other"]
    assert [a.name for a in schema.arguments.kwarg_only] == ["alpha"]
    assert schema.arguments.kwarg_only[0].default_value == 1
    assert [a.name for a in schema.arguments.tensors] == ["self", "other"]
    assert [a.name for a in schema.arguments.non_tensors] == ["alpha"]
    assert schema.mutable_arguments == (own,)


def test_self_need_not_come_first():
    arguments = FunctionSchema.parse(
        "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"
    ).arguments
    assert [a.name for a in arguments.pre_self] == ["condition"]
    assert [a.name for a in arguments.positional] == ["condition", "self", "other"]


def test_out_arguments():
    schema = FunctionSchema.parse(
        "max.d(Tensor self, *, int n=1, Tensor(a!) max, Tensor(b!) i) -> (Tensor(a!), Tensor(b!))"
    )
    assert schema.is_out
    assert [a.name for a in schema.arguments.out] == ["max", "i"]
    assert [a.name for a in schema.arguments.flat_all] == ["self", "n", "max", "i"]
    assert [a.name for a in schema.arguments.flat_non_out] == ["self", "n"]


def test_views():
    schema = FunctionSchema.parse("split(Tensor(a -> *) self, int n) -> Tensor(a)[]")
    assert schema.is_view and not schema.is_mutable
    assert schema.arguments.flat_all[0].annotation == Annotation(("a",), after=("*",))
    assert schema.returns[0].type == ListType(BaseType("Tensor"))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("int[2]", ListType(BaseType("int"), 2)),
        ("Tensor?[]", ListType(OptionalType(BaseType("Tensor")))),
        ("int[1]?", OptionalType(ListType(BaseType("int"), 1))),
        ("SymInt[][3]", ListType(ListType(BaseType("SymInt")), 3)),
    ],
)
def test_types(text, expected):
    found = FunctionSchema.parse(f"f({text} x) -> ()").arguments.flat_all[0].type
    assert found == expected
    assert str(found) == text


def test_type_queries():
    types = {
        a.name: a.type
        for a in FunctionSchema.parse("f(Tensor?[] a, int[2]? b, Tensor c, float? d) -> ()").arguments
    }
    assert [n for n, t in types.items() if t.is_tensor_like] == ["a", "c"]
    assert [n for n, t in types.items() if t.is_list] == ["a", "b"]
    assert [n for n, t in types.items() if t.is_optional] == ["b", "d"]
    assert types["c"].is_plain("Tensor") and not types["a"].is_plain("Tensor")
    assert types["b"].list_type == ListType(BaseType("int"), 2)


@pytest.mark.parametrize(
    "text, base, inplace, dunder",
    [
        ("add", "add", False, False),
        ("add_", "add", True, False),
        ("__iand__", "and", True, True),
        ("__and__", "and", False, True),
        ("__index__", "index", False, True),
        ("_foo_", "_foo", True, False),
    ],
)
def test_base_names(text, base, inplace, dunder):
    name = FunctionSchema.parse(f"{text}(Tensor self) -> Tensor").name.name
    assert (name.base, name.inplace, name.dunder, str(name)) == (base, inplace, dunder, text)


def test_operator_names():
    name = FunctionSchema.parse("mul.Scalar(Tensor self, Scalar other) -> Tensor").name
    assert isinstance(name, OperatorName)
    assert (str(name), name.unambiguous) == ("mul.Scalar", "mul_Scalar")


@pytest.mark.parametrize(
    "text, value",
    [
        ("None", None),
        ("True", True),
        ("-1", -1),
        ("1e-05", 1e-05),
        ("'a\\'b'", "a'b"),
        ('"L"', "L"),
        ("[]", ()),
        ("[0,1]", (0, 1)),
        ("Mean", Symbol("Mean")),
        ("0.5", 0.5),
    ],
)
def test_default_values(text, value):
    assert parse_default(text) == value
    assert type(parse_default(text)) is type(value)


@pytest.mark.parametrize(
    "argument, hint",
    [
        ("int x=1.5", "an integer"),
        ("int x=True", "an integer"),
        ("int x=None", "an integer"),
        ("bool x=1", "True or False"),
        ("float x='a'", "a number"),
        ("str x=mean", "a quoted string"),
        ("Tensor x=None", "Tensor?"),
        ("Tensor x=1", "no default"),
        ("Tensor? x=0", "write None"),
        ("int? x=a", "None or an integer"),
        ("int[2] x=[1,2,3]", "a list of 2"),
        ("int[] x=1", "a list such as"),
        ("bool[3] x=[1,2,3]", "a list of 3"),
        ("MemoryFormat x=Contiguous", "contiguous_format"),
        ("ScalarType x=floaty", "a dtype"),
        ("Scalar x=None", "a number"),
        ("Generator x=None", "Generator?"),
    ],
)
def test_wrong_defaults(argument, hint):
    found = FunctionSchema.parse(f"f({argument}) -> ()").arguments.flat_all[0]
    problem = default_problem(found.type, found.default or "")
    assert problem is not None and hint in problem


@pytest.mark.parametrize(
    "marked, message, hint",
    [
        # ^ marks the character that the error points at
        ("^", "expected the operator's name, found the end", "write a name"),
        ("add^", "expected '(' after the operator's name", "add(Tensor self"),
        ("add.^(Tensor self) -> Tensor", "overload name after '.'", "add without the dot"),
        ("add.^default(Tensor self) -> Tensor", "not a usable overload name", "without an overload"),
        ("add(^tensor self) -> Tensor", "unknown type 'tensor'", "did you mean Tensor?"),
        ("add(^Tensr self) -> Tensor", "unknown type 'Tensr'", "did you mean Tensor?"),
        ("add(^int64_t n) -> Tensor", "unknown type 'int64_t'", "did you mean int?"),
        ("add(^dtype n) -> Tensor", "unknown type 'dtype'", "did you mean ScalarType?"),
        ("add(Tensor^) -> Tensor", "expected an argument's name, found ')'", "a type and a name"),
        ("add(Tensor self ^Tensor other) -> Tensor", "expected ',' or ')'", "separate arguments"),
        ("add(Tensor self, Tensor ^self) -> Tensor", "two arguments are called 'self'", "its own name"),
        ("add(int a=1, ^int b) -> Tensor", "'b' has no default but follows 'a'", "give 'b' a default"),
        ("add(Tensor self, *^) -> Tensor", "no argument after '*'", "remove ', *'"),
        ("add(int a, *, int b, ^*, int c) -> Tensor", "a second '*'", "one '*'"),
        (
            "add(Tensor self, *, Tensor(a!) out, ^int n=1) -> Tensor(a!)",
            "'n' follows the out argument 'out'",
            "last",
        ),
        ("add(Tensor self)^", "expected '->' after the arguments, found the end", "-> Tensor"),
        ("add(Tensor self) ^Tensor", "expected '->' after the arguments, found 'Tensor'", "-> ()"),
        ("add(Tensor self) -> Tensor^, Tensor", "nothing may follow the returns", "in parentheses"),
        ("add(Tensor self) -> (Tensor^", "expected ',' or ')' after a return", "-> (Tensor, Tensor)"),
        ("add(int^(a!) n) -> Tensor", "only tensors alias", "without parentheses"),
        ("add(Tensor[]^(a!) n) -> Tensor", "follows the base type directly", "Tensor(a!)[]"),
        ("add(Tensor(^) self) -> Tensor", "expected the name of an alias set, found ')'", "(a!)"),
        ("add(Tensor(a ^self) -> Tensor", "expected ')' after an alias annotation", "(a -> *)"),
        ("add(int[2 ^n) -> Tensor", "expected ']', found 'n'", "int[2]"),
        ("add(int?^? n) -> Tensor", "'??' is not a type", "one '?'"),
        ("f(int[][][][][][]^[] n) -> ()", "a type of too many layers", "at most 5"),
        ("add(int n=^) -> Tensor", "expected the default of 'n'", "n=None"),
        (
            "add(Tensor self,^Tensor other) -> Tensor",
            "canonical spelling",
            "write add(Tensor self, Tensor other) -> Tensor",
        ),
        ("add(Tensor self)^-> Tensor", "canonical spelling", "write add(Tensor self) -> Tensor"),
        ("add(Tensor self) -> ^(Tensor)", "canonical spelling", "write add(Tensor self) -> Tensor"),
        ("add(int[2] x=[0,^ 1]) -> Tensor", "blank in a default", "x=[0,1]"),
    ],
)
def test_errors(marked, message, hint):
    offset = marked.index("^")
    with pytest.raises(SchemaError) as caught:
        FunctionSchema.parse(marked.replace("^", "", 1))
    assert caught.value.offset == offset
    assert message in caught.value.message
    assert hint in caught.value.hint

"""codegen.model: what an entry resolves to."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from codegen.diagnostics import GenerationError
from codegen.model import Operator, Program, load
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.cpp import function_signature, kernel_signature, shape_signature
from codegen.targets.torch_py.kernels import is_per_isa, scan_kernels, types, types_of
from codegen.targets.torch_py.rooms import kernel_file

YAML = """\
dtype_sets:
  floating: [float64, float32]
  all: floating, int64
topics:
  PointwiseMath:
    - func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
      variants: out, function, inplace, method
      structure: pointwise
      dtypes: all, half
      scalars: other
      dispatch:
        CPU: add_kernel
        Meta: add_meta
      derivatives:
        self: grad
        other: grad * conj(alpha)
      samples: binary
      doc: |
        Adds ``other`` to ``self``.

    # A comment about the next entry.
    - func: softcap(Tensor self, float cap) -> Tensor
      structure: pointwise
      dtypes: floating
      expr: cap * tanh(self / cap)
      requires:
        - cap > 0
        - {check: dim(self) < 9, error: ValueError, message: "too many dimensions"}
      samples: unary
      doc: Caps.
    - func: less(Tensor self, Tensor other) -> Tensor
      structure: pointwise
      promotion: comparison
      dtypes: all
      dispatch:
        CPU: less_kernel
      samples: binary
      doc: Compares.
  Shape:
    - func: chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
      variants: function, method
      structure: view
      dispatch:
        All: chunk
      samples: unary
      doc: Splits.
    - func: sorted(Tensor self, int dim=-1) -> (Tensor values, Tensor indices)
      variants: function, out
      structure: shaped
      shape: sorted_shape
      dtypes: floating
      dispatch:
        CPU: sorted_kernel
      derivatives:
        self: grads[0]
      samples: unary
      doc: Sorts.
"""

SOURCES = {
    "aten/native/cpu/PointwiseMathKernel.isa.cpp": """\
#include "x.h"
namespace at::native { inline namespace CPU_CAPABILITY {
// void commented_kernel() {}
void add_kernel(
    TensorIteratorBase& iter,
    const Scalar& alpha) {
  call(iter);
}
COMPARISON_KERNEL(less_kernel, <)
META_KERNEL(add_meta)
template <typename T>
void template_kernel(T t) {
}
static void static_kernel(TensorIteratorBase& iter) {}
namespace {
struct Functor { int operator()(int a) { return a; } };
void unnamed_kernel(TensorIteratorBase& iter) {
}
void second_unnamed_kernel(TensorIteratorBase& iter) {
}
} // namespace
void declared_kernel(TensorIteratorBase& iter);
} } // namespace at::native
""",
    "aten/native/Shape.cpp": """\
namespace at::native {
std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) { return {}; }
std::tuple<TensorSpec, TensorSpec>
sorted_shape(const Tensor& self, int64_t dim) {
  return {};
}
} // namespace at::native
""",
    "aten/native/cpu/ShapeKernel.isa.cpp": """\
namespace at::native { inline namespace CPU_CAPABILITY {
void sorted_kernel(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
}
} }
""",
}


def checkout(folder: Path, text: str = YAML) -> Path:
    for path, source in SOURCES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(source)
    (folder / "native_functions.yaml").write_text(text)
    return folder / "native_functions.yaml"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return load(checkout(tmp_path_factory.mktemp("model")))


def operator(program: Program, name: str) -> Operator:
    found = program.find(name)
    assert found is not None
    return found


def test_program(program: Program):
    assert list(program.operators) == ["add_Tensor", "softcap", "less", "chunk", "sorted"]
    assert list(program.topics) == ["PointwiseMath", "Shape"]
    assert [o.name for o in program.topics["Shape"].operators] == ["chunk", "sorted"]
    assert program.dtype_sets["all"].members == ("int64", "float32", "float64")
    assert program.dtype_sets["all"].macro == "AT_DISPATCH_ALL"
    assert program.library is None and program.file == "native_functions.yaml"
    assert program.base_names() == ("add", "chunk", "less", "softcap", "sorted")
    assert (
        program.by_base_name("add")[0]
        is program.find("add")
        is program.find("add.Tensor")
        is program.find("add_Tensor")
    )
    assert program.find("nothing") is None


def test_fields_of_an_entry(program: Program):
    add = operator(program, "add.Tensor")
    assert add.variants == ("function", "method", "inplace", "out")
    assert add.structure == "pointwise"
    assert add.promotion == "default"
    assert add.python_module == "torch"
    assert add.topic == "PointwiseMath"
    assert add.dtypes == ("int64", "float16", "float32", "float64") and add.dtype_sets == ("all", "half")
    assert add.scalars == ("other",)
    assert add.doc == "Adds ``other`` to ``self``."

    assert add.location.line == 6 and add.location.column == 13
    assert add.location_of("dtypes").line == 9 and add.location_of("expr") == add.location
    assert add.entry_text.startswith("- func: add.Tensor(")
    assert add.entry_text.endswith("  Adds ``other`` to ``self``.\n")


def test_dispatch(program: Program):
    cpu, meta = operator(program, "add").dispatch
    assert (cpu.key, cpu.kernel, meta.key) == ("CPU", "add_kernel", "Meta")
    assert cpu.definition is not None and is_per_isa(cpu.definition)
    assert (cpu.definition.path, cpu.definition.line) == ("aten/native/cpu/PointwiseMathKernel.isa.cpp", 4)
    assert meta.kernel == "add_meta" and meta.is_available
    chunk = operator(program, "chunk").dispatch_for("All")
    assert chunk is not None and chunk.definition is not None and not is_per_isa(chunk.definition)


SAMPLES_LINE = "      samples: binary\n      doc: Compares.\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        ("float32", ("float32", "float32")),
        ("\n        CUDA: promote", ("none", "promote")),
        ("\n        CPU: float32\n        CUDA: refused", ("float32", "refused")),
    ],
)
def test_autocast(tmp_path: Path, text: str, expected: tuple[str, str]):
    path = checkout(tmp_path, YAML.replace(SAMPLES_LINE, f"      autocast: {text}\n{SAMPLES_LINE}"))
    assert operator(load(path), "less").autocast.words == expected


@pytest.mark.parametrize(
    "text, message",
    [
        ("floaat32", "unknown autocast 'floaat32'; did you mean float32?"),
        ("\n        GPU: float32", "unknown device 'GPU' of autocast"),
        ("\n        CUDA: none", "unknown autocast 'none'"),
        ("\n        CUDA: [promote]", "unknown autocast ''"),
        ("\n        CPU, CPU: promote", "the device 'CPU' occurs twice; remove it here or at promote"),
        ("\n        CPU, CUDA: promote", "'autocast' says the same for all devices; write autocast: promote"),
    ],
)
def test_mistakes_of_autocast(tmp_path: Path, text: str, message: str):
    path = checkout(tmp_path, YAML.replace(SAMPLES_LINE, f"      autocast: {text}\n{SAMPLES_LINE}"))
    with pytest.raises(GenerationError) as caught:
        load(path)
    assert message in caught.value.diagnostics.render()


def test_derivatives(program: Program):
    add = operator(program, "add")
    derivative = add.derivative_for("other")
    assert derivative is not None and derivative.formula is not None
    assert derivative.formula.text == "grad * conj(alpha)"
    assert add.is_differentiable and not add.derives_automatically
    assert operator(program, "softcap").derives_automatically
    assert operator(program, "chunk").derives_automatically
    assert operator(program, "less").non_differentiable == "its result is boolean"


def test_expr_and_requirements(program: Program):
    softcap = operator(program, "softcap")
    assert (
        softcap.expr is not None
        and softcap.expr.text == "cap * tanh(self / cap)"
        and softcap.expr.node is not None
    )
    assert softcap.promotion == "int_to_float"
    first, second = softcap.requires
    assert (first.check.text, first.error, first.message) == ("cap > 0", "RuntimeError", None)
    assert (second.check.text, second.error, second.message) == (
        "dim(self) < 9",
        "ValueError",
        "too many dimensions",
    )


def test_generated_schemas(program: Program):
    add = operator(program, "add")
    assert [str(s) for s in add.schemas()] == [
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        "add.Tensor_out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    ]
    assert str(operator(program, "sorted").out_schema()) == (
        "sorted.out(Tensor self, int dim=-1, *, Tensor(a!) values, Tensor(b!) indices)"
        " -> (Tensor(a!) values, Tensor(b!) indices)"
    )
    for schema in add.schemas():
        assert FunctionSchema.parse(str(schema)) == schema


def test_signatures(program: Program):
    add, ordered, chunk = (operator(program, n) for n in ("add", "sorted", "chunk"))
    assert [function_signature(s) for s in add.schemas()] == [
        "Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1)",
        "Tensor add_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1)",
        "Tensor add_out(const Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1)",
    ]

    assert (
        kernel_signature(add, "add_kernel", "CPU")
        == "void add_kernel(TensorIteratorBase& iter, const Scalar& alpha)"
    )
    assert (
        kernel_signature(ordered, "k", "CPU")
        == "void k(const Tensor& self, int64_t dim, const Tensor& out0, const Tensor& out1)"
    )
    assert (
        shape_signature(ordered, "s")
        == "std::tuple<TensorSpec, TensorSpec> s(const Tensor& self, int64_t dim)"
    )
    assert (
        kernel_signature(chunk, "chunk", "All")
        == "std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim)"
    )

    assert kernel_file(add, "CPU") == "aten/native/cpu/PointwiseMathKernel.isa.cpp"
    assert kernel_file(chunk, "All") == "aten/native/Shape.cpp"


@pytest.mark.parametrize(
    "schema, signature",
    [
        (
            "f(Tensor? x, Tensor?[] y, int[2] z=0) -> ()",
            "void f(const Tensor& x, TensorList y, IntArrayRef z = 0)",
        ),
        (
            "f(int[]? x=None, int? y=None) -> int",
            "int64_t f(OptionalIntArrayRef x = {}, std::optional<int64_t> y = {})",
        ),
        ("f(Scalar? x, float[] y) -> Scalar", "Scalar f(const std::optional<Scalar>& x, ArrayRef<double> y)"),
        ("f(bool[3] x, bool y=True) -> bool", "bool f(std::array<bool, 3> x, bool y = true)"),
        (
            "f(str x='a', str? y=None) -> ()",
            'void f(std::string_view x = "a", std::optional<std::string_view> y = {})',
        ),
        ("f(Generator? x=None) -> Tensor[]", "std::vector<Tensor> f(Generator* x = nullptr)"),
        ("f(ScalarType x=long) -> ()", "void f(ScalarType x = ScalarType::Long)"),
        (
            "f(ScalarType x=int64, ScalarType y=cfloat) -> ()",
            "void f(ScalarType x = ScalarType::Long, ScalarType y = ScalarType::ComplexFloat)",
        ),
        (
            "f(MemoryFormat x=contiguous_format) -> (Tensor, int)",
            "std::tuple<Tensor, int64_t> f(MemoryFormat x = MemoryFormat::Contiguous)",
        ),
        ("f(int[] x=[0,1], float y=1e-05) -> ()", "void f(IntArrayRef x = {0, 1}, double y = 1e-05)"),
    ],
)
def test_cpp_types(schema, signature):
    assert function_signature(FunctionSchema.parse(schema)) == signature


def test_kernel_scan(tmp_path: Path):
    checkout(tmp_path)
    index = scan_kernels(tmp_path)
    kernels = {symbol: index.find(symbol) for symbol in index.symbols()}

    assert sorted(kernels) == [
        "add_kernel",
        "add_meta",
        "chunk",
        "less_kernel",
        "second_unnamed_kernel",
        "sorted_kernel",
        "sorted_shape",
        "static_kernel",
        "unnamed_kernel",
    ]
    assert sorted(s for s, k in kernels.items() if k and k.is_local) == [
        "second_unnamed_kernel",
        "static_kernel",
        "unnamed_kernel",
    ]

    assert (
        kernels["add_kernel"].signature == "void add_kernel( TensorIteratorBase& iter, const Scalar& alpha)"
    )
    assert types(kernels["sorted_shape"]) == ("tuple<TensorSpec,TensorSpec>", "const Tensor&", "int64_t")
    assert kernels["less_kernel"].signature is None, "a macro writes it"


@pytest.mark.parametrize(
    "one, other",
    [
        ("void f(const at::Tensor& self, int64_t n)", "void f(Tensor const & input, const int64_t k = 1)"),
        (
            "std::tuple<Tensor, Tensor> f(std::array<bool, 2> mask)",
            "static std::tuple< Tensor,Tensor > f(std::array<bool,2>)",
        ),
        ("Tensor f(const std::optional<Scalar>& x)", "at::Tensor f(const std::optional<c10::Scalar> &y)"),
    ],
)
def test_types_spelled_in_two_ways(one: str, other: str):
    assert types_of(one) == types_of(other)


@pytest.mark.parametrize(
    "one, other",
    [
        ("void f(const Tensor& self)", "void f(Tensor& self)"),
        ("void f(int64_t n)", "void f(double n)"),
        ("void f(int64_t n)", "void f(int64_t n, bool b)"),
        ("Tensor f()", "void f()"),
        ("void f(IntArrayRef n)", "void f(int64_t n)"),
    ],
)
def test_types_that_differ(one: str, other: str):
    assert types_of(one) != types_of(other)


def test_a_file_may_shorten_its_types(tmp_path: Path):
    (tmp_path / "short.cpp").write_text(
        "#define OPTIONS \\\n  std::optional<ScalarType> dtype, \\\n  bool pin\nusing Norm = "
        "std::optional<std::string_view>;\n"
        "Tensor window(int64_t n, OPTIONS) {}\nTensor transform(const Tensor& self, Norm norm) {}\n"
    )
    index = scan_kernels(tmp_path)
    assert types(index.find("window")) == ("Tensor", "int64_t", "optional<ScalarType>", "bool")  # type: ignore[arg-type]
    assert types(index.find("transform")) == ("Tensor", "const Tensor&", "optional<string_view>")  # type: ignore[arg-type]


def test_near_kernels(tmp_path: Path):
    checkout(tmp_path)
    index = scan_kernels(tmp_path)
    assert index.near("ad_kernel") == "add_kernel"


LIBRARY = """\
library: softcap_ops
dtype_sets:
  real: [floating, float16]
topics:
  Capping:
    - func: cap_twice(Tensor self, float cap) -> Tensor
      structure: pointwise
      dtypes: real
      dispatch:
        CPU: cap_kernel
      derivatives:
        self: grad * softcap(self, cap)
      samples: unary
      doc: Caps.
"""


def test_a_library_extends_a_program(program: Program, tmp_path: Path):
    (tmp_path / "caps.yaml").write_text(LIBRARY)
    (tmp_path / "caps.cpp").write_text(
        "namespace at::native {\nvoid cap_kernel(TensorIteratorBase& iter, double cap) {\n}\n}\n"
    )
    library = load(tmp_path / "caps.yaml", program)
    assert library.library == "softcap_ops" and library.base is program
    assert list(library.operators) == ["cap_twice"]
    own = operator(library, "cap_twice")
    assert own.library == "softcap_ops" and own.dtypes == ("float16", "float32", "float64")
    assert own.dispatch[0].definition is not None and own.dispatch[0].definition.path == "caps.cpp"
    assert library.by_base_name("add") == program.by_base_name("add")
    assert "add" in library.base_names() and library.dtype_set("floating") is program.dtype_sets["floating"]


def test_a_library_does_not_redeclare(program: Program, tmp_path: Path):
    text = LIBRARY.replace("real: ", "floating: ").replace("cap_twice", "softcap")
    (tmp_path / "caps.yaml").write_text(
        text.replace("dtypes: real", "dtypes: floating").replace("CPU: cap_kernel", "CPU: missing")
    )
    with pytest.raises(GenerationError) as caught:
        load(tmp_path / "caps.yaml", program)
    rendered = caught.value.diagnostics.render()
    assert "'softcap' is declared already, in native_functions.yaml:22:13" in rendered
    assert "the dtype set 'floating' is declared already" in rendered
    assert "the CPU kernel 'missing' is defined nowhere" in rendered


def test_same_input_same_program(tmp_path: Path):
    path = checkout(tmp_path)
    first = load(path)
    second = load(path)
    assert list(first) == list(second)


def test_windows_line_ends_and_marks(tmp_path: Path):
    path = checkout(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + textwrap.dedent(YAML).replace("\n", "\r\n").encode())
    assert len(load(path).operators) == 5

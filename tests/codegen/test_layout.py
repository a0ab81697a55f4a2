"""codegen.output.layout: where long lines of generated code are broken."""

from __future__ import annotations

import pytest

from codegen.output.layout import CPP_WIDTH, STUB_WIDTH, wrap_cpp, wrap_stub, wrapped

# A short width, so that this file need not be wide.
WIDTH = 60

# What is shown -> a line, and what becomes of it.
CPP = {
    "a list is filled": (
        "  const Tensor out = at::convolution(input, weight, bias, stride, padding);",
        """\
  const Tensor out = at::convolution(input, weight, bias,
      stride, padding);""",
    ),
    "the outermost list is broken where that is enough": (
        "  native::loop(iter.device(), IntArrayRef({first, second, third}), keepdim);",
        """\
  native::loop(iter.device(),
      IntArrayRef({first, second, third}), keepdim);""",
    ),
    "an only item is broken inside": (
        "  register_output(make_iterator(first, second, third, fourth, fifth));",
        """\
  register_output(make_iterator(first, second, third,
      fourth, fifth));""",
    ),
    "a first item may go to the next line": (
        "  const Tensor a_name_of_some_columns = at::function(argument, second);",
        """\
  const Tensor a_name_of_some_columns = at::function(
      argument, second);""",
    ),
    "an item that had to be broken ends its line": (
        "  check_devices({{self, true}, {index, true}, {source, true}, {other, false}}, x);",
        """\
  check_devices(
      {{self, true}, {index, true}, {source, true},
          {other, false}},
      x);""",
    ),
    "types with commas stay whole": (
        "std::tuple<Tensor, Tensor> max_dim(const Tensor& self, int64_t dim, bool keep) {",
        """\
std::tuple<Tensor, Tensor> max_dim(const Tensor& self,
    int64_t dim, bool keep) {""",
    ),
    "conditions are broken after operators": (
        "  if (is_tensor(args[0]) && (is_number(args[1]) || is_tensor(args[1]))) {",
        """\
  if (is_tensor(args[0]) &&
      (is_number(args[1]) || is_tensor(args[1]))) {""",
    ),
    "the loosest operators come first": (
        "  return a_condition_of_some_columns ? the_first_value * factor : the_second_value;",
        """\
  return a_condition_of_some_columns ?
      the_first_value * factor : the_second_value;""",
    ),
    "a statement goes below its condition": (
        "  if (should_compute(0) || should_compute(1)) node->self_ = saved(self);",
        """\
  if (should_compute(0) || should_compute(1))
    node->self_ = saved(self);""",
    ),
    "the body of a lambda gets a line of its own": (
        "  return wrap(unlocked([&] { return at::ops::add::call(self, other); }, self, other));",
        """\
  return wrap(unlocked([&] {
    return at::ops::add::call(self, other);
  }, self, other));""",
    ),
    "an assignment without a list is broken after its sign": (
        "const auto a_name_of_some_columns = TORCH_PY_CHOOSE_KERNEL(a_kernel);",
        """\
const auto a_name_of_some_columns =
    TORCH_PY_CHOOSE_KERNEL(a_kernel);""",
    ),
    "brackets and commas in strings are text": (
        '  TORCH_CHECK(dim < n, "index(): expected (1, 2], got ", dim, " :(");',
        """\
  TORCH_CHECK(dim < n, "index(): expected (1, 2], got ",
      dim, " :(");""",
    ),
    "a bracket without its partner is text": (
        "  cpu_kernel(iter, [=](scalar_t self, scalar_t other, scalar_t third) -> scalar_t {",
        """\
  cpu_kernel(iter, [=](scalar_t self, scalar_t other,
      scalar_t third) -> scalar_t {""",
    ),
    "documentation is broken between words": (
        "  /// The sum over some dimensions, which are removed unless keepdim is true.",
        """\
  /// The sum over some dimensions, which are removed unless
  /// keepdim is true.""",
    ),
}


@pytest.mark.parametrize("line, expected", CPP.values(), ids=CPP)
def test_long_lines_are_broken(line: str, expected: str) -> None:
    assert len(line) > WIDTH
    assert wrap_cpp(line, WIDTH) == expected


@pytest.mark.parametrize(
    "line",
    [
        f"// {'a schema that one searches for, ' * 5}",
        f'#include "{"folder/" * 20}file.h"',
        f"  AT_DISPATCH_SWITCH({'TYPE, ' * 20}NAME, \\",
        f"  {'x' * 120};",
        f'  "{"a string, " * 20}"',
    ],
)
def test_some_lines_stay_long(line: str) -> None:
    assert len(line) > CPP_WIDTH
    assert wrap_cpp(line) == line


def test_an_overlong_string_keeps_its_place() -> None:
    """It would be too long on a line of its own as well."""
    line = f'    {{"{"signature " * 8}", table, 4, -1}},'
    assert wrap_cpp(line, WIDTH) == f'    {{"{"signature " * 8}",\n        table, 4, -1}},'


def test_short_lines_are_left_alone() -> None:
    text = "f(a,   b);\n\n  if (x) { y( ); }\n"
    assert wrapped("a.cpp", text) == wrapped("a.pyi", text) == text
    assert wrapped("a.md", "a, b " * 50) == "a, b " * 50


def test_only_white_space_changes() -> None:
    for line, _ in CPP.values():
        if not line.lstrip().startswith("///"):
            for width in range(30, 100):
                assert "".join(wrap_cpp(line, width).split()) == "".join(line.split())


def test_plain_lists_are_filled_as_others_are() -> None:
    """Lines without braces take a faster path, which must agree with the general one."""
    line = "  f(first, second, third, fourth, fifth, {}, seventh, eighth);"
    for width in range(30, len(line)):
        assert wrap_cpp(line.replace("{}", "hh"), width) == wrap_cpp(line, width).replace("{}", "hh")


def test_stubs_are_laid_out_as_by_ruff() -> None:
    head = "def add(input: Tensor, other: Tensor | Number, *, "
    assert wrap_stub(f"{head}out: Tensor | None = ...) -> Tensor: ...") == (
        "def add(\n    input: Tensor, other: Tensor | Number, *, out: Tensor | None = ...\n) -> Tensor: ..."
    )

    names = ["self", *(f"parameter_{i}: tuple[Tensor, ...]" for i in range(4))]
    line = f"    def f({', '.join(names)}) -> tuple[Tensor, Tensor]: ..."
    assert len(line) > STUB_WIDTH
    each = "".join(f"        {name},\n" for name in names)
    assert wrap_stub(line) == f"    def f(\n{each}    ) -> tuple[Tensor, Tensor]: ..."

    assert wrap_stub("from a.b import c, d") == "from a.b import (\n    c,\n    d,\n)"
    assert wrap_stub("# from here (to there)") == "# from here (to there)"

"""Checks of formulas, pointwise expressions and constraints: what is reported, where, and with which hint."""

import pytest

from codegen.expressions import (
    Signature,
    check_expr,
    check_formula,
    check_message_value,
    check_requires,
    needs,
    parse,
)


class Operators:
    """A program of a few operators."""

    broken = frozenset({"half_written"})

    def __init__(self, *schemas):
        self.operators = [Signature.parse(schema, ("other",)) for schema in schemas]

    def by_base_name(self, name):
        return tuple(o for o in self.operators if o.schema.base_name == name)

    def base_names(self):
        return [o.schema.base_name for o in self.operators]


PROGRAM = Operators(
    "tanh(Tensor self) -> Tensor",
    "gt.Scalar(Tensor self, Scalar other) -> Tensor",
    "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    "sum.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor",
    "expand(Tensor self, int[] size) -> Tensor",
    "zeros_like(Tensor self) -> Tensor",
    "topk(Tensor self, int k) -> (Tensor values, Tensor indices)",
    "gather(Tensor self, int dim, Tensor index) -> Tensor",
    "split(Tensor self, int[] sizes, int dim=0) -> Tensor[]",
    "dropout(Tensor self, float p) -> Tensor",
)
OWN = Signature.parse(
    "own(Tensor self, Tensor? weight, int dim, float p, Scalar alpha, int[] stride) -> Tensor"
)
TWO = Signature.parse("two(Tensor self, Tensor[] tensors, int dim) -> (Tensor, Tensor)")


@pytest.mark.parametrize(
    "source",
    [
        "grad * (1 - tanh(result) * result)",
        "expand(grad, self.sizes())",
        "mul(grad, 2)",
        "sum(grad, dim, true)",
        "sum(grad, [0, 1], p > 0.5)",
        "sum(grad, none)",
        "gather(grad, dim, topk(self, 2)[1])",
        "p > 0 ? grad : zeros_like(grad)",
        "grad * log(alpha) ** 2",
        "self.size(dim) * grad",
        "weight.defined() ? grad * weight : grad",
        "dropout(grad, p)",
        "weight == none ? grad : none",
        "grad / len(stride)",
        "half_written(grad)",
        "grad * (self > 0)",
        "grad * stride[0]",
        "grad / self.numel() ** 0.5",
        "self.scalar_type() == float32 ? grad : tanh(grad)",
    ],
)
def test_right_formulas(source):
    assert check_formula(parse(source), OWN, PROGRAM, ("self",)) == []


@pytest.mark.parametrize(
    "source, offset, message, hint",
    [
        ("grad * slef", 7, "unknown name 'slef'", "did you mean 'self'?"),
        ("tahn(grad)", 0, "unknown operator 'tahn'", "did you mean 'tanh'?"),
        (
            "grad * tanh(self, 2)",
            7,
            "'tanh' takes 1 argument, got 2",
            "declared: tanh(Tensor self) -> Tensor",
        ),
        ("sum(grad, 1, true, 4)", 0, "'sum' takes 1 to 3 arguments, got 4", "declared: "),
        ("expand(grad, self)", 13, "argument 'size' of 'expand' is int[], got Tensor", "declared: expand("),
        ("dropout(grad, alpha)", 14, "is float, got Scalar", "declared"),
        ("grads[0]", 0, "'grads' is not defined: the operator has 1 result", "write 'grad'"),
        ("result1", 0, "'result1' is not defined", "write 'result'"),
        ("grad * tanh", 7, "'tanh' is an operator", "call it: 'tanh(...)'"),
        ("self.exp()", 0, "unknown method 'exp'", "known: sizes"),
        ("self.tanh()", 0, "unknown method 'tanh'", "'tanh(self)'"),
        ("self.sizs()", 0, "unknown method 'sizs'", "did you mean 'sizes'?"),
        ("self.size()", 0, "'size' takes 1 argument, got 0", ""),
        ("self.dim * grad", 0, "'dim' is a method", "write 'self.dim()'"),
        ("p.dim() * grad", 0, "a method of tensors, not of float", ""),
        ("grad[0]", 0, "a tensor is not indexed", "select"),
        ("topk(self, 1)[2]", 14, "index 2 is out of range: 2 results of topk", "write one of 0 to 1"),
        ("topk(self, 1)[-1]", 14, "the results of topk are indexed by a number", "write one of 0 to 1"),
        ("grad * stride[0.5]", 14, "a list is indexed by an int, not float", ""),
        ("grad * self.sizes()", 7, "'*' takes tensors and numbers, not int[]", ""),
        ("self > 0 ? grad : self", 0, "the condition is a tensor", "write 'where(self > 0, grad, self)'"),
        ("p > 0 ? grad : 0", 0, "one choice is a tensor, the other a number", "zeros_like"),
        ("0", 0, "the gradient of 'self' is a number", "zeros_like(grad)"),
        ("(grad, grad)", 0, "the formula gives 2 gradients for 'self'", "one expression"),
        ("split(grad, stride)", 0, "the gradient of 'self' is Tensor[], not Tensor", ""),
        (
            "grad * (self < 0)",
            8,
            "'<' of tensors calls the operator 'lt', which does not exist",
            "declare lt",
        ),
        ("log(alpha, 2) * grad", 0, "'log' takes 1 argument, got 2", ""),
    ],
)
def test_wrong_formulas(source, offset, message, hint):
    problems = check_formula(parse(source), OWN, PROGRAM, ("self",))
    assert len(problems) == 1, problems
    assert (problems[0].offset, message in problems[0].message, hint in problems[0].hint) == (
        offset,
        True,
        True,
    ), problems


def test_all_problems_at_once():
    problems = check_formula(parse("gard * tahn(slef) + self.szie(0)"), OWN, PROGRAM)
    assert [p.offset for p in problems] == [0, 7, 12, 20]


def test_several_results_and_inputs():
    assert check_formula(parse("grads[0] + grads[1] * result1"), TWO, PROGRAM, ("self",)) == []
    assert check_formula(parse("split(grads[0], tensors.size(dim), dim)"), TWO, PROGRAM, ("tensors",)) == []
    assert check_formula(parse("(grads[0], split(grads[1], [1]))"), TWO, PROGRAM, ("self", "tensors")) == []
    (problem,) = check_formula(parse("(grads[0], grads[1], grads[0])"), TWO, PROGRAM, ("self", "tensors"))
    assert problem.message == "the formula gives 3 gradients for 2 inputs"
    (problem,) = check_formula(parse("grads[2]"), TWO, PROGRAM, ("self",))
    assert (problem.offset, problem.message) == (6, "index 2 is out of range: 2 gradients")
    (problem,) = check_formula(parse("grad"), TWO, PROGRAM, ("self",))
    assert "write 'grads[0]'" in problem.hint
    (problem,) = check_formula(parse("result * grads[0]"), TWO, PROGRAM, ("self",))
    assert problem.hint == "write 'result0' or 'result1'"


def test_inputs_without_gradient_and_overwritten_values():
    (problem,) = check_formula(parse("grad"), OWN, PROGRAM, ("p",))
    assert problem.message == "'p' is float: only tensors have a gradient"
    inplace = Signature.parse("tanh_(Tensor(a!) self) -> Tensor(a!)")
    (problem,) = check_formula(parse("grad * self"), inplace, PROGRAM, ("self",))
    assert problem.offset == 7 and "overwritten" in problem.message and "result" in problem.hint
    assert check_formula(parse("expand(grad, self.sizes()) * result"), inplace, PROGRAM, ("self",)) == []


def test_arguments_that_hide_the_gradient():
    operator = Signature.parse("f_backward(Tensor grad, Tensor self) -> Tensor")
    (problem,) = check_formula(parse("tanh(grad)"), operator, PROGRAM, ("self",))
    assert problem.offset == 5
    assert problem.message == "argument 'grad' hides the gradient"
    assert "grad_output" in problem.hint


def test_needs_of_a_formula():
    found = needs(parse("expand(grad, self.sizes()) * weight * p + result * self.size(-1)"), OWN)
    assert (found.arguments, found.results, found.grads) == (("weight", "p"), ("result",), (0,))
    assert found.rename() == {"self.sizes()": "self_sizes", "self.size(-1)": "self_size_minus_1"}
    assert [m.cpp_type for m in found.metadata] == ["at::DimVector", "int64_t"]

    found = needs(parse("self.sizes() == weight.sizes() ? self : grad"), OWN)
    assert (found.arguments, [m.member for m in found.metadata]) == (("self",), ["weight_sizes"])

    found = needs(parse("split(grads[1], tensors.size(dim)) + result0.size(dim)"), TWO)
    assert (found.arguments, found.results, found.grads) == ((), (), (1,))
    assert [(m.member, m.cpp_type) for m in found.metadata] == [
        ("tensors_size_dim", "at::DimVector"),
        ("result0_size_dim", "int64_t"),
    ]

    assert needs(parse("cat(grads) + pi")).all_grads
    assert needs(parse("grad + pi + e")).arguments == ()
    assert needs(parse("grad + e"), Signature.parse("f(Tensor e) -> Tensor")).arguments == ("e",)


@pytest.mark.parametrize(
    "source, offset, message, hint",
    [
        ("tnh(self) * cap", 0, "unknown function 'tnh'", "did you mean 'tanh'?"),
        ("self * capp", 7, "unknown name 'capp'", "did you mean 'cap'?"),
        ("pow(self) * cap", 0, "'pow' takes 2 arguments, got 1", "write 'pow(x, y)'"),
        ("self", 0, "argument 'cap' is not used", "remove it"),
        ("where(self * 2, cap, 1)", 6, "a condition is needed", "write 'self * 2 != 0'"),
        ("cap * self.tanh()", 6, "'.tanh' has no meaning for one element", "tanh(self)"),
        ("cap * np.tanh(self)", 6, "'.tanh' has no meaning for one element", "write 'tanh(self)'"),
        ("cap * tahn(self)", 6, "unknown function 'tahn'", "did you mean 'tanh'?"),
        ("max(self, cap)", 0, "unknown function 'max'", "did you mean 'maximum'?"),
        ("self * 'a' * cap", 7, "formula over numbers", ""),
        ("self in [1] ? cap : 1", 0, "'in' has no meaning", "or"),
        ("exp * self * cap", 0, "'exp' is a function", "exp(x)"),
        ("cap + 1 and self", 0, "a condition is needed", ""),
    ],
)
def test_wrong_expr(source, offset, message, hint):
    problems = check_expr(parse(source), Signature.parse("f(Tensor self, float cap) -> Tensor"))
    assert problems and problems[0].offset == offset
    assert message in problems[0].message and hint in problems[0].hint


def test_expr_arguments():
    assert (
        check_expr(parse("where(mask, self, 0)"), Signature.parse("f(Tensor self, Tensor mask) -> Tensor"))
        == []
    )
    (problem,) = check_expr(parse("self * p"), Signature.parse("f(Tensor self, float? p) -> Tensor"))
    assert "'p' is float?" in problem.message
    (problem,) = check_expr(parse("self"), Signature.parse("f(Tensor self) -> (Tensor, Tensor)"))
    assert "returns one Tensor" in problem.message


@pytest.mark.parametrize(
    "source",
    [
        "dim(self) == 2",
        "size(self, 1) == size(weight, 0)",
        "0 <= p <= 1",
        "dtype(self) in floating",
        "-dim(self) <= dim < dim(self)",
        "dtype(self) == float32",
        "dtype(self) not in [half, bfloat16]",
        "all(stride > 0)",
        "len(stride) in [1, 2]",
        "p == none or p > 0",
        "sizes(self) == sizes(weight)",
        "sizes(self) == [2, 3]",
        "not is_complex(self)",
        "device(self) == device(weight)",
        "max(dim(self), 1) > dim",
        "max(stride) < 5",
        "defined(weight)",
        "dtype(self) == dtype(weight)",
        "numel(self) > 0 and dim > 0",
        "numel(self) == (dim(self) == 2 ? size(self, 0) : 1)",
        "size(self, 1) % dim == 0",
        "promote(dtype(self), dtype) == dtype",
        "is_floating(dtype) or not is_complex(alpha)",
        "reduce in ['sum', 'mean']",
        "no_internal_overlap(self) or same(self, weight)",
        "no_partial_overlap(self, weight)",
    ],
)
def test_right_requirements(source):
    assert check_requires(parse(source), REQUIRING, ["floating"]) == []


REQUIRING = Signature.parse(
    "f(Tensor self, Tensor? weight, int dim, float? p, int[] stride, Tensor[] tensors, "
    "ScalarType? dtype, Scalar alpha, str reduce) -> Tensor"
)


@pytest.mark.parametrize(
    "source, offset, message, hint",
    [
        ("dimm(self) == 2", 0, "unknown function 'dimm'", "did you mean 'dim'?"),
        ("dim(slef) == 2", 4, "unknown name 'slef'", "did you mean 'self'?"),
        ("dim(self)", 0, "a constraint is a condition", "dim(self) == 2"),
        ("self == 2", 0, "has no value to compare", "dim(self)"),
        ("self.dim() == 2", 0, "has no method 'dim'", "write 'dim(self)'"),
        ("stride > 0", 0, "a list is compared with int", "write 'all(stride > 0)'"),
        ("size(self) == 2", 0, "'size' takes 2 arguments, got 1", ""),
        (
            "dtype(self) in floatng",
            15,
            "unknown dtype or set of dtypes 'floatng'",
            "did you mean 'floating'?",
        ),
        ("dim == none", 0, "'dim' is never none", ""),
        ("dim(stride) == 2", 4, "takes a tensor, not int[]", "len(stride)"),
        ("is_floating(dim)", 12, "takes a tensor, not int", ""),
        ("promote(dtype, dim) == dtype", 0, "'promote' takes 2 dtypes", "promote(dtype(self), dtype(other))"),
        ("dim(dtype) == 2", 4, "takes a tensor, not ScalarType", ""),
        ("all(dim)", 4, "'all' takes a comparison with a list", "all(stride > 0)"),
        ("len(dim) == 2", 4, "'len' takes a list, not int", ""),
        ("stride + 1 == 2", 0, "'+' takes numbers, not int[]", ""),
        ("device(self) == 2", 0, "Device is compared with int", ""),
        ("0 < pp", 4, "unknown name 'pp'", "did you mean 'p'?"),
        ("no_partial_overlap(self, dim)", 25, "takes a tensor, not int", ""),
        ("same(self)", 0, "'same' takes 2 arguments, got 1", ""),
    ],
)
def test_wrong_requirements(source, offset, message, hint):
    problems = check_requires(parse(source), REQUIRING, ["floating"])
    assert len(problems) == 1, problems
    assert (problems[0].offset, message in problems[0].message, hint in problems[0].hint) == (
        offset,
        True,
        True,
    ), problems


def test_values_of_messages():
    assert check_message_value(parse("size(self, 1) + 1"), REQUIRING) == []
    assert check_message_value(parse("dtype(self)"), REQUIRING) == []
    (problem,) = check_message_value(parse("dim(slef)"), REQUIRING)
    assert (problem.offset, problem.message) == (4, "unknown name 'slef'")

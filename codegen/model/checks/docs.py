"""Checks the text of ``doc:``: what YAML leaves of it, its markup, and the names in it."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator

from codegen.diagnostics import closest, did_you_mean
from codegen.model.checks.report import Reporter
from codegen.model.operator import Operator
from codegen.model.program import Program
from codegen.model.reading import Context

_COMMENT = re.compile(r" +#")
_CODE = re.compile(r"``(.*?)``", re.DOTALL)
_SINGLE = re.compile(r"(?<![`\w:])`([A-Za-z_]\w*)`(?!`)")
_NAME = re.compile(r"[A-Za-z_]\w*")
# The indented lines of a section.
_ARGS = re.compile(r"^Args:\n((?:(?: +.*)?\n?)*)", re.MULTILINE)
_EXAMPLE = re.compile(r"^Examples?:\n((?:(?: +.*)?\n?)*)", re.MULTILINE)
# `input, other: two tensors`, at the first indentation.
_DESCRIBED = re.compile(r"^ {4}\*{0,2}([A-Za-z_]\w*(?:, \w+)*): ", re.MULTILINE)
_HEADING = re.compile(r"^([A-Z]\w+):$", re.MULTILINE)
_SECTIONS = ("Args", "Shape", "Returns", "Raises", "Example", "Examples", "Note")
# Words that need not be arguments or operators: what Python calls `self`, the gradient in docs of backward
# functions, and words of Python.
_WORDS = ("input", "grad", "None", "True", "False", "nan", "inf", "self")


def check(operator: Operator, program: Program, context: Context) -> None:
    if not operator.doc or "doc" not in operator.key_locations or operator.each is not None:
        return
    report = Reporter(operator, context)
    _check_comment(operator, report)
    _check_sections(operator, program, report)
    _check_code(operator, report)
    if not any(map(str.isalpha, operator.doc)):
        report.at_key("doc", "the doc says nothing", "write a sentence of what it computes")
    if operator.doc.count("``") % 2:
        report.at_key("doc", "an odd number of `` in the doc", "write ``name`` around code")
    else:
        _check_names(operator, program, report)


def _check_comment(operator: Operator, report: Reporter) -> None:
    """YAML takes a blank and # in a plain text for the start of a comment."""
    text = report.context.texts.get(operator.key_locations["doc"])
    if text is None or text.source.text[text.start] in "|>'\"":
        return
    comment = _COMMENT.match(text.source.text, text.end)
    if comment is not None:
        place = text.source.location(comment.end() - 1)
        report.at(place, "YAML ends the doc here: ' #' begins a comment", 'write doc: "...", or doc: |')


def _check_sections(operator: Operator, program: Program, report: Reporter) -> None:
    """``Args:`` describes arguments of the operator or its overloads; ``Example:`` is a Python session."""
    known = {name for o in program.by_base_name(operator.base_name) for name in o.arguments.names()}
    known |= {*operator.arguments.names(), *_WORDS, "out"}
    for section in _ARGS.findall(operator.doc):
        for names in _DESCRIBED.findall(section):
            for name in filter(lambda name: name not in known, names.split(", ")):
                hint = did_you_mean(name, operator.arguments.names()) or "write the arguments of the schema"
                what = f"'{name}' under Args: is not an argument"
                _report_at(f"{name}:", operator, report, what, hint)

    for section in _EXAMPLE.findall(operator.doc):
        if ">>>" not in section:
            hint = ">>> begins a line of Python, and its result follows"
            report.at_key(
                "doc", "the example has no line that begins with >>>, so that nothing runs it", hint
            )


def _check_code(operator: Operator, report: Reporter) -> None:
    """The headings of sections, and the Python of examples, which tests run."""
    for heading in _HEADING.findall(operator.doc):
        meant = closest(heading, _SECTIONS)
        if heading not in _SECTIONS and meant is not None:
            what = f"'{heading}:' is not a section of a doc"
            _report_at(f"{heading}:", operator, report, what, f"did you mean {meant}:?")

    try:
        examples = doctest.DocTestParser().get_examples(operator.doc)
    except ValueError as error:  # ">>>x", or a result with less indentation than its line of Python
        what = f"the example cannot be run: {str(error).replace(' of the docstring for <string>', '')}"
        _report_at(">>>", operator, report, what, "write '>>> ', and indent its result as much")
        return

    code = "".join(example.source for example in examples)
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        line = code.splitlines()[max(error.lineno or 1, 1) - 1].strip()
        what = f"the example is not Python: {error.msg}"
        _report_at(line, operator, report, what, "write what a user types")
        return

    name = operator.python_name
    is_public = operator.library is None and operator.python_module != "private"
    if code and is_public and name.rstrip("_") not in set(_names_in(tree)):
        what = f"the example does not call {name}"
        _report_at(">>>", operator, report, what, "show a call of the operator")


def _names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield (node.id if isinstance(node, ast.Name) else node.attr).rstrip("_")


def _report_at(fragment: str, operator: Operator, report: Reporter, what: str, hint: str) -> None:
    """At the fragment in the doc."""
    text = report.context.texts.get(operator.key_locations["doc"])
    offset = -1 if text is None else text.text.find(fragment)
    if text is None or offset < 0:
        report.at_key("doc", what, hint)
    else:
        report.at(text.location_at(offset), what, hint)


def _check_names(operator: Operator, program: Program, report: Reporter) -> None:
    """A single name in code is an argument, a result or an operator."""
    for name in _SINGLE.findall(_CODE.sub("", operator.doc)):
        report.at_key("doc", f"`{name}` is a role of reStructuredText, not code", f"write ``{name}``")

    known = [*operator.arguments.names(), *(r.name for r in operator.schema.returns if r.name)]
    for code in _CODE.findall(operator.doc):
        is_name = _NAME.fullmatch(code) is not None
        if is_name and code not in (*known, *_WORDS) and not program.is_operator_name(code):
            hint = did_you_mean(code, known) or "write an argument or an operator, or other code: x.NAME"
            report.at_key("doc", f"'{code}' in the doc is neither an argument nor an operator", hint)

"""``new-package NAME``: writes a project with operators of its own, which pip installs next to torch_py."""

from __future__ import annotations

import argparse
import keyword
import shlex
import shutil
import sys
from pathlib import Path

from codegen.schema import Argument, FunctionSchema, SchemaError

# Path in the project, in which NAME stands for the package -> template below templates/package.
_FILES = {
    "pyproject.toml": "pyproject.toml",
    "setup.py": "setup.py",
    "MANIFEST.in": "MANIFEST.in",
    "README.md": "README.md",
    ".gitignore": "gitignore",
    ".github/workflows/tests.yml": "ci.yml",
    "src/NAME/__init__.py": "package/__init__.py",
    "src/NAME/operators.yaml": "package/operators.yaml",
    "src/NAME/samples.py": "package/samples.py",
    "tests/test_operators.py": "tests/test_operators.py",
}
_EMPTY = ("src/NAME/py.typed", "src/NAME/aten/native/cpu/.gitkeep")

# The operator of a project that is written without --operator.
_SCHEMA = "softcap(Tensor self, float cap) -> Tensor"
_EXPR = "cap * tanh(self / cap)"
# Values of the arguments of the first operator, in its samples and in the README.
_NUMBERS = {"float": "2.0", "Scalar": "2.0", "int": "2"}

_TAKEN = sys.stdlib_module_names | {"numpy", "torch", "torch_py", "aten", "prim", "prims"}


def new_package(options: argparse.Namespace) -> int:
    """Writes the project. Returns the exit status."""
    folder: Path = options.to or Path(options.name)
    try:
        schema = FunctionSchema.parse(options.operator or _SCHEMA)
    except SchemaError as error:
        print(f"{options.operator}\n{' ' * error.offset}^ {error.message}; {error.hint}", file=sys.stderr)
        return 1

    problem = _problem_of_name(options.name) or _problem_of_operator(options, schema)
    if not problem and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = f"{folder} exists already and is not empty; pass another folder: --to DIR"
    if problem:
        print(problem, file=sys.stderr)
        return 1

    for path, text in render_package(options.name, schema, options.expr or _EXPR).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    print(f"wrote {folder}; next: {_next_command(folder)}")
    return 0


def _next_command(folder: Path) -> str:
    """Installs and tests the project, with the Python that runs now."""
    found = shutil.which("python")
    is_first = found is not None and Path(found).parent == Path(sys.executable).parent
    python = "python" if is_first else shlex.quote(sys.executable)

    # Without a slash, pip would look for a package of that name in its index.
    path = str(folder) if folder.is_absolute() else f"./{folder}"
    install = f"{python} -m pip install --no-build-isolation {shlex.quote(f'{path}[test]')}"
    return f"{install} && cd {shlex.quote(path)} && {python} -m pytest"


def _problem_of_name(name: str) -> str:
    """What is wrong with the name of a package; empty if nothing is."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        return f"'{name}' is not a name of a Python package; write a name such as softcap_ops"
    if name in _TAKEN:
        return f"a package named '{name}' would hide the module of that name; choose another name"
    return ""


def _problem_of_operator(options: argparse.Namespace, schema: FunctionSchema) -> str:
    if (options.operator is None) != (options.expr is None):
        return "pass --operator and --expr together, or neither"

    first, *others = schema.arguments.flat_non_out or (None,)
    takes_tensor = first is not None and str(first.type) == "Tensor"
    if not takes_tensor or not all(a.type.base.name in _NUMBERS for a in others):
        return f"{schema}: the first operator takes a tensor and numbers; others are added to operators.yaml"
    return ""


def render_package(name: str, schema: FunctionSchema, expr: str) -> dict[str, str]:
    """The files of the project: path -> text."""
    from codegen.output.templates import Templates  # imports Jinja2
    from codegen.targets.torch_py import TARGET

    templates = Templates("new-package", TARGET)
    values = _values(name, schema, expr)
    texts = {path: templates.render(f"package/{file}", **values) for path, file in _FILES.items()}
    texts.update(dict.fromkeys(_EMPTY, ""))
    return {path.replace("NAME", name): text for path, text in texts.items()}


def _values(name: str, schema: FunctionSchema, expr: str) -> dict[str, object]:
    topic = "".join(part.capitalize() for part in name.split("_"))
    needed = [a for a in schema.arguments.flat_non_out[1:] if not a.has_default]
    numbers = [_number(argument) for argument in needed]
    return {
        "name": name,
        "topic": topic if topic[:1].isupper() else "Operators",
        "function": schema.base_name,
        "schema": str(schema),
        "expr": expr,
        "call": ", ".join(["x", *numbers]),
        "arguments": "".join(f", {number}" for number in numbers),
    }


def _number(argument: Argument) -> str:
    return _NUMBERS[argument.type.base.name]

"""Random Python programs over tensors: operators, views, mutation, containers and control flow.

A program is the text of ``def program(x, y, w, n, items, settings, state)``. It is written line by line, and
each line is run as it is written, so that most programs come to their end.
"""

from __future__ import annotations

import contextlib
import io
import random

import torch_py as torch
from tools.fuzz.program_arguments import Arguments, arguments, new_globals


def _templates(text: str) -> list[str]:
    """One line or part of it, between bars, for each."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


# {t}, {u}, {v} are tensors at hand, {new} a new name, {k} a small number, {c} a constant, {e} a number.
VALUES = _templates(
    """
    {t} + {u} | {t} - {c} | {t} * {u} | {c} / ({t}.abs() + 1) | -{t} | {t} ** 2
    {t}.exp().clamp(max=50.0) | torch.sin({t}) | torch.tanh({t}) | torch.relu({t}) | torch.sigmoid({t})
    torch.nn.functional.gelu({t}) | torch.where({t} > {u}, {t}, {u}) | torch.where({t} > 0, {t}, {c})
    torch.maximum({t}, {u}) | {t}.sum() | {t}.sum(-1) | {t}.sum(0, keepdim=True)
    {t}.mean(-1, keepdim=True) | {t}.amax(-1) | {t}.var(-1) | {t}.softmax(-1)
    torch.log_softmax({t}, 0) | {t}.cumsum(-1) | {t}.sort(-1)[0] | {t}.argmax(-1)
    {t}.topk(1, -1).values | {t}.norm() | {t} @ {u} | {t} @ {u}.t()
    torch.matmul({t}, {u}.transpose(-1, -2)) | torch.cat([{t}, {u}]) | torch.stack([{t}, {u}])
    torch.einsum("ij,kj->ik", {t}, {u}) | torch.nn.functional.layer_norm({t}, {t}.shape[-1:])
    torch.nn.functional.linear({t}, {u}) | torch.nn.functional.dropout({t}, 0.5) | torch.zeros_like({t})
    torch.full({t}.shape, {c}) | torch.arange({t}.shape[0]) | torch.rand({t}.shape) | torch.ones({k}, 6)
    torch.tensor([1.0, {c}]) | {t}.detach() | {t}.clone() | {t}.double().float() | {t}.to(torch.int64)
    ({t} > {c}) | {t}.half().float() | {t} if {t}.dim() > 1 else {u}
    {t}.index_select(0, torch.tensor([0, 0])) | {t}.gather(-1, torch.zeros_like({t}, dtype=torch.int64))
    {t}.masked_fill({u} > 0, {c}) | {t}.roll(1, 0) | {t}.flip(-1) | {t}.tril()
    torch.nn.functional.pad({t}, (1, 1)) | {t}.repeat(2, 1) | torch.outer({t}.flatten(), {u}.flatten())
    torch.addmm({t}, {u}, {v}) | torch.bmm({t}[None], {u}[None].mT) | {t}.prod(-1) | {t}.logsumexp(-1)
    torch.nn.functional.normalize({t}, dim=-1) | {t}.cummax(-1)[0] | torch.lerp({t}, {u}, 0.3)
    torch.nn.functional.cross_entropy({t}, {t}.argmax(-1)) | torch.complex({t}, {u}).abs()
    torch.nn.functional.one_hot({t}.argmax(-1) % 8, 8) | torch.fft.rfft({t}).real | torch.cdist({t}, {u})
    {t}.to(torch.bfloat16).float() | {t}.scatter(0, torch.zeros_like({t}, dtype=torch.int64), {u})
    {t}.scatter_add(-1, {t}.argmax(-1, keepdim=True), {u}) | {t}[[0, -1]] | {t}.where({u} > 0, {c})
    torch.nn.functional.conv1d({t}[None], {u}[None, :, :2]) | {t}.max(-1).values
    {t}.sum(dtype=torch.float64)
    torch.nn.functional.scaled_dot_product_attention({t}, {u}, {v}) | torch.atleast_3d({t}) | {t}.std(0)
    torch.empty(2, 3).copy_({t}[:2, :3]) | torch.randint(5, ({k},)) | {t}.bernoulli(0.5) | {t}.new_ones(2, 6)
    """
)
VIEWS = _templates(
    """
    {t}[0] | {t}[1:] | {t}[..., :2] | {t}[:, None] | {t}.t() | {t}.transpose(0, -1) | {t}.view(-1)
    {t}.reshape(-1) | {t}.unsqueeze(0) | {t}.squeeze() | {t}.expand(2, *{t}.shape) | {t}.flatten()
    {t}.chunk(2)[0] | {t}.unbind()[0] | {t}.diagonal() | {t}.narrow(0, 0, 1) | {t} | {t}.view_as({t})
    {t}[::2] | {t}.movedim(0, -1) | {t}[None] | {t}.split(1)[0] | {t}.unfold(-1, 2, 2) | {t}[-1] | {t}[:, 1:3]
    {t}.as_strided((2, 2), (1, 2)) | {t}.detach() | {t}.tensor_split(2)[1] | {t}.data | {t}.mT
    {t}.squeeze(0)
    torch.broadcast_tensors({t}, {u})[0] | {t}.unflatten(-1, (2, 3))
    torch.view_as_complex({t}.view(-1, 2)).real
    """
)
CHANGES = _templates(
    """
    {t}.add_({u}) | {t}.mul_({c}) | {t}[0] = {c} | {t}[..., 0] = {u}.sum() | {t} += {c} | {t} *= {u}
    {t}.copy_({u}) | {t}.zero_() | {t}[{t} > 1.0] = 0.5 | {t}.clamp_(-1, 1) | {t}.view(-1)[0] = {c}
    {t}.t_() | {t}.relu_() | {t}.fill_({c}) | torch.add({t}, {u}, out={v})
    {t}.index_add_(0, torch.tensor([0]), {t}[:1]) | {t}[..., 1:] = {u}[..., 1:] | {t}.exp_() | {t}.normal_()
    {t}.masked_fill_({u} > 0, {c}) | torch.nn.functional.relu({t}, inplace=True) | {t}.unsqueeze_(0)
    {t}.squeeze_() | {t}.transpose_(0, -1) | {t}.addcmul_({u}, {v}) | {t}.fill_diagonal_({c})
    {t}[[0]] += {c}
    {t}.index_put_((torch.tensor([0]),), {u}[:1], accumulate=True) | torch.mul({t}, {u}, out={v})
    {t}.cumsum_(0)
    {t}.detach().add_(1) | {t}.data.mul_({c}) | torch._foreach_add_([{t}, {u}], {c}) | {t}.requires_grad_()
    {t}.scatter_(-1, {t}.argmax(-1, keepdim=True), {c}) | {t}.diagonal().zero_() | {t}.swapaxes_(0, -1)
    """
)
PYTHON = _templates(
    """
    items.append({t}) | settings["k"] = {t} | settings["n"] = settings.get("n", 0) + n
    state.cache = {t} | state.count += 1 | n = n + 1 | {new} = items[-1]
    {new} = [{t} * i for i in range({k})]; {new} = {new}[-1] | {new}, {new}_ = {t}, {u}
    {new} = sum(v for v in ({t}, {u})) | {new} = max({k}, n)
    {new} = (lambda v, scale={c}: v * scale)({t}) | {new} = dict(a={t}, b={u})["a"]
    {new} = f"{{n}}:{{settings.get('n')}}" | items.pop() | del settings["k"] | counts["runs"] += 1
    {new} = [*items, {t}]; {new} = len({new}) | state.names = [*getattr(state, "names", []), "{new}"]
    {new} = {t}.shape[0] * {t}.shape[-1] | {new} = isinstance({t}, torch.Tensor) and {t}.dim() == 2
    {new} = {t}.requires_grad | {new} = {{"k": {t}}} | {new} = ({t}, ({u}, n)) | first, *rest = items
    {new} = [v * 2 for v in ({t}, {u}) if v.dim()][-1:] | {new} = {{name: {t} for name in "ab"}}["a"]
    {new} = sorted({{*map(str, settings), "x"}} - {{"n"}}) | settings.update(k={t}, m=n)
    {new} = settings.pop("k", {t}) | {new} = settings.setdefault("z", {k}) | items.insert(0, {t})
    items.extend([{t}, n]) | items.reverse() | del items[-1] | items[0] = {t} | items[:1] = [{t}, {u}]
    {new} = (lambda *parts, scale=1, **more: sum(parts) * scale + more.get("b", 0))({t}, {u}, b={c})
    {new} = "{{}} {{:>4}}".format(n, {t}.dim()) | {new} = ", ".join(map(str, {t}.shape))
    {new} = f"{{{t}.shape[0]:03d}}|{{n!r}}" | {new} = next(iter(items)) | {new} = state.twice
    {new} = state.scaled({t}) | state.level = n | {new} = state.level | {new} = [*zip({t}, {u})][0][1]
    {new} = torch.autograd.grad(({t} * w).sum(), w, allow_unused=True)[0]
    {new} = torch.func.grad(lambda v: (v * {u}).sum())({t}) | {new} = torch.vmap(lambda v: v * 2)({t})
    {new} = dict(enumerate(({t}, {u})))[n % 2] | {new} = {t}.shape == {u}.shape or n
    {new} = [*map(torch.sum, ({t}, {u}))][0] | {new} = max(({t}, {u}), key=lambda v: v.dim())
    {new} = any(v.dim() > 1 for v in ({t}, {u})) | {new} = type({t}).__name__ | settings |= {{"j": n}}
    {new} = {t}.is_contiguous() | {new} = {t}.stride() | {new} = str({t}.dtype)
    {new} = hasattr(state, "cache")
    setattr(state, "level", n) | {new} = getattr(state, "cache", {t}) | {new} = (*items[:1], n)
    assert {t}.dim() < 3, "deep" | {new} = divmod(n, 3) | {new} = n if n in (1, 2) else {k}
    {new} = {t} is {u}
    {new} = round(n / 3, 2) | {new}: list = [({new}_ := {t}), {new}_ + 1]
    {new} = {t}._is_view() | {new} = sorted(({t}, {u}), key=torch.Tensor.dim)[0] | {new} = {t}.size(-1) // 2
    {new} = [[{t}, {c}], n]; {new}[0][1] = {new}[0][0] | {new} = {{**settings, "t": {t}}}; {new}.pop("n", 0)
    {new} = list(reversed(items))[0] | {new} = slice(0, n); {new} = {t}[{new}]
    {new} = torch.utils.checkpoint.checkpoint(torch.sin, {t}, use_reentrant=False)
    {new} = id({t}) == id({u})
    {new} = state.layer({t}) | state.layer.train({t}.dim() > 1) | {new} = state.layer[0].weight
    {new} = Doubled.apply({t}) | {new} = Doubled.apply({t}, n) | {new} = [*state.layer.parameters()][-1]
    {new} = len(state.layer) | {new} = state.layer.training
    {new} = [name for name, _ in state.layer.named_modules()]
    with torch.no_grad(): state.layer[0].weight.mul_({c})
    {new} = state.layer[1].running_mean + {t} | state.layer[0].bias.requires_grad_(n % 2 == 0)
    {new} = torch.nn.Linear(6, 2)({t}) | {new} = torch.nn.Parameter({t}.detach()) | {new} = n.__class__(2.5)
    """
)
# Numbers: {e} are such expressions again, or what they begin with.
NUMBERS = _templates(
    """
    ({e} + {e}) | ({e} - {e}) | ({e} * {e}) | ({e} / {e}) | ({e} // {e}) | ({e} % {e}) | -{e} | abs({e})
    ({e}) ** 2 | 0.9 ** {e} | min({e}, {e}, {e}) | max({e}, {e}) | round({e}) | round({e}, 2) | int({e})
    float({e}) | bool({e}) | divmod({e}, {e})[0] | ({e} < {e}) | ({e} == {e}) | ({e} <= {e} < {e})
    ({e} and {e}) | ({e} or {e}) | (not {e}) | ({e} if {e} > {e} else {e}) | ({e} in ({e}, {e}))
    sorted([{e}, {e}, {e}])[1] | sum([{e}, {e}]) | math.prod([{e}, {e}]) | ([{e}, {e}] < [{e}, {e}])
    math.sqrt(abs({e})) | math.cos({e}) | math.tanh({e}) | math.floor({e}) | math.ceil({e}) | len(str({e}))
    (lambda one, other=n: one + other)({e}) | [{e}, {e}].index({e}) | {t}[:int({e})].shape[0] | (n ^ 1)
    """
)
BEGINNINGS = _templates(
    """
    n | n | {t}.shape[0] | {t}.size(-1) | {t}.numel() | {t}.dim() | len(items) | state.count | {k} | {c}
    True
    """
)
OF_NUMBERS = _templates(
    """
    items.append({e}) | items.append({e}) | {new} = {t} * {e} | {new} = {t} + {e} | state.level = {e}
    settings["m"] = {e} | {new} = {t} if {e} > {e} else {u} | {new} = torch.full((2,), {e})
    {new} = {t}[:int({e})]
    """
)
BREAKS = _templates(
    """
    {new} = {t}.sum().item() | {new} = float({t}.abs().max()) | {new} = {t}.tolist() | print("n", n)
    {new} = bool(({t} > 0).any()) | {new} = {t}.nonzero() | {new} = {t}[{t} > 0]
    {new} = {t}.numpy(force=True).shape
    {new} = [float(v.sum()) > 0 for v in ({t}, {u})] | {new} = ({t}, int({u}.argmax()), {t} * 2)[2]
    {new} = max(n, int({t}.argmax())) | {new} = dict(a={t} + 1, b=int({u}.argmax()), c={u} * 2)["c"]
    {new} = {t} * {u}.sum().item() | {new} = sum(int(v.argmax()) for v in ({t}, {u}))
    items += [{t} * int(v.argmax()) for v in ({t}, {u})] | settings.update(a=int({t}.argmax()), b={t} + 1)
    {new} = [*items, int({t}.argmax()), *settings] | {new} = torch.cat([{t}, {t} * float({u}.max())])
    {new} = {{int(v.argmax()): v * 2 for v in ({t}, {u})}} | {new} = f"{{int({t}.argmax())}} {{n}}"
    {new} = torch.unique({t}) | {new} = repr({t}) | {new} = int({t}.argmax()) | {new} = {t}.sum().item() > 0
    """
)
BLOCKS = (
    "for i in range({k}):",
    "for name, value in sorted(settings.items(), key=str):",
    "for item in list(items):",
    "if {t}.dim() > 1:",
    "if n % 2:",
    "if {t}.sum() > 0:",
    "while n < {k}:\n    n += 1",
    "with torch.no_grad():",
    "try:",
    "def {new}(value, bias={c}):",
    "if settings.get('flag'):",
    "with torch.enable_grad():",
    "for {new} in ({t}, {u}):",
    "for first, second in zip(items, ({t}, {u})):",
    "match {t}.dim():",
    "def {new}(value, bias={c}):",
    "with torch.autocast('cpu', dtype=torch.bfloat16):",
    "with torch.set_grad_enabled(n % 2 == 0):",
    "with torch.inference_mode():",
    "for i, item in enumerate(reversed(items)):",
    "for key in list(settings):",
    "if items and isinstance(items[0], torch.Tensor):",
    "if not {t}.requires_grad:",
    "if {t}.shape[0] > 2 and n or {u}.dim() == 1:",
    "for {new} in {t}:",
)
HEAD = f"def program({', '.join(Arguments._fields)}):"
_INDENT = "    "
_DEPTH = 3  # of expressions of numbers


class Writer:
    """Writes one program."""

    def __init__(self, dice: random.Random, number: int) -> None:
        self.dice = dice
        self.lines: list[str] = []
        self.names = 0
        self.space = new_globals()
        self.space.update(arguments(number)._asdict())

    def write(self, length: int) -> str:
        while len(self.lines) < length:
            lines = self.block() if self.dice.random() < 0.15 else [self.line()]
            if self.runs(lines):
                self.lines += lines
        results = ", ".join(self.dice.sample(self.tensors(), k=min(3, len(self.tensors()))))
        body = [*self.lines, f"return {results}, n, [value for value in items]"]
        return "\n".join([HEAD, *(_INDENT + line for line in body)])

    def tensors(self) -> list[str]:
        return [name for name, value in self.space.items() if isinstance(value, torch.Tensor)]

    def line(self) -> str:
        kinds = VALUES, VIEWS, CHANGES, PYTHON, OF_NUMBERS, BREAKS
        kind = self.dice.choices(kinds, (10, 4, 3, 5, 2, 1))[0]
        text = self.filled(self.dice.choice(kind))
        return f"{self.new_name()} = {text}" if kind in (VALUES, VIEWS) else text

    def block(self) -> list[str]:
        head = self.filled(self.dice.choice(BLOCKS))
        body = [self.line() for _ in range(self.dice.randint(1, 3))]
        lines = [*head.split("\n"), *(_INDENT + line for line in body)]
        if head.startswith("def"):
            name = head[4 : head.index("(")]
            if self.dice.random() < 0.4:
                lines += [f"{_INDENT}yield value", f"{_INDENT}yield value * bias"]
                return [*lines, self.filled(f"{name}_ = sum({name}({{t}}))")]
            return [*lines, f"{_INDENT}return value * bias", self.filled(f"{name}_ = {name}({{t}})")]

        if head.startswith("match"):
            inner = [f"{_INDENT}{line}" for line in lines[1:]]
            return [head, f"{_INDENT}case 1 | 2:", *inner, f"{_INDENT}case _:", f"{_INDENT * 2}n += 1"]

        if head == "try:":
            raised = self.dice.choice(("raise ValueError('text')", self.filled("{t}.view(7, 7, 7)"), "pass"))
            lines += [_INDENT + raised, "except (ValueError, RuntimeError) as error:"]
            lines += [f"{_INDENT}settings['error'] = type(error).__name__"]
            if self.dice.random() < 0.5:
                lines += ["finally:", f"{_INDENT}state.count += 10"]

        elif head.startswith("if") and self.dice.random() < 0.5:
            lines += ["else:", _INDENT + self.line()]
        elif head.startswith("for") and self.dice.random() < 0.3:
            lines += [f"{_INDENT}if n > 3:", f"{_INDENT * 2}{self.dice.choice(('break', 'continue'))}"]
        return lines

    def number(self, depth: int) -> str:
        """An expression of numbers."""
        ends = depth == _DEPTH or self.dice.random() < 0.3
        return self.filled(self.dice.choice(BEGINNINGS if ends else NUMBERS), depth + 1)

    def filled(self, template: str, depth: int = 0) -> str:
        while "{e}" in template:
            template = template.replace("{e}", self.number(depth), 1)
        tensors = self.tensors()
        return template.format(
            t=self.dice.choice(tensors),
            u=self.dice.choice(tensors),
            v=self.dice.choice(tensors),
            k=self.dice.randint(1, 4),
            c=self.dice.choice(("0.5", "2", "-1.5", "3.0")),
            new=self.new_name() if "{new}" in template else "",
        )

    def new_name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def runs(self, lines: list[str]) -> bool:
        """Runs lines where the ones before them have run; one in forty that fail is kept all the same."""
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec("\n".join(lines), self.space)
        except Exception:
            return self.dice.random() < 0.025
        big = (v.numel() > 5000 for v in self.space.values() if isinstance(v, torch.Tensor))
        return not any(big) or self._forget_big()

    def _forget_big(self) -> bool:
        for name, value in list(self.space.items()):
            if isinstance(value, torch.Tensor) and value.numel() > 5000:
                del self.space[name]
        return False


def program_text(dice: random.Random, number: int) -> str:
    """The text of a program of 3 to 16 lines."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number)
        return Writer(dice, number).write(dice.randint(3, 16))

"""Models go through export, save, load and run, and give the numbers of the original."""

import io

import pytest

import torch_py as torch
from tests.torch_py.export.models import GPT, ResNet, Tagger
from torch_py.export import Dim, export, load, save
from torch_py.utils._pytree import tree_leaves

BATCH = Dim("batch", min=1)
LENGTH = Dim("length", max=64)


def tokens(*shape):
    return torch.randint(0, 11, shape)


CASES = {
    "resnet": (ResNet, lambda n, t: (torch.randn(n, 3, 32, 32),), ({0: BATCH},)),
    "resnet of any size": (
        ResNet,
        lambda n, t: (torch.randn(n, 3, 32 + t, 40 + 2 * t),),
        ({0: BATCH, 2: Dim("height"), 3: Dim("width")},),
    ),
    "gpt": (GPT, lambda n, t: (tokens(n, t),), ({0: BATCH, 1: LENGTH},)),
    "gpt with loss": (GPT, lambda n, t: (tokens(n, t), tokens(n, t)), ({0: BATCH, 1: LENGTH},) * 2),
    "lstm": (Tagger, lambda n, t: (tokens(n, 7),), ({0: BATCH},)),
}


def reloaded(program):
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    return load(file)


@pytest.mark.parametrize("case", CASES)
def test_a_model_is_exported_saved_loaded_and_run(case):
    make, arguments, shapes = CASES[case]
    torch.manual_seed(0)
    model = make().eval()
    program = export(model, arguments(3, 5), dynamic_shapes=shapes)
    again = reloaded(program)
    assert str(again) == str(program)
    assert list(again.state_dict) == list(model.state_dict())

    module = again.module()
    for batch, length in [(3, 5), (1, 2), (2, 9), (8, 16)]:
        inputs = arguments(batch, length)
        expected, found = model(*inputs), module(*inputs)
        assert type(found) is type(expected)
        for one, other in zip(tree_leaves(expected), tree_leaves(found), strict=True):
            torch.testing.assert_close(other, one)


def test_a_tied_weight_stays_tied():
    program = reloaded(export(GPT(), (tokens(2, 3),)))
    assert program.state_dict["head.weight"] is program.state_dict["tokens.weight"]


def test_a_loaded_program_trains():
    torch.manual_seed(0)
    model = ResNet().train()
    inputs = torch.randn(4, 3, 32, 32)
    module = reloaded(export(model, (inputs,), dynamic_shapes=({0: BATCH},))).module()

    inputs = torch.randn(6, 3, 32, 32)
    for one in (model, module):
        one(inputs).square().mean().backward()
    theirs = dict(module.named_parameters())
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(theirs[name].grad, parameter.grad)
    buffers = dict(module.named_buffers())
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(buffers[name], buffer)

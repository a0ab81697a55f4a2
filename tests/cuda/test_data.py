"""Batches in pinned memory."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

from tests.subject import torch

Pair = namedtuple("Pair", "first second")


class Numbers(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        if index == 99:
            raise KeyError(index)
        return {"x": torch.full((3,), float(index)), "pair": Pair(torch.tensor(index), "text")}


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_pinned(workers):
    loader = torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=workers, pin_memory=True)
    seen = []
    for batch in loader:
        assert batch["x"].is_pinned() and batch["pair"].first.is_pinned()
        assert batch["pair"].second == ("text", "text") and isinstance(batch["pair"], Pair)
        there = batch["x"].to("cuda", non_blocking=True)
        seen += there.cpu()[:, 0].tolist()
    assert seen == [float(index) for index in range(8)]


def test_workers_errors_arrive():
    loader = torch.utils.data.DataLoader(Numbers(), sampler=[99], num_workers=1, pin_memory=True)
    with pytest.raises(KeyError):
        next(iter(loader))


def test_the_device_has_no_effect():
    loader = torch.utils.data.DataLoader(
        torch.arange(4), batch_size=2, pin_memory=True, pin_memory_device="cuda"
    )
    with pytest.warns(UserWarning, match="pin_memory_device is deprecated"):
        assert all(batch.is_pinned() for batch in loader)


def test_what_pins_itself():
    class Batch:
        def __init__(self, values: Any) -> None:
            self.values = torch.stack(values)
            self.was_asked = False

        def pin_memory(self) -> Batch:
            self.was_asked = True
            return self

    loader = torch.utils.data.DataLoader(torch.arange(2), batch_size=2, collate_fn=Batch, pin_memory=True)
    assert next(iter(loader)).was_asked
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)]).pin_memory()
    assert packed.is_pinned()

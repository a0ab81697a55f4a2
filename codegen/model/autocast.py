"""What torch.autocast does to the arguments of an operator, for each type of device."""

from __future__ import annotations

from typing import NamedTuple


class Autocast(NamedTuple):
    """Words of vocabulary.AUTOCASTS."""

    cpu: str = "none"
    cuda: str = "none"

    @property
    def words(self) -> tuple[str, ...]:
        return (self.cpu, self.cuda)

    @property
    def is_none(self) -> bool:
        return self == Autocast()

    def __str__(self) -> str:
        return self.cpu

"""lightning: a module fitted by the Trainer with validation, callbacks and a checkpoint."""

from lightning_fit import fit

fit("lightning.pytorch")

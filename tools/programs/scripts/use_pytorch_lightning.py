"""pytorch-lightning: a module fitted by the Trainer with validation, callbacks and a reloaded checkpoint."""

from lightning_fit import fit

fit("pytorch_lightning")

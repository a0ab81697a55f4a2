"""Models that are trained eagerly and under torch.compile: their losses must agree."""

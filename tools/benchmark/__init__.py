"""Measurements: the cost of a call beside PyTorch's, the seconds of builds, of the import, and what an
installation weighs."""

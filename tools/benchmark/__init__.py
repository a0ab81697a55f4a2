"""Measurements: calls and steps next to PyTorch's, the time of builds and imports, installed size."""

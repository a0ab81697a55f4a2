"""Importable, and empty: PyTorch has here the symbolic functions of its operators in opset 11, which our
exporter does not use."""

__all__: list[str] = []

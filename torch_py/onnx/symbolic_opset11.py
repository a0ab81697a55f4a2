"""An empty module. PyTorch keeps the symbolic functions of opset 11 here; this exporter does not use any."""

__all__: list[str] = []

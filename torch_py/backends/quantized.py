"""Engines of quantised kernels, of which there are none."""

engine = "none"
supported_engines = ["none"]

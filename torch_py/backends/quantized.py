"""The engine of quantized kernels, always "none": this build has no such kernels."""

engine = "none"
supported_engines = ["none"]

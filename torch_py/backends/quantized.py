"""The engine of quantised kernels, always "none": this build has no such kernels."""

engine = "none"
supported_engines = ["none"]

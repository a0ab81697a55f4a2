"""The version of this installation, and of the CUDA that it was built for (None for a build without CUDA)."""

__version__ = "0.1.0"
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
git_version = "unknown"  # an installation does not know its commit

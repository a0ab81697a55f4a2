"""What this installation is: `__version__`, and the CUDA version it was built for (None: built without)."""

__version__ = "0.1.0"
cuda: str | None = None
hip: str | None = None
debug = False
git_version = "unknown"  # an installation does not know its commit

"""Settings of the compiler, kept without effect for programs that set them."""

from torch_py._pytorch_names.packages import lacking as _lacking

job_id: str | None = None
dynamic_sources: str = ""
unbacked_sources: str = ""
force_disable_caches: bool = False
cache_key_tag: str = ""

__getattr__ = _lacking(__name__)

"""Settings of the compiler, kept for programs that set them; there is no compiler to heed them."""

job_id: str | None = None
dynamic_sources: str = ""
unbacked_sources: str = ""
force_disable_caches: bool = False
cache_key_tag: str = ""

"""The documentation site: ``python -m tools.site`` writes pages, and builds them with MkDocs."""

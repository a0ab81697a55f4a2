"""Writing generated files: templates, line breaks, and a folder in which files that are right stay."""

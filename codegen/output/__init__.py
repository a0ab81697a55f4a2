"""Writing generated files, for every target: templates, line breaks, and a folder that keeps what is right."""

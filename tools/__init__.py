"""Programs for people who work on the repository. Nothing here is imported by torch_py."""

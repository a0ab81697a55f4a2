"""Calls every operator with hostile arguments and looks for crashes, hangs and internal errors."""

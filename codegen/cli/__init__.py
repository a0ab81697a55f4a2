"""The commands: generate, check, explain, new, counts, parity."""

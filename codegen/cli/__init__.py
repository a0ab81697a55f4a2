"""The commands: generate, check, explain, new, parity."""

"""The commands: generate, check, explain, new, counts and parity."""

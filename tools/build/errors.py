"""The error a user sees when the build cannot go on: one sentence and what to do, never a traceback."""


class BuildError(Exception):
    """A problem that the user can fix. The message ends with the command that fixes it."""

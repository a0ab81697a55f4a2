"""What a person sees when the build cannot go on: a sentence and what to do, never a traceback."""


class BuildError(Exception):
    """Something the user can mend. The message ends with the command that mends it."""

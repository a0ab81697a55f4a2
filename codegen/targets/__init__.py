"""The targets that come with the generator: a package each, with a ``TARGET`` (codegen/target.py)."""

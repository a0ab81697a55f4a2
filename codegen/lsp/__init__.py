"""A language server for the YAML files: ``python -m codegen lsp``.

    text         lines and columns as editors count them
    places       the key or value at the cursor, in text that need not be YAML yet
    files        which files are ours, and the program that each extends
    checking     diagnostics: of the whole file, or of the entries that changed since
    ranges       the characters that a diagnostic is about, and what to write instead
    completion, hover, definition, symbols, rename: one answer each
    server       the protocol

Only ``server`` and ``conversion`` know the protocol's library, pygls.
"""

"""The check of the CUDA library on a GPU.

The machine with the GPU may have another Python, no compiler and no network. So the check has two halves:
`python -m tools.device prepare` builds for that Python and packs what was built into `.device`, which travels
with the sources; `python -m tools.device check` runs on the machine with the GPU. Where both
machines are one, `make device` runs both.
"""

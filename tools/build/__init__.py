"""The build: finds sources, decides flags, writes build/build.ninja and runs ninja.

bootstrap.py         .venv and the packages the build needs (standard library only)
configuration.py     every environment variable, in one table
toolchain.py         compiler, linker, ccache, Python headers; what to install when one is missing
isa.py               which files are compiled once per instruction set, and with what
flags.py             compiler and linker flags
blas.py              where MKL or OpenBLAS is, and how it is linked
headers.py           headers of build requirements, mirrored under build/include
sources.py           which translation units belong to which shared object
plan.py              the above put together: what is compiled and linked
cuda.py              the same for the CUDA library: compiled by nvcc, or for an emulated GPU
ninja_file.py        the plan as a ninja file
runner.py            runs ninja, shows one line of progress
driver.py            one build of the tree, under the lock
operator_library.py  the same for operators declared outside the tree
package.py           what a wheel holds in addition to the Python files
"""

"""Connects pip to the build: `pip install` runs the same steps as `make`.

An editable install is `pip install -e . --no-build-isolation`.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))  # build isolation does not put the project on the path

from tools.build import package  # noqa: E402
from tools.build.configuration import Configuration  # noqa: E402
from tools.build.errors import BuildError  # noqa: E402


class BuildPython(build_py):
    def run(self):
        if not self.editable_mode:  # the wheel must not contain files of earlier builds
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()


class BuildNative(build_ext):
    """Builds in place, which completes an editable install; for a wheel, also copies the results."""

    def run(self):
        from tools.build import driver

        try:
            # A checkout that only happens to have nvcc must not pay for it on every build.
            is_checkout = self.inplace or self.editable_mode
            default = {} if is_checkout else {"TORCH_PY_CUDA": "auto"}
            driver.build(Configuration.from_environment({**default, **os.environ}))
        except BuildError as error:
            raise SystemExit(f"error: {error}") from None
        if not (self.inplace or self.editable_mode):
            package.collect(ROOT, Path(self.build_lib))

    def get_outputs(self):
        return []

    def get_output_mapping(self):
        return {}

    def get_source_files(self):
        return []


setup(
    ext_modules=[Extension("torch_py._C", sources=[])],  # tells setuptools that the wheel is for one platform
    cmdclass={"build_py": BuildPython, "build_ext": BuildNative},
    setup_requires=["scipy-openblas32>=0.3.29"] if os.environ.get("TORCH_PY_BLAS") == "openblas" else [],
)

# make          incremental build in place          make test    build, then all tests
# make demo     build, train, add an operator       make lint    formatting, layers, types, style
# make bench    compare with PyTorch                make help    the rest
PYTHON ?= python3
VENV ?= .venv
TEST_WORKERS ?= 2
SANITIZE ?= $(if $(CUDA),address,address,undefined)
BOOTSTRAP = @$(PYTHON) tools/build/bootstrap.py --venv $(VENV)
RUN = $(VENV)/bin/python

.PHONY: all build cuda emulation device demo test test-cuda smoke sanitize lint format bench docs parity tested clean distclean compile_commands help
all: build

build:
	$(BOOTSTRAP)
	@$(RUN) -m tools.build $(addprefix --only ,$(FILE))

cuda:
	$(BOOTSTRAP)
	@$(RUN) -m tools.build --cuda $(addprefix --only ,$(FILE))

emulation:
	$(BOOTSTRAP)
	@$(RUN) -m tools.build --emulation $(addprefix --only ,$(FILE))

device:
	$(BOOTSTRAP) --extra test
	@$(RUN) -m tools.device prepare
	@$(RUN) -m tools.device check $(ARGS)

demo: build
	$(BOOTSTRAP) --extra demo
	@$(RUN) examples/demo.py $(ARGS)

test: build
	$(BOOTSTRAP) --extra test
ifeq ($(ARGS),)
	@$(MAKE) --no-print-directory test-cuda
endif
	@$(RUN) -m pytest -n $(TEST_WORKERS) $(ARGS)

test-cuda: emulation
	$(BOOTSTRAP) --extra test
	@TORCH_PY_CUDA_LIBRARY=build/emulation/libtorch_py_cuda.so $(RUN) -m pytest -n $(TEST_WORKERS) tests/cuda $(ARGS)

smoke: build
	$(BOOTSTRAP) --extra test
	@$(RUN) -m pytest -q tests/smoke_test.py $(ARGS)

sanitize: $(if $(CORE),build)
	$(BOOTSTRAP) --extra test
	@$(RUN) -m tools.sanitize --kinds $(SANITIZE) $(if $(CORE),--core) $(if $(CUDA),--cuda) $(ARGS)

lint:
	$(BOOTSTRAP) --extra lint
	@$(RUN) -m tools.lint $(ARGS)

format:
	$(BOOTSTRAP) --extra lint
	@$(RUN) -m tools.lint --fix

bench: build
	@$(RUN) -m tools.benchmark $(ARGS)

docs: build
	$(BOOTSTRAP) --extra docs
	@$(RUN) -m tools.site $(ARGS)

parity: build
	@mkdir -p build/docs
	@folder=$$($(RUN) -c 'import pathlib, torchgen; print(pathlib.Path(torchgen.__file__).parent)') && \
	    $(RUN) -m codegen parity "$$folder/packaged/ATen/native/native_functions.yaml" \
	        --module torch_py --markdown $(addprefix --usage ,$(USES)) > build/docs/parity.md
	@tail -n 1 build/docs/parity.md
	@$(RUN) -m tools.names

tested: build
	$(BOOTSTRAP) --extra test
	@$(RUN) -m pytest -q -n $(TEST_WORKERS) tests/ops --operator-report build/docs/tested.md $(ARGS)

compile_commands:
	$(BOOTSTRAP)
	@$(RUN) -m tools.build --compile-commands

clean:
	rm -rf build dist *.egg-info torch_py/lib torch_py/_C*.so

distclean: clean
	rm -rf $(VENV)

help:
	@echo "make [build]           what has changed: generate, compile, link; FILE=aten/native/X.cpp compiles one file"
	@echo "make cuda              the CUDA library, with nvcc; make emulation: the same for a GPU that the host emulates"
	@echo "make device            builds with nvcc, then tests, trains and measures on this machine's GPU"
	@echo "make test              all tests; ARGS='tests/ops -k softmax' chooses; make smoke takes seconds"
	@echo "make test-cuda         tests/cuda on an emulated GPU; ARGS='-k softmax' chooses; make test does it, too"
	@echo "make sanitize          tests and fuzzer under sanitizers; CORE=1: a part, in minutes; SANITIZE=thread: races"
	@echo "make demo              trains on real digits, then adds an operator"
	@echo "make lint, format      layering, formatting, style, types; format fixes what a tool can fix"
	@echo "make bench             side by side with PyTorch, when that is installed in $(VENV)"
	@echo "make docs              the documentation as a site with search: build/site/html/index.html"
	@echo "make parity, tested    build/docs/parity.md, names.md and tested.md: operators and names compared, tests run"
	@echo "make compile_commands  build/compile_commands.json for editors"
	@echo "make clean, distclean  removes the build; distclean removes $(VENV) as well"
	@echo "PYTHON=python3.12 and VENV=.venv choose the interpreter; the build's other settings:"
	@$(PYTHON) -m tools.build --help-config

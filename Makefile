# Two commands that do all their own set-up:
#   make demo    a line runs here: simulated PLC, shipped frames, real model; verdicts in the terminal
#   make test    lint, types, layers and every test that needs no special machine
# PYTHON=python3.12 make test    chooses the interpreter (3.10 to 3.13).

VENV ?= .venv
PARTS ?= 120
FAULTS ?= 30
MINUTES ?= 15
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3.10 python3,$(shell $(p) -c 'import sys; sys.version_info[:2] in [(3, n) for n in range(10, 14)] and print("$(p)")' 2>/dev/null)))
BIN := $(VENV)/bin

.PHONY: demo test test-long check deeppcb bench chaos soak peers gpu-config clean
.DEFAULT_GOAL := help

help:
	@sed -n '1,4p' Makefile | cut -c3-

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "inspectd needs Python 3.10 to 3.13: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq python3-venv; \
	  else echo "this Python cannot make environments: sudo apt-get install python3-venv" >&2; exit 1; fi; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

# libgomp is a library of the system that paddle loads; desktop and server images mostly have it.
$(VENV)/.demo: $(VENV)/.python pyproject.toml
	@{ /sbin/ldconfig -p 2>/dev/null || ldconfig -p; } | grep -q libgomp.so.1 || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq libgomp1; \
	  else echo "paddle needs a library of the system: sudo apt-get install libgomp1" >&2; exit 1; fi; }
	$(BIN)/python -m pip install --quiet --editable '.[cpu,train]'
	@touch $@

$(VENV)/.test: $(VENV)/.demo pyproject.toml
	$(BIN)/python -m pip install --quiet --group test --group check
	@touch $@

demo: $(VENV)/.demo
	@$(BIN)/inspectd run stations/demo.yaml --parts $(PARTS)

test: $(VENV)/.test
	@tests/check $(BIN)

check: $(VENV)/.test
	@tests/check $(BIN) --fast

# What takes too long for every change: real PLCs, brokers and databases of other makers (`make peers`
# first, for those that are no Python packages), fault campaigns, kills by the dozen.
test-long: $(VENV)/.test
	@$(BIN)/python -m pytest -q -m long

# DeepPCB test_public through the running daemon (CONTRIBUTING.md says where the pictures are expected).
deeppcb: $(VENV)/.demo
	@mkdir -p var && $(BIN)/inspectd run stations/deeppcb.yaml --parts 300 --report var/deeppcb.json

bench: $(VENV)/.demo
	@mkdir -p var && $(BIN)/inspectd bench --json var/bench.json

# What the real GPU wheel of Paddle (760 MB, Python 3.10 to 3.12) makes of our settings; needs no card.
GPU_BIN := $(VENV)-gpu/bin

$(VENV)-gpu/.ready: pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)-gpu
	$(GPU_BIN)/python -m pip install --quiet --upgrade pip
	$(GPU_BIN)/python -m pip install --quiet --editable '.[gpu]' pytest pytest-timeout pytest-randomly hypothesis
	@touch $@

gpu-config: $(VENV)-gpu/.ready
	@$(GPU_BIN)/python -m pytest -q tests/gpu_config

# PLCs for the contract suite that are no Python packages of the test environment.
peers: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --upgrade --target build/peers/snap7-native 'python-snap7==2.1.0'
	@command -v npm >/dev/null || { echo "no npm: the suite runs without the servers of npm" >&2; exit 0; }; \
	  npm install --silent --ignore-scripts --prefix build/peers/npm modbus-serial@8 node-opcua@2

# Faults on purpose, and a long run near the capacity (docs/chaos.md). FAULTS=500 make chaos
chaos: $(VENV)/.demo
	@mkdir -p var && $(BIN)/inspectd chaos stations/chaos.yaml --faults $(FAULTS) --report var/chaos.json

soak: $(VENV)/.demo
	@mkdir -p var && $(BIN)/inspectd soak stations/chaos.yaml --minutes $(MINUTES) --report var/soak.json

clean:
	rm -rf $(VENV) var build dist *.egg-info

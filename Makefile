# The front door. `make demo` needs a Rust toolchain and nothing more; `make test` installs what it
# needs (Debian packages, by name) and says what it skipped.

CARGO ?= cargo
RUN := $(CARGO) run --release --quiet --package assay --

# The probes of the block I/O tracer; needs clang, llvm and libbpf-dev.
bpf:
	$(MAKE) -C bpf -B

.PHONY: bpf demo build install test test-vm test-all skipped check fmt clippy deny lines reference docs schema bench bench-quick dist clean

build:
	$(CARGO) build --release --locked --package assay

demo: build
	@scripts/demo

install:
	$(CARGO) install --locked --path crates/assay

test:
	@scripts/test-packages
	@CARGO="$(CARGO)" scripts/test

# On stock kernels in virtual machines: `make test-vm`, `make test-vm KERNEL="5.10 6.12"`, or `make test-vm ARCH=arm64`;
# docs/internals/testing.md.
test-vm:
	@scripts/test-packages
	@CARGO="$(CARGO)" scripts/vm/test $(if $(ARCH),--arch $(ARCH)) $(KERNEL)

# The tests that `make test` and `make test-vm` both skipped, which must be for want of hardware.
skipped:
	@scripts/skipped "$${CARGO_TARGET_DIR:-target}/skipped"

# Adds what takes long: stock kernels, an emulated arm64 machine, the module of ZFS, kernels as a factor, 48 virtual nodes of Slurm, the simulations
# behind docs/internals/statistics.md, the site of the documentation, and the packages.
test-all: test-vm test
	@$(MAKE) --no-print-directory test-vm ARCH=arm64
	@CARGO="$(CARGO)" scripts/vm/arm64-host
	@$(MAKE) --no-print-directory test-vm KERNEL=6.1 ZFS=1 ONLY=zfs
	$(CARGO) test --locked --workspace --test machine -- --ignored --nocapture container:: slurm:: virtual_machine::
	$(CARGO) test --locked --release --package assay-stats --test stats -- --ignored --nocapture
	@$(MAKE) --no-print-directory docs dist
	@scripts/package-test
	@$(MAKE) --no-print-directory skipped

check: fmt clippy deny

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) clippy --package assay --no-default-features --locked -- -D warnings

deny:
	@scripts/deny

# Lines of Rust and habits of English by crate, and their budgets in scripts/*.budget.
lines:
	@scripts/lines
	@scripts/prose

# The reference pages, from the code; and the documentation as a site that can be searched, in target/book.
reference:
	ASSAY_WRITE_REFERENCE=1 $(CARGO) test --locked --workspace --bin assay the_reference_is

docs:
	@scripts/docs

schema:
	ASSAY_WRITE_SCHEMAS=1 $(CARGO) test --locked --workspace --bin assay --lib the_committed_

# Where assay stands against its goals, in under five minutes: ratios, both sides in one run.
bench-quick:
	@bench/quick.sh

bench: build
	@echo "Each measurement is a script in bench/; bench/README.md says which and what came out."
	@ls bench/*.sh

# For this machine, or for another one: `make dist ARCH=arm64`.
dist:
	@CARGO="$(CARGO)" scripts/dist

clean:
	$(CARGO) clean

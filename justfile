# The daily commands: `just` lists them. They run in the active virtual environment (CONTRIBUTING.md).

pytest := "python -m pytest -n 3 --dist loadfile"

# List the commands
default:
    @just --list

# Build the extension and install the package in editable form, with all tools
build:
    python -m pip install -e '.[dev]'

# What a change must pass: the core, then Python with Spark and the peers
test:
    cargo test --profile tuned
    {{ pytest }}

# Many tests once, without peers, Spark Connect, pages and other processes
quick *args:
    DELTAIC_TESTS=quick python -m pytest -n 2 --dist loadfile {{ args }}

# Every case of every test in Python; takes hours
full *args:
    DELTAIC_TESTS=full {{ pytest }} {{ args }}

# Format Rust and Python
fmt:
    cargo fmt --all
    ruff format .
    ruff check --fix .

# All lints, as CI runs them, from the active environment
lint:
    cargo fmt --all --check
    cargo clippy --profile tuned --workspace --all-targets --locked -- -D warnings
    python .ci/layers.py
    python .ci/circles.py
    python .ci/names.py
    ruff check .
    ruff format --check .
    lint-imports --no-cache
    mypy --strict
    python -m mypy.stubtest deltaic._core
    typos
    zizmor --offline --quiet .github

# The documentation of the crate, without warnings
doc *args:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps {{ args }}

# Run the code of the pages below docs/ and of the README
pages:
    python -m pytest tests/python/docs

# The site of the documentation, in target/site/html, with all links checked; needs `pip install 'deltaic[docs]'` and npm
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked -p deltaic
    python .ci/site.py --check

# Write what docs/ shows of the code: cli, settings, errors, conflicts, compatibility, and the picture of the README
generate:
    DELTAIC_WRITE_DOCS=1 python -m pytest tests/python/docs/test_cli_page.py
    python tests/python/docs/settings_tables.py
    python tests/python/docs/error_tables.py
    python .ci/terminal_picture.py
    DELTAIC_WRITE_DOCS=1 cargo test -p deltaic-core --test integration the_documentation

# Criterion benches of the core: `just bench --save-baseline before`, then `just bench --baseline before`
bench *args:
    cargo bench -p deltaic-benches -- {{ args }}

# Instructions of work on logs, here and at the merge base, as CI compares them; needs valgrind
instructions *args:
    python .ci/instructions.py {{ args }}

# One fuzz target, or all, for so many seconds each: `just fuzz 600 paths`
fuzz seconds="60" target="":
    DELTAIC_FUZZ_SECONDS={{ seconds }} cargo test -p deltaic-core --test fuzz {{ target }} -- --nocapture --test-threads=2

# Set the version of the next release everywhere, and give what is unreleased in CHANGELOG.md its section
release version:
    python .ci/release.py {{ version }}
    python .ci/third_party_licenses.py

# Everything that CI runs, from empty virtual environments; a part by its name: `just ci rust-lint`
ci *parts:
    bash .ci/run {{ parts }}

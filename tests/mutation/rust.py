"""Mutation testing of the Rust core: one build holds all mutants, and each runs the tests that reach it.

`python tests/mutation/rust.py build`, then `map`, then `run`; what they find is kept in the scratch folder.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import Mutant
from rust_points import File

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCE = "rust/core/src"
# the folders that are mutated, and the integration tests that are about them
NEAR = {
    "conflict": ("conflict::", "txn::", "dml::races"),
    "prune": ("explain::", "load"),
    "replay": ("load", "verify::", "damage::"),
    "txn": ("txn::", "conflict::"),
    "checkpoint": ("checkpoint::", "verify::"),
    "checksum": ("checkpoint::", "load", "verify::"),
}
PROFILE = {
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "1",
    "CARGO_PROFILE_DEV_INCREMENTAL": "true",
}
MARK = re.compile(rb"/\*([me])(\d+)\*/")
JUMPS = ("without `return", "without `continue", "without `break")
MEMORY = 12 << 30


def put(path: Path, text: bytes) -> None:
    """Writes what changed only, so that cargo builds only that."""
    if not path.is_file() or path.read_bytes() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def of_tests(path: Path) -> bool:
    declared = path.parent / "mod.rs"
    return f"#[cfg(test)]\nmod {path.stem};" in declared.read_text().replace("pub(crate) ", "").replace(
        "pub(super) ", ""
    )


def mutated(tree: Path, dropped: set[tuple[str, int]]) -> list[Mutant]:
    """Writes the workspace with all mutants that are not dropped."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    inside = tuple(f"{SOURCE}/{folder}/" for folder in NEAR)
    mutants: list[Mutant] = []
    for name in sorted(listed.stdout.splitlines()):
        if name.startswith(("python/", "tests/python", ".")) or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_bytes()
        if name.startswith(inside) and name.endswith(".rs") and not of_tests(ROOT / name):
            short = name.removeprefix(SOURCE + "/")
            file = File(short, text, len(mutants), dropped)
            mutants += file.mutants
            text = file.text.encode()
        elif name == f"{SOURCE}/lib.rs":
            text = text.replace(b"\npub mod actions;", b"\nmod mutant;\npub mod actions;")
        put(tree / name, text)
    put(tree / SOURCE / "mutant.rs", (HERE / "mutant.rs").read_bytes())
    return mutants


def at_fault(tree: Path, message: dict, mutants: list[Mutant]) -> set[int]:
    """The mutants that an error of the compiler is about; none where it does not say."""
    spans = sorted(message["spans"], key=lambda s: not s["is_primary"])
    for child in message["children"]:
        spans += child["spans"]
    spans = [s for s in spans if (tree / s["file_name"]).is_file()]
    ranges = {s["file_name"]: marked((tree / s["file_name"]).read_bytes()) for s in spans}
    for span in spans:
        begin, end = span["byte_start"], span["byte_end"]
        around = [(b - a, n) for a, b, n in ranges[span["file_name"]] if a <= begin and end <= b]
        if around:
            return {min(around)[1]}
    for name in ranges:
        # what is moved before a jump is not there after it
        here = [s for s in spans if s["file_name"] == name]
        begin, end = min(s["byte_start"] for s in here), max(s["byte_end"] for s in here)
        jumps = [(a, n) for a, _, n in ranges[name] if mutants[n].what.startswith(JUMPS)]
        found = {n for a, n in jumps if begin <= a <= end}
        # in a loop it is moved before the jump that ends it
        after = [(a, n) for a, n in jumps if a > end]
        if found or after:
            return found or {min(after)[1]}
    return set()


def marked(text: bytes) -> list[tuple[int, int, int]]:
    """Where each mutant stands in a file."""
    ranges, begun = [], {}
    for mark in MARK.finditer(text):
        if mark[1] == b"m":
            begun[mark[2]] = mark.start()
        else:
            ranges.append((begun[mark[2]], mark.end(), int(mark[2])))
    return ranges


def cargo(tree: Path, *words: str) -> list[dict]:
    env = os.environ | PROFILE
    done = subprocess.run(
        ["cargo", *words, "--message-format=json", "--locked", "-p", "deltaic-core"],
        cwd=tree,
        env=env,
        stdout=subprocess.PIPE,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]


def build(scratch: Path, binaries: list[str]) -> None:
    tree, dropped = scratch / "tree", set[tuple[str, int]]()
    kept = scratch / "dropped.json"
    if kept.is_file():
        dropped = {(f, o) for f, o in json.loads(kept.read_text())}
    words = [w for b in binaries for w in (["--lib"] if b == "lib" else ["--test", b])]
    while True:
        mutants = mutated(tree, dropped)
        answers = cargo(tree, "test", "--no-run", *words)
        messages = [m["message"] for m in answers if m["reason"] == "compiler-message"]
        errors = [m for m in messages if m["level"] == "error" and m["spans"]]
        print(f"{len(mutants)} mutants, {len(errors)} errors", flush=True)
        if not errors:
            break
        before = len(dropped)
        for error in errors:
            for number in at_fault(tree, error, mutants):
                dropped.add((mutants[number].file, mutants[number].ordinal))
        if len(dropped) == before:
            raise SystemExit("no mutant is at fault:\n" + "".join(e["rendered"] for e in errors))
        kept.write_text(json.dumps(sorted(dropped)))
    named = json.dumps([vars(m) for m in mutants], indent=0)
    if (scratch / "mutants.json").is_file() and (scratch / "mutants.json").read_text() != named:
        (scratch / "map.json").unlink(missing_ok=True)
    (scratch / "mutants.json").write_text(named)
    print(f"{len(dropped)} do not compile", flush=True)
    made = {
        "lib" if m["target"]["kind"] == ["lib"] else m["target"]["name"]: m["executable"]
        for m in answers
        if m["reason"] == "compiler-artifact" and m.get("executable")
    }
    (scratch / "binaries.json").write_text(json.dumps(made, indent=1))


class Runner:
    """Runs the tests of the build, each time in a process of its own."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.binaries: dict[str, str] = json.loads((scratch / "binaries.json").read_text())
        self.mutants = [Mutant(**m) for m in json.loads((scratch / "mutants.json").read_text())]

    def tests(self, binary: str) -> list[str]:
        done = subprocess.run(
            [self.binaries[binary], "--list", "--format", "terse"], check=True, capture_output=True, text=True
        )
        return [line.removesuffix(": test") for line in done.stdout.splitlines() if line.endswith(": test")]

    def run(
        self, binary: str, tests: list[str], env: dict[str, str], timeout: float, threads: int = 1
    ) -> tuple[str, float]:
        """`passed`, or the first test that failed, `timeout` or `crash`; and the seconds it took."""
        begun = time.monotonic()
        place = tempfile.mkdtemp(prefix="mutant-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        process = subprocess.Popen(
            [self.binaries[binary], "--exact", f"--test-threads={threads}", *tests],
            cwd=self.scratch / "tree" / "rust/core",
            env=os.environ
            | {
                "TMPDIR": place,
                "PROPTEST_RNG_SEED": "1",
                "CARGO_MANIFEST_DIR": str(self.scratch / "tree/rust/core"),
            }
            | env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        )
        late = threading.Event()

        def end() -> None:
            late.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, end)
        timer.start()
        answer = None
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("test ") and line.rstrip().endswith("FAILED"):
                answer = line.split()[1]
                break
            if line.startswith("failures:"):
                answer = "failed"
                break
        timer.cancel()
        if answer:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
        process.stdout.close()
        shutil.rmtree(place, ignore_errors=True)
        if answer is None:
            answer = "timeout" if late.is_set() else "passed" if code == 0 else "crash"
        return answer, time.monotonic() - begun

    def map(self, workers: int, longest: float) -> None:
        """Which test reaches which mutants, and how long it takes."""
        kept = self.scratch / "map.json"
        # what is known of a test holds until other mutants are made
        out: dict[str, dict] = json.loads(kept.read_text()) if kept.is_file() else {}

        def one(binary: str, test: str) -> None:
            if f"{binary} {test}" in out:
                return
            with tempfile.NamedTemporaryFile(suffix=".seen") as seen:
                answer, seconds = self.run(binary, [test], {"DELTAIC_MUTANTS_SEEN": seen.name}, longest)
                reached = sorted({int(n) for n in Path(seen.name).read_text().split()})
            if answer != "passed":
                print(f"left out: {binary} {test}: {answer}", flush=True)
                return
            out[f"{binary} {test}"] = {"seconds": round(seconds, 3), "mutants": reached}

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda bt: one(*bt), [(b, t) for b in self.binaries for t in self.tests(b)]))
        kept.write_text(json.dumps(out))
        print(f"{len(out)} tests, {sum(t['seconds'] for t in out.values()):.0f} s")

    def try_mutants(self, numbers: list[int], workers: int, budget: float) -> None:
        known = json.loads((self.scratch / "map.json").read_text())
        reaching: dict[int, list[tuple[float, str, str]]] = defaultdict(list)
        for name, test in known.items():
            binary, test_name = name.split(" ", 1)
            if binary not in self.binaries:
                continue
            for number in test["mutants"]:
                reaching[number].append((test["seconds"], binary, test_name))
        results = self.scratch / "results.jsonl"
        lock = threading.Lock()

        def one(number: int) -> None:
            mutant = self.mutants[number]
            begun, answer, tests = time.monotonic(), "missed" if reaching[number] else "unreached", 0
            for binary, chunk in chunks(mutant, sorted(reaching[number])):
                expected = sum(seconds for seconds, _ in chunk)
                spent = time.monotonic() - begun
                if spent + expected > budget and spent > 0 and expected > 5:
                    answer = "missed (not all tests)" if answer == "missed" else answer
                    continue
                got, _ = self.run(
                    binary, [t for _, t in chunk], {"DELTAIC_MUTANT": str(number)}, 60 + expected
                )
                tests += len(chunk)
                if got != "passed":
                    answer = f"caught: {got}"
                    break
            line = {
                "mutant": vars(mutant),
                "answer": answer,
                "tests": tests,
                "seconds": round(time.monotonic() - begun, 1),
            }
            with lock, results.open("a") as file:
                file.write(json.dumps(line) + "\n")

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, numbers))


def chunks(mutant: Mutant, tests: list[tuple[float, str, str]]) -> list[tuple[str, list[tuple[float, str]]]]:
    """The tests of a mutant in the order in which they may fail soon: its own unit tests, quick ones, long ones."""
    module = mutant.file.removesuffix(".rs").replace("/", "::").removesuffix("::mod")
    folder = mutant.file.split("/")[0]
    out: dict[tuple[int, str], list[tuple[float, str]]] = defaultdict(list)
    for seconds, binary, name in tests:
        if binary == "lib" and name.startswith((module + "::", folder + "::")) and seconds < 0.5:
            rank = 0
        elif binary == "integration" and name.startswith(NEAR[folder]) and seconds < 2:
            rank = 1
        elif binary in ("lib", "integration") and seconds < 0.1:
            rank = 2
        elif binary in ("lib", "integration") and seconds < 1:
            rank = 3
        else:
            rank = {"lib": 4, "integration": 5, "simulation": 6, "model": 7}[binary]
        if seconds < 30:
            out[rank, binary].append((seconds, name))
    return [
        (binary, found[at : at + 150])
        for (_, binary), found in sorted(out.items())
        for at in range(0, len(found), 150)
    ]


def report(scratch: Path) -> None:
    judged = json.loads((HERE / "judged.json").read_text()) if (HERE / "judged.json").is_file() else {}
    last = {}
    for line in (scratch / "results.jsonl").read_text().splitlines():
        one = json.loads(line)
        last[one["mutant"]["number"]] = one
    numbers: dict[str, Counter[str]] = defaultdict(Counter)
    for one in sorted(last.values(), key=lambda o: o["mutant"]["number"]):
        mutant, answer = one["mutant"], one["answer"].split(":")[0].split(" (")[0]
        key = f"{mutant['file']} {mutant['function']} {mutant['what']}"
        if answer != "caught":
            place = f"{mutant['file']}:{mutant['line']} {mutant['function']}: {mutant['what']}"
            print(
                f"{mutant['number']:5} {one['answer']:24} {place}",
                f"[{judged[key]}]" if key in judged else "",
            )
            answer = judged.get(key, answer).split(":")[0]
        numbers[mutant["file"].split("/")[0]][answer] += 1
    for folder, counted in numbers.items():
        print(folder, sum(counted.values()), dict(counted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("build", "map", "run", "report"))
    parser.add_argument("--scratch", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--binaries", default="lib,integration,simulation,model", help="of tests, to build")
    parser.add_argument("--sample", type=int, help="so many mutants at random, always the same")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="mutants of these numbers, or of files that begin so; comma between")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--budget", type=float, default=90, help="seconds a mutant, after which long tests are left out"
    )
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    if given.what == "build":
        build(given.scratch, given.binaries.split(","))
    elif given.what == "report":
        report(given.scratch)
    elif given.what == "map":
        Runner(given.scratch).map(given.workers, 120)
    else:
        run(given)


def run(given: argparse.Namespace) -> None:
    runner = Runner(given.scratch)
    numbers = [m.number for m in runner.mutants]
    if given.only:
        names = given.only.split(",")
        numbers = [
            m.number
            for m in runner.mutants
            if str(m.number) in names or any(m.file.startswith(n) for n in names if not n.isdigit())
        ]
    random.Random(given.seed).shuffle(numbers)
    runner.try_mutants(numbers[: given.sample], given.workers, given.budget)


if __name__ == "__main__":
    main()

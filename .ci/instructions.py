#!/usr/bin/env python3
"""Counts the instructions of named pieces of log work, here and at the merge base, and fails where one takes 5 % more.

    python .ci/instructions.py                 # against the merge base with origin/main, or else main
    python .ci/instructions.py --base HEAD~1

A line `Instructions: NAME: REASON` in the message of a commit since the base accepts what NAME takes more. The counts
are valgrind's, of one thread, so that they hold on a busy machine: what waits, and what page faults cost, is not in
them. It builds both trees below target/instructions, and reads the same two logs with both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "target/instructions"
MOST = 1.05
ACCEPTS = re.compile(r"^Instructions: *([\w ]+?) *: *\S", re.MULTILINE)
DATE = "2001-06-24"
FILES, COMMITS = 20_000, 200
IDS = ["id", str(FILES * 500), str(FILES * 501)]
# the name of each piece of work, its table and its arguments
PATHS = {
    "open": ("classic", "snap"),
    "list": ("classic", "list"),
    "list with statistics": ("classic", "list_stats"),
    "prune by partition": ("classic", "part", "date", DATE),
    "prune by statistics": ("classic", "stats", *IDS),
    "prune by statistics in columns": ("own", "stats", *IDS),
    "list commits": ("commits", "list"),
    "checkpoint": ("written", "checkpoint"),
    "update": ("classic", "update"),
}


def run(*command: str | Path, where: Path = ROOT) -> str:
    return subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def git(*arguments: str) -> str:
    return run("git", *arguments)


def merge_base(base: str | None) -> str:
    if base is None:
        known = git(
            "for-each-ref", "--format=%(refname:short)", "refs/heads/main", "refs/remotes/origin/main"
        )
        base = "origin/main" if "origin/main" in known.split() else "main"
    return git("merge-base", base, "HEAD")


def build(tree: Path, name: str) -> tuple[Path, Path]:
    """The programs of a tree: the one that works, and the one that makes logs."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", WORK / "build"))
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    cargo = ["cargo", "build", "--quiet", "--locked", "--profile", "tuned"]
    for package, example in (("deltaic-core", "log"), ("deltaic-testkit", "gen_log")):
        subprocess.run([*cargo, "-p", package, "--example", example], cwd=tree, env=environment, check=True)
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    for example in ("log", "gen_log"):
        shutil.copy2(target / "tuned/examples" / example, folder / example)
    return folder / "log", folder / "gen_log"


def tables(log: Path, gen_log: Path) -> None:
    """The logs that are read: with a checkpoint in JSON statistics, with one of ours, of commits alone."""
    for name in ("classic", "own", "commits", "written"):
        shutil.rmtree(WORK / name, ignore_errors=True)
    run(gen_log, WORK / "classic", str(FILES), "100", "100", "50")
    run(gen_log, WORK / "commits", "0", str(COMMITS), "20", "10")
    shutil.copytree(WORK / "classic", WORK / "own")
    run(log, WORK / "own", "checkpoint")


def instructions(log: Path, path: tuple[str, ...]) -> int | None:
    """How many a piece of work takes; none where the program does not know it."""
    table, *mode = path
    if table == "written":
        shutil.rmtree(WORK / table, ignore_errors=True)
        shutil.copytree(WORK / "classic", WORK / table)
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, str(log), str(WORK / table), *mode],
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or counted is None:
        print(f"no count of {' '.join(mode)}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return int(counted[1].replace(",", ""))


def accepted(messages: str) -> set[str]:
    return set(ACCEPTS.findall(messages))


def judge(before: dict[str, int | None], after: dict[str, int | None], accepted: set[str]) -> list[str]:
    """What is wrong with the counts after a change."""
    wrong = [
        f"`{name}` is accepted, and there is no such piece of work" for name in sorted(accepted - set(after))
    ]
    for name, count in after.items():
        if count is None:
            wrong.append(f"{name}: it was not counted")
            continue
        old = before.get(name)
        if old is not None and count > old * MOST and name not in accepted:
            wrong.append(f"{name}: {count / old - 1:.1%} more instructions")
    return wrong


def measure(base: str) -> tuple[dict[str, int | None], dict[str, int | None]]:
    log, gen_log = build(ROOT, "here")
    old_tree = WORK / "tree"
    if old_tree.exists():
        git("worktree", "remove", "--force", str(old_tree))
    git("worktree", "add", "--quiet", "--detach", str(old_tree), base)
    try:
        old_log, _ = build(old_tree, "base")
    finally:
        git("worktree", "remove", "--force", str(old_tree))
    tables(log, gen_log)
    counts: tuple[dict[str, int | None], dict[str, int | None]] = ({}, {})
    for name, path in PATHS.items():
        for program, into in zip((old_log, log), counts, strict=True):
            into[name] = instructions(program, path)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", help="a commit or branch; the merge base with it counts")
    parser.add_argument(
        "--counts", type=Path, help="a file of JSON with `before` and `after`, to judge and not to measure"
    )
    parser.add_argument("--messages", type=Path, help="a file with the messages of the commits, for --counts")
    options = parser.parse_args()
    if options.counts is not None:
        counts = json.loads(options.counts.read_text())
        before, after = counts["before"], counts["after"]
        messages = options.messages.read_text() if options.messages else ""
    else:
        base = merge_base(options.base)
        before, after = measure(base)
        messages = git("log", "--format=%B", f"{base}..HEAD")
    for name, count in after.items():
        old = before.get(name)
        shown = "" if old is None or count is None else f"{count / old:8.3f}"
        print(f"{name:32} {old or 0:15,} {count or 0:15,} {shown}")
    wrong = judge(before, after, accepted(messages))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

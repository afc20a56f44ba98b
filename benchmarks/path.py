"""Measures what a learner waits for after a save, and writes it to benchmarks/results/path.json.

    python benchmarks/path.py

For every stage: the starter with a comment added, so that it has to be compiled, before the judge at the
stage's first lengths. The runtime is in the cache already. Times are medians of five; `cpu_s` is the time on
the processor of the judge and of what it runs, which other work on the machine changes less.
"""

from __future__ import annotations

import datetime
import itertools
import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tilestep import contract
from tilestep.frontends import cuda
from tilestep.judge import judge
from tilestep.path import catalogue
from tilestep.path.catalogue import Stage
from tilestep.path.watching import PAUSE
from tilestep.targets.cpu import CpuTarget

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
REPEATS = 5

numbers = itertools.count(time.time_ns())


def save(stage: Stage, folder: Path) -> Path:
    """The starter as a person has just saved it: with a text that was never compiled before."""
    file = folder / stage.file
    file.write_text(f"{stage.starter_text()}// {next(numbers)}\n", encoding="utf-8")
    return file


def seconds_to_verdict(stage: Stage, folder: Path) -> dict[str, float]:
    """From a save to the verdict at the first lengths, and the part of it that compiling takes."""
    file = save(stage, folder)
    began = time.perf_counter()
    CpuTarget().build(cuda.load(file, contract.STEP[stage.step]))
    compiled = time.perf_counter() - began

    file = save(stage, folder)
    before = os.times()
    judge(file, stage.step, seed=1, lengths=stage.quick, profile=False)
    after = os.times()
    # A save is seen after half a pause on average, and believed one pause later.
    passed = after.elapsed - before.elapsed + 1.5 * PAUSE
    return {"compile_s": compiled, "cpu_s": sum(after[:4]) - sum(before[:4]), "verdict_s": passed}


def measure(stage: Stage) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        seconds_to_verdict(stage, Path(folder))  # fills the cache
        runs = [seconds_to_verdict(stage, Path(folder)) for _ in range(REPEATS)]
    medians = {name: round(statistics.median(run[name] for run in runs), 3) for name in runs[0]}
    return {"step": stage.step, "lengths": stage.quick, **medians}


def main() -> None:
    rows = [measure(stage) for stage in catalogue.stages()]
    for row in rows:
        times = ", ".join(f"{name} {row[name]:.2f}" for name in ("compile_s", "cpu_s", "verdict_s"))
        print(f"{row['step']:18} {times}")
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    document = {
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "stages": rows,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "path.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

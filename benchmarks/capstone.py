"""Measures the figures that the capstone's judge has to hold, and writes them to benchmarks/results/.

    python benchmarks/capstone.py                       the judge, the emulator and the corpus
    python benchmarks/capstone.py --numba PYTHON        and numba's simulator, by a PYTHON that has it
    python benchmarks/capstone.py --clone               and the README's two lines, in a fresh clone

Times are medians of three unless one run is all that makes sense. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import platform
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tilestep import contract
from tilestep.emulator.cache import Cache
from tilestep.frontends import cuda
from tilestep.judge import judge, trial
from tilestep.judge.expect import Expectations
from tilestep.program import Buffer, Job, Run
from tilestep.targets.cpu import CpuTarget

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "src/tilestep/kernels/attention"
STEP = contract.STEP["online-attention"]


def seconds(action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def attention_job(length: int, **how: Any) -> Job:
    qkv = np.random.default_rng(0).standard_normal((length, contract.QKV_OUT)).astype(np.float32)
    regions = tuple((r.name, r.begin, r.end) for r in contract.PACKED_REGIONS)
    packed = Buffer("qkv", length, contract.QKV_OUT, "in", qkv, regions)
    return Job(
        (packed, Buffer("attnOut", length, contract.D, "out")), (length,), timeout=300, budget=0, **how
    )


def emulate(name: str, length: int, **how: Any) -> Run:
    target = CpuTarget()
    run = target.run(target.build(cuda.load(KERNELS / name, STEP)), attention_job(length, **how))
    if run.ended != "finished":
        raise SystemExit(f"{name} at T = {length}: {run.says}")
    return run


def judging() -> dict[str, Any]:
    """One whole judgement of 03_online.cu: an empty cache, then a warm one."""
    with tempfile.TemporaryDirectory() as empty:

        def once() -> None:
            verdict = judge(KERNELS / "03_online.cu", target=CpuTarget(Cache(Path(empty))))
            if verdict.outcome != "passed":
                raise SystemExit(f"03_online.cu: {verdict.says}")

        cold = seconds(once)
        warm = [seconds(once) for _ in range(3)]
    return {"judge_cold_s": cold, "judge_warm_s": statistics.median(warm)}


def machine_speed() -> dict[str, Any]:
    fast = [emulate("02_cooperative.cu", 2048, mode="fast", threads=2).seconds for _ in range(3)]
    checked = {name: emulate(name, 128, mode="check") for name in ("02_cooperative.cu", "03_online.cu")}
    # Enough blocks that starting the process does not count.
    per_access = {name: run.seconds / run.accesses * 1e9 for name, run in checked.items()}
    return {"fast_baseline_2048_s": statistics.median(fast), "checked_ns_per_access": per_access}


def numba(python: str) -> dict[str, Any]:
    script = Path(__file__).with_name("numba_cooperative.py")
    out = subprocess.run([python, str(script), "33"], capture_output=True, text=True, check=True).stdout
    theirs = json.loads(out.splitlines()[-1])["seconds"]
    fast = emulate("02_cooperative.cu", 33, mode="fast", threads=2).seconds
    checked = emulate("02_cooperative.cu", 33, mode="check").seconds
    return {
        "numba_33_s": theirs,
        "fast_33_s": fast,
        "checked_33_s": checked,
        "times_faster": theirs / fast,
        "times_faster_with_every_check": theirs / checked,
    }


def corpus() -> dict[str, Any]:
    """Every wrong and right attention kernel of the tests, at the tests' lengths, with one fresh seed."""
    wrong = sorted((ROOT / "tests/wrong/attention").glob("*.cu"))
    right = sorted((ROOT / "tests/right/attention").glob("*.cu"))
    seed = secrets.randbelow(2**32)
    trial.Expectations = functools.cache(Expectations)  # the right answers are the same for every kernel

    def verdict(path: Path) -> Any:
        step = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["step"]
        return judge(path, step, seed=seed, lengths=(1, 41, 97), profile=False)

    wrongs = [(path.name, verdict(path)) for path in wrong]
    rights = [(path.name, verdict(path)) for path in right]
    missed = [name for name, v in wrongs if v.outcome in ("passed", "slow")]
    unnamed = [
        name for name, v in wrongs if not (v.mistakes or v.findings or v.outcome in ("refused", "broken"))
    ]
    flagged = [name for name, v in rights if v.outcome not in ("passed", "slow") or v.findings or v.mistakes]
    return {
        "corpus_seed": seed,
        "wrong_kernels": len(wrongs),
        "missed": missed,
        "unnamed": unnamed,
        "named_share": 1 - len(unnamed) / len(wrongs),
        "right_kernels": len(rights),
        "right_flagged": flagged,
    }


def clone() -> dict[str, Any]:
    """The README's two lines in a fresh clone, with an empty cache."""
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("<!-- line ")[1:]
    lines = [block.split("```")[1].split("\n")[1] for block in blocks]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "-q", str(ROOT), folder], check=True)
        environment = {**os.environ, "TILESTEP_CACHE": f"{folder}/cache"}
        environment.pop("PYTHONPATH", None)
        took = []
        for line in lines:
            began = time.perf_counter()
            ended = subprocess.run(
                ["bash", "-c", line], cwd=folder, env=environment, check=False, capture_output=True, text=True
            )
            if ended.returncode != 0:
                raise SystemExit(f"{line}\n{ended.stdout[-8000:]}\n{ended.stderr[-2000:]}")
            took.append(time.perf_counter() - began)
    return {"readme_line_1_s": took[0], "readme_line_2_s": took[1]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--numba", metavar="PYTHON")
    parser.add_argument("--clone", action="store_true")
    chosen = parser.parse_args()
    git = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    result: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "commit": git.stdout.strip(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {CpuTarget().name}",
        "command": "python " + " ".join(["benchmarks/capstone.py", *sys.argv[1:]]),
    }
    parts: list[Callable[[], dict[str, Any]]] = [judging, machine_speed]
    if chosen.clone:
        parts.append(clone)
    parts.append(corpus)
    if chosen.numba:
        parts.append(lambda: numba(chosen.numba))
    file = ROOT / "benchmarks/results" / f"capstone-cpu-{result['date']}.json"
    file.parent.mkdir(exist_ok=True)
    for part in parts:  # written after each: what is measured is not lost
        result |= part()
        file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

"""Measures the figures that the GPU target has to hold, and writes them to benchmarks/results/.

    PYTHONPATH=src python3 benchmarks/gpu.py [--repeats 20] [--out FOLDER] [--seconds 600]

Judges the capstone's solution and a wrong kernel again and again with fresh seeds, the starter half as often:
the same verdict each time, the speedups, their spread, and what a whole verdict takes. What is measured is
written after every verdict, so that nothing is lost when the time is up. The exit status is 1 if a verdict is
not what it must be. Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import statistics
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import tilestep.blas  # noqa: F401  (the judge keeps every core busy itself)
from tilestep import contract
from tilestep.bench.machine import card_in_a_file_name, commit
from tilestep.frontends import cuda
from tilestep.judge import Progress, judge
from tilestep.judge.traffic import BASELINE
from tilestep.targets.gpu import GpuTarget

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "src/tilestep/kernels"
STEP = contract.STEP["online-attention"]
STARTER_EVERY = 2  # rounds
LONG = 0.3  # seconds: a wait for the next sign of progress that is worth telling
AT_ONCE = 8  # verdicts on the wrong kernel
FILES = {  # by what each must come to
    "starter": (KERNELS / BASELINE, "slow"),
    "solution": (KERNELS / "attention/03_online.cu", "passed"),
    "wrong": (ROOT / "tests/wrong/attention/08-alpha-missing-on-l.cu", "wrong"),
}


def one_verdict(path: Path, target: GpuTarget | None = None) -> dict[str, Any]:
    """A whole verdict, in a process that may have judged before."""
    target = target or own_target()
    start = last = time.monotonic()
    waits: dict[str, float] = {}

    def tell(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > LONG:
            waits[progress.doing] = round(now - last, 2)
        last = now

    found = judge(path, STEP.name, target=target, on_progress=tell).to_json()
    kept = {key: found[key] for key in ("seed", "outcome", "says", "speed", "first_wrong")}
    kept["mistakes"] = [mistake["code"] for mistake in found["mistakes"]]
    return {**kept, "seconds": round(time.monotonic() - start, 3), "waits": waits}


@functools.cache
def own_target() -> GpuTarget:
    return GpuTarget()


def summary(verdicts: list[dict[str, Any]], wanted: str) -> dict[str, Any]:
    """What the rounds of one file came to; the spread is from the lowest to the highest, over the median."""
    speeds = [v["speed"] for v in verdicts if v["speed"]]
    found: dict[str, Any] = {
        "outcome": wanted,
        "times": len(verdicts),
        "same": sum(v["outcome"] == wanted for v in verdicts),
        "verdict_s": statistics.median(v["seconds"] for v in verdicts),
        "verdict_s_most": max(v["seconds"] for v in verdicts),
    }
    if speeds:
        ratios = sorted(speed["speedup"] for speed in speeds)
        found |= {
            "speedup": statistics.median(ratios),
            "speedup_range": [ratios[0], ratios[-1]],
            "spread": (ratios[-1] - ratios[0]) / statistics.median(ratios),
            "baseline_ms": statistics.median(speed["baseline_ms"] for speed in speeds),
            "user_ms": statistics.median(speed["user_ms"] for speed in speeds),
        }
    return found


def differences(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """A sentence for each verdict that is not what its file must come to."""
    return [
        f"{name} must be {FILES[name][1]}, and was {verdict['outcome']} with seed {verdict['seed']}: "
        f"{verdict['says']}"
        for name, found in rows.items()
        for verdict in found
        if verdict["outcome"] != FILES[name][1]
    ]


def write(folder: Path, target: GpuTarget, rows: dict[str, list[dict[str, Any]]]) -> None:
    card = target.card
    document = {
        "date": datetime.date.today().isoformat(),
        "commit": commit() or "unknown",
        "command": "PYTHONPATH=src python3 benchmarks/gpu.py",
        "gpu": card.name,
        "driver": card.driver,
        "compiler": card.compiler,
        "figures": {name: summary(found, FILES[name][1]) for name, found in rows.items() if found},
        "rounds": rows,
    }
    path = folder / f"capstone-gpu-{card_in_a_file_name(card.name)}-{document['date']}.json"
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    arguments.add_argument("--repeats", type=int, default=20)
    arguments.add_argument("--out", type=Path, default=ROOT / "benchmarks/results")
    arguments.add_argument("--seconds", type=float, default=600.0, help="start no further round after these")
    wanted = arguments.parse_args()
    wanted.out.mkdir(parents=True, exist_ok=True)  # not after a verdict that would be lost
    began = time.monotonic()
    target = GpuTarget()
    if missing := target.available():
        raise SystemExit(missing)
    with ThreadPoolExecutor() as pool:  # the first verdict is to be a warm one too
        list(pool.map(lambda file: target.build(cuda.load(file, STEP)), (path for path, _ in FILES.values())))
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in FILES}
    with ProcessPoolExecutor(AT_ONCE, get_context("spawn")) as pool:  # no times are taken of a wrong kernel
        rows["wrong"] = list(pool.map(one_verdict, [FILES["wrong"][0]] * wanted.repeats))
    for number in range(wanted.repeats):
        for name in ("solution", "starter") if number % STARTER_EVERY == 0 else ("solution",):
            rows[name].append(one_verdict(FILES[name][0], target))
            print(number, name, rows[name][-1], flush=True)
            write(wanted.out, target, rows)
        if time.monotonic() - began > wanted.seconds:
            break
    for name, found in rows.items():
        print(name, summary(found, FILES[name][1]))
    if wrong := differences(rows):
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()

"""Runs our attention kernels and the corpus on a real GPU.

    PYTHONPATH=src python3 benchmarks/on_gpu.py OUT.json FILE...

Needs nvcc and a GPU, not the emulator: it shows where recorded verdicts and real hardware agree. Values are
compared as the judge compares them, at three lengths; times are medians of 20 calls between events.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tilestep import contract
from tilestep.subjects import subject

ROOT = Path(__file__).parents[1]
LENGTHS = (1, 33, 97)
HANGS = 20  # seconds after which a run counts as one that never ends
CORPUS = "tests/right/attention/*.cu tests/wrong/attention/6[4-9]*.cu"


def build(source: Path, folder: Path) -> Path | str:
    """The driver's executable for a submission, or the first line that nvcc has to say."""
    program = folder / f"{source.parent.name}-{source.stem}"
    command = ["nvcc", "-std=c++17", "-O3", "-arch=sm_90", "-w", "-include", str(folder / "contract.h")]
    command += [f'-DSUBMISSION="{source}"', str(ROOT / "benchmarks/on_gpu_driver.cu"), "-o", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return program if ended.returncode == 0 else (ended.stderr.splitlines() or ["nvcc failed"])[0]


def run(program: Path, case: Any, want: Any, bound: Any, repeats: int) -> dict[str, Any]:
    folder = program.with_suffix(".files")
    folder.mkdir(exist_ok=True)
    length = case.length
    (folder / "in.bin").write_bytes(case.inputs["qkv_rotated"].tobytes())
    (folder / "out.bin").unlink(missing_ok=True)
    command = [str(program), str(length), str(folder / "in.bin"), str(folder / "out.bin"), str(repeats)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=HANGS, check=False)
    except subprocess.TimeoutExpired:
        return {"error": "never ended"}
    said = (
        dict([ended.stdout.split()]) if ended.stdout.startswith("median_ms") and ended.returncode == 0 else {}
    )
    result: dict[str, Any] = (
        {"ms": float(said["median_ms"])} if said else {"error": ended.stdout.strip()[:200]}
    )
    if (folder / "out.bin").exists():
        got = np.fromfile(folder / "out.bin", np.float32).reshape(length, contract.D)
        rows = case.judged_rows
        with np.errstate(invalid="ignore"):
            worst = np.abs(got - want)[rows] / bound[rows]
        result["worst"] = float(np.max(np.where(np.isnan(worst), np.inf, worst)))
    return result


def feed(case: Any) -> tuple[Any, Any, Any]:
    """The case with its attention output and the tolerance of each element."""
    answer = subject(case.step).answers(case)[0]
    return case, answer.want, answer.tolerance


def judge(program: Path | str, fed: list[tuple[Any, Any, Any]]) -> dict[str, Any]:
    if isinstance(program, str):
        return {"does_not_compile": program}
    worst, errors = 0.0, []
    for case, want, bound in fed:
        length, family = case.length, case.family
        result = run(program, case, want, bound, 0)
        worst = max(worst, result.get("worst", np.inf))
        if "error" in result:
            errors.append(f"T = {length} ({family}): {result['error']}")
    return {
        "worst": worst if np.isfinite(worst) else "not finite",
        "right": bool(worst <= 1),
        "errors": errors[:2],
    }


def write(rows: dict[str, Any], card: str) -> None:
    """After every kernel: what was measured before a hang is not lost."""
    result = {
        "date": datetime.date.today().isoformat(),
        "gpu": card,
        "command": f"PYTHONPATH=src python3 benchmarks/on_gpu.py OUT.json {CORPUS}",
        "lengths": LENGTHS,
        "kernels": rows,
    }
    Path(sys.argv[1]).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    files = [*sorted((ROOT / "src/tilestep/kernels/attention").glob("*.cu"))]
    files += [Path(name).resolve() for name in sys.argv[2:]]
    smi = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    card = subprocess.run(smi, capture_output=True, text=True, check=False).stdout.strip()
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "contract.h").write_text(contract.header(), encoding="utf-8")
        fed = []
        attention = subject("online-attention")
        for length in LENGTHS:
            fed += [feed(attention.make(length, family, 1)) for family in attention.families(length)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            programs = list(pool.map(lambda file: build(file, folder), files))
        case, want, bound = feed(attention.make(contract.PROFILE_LENGTH, "normal", 1))
        for file, program in zip(files, programs, strict=True):
            key = str(file.relative_to(ROOT))
            rows[key] = judge(program, fed)
            if isinstance(program, Path) and file.parents[1].name != "wrong":
                rows[key]["profile"] = run(program, case, want, bound, 20)
            print(key, rows[key], flush=True)
            write(rows, card)


if __name__ == "__main__":
    main()

"""However a kernel copies, what it reads and writes is counted and checked as if it were a loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tilestep import contract
from tilestep.frontends.cuda import load
from tilestep.judge import schedule
from tilestep.program import Run
from tilestep.subjects import subject
from tilestep.targets.cpu import CpuTarget

STEP = contract.STEP["block-sum"]
COLUMNS = 96
KERNEL = """\
#include <algorithm>
#include <array>

__global__ void fold(const float* x, float* sums, int rows, int columns) {
  if (threadIdx.x >= rows) return;
  float row[96];
  const float* from = x + threadIdx.x * columns SHIFT;
  COPY
  float sum = 0.0f;
  for (float value : row) sum += value;
  sums[threadIdx.x] = sum;
}

void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<1, 32>>>(x, sums, rows, columns);
}
"""
LOOP = "for (int c = 0; c < 96; ++c) row[c] = from[c];"
COPIES = {
    "memcpy": "memcpy(row, from, sizeof row);",
    "std::memmove": "std::memmove(row, from, sizeof row);",
    "std::copy": "std::copy(from, from + 96, row);",
    "std::copy_n": "std::copy_n(from, 96, row);",
    "an assignment": "using Row = std::array<float, 96>; *(Row*)row = *(const Row*)from;",
}


def ran(folder: Path, copy: str, shift: str = "", **how: object) -> Run:
    path = folder / "copy.cu"
    path.write_text(KERNEL.replace("COPY", copy).replace("SHIFT", shift), encoding="utf-8")
    target = CpuTarget()
    job = schedule.fast_job(STEP, subject(STEP.name).make(COLUMNS, "normal", 1))
    return target.run(target.build(load(path, STEP)), replace(job, **how))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", COPIES)
def test_every_byte_of_a_copy_is_counted(tmp_path: Path, name: str) -> None:
    wanted = ran(tmp_path, LOOP, mode="traffic").traffic
    counted = ran(tmp_path, COPIES[name], mode="traffic").traffic
    assert wanted is not None
    assert counted == wanted
    assert wanted.read["x", ""] == 4 * subject(STEP.name).make(COLUMNS, "normal", 1)["matrix"].size


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_out_of_bounds_is_found(tmp_path: Path, name: str) -> None:
    findings = ran(tmp_path, COPIES[name], shift="+ 1", mode="check").findings
    assert {finding.code for finding in findings} == {"out-of-bounds-global"}

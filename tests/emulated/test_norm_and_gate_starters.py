"""The starters of stages 7 and 8 fail as their lessons say, and pass once the hints are followed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tilestep.contract import STEP
from tilestep.judge import judge
from tilestep.judge.verdict import Verdict

SEED = 6
LENGTHS = {"rmsnorm": (1, 33), "swiglu": (1, 2)}
MISTAKE = {"rmsnorm": "partial-not-folded", "swiglu": "up-missing"}

TREE = """
  __shared__ float tree[THREADS];
  tree[tid] = squares;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (tid < half) tree[tid] += tree[tid + half];
    __syncthreads();
  }
"""
SILU = "{ return z / (1.0f + expf(-z)); }"
OVERFLOWING = "{ return z * expf(z) / (1.0f + expf(z)); }"
BOTH_SUMS = (
    (
        "  float gate = 0.0f;",
        "  const float* up_row = wUp + static_cast<size_t>(o) * D;\n  float gate = 0.0f, up = 0.0f;",
    ),
    ("gate += x_row[k] * gate_row[k];", "{ gate += x_row[k] * gate_row[k]; up += x_row[k] * up_row[k]; }"),
    ("silu(gate);", "silu(gate) * up;"),
)

# What a person who follows the hints types: (what stands there, what replaces it).
EDITS = {
    "rmsnorm": (("  const float scale", TREE + "  const float scale"), ("squares / D", "tree[0] / D")),
    "swiglu": (("{ return z; }", SILU), *BOTH_SUMS),
}


def starter(step: str) -> str:
    folder = f"{STEP[step].number:02d}-{step}"
    return files("tilestep").joinpath("path", "lessons", folder, "starter.cu").read_text(encoding="utf-8")


def edited(text: str, edits: tuple[tuple[str, str], ...]) -> str:
    for before, after in edits:
        assert before in text, before
        text = text.replace(before, after)
    return text


def judged(step: str, text: str, folder: Path) -> Verdict:
    file = folder / "kernel.cu"
    file.write_text(text, encoding="utf-8")
    return judge(file, step, seed=SEED, lengths=LENGTHS[step])


@pytest.mark.parametrize("step", MISTAKE)
def test_the_starter_fails_for_the_reason_that_the_lesson_names(step: str, tmp_path: Path) -> None:
    verdict = judged(step, starter(step), tmp_path)
    assert verdict.outcome == "wrong"
    assert [mistake.code for mistake in verdict.mistakes] == [MISTAKE[step]]
    assert not verdict.findings


@pytest.mark.parametrize("step", MISTAKE)
def test_who_follows_the_hints_passes(step: str, tmp_path: Path) -> None:
    verdict = judged(step, edited(starter(step), EDITS[step]), tmp_path)
    assert verdict.outcome == "passed", verdict.says


def test_a_barrier_left_out_of_the_tree_is_found(tmp_path: Path) -> None:
    """The hazard of lesson 7: the last level is read before it is written."""
    racy = TREE.replace("tree[tid + half];\n    __syncthreads();", "tree[tid + half];")
    edits = (("  const float scale", racy + "  const float scale"), ("squares / D", "tree[0] / D"))
    verdict = judged("rmsnorm", edited(starter("rmsnorm"), edits), tmp_path)
    assert "race-shared" in {finding.code for finding in verdict.findings}


def test_the_hazard_of_the_lesson_shows_in_steep_gates_only(tmp_path: Path) -> None:
    """The form that overflows is right at every friendly gate."""
    text = edited(starter("swiglu"), (("{ return z; }", OVERFLOWING), *BOTH_SUMS))
    verdict = judged("swiglu", text, tmp_path)
    assert [mistake.code for mistake in verdict.mistakes] == ["silu-overflow"]
    assert {case.family for case in verdict.cases if not case.ok} == {"steep"}

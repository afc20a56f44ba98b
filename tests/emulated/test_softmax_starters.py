"""The starters of stages 4 to 6 fail as their lessons say, and pass once the hints are followed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tilestep.contract import STEP
from tilestep.judge import judge
from tilestep.judge.verdict import Verdict

SEED = 6
LENGTHS = (1, 33, 300)

MISTAKE = {
    "stable-softmax": "no-max-subtraction",
    "block-softmax": "threads-do-not-share",
    "online-softmax": "alpha-missing",
}

TREE = """
__device__ float block{name}(float value, float* tree) {{
  tree[threadIdx.x] = value;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {{
    if (threadIdx.x < half) tree[threadIdx.x] = {folded};
    __syncthreads();
  }}
  const float result = tree[0];
  __syncthreads();
  return result;
}}
"""
LARGER = TREE.format(name="Max", folded="fmaxf(tree[threadIdx.x], tree[threadIdx.x + half])")
PLUS = TREE.format(name="Sum", folded="tree[threadIdx.x] + tree[threadIdx.x + half]")

# What a person who follows the hints types: (what stands there, what replaces it).
MAXIMUM = """  float m = -INFINITY;
  for (int c = 0; c < columns; ++c) m = fmaxf(m, in[c]);
  float sum = 0.0f;"""
EDITS = {
    "stable-softmax": (
        ("  float sum = 0.0f;", MAXIMUM),
        ("expf(in[c])", "expf(in[c] - m)"),
    ),
    "block-softmax": (
        ("__global__", LARGER + PLUS + "\n__global__"),
        (
            "  float sum = 0.0f;",
            "  __shared__ float tree[THREADS];\n  m = blockMax(m, tree);\n  float sum = 0.0f;",
        ),
        ("  // TODO: the same for the sum.", "  sum = blockSum(sum, tree);\n  //"),
    ),
    "online-softmax": (
        ("l = l + expf(in[c] - newM);", "l = l * expf(m - newM) + expf(in[c] - newM);"),
        ("blockReduce(l, tree_smem, Plus())", "blockReduce(l * expf(m - rowM), tree_smem, Plus())"),
    ),
}


def starter(step: str) -> str:
    folder = f"{STEP[step].number:02d}-{step}"
    return files("tilestep").joinpath("path", "lessons", folder, "starter.cu").read_text(encoding="utf-8")


def judged(text: str, step: str, folder: Path) -> Verdict:
    file = folder / "softmax.cu"
    file.write_text(text)
    return judge(file, step, seed=SEED, lengths=LENGTHS)


@pytest.mark.parametrize("step", EDITS)
def test_a_starter_fails_as_its_lesson_says(step: str, tmp_path: Path) -> None:
    text = starter(step)
    assert "// TODO: " in text
    verdict = judged(text, step, tmp_path)
    assert verdict.outcome == "wrong"
    assert [mistake.code for mistake in verdict.mistakes] == [MISTAKE[step]]
    assert not verdict.findings


@pytest.mark.parametrize("step", EDITS)
def test_the_hints_lead_from_the_starter_to_a_pass(step: str, tmp_path: Path) -> None:
    text = starter(step)
    for old, new in EDITS[step]:
        assert old in text
        text = text.replace(old, new)
    verdict = judged(text, step, tmp_path)
    assert verdict.outcome == "passed", verdict.says

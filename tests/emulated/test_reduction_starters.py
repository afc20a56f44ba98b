"""The starters of stages 1 to 3 pass once their last hint is followed; half a cure has a name of its own."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from tilestep.contract import STEP
from tilestep.judge import Verdict, judge

SEED = 6
LENGTHS = (1, 33, 257)

TODO = re.compile(r"^ *// TODO.*\n( *//.*\n)*", re.MULTILINE)


def lesson(step: str, name: str) -> str:
    folder = f"{STEP[step].number:02d}-{step}"
    return (files("tilestep.path") / "lessons" / folder / name).read_text(encoding="utf-8")


def last_hint(step: str) -> str:
    hints: list[str] = tomllib.loads(lesson(step, "hints.toml"))["hints"]
    return hints[-1]


def judged(step: str, text: str, folder: Path) -> Verdict:
    file = folder / "mine.cu"
    file.write_text(text)
    return judge(file, step, seed=SEED, lengths=LENGTHS, profile=False)


def code_of(hint: str) -> str:
    """The code that a hint gives: up to its last brace."""
    return hint[: hint.rindex("}") + 1]


def block_sum() -> str:
    starter, hint = lesson("block-sum", "starter.cu"), last_hint("block-sum")
    assert hint.endswith("and thread 0 stores tree[0].")
    text = TODO.sub(f"  {code_of(hint)}\n", starter)
    return text.replace("sums[blockIdx.x] = partial", "sums[blockIdx.x] = tree[0]")


def block_max(start: str) -> str:
    return lesson("block-max", "starter.cu").replace("float largest = 0.0f;", f"float largest = {start};")


def warp_reductions() -> str:
    starter, hint = lesson("warp-reductions", "starter.cu"), last_hint("warp-reductions")
    return TODO.sub(f"  {code_of(hint)}\n", starter)


def test_the_hint_of_the_block_sum_is_the_answer(tmp_path: Path) -> None:
    verdict = judged("block-sum", block_sum(), tmp_path)
    assert verdict.outcome == "passed", verdict.says


def test_the_hint_of_the_block_maximum_is_the_answer(tmp_path: Path) -> None:
    assert last_hint("block-max").startswith("float largest = -INFINITY;")
    verdict = judged("block-max", block_max("-INFINITY"), tmp_path)
    assert verdict.outcome == "passed", verdict.says


def test_the_hint_of_the_warp_reductions_is_the_answer(tmp_path: Path) -> None:
    verdict = judged("warp-reductions", warp_reductions(), tmp_path)
    assert verdict.outcome == "passed", verdict.says


@pytest.mark.parametrize(
    ("start", "name"), [("1.1754944e-38f", "max-starts-at-zero"), ("-3.4028235e38f", "max-starts-at-finite")]
)
def test_half_a_cure_of_the_block_maximum_is_named(start: str, name: str, tmp_path: Path) -> None:
    verdict = judged("block-max", block_max(start), tmp_path)
    assert verdict.outcome == "wrong"
    assert [mistake.code for mistake in verdict.mistakes] == [name]


def test_a_tree_without_barriers_is_a_race(tmp_path: Path) -> None:
    verdict = judged("block-sum", block_sum().replace("__syncthreads();", ""), tmp_path)
    assert "race-shared" in {finding.code for finding in verdict.findings}


def test_a_barrier_inside_the_branch_is_found(tmp_path: Path) -> None:
    inside = re.sub(
        r"(if \(tid < half\)) (tree\[tid\] \+= [^;]*;) __syncthreads\(\);",
        r"\1 { \2 __syncthreads(); }",
        block_sum(),
    )
    assert inside != block_sum()
    verdict = judged("block-sum", inside, tmp_path)
    assert "divergent-barrier" in {finding.code for finding in verdict.findings}

"""The starters of stages 9 and 10 fail as their lessons say, and pass once the hints are followed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from tilestep import kernels
from tilestep.contract import STEP
from tilestep.judge import judge
from tilestep.judge.verdict import Verdict

SEED = 6
LENGTHS = {"qkv-projection": (1, 5), "rope": (1, 33)}
LAUNCH = "project<<<dim3(D / THREADS, T), THREADS>>>(x, wQkv, qkv);"
WHOLE_LAUNCH = LAUNCH.replace("D /", "QKV_OUT /")
OF_A_PAIR = """
  const float low = head[d], high = head[d + PAIRS];
  head[d] = low * c - high * s;
  head[d + PAIRS] = high * c + low * s;
}
"""


def starter(step: str) -> str:
    folder = f"{STEP[step].number:02d}-{step}"
    return files("tilestep").joinpath("path", "lessons", folder, "starter.cu").read_text(encoding="utf-8")


def with_a_pair_a_thread(turn: str = OF_A_PAIR, threads: str = "(HQ + HKV) * PAIRS") -> str:
    """The starter of rope with the hints followed."""
    text = starter("rope")
    begin, end = text.index("  // TODO"), text.index("\nvoid runRope")
    text = text[:begin] + turn.lstrip("\n") + text[end:]
    text = text.replace("threadIdx.x % DH", "threadIdx.x % PAIRS").replace(
        "threadIdx.x / DH", "threadIdx.x / PAIRS"
    )
    return text.replace("<<<T, ROTATED>>>", f"<<<T, {threads}>>>")


def judged(step: str, text: str, folder: Path) -> Verdict:
    file = folder / "kernel.cu"
    file.write_text(text, encoding="utf-8")
    return judge(file, step, seed=SEED, lengths=LENGTHS[step])


def test_the_projections_starter_makes_q_only(tmp_path: Path) -> None:
    verdict = judged("qkv-projection", starter("qkv-projection"), tmp_path)
    assert [mistake.code for mistake in verdict.mistakes] == ["slab-rows-missing"]
    assert verdict.first_wrong is not None
    assert verdict.first_wrong.place.endswith("head 0 of K, dim 0")
    assert verdict.first_wrong.wrong_values == 256


def test_a_launch_that_covers_every_column_passes(tmp_path: Path) -> None:
    text = starter("qkv-projection")
    assert LAUNCH in text
    verdict = judged("qkv-projection", text.replace(LAUNCH, WHOLE_LAUNCH), tmp_path)
    assert verdict.outcome == "passed", verdict.says


def test_the_obvious_cure_is_refused_with_the_count(tmp_path: Path) -> None:
    """A launch for the rest would be right, but the step is exactly one."""
    text = starter("qkv-projection").replace(LAUNCH, f"{LAUNCH}\n  {LAUNCH}")
    verdict = judged("qkv-projection", text, tmp_path)
    assert verdict.outcome == "refused"
    assert "exactly 1 launch, this seam makes 2" in verdict.says


def test_an_empty_grid_is_told_as_a_refused_launch(tmp_path: Path) -> None:
    """Not as a wrong number of launches: the seam made one, and a GPU would refuse it."""
    text = starter("qkv-projection").replace("D / THREADS, T)", "QKV_OUT / THREADS, T / 16)")
    verdict = judged("qkv-projection", text, tmp_path)
    assert {finding.code for finding in verdict.findings} == {"launch-refused"}


def test_a_tile_that_is_overwritten_too_early_is_a_race(tmp_path: Path) -> None:
    """The second barrier of the tiled kernel, which the lesson says a GPU may not miss for long."""
    text = kernels.path("qkv-projection/02_tiled.cu").read_text(encoding="utf-8")
    barrier = "    __syncthreads();  // everyone is done"
    assert barrier in text
    verdict = judged("qkv-projection", text.replace(barrier, "    // everyone is done"), tmp_path)
    assert "race-shared" in {finding.code for finding in verdict.findings}


def test_ropes_starter_reads_what_its_neighbour_writes(tmp_path: Path) -> None:
    verdict = judged("rope", starter("rope"), tmp_path)
    assert [mistake.code for mistake in verdict.mistakes] == ["rope-inplace-hazard"]
    assert {finding.code for finding in verdict.findings} == {"race-global"}
    right = {case.family for case in verdict.cases if case.length == 1 and case.ok}
    assert right == {"normal", "cancelling", "special-v"}  # position 0 is the identity


def test_one_owner_a_pair_passes(tmp_path: Path) -> None:
    verdict = judged("rope", with_a_pair_a_thread(), tmp_path)
    assert verdict.outcome == "passed", verdict.says


def test_a_kernel_that_does_nothing_fails_at_one_token_by_the_other_tables_only(tmp_path: Path) -> None:
    verdict = judged("rope", with_a_pair_a_thread("}\n"), tmp_path)
    assert [mistake.code for mistake in verdict.mistakes] == ["rope-not-applied"]
    assert {case.family for case in verdict.cases if case.length == 1 and not case.ok} == {"later"}


@pytest.mark.parametrize(
    ("threads", "code"), [("HQ * PAIRS", "rope-k-not-rotated"), ("QKV_OUT / 2", "rope-v-rotated")]
)
def test_a_block_of_too_few_or_too_many_heads_is_named(threads: str, code: str, tmp_path: Path) -> None:
    verdict = judged("rope", with_a_pair_a_thread(threads=threads), tmp_path)
    assert [mistake.code for mistake in verdict.mistakes] == [code]

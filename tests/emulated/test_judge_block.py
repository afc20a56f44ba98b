"""The whole block with kernels of several files, and what is said when one of them is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilestep import kernels
from tilestep.cli import cli
from tilestep.judge import judge_block

OURS = {
    "rmsnorm": kernels.path("rmsnorm/01_serial.cu"),
    "qkv-projection": kernels.path("qkv-projection/01_naive.cu"),
    "rope": kernels.path("rope/01_pairs.cu"),
    "attention": kernels.path("attention/03_online.cu"),
}
LENGTHS = (1, 33)


def changed(step: str, before: str, after: str, folder: Path) -> Path:
    """One of our kernels with a fault put in."""
    text = OURS[step].read_text(encoding="utf-8")
    assert before in text
    file = folder / f"{step}.cu"
    file.write_text(text.replace(before, after), encoding="utf-8")
    return file


def test_our_kernels_make_the_block() -> None:
    verdict = judge_block(list(OURS.values()), seed=4, lengths=LENGTHS)
    assert verdict.outcome == "passed", verdict.says
    assert {case.length for case in verdict.cases} == {1, 2, 33}
    compared = ["normed", "qkv", "qkv_rotated", "attention_output", "normed_2", "block_output"]
    assert all(list(case.tensors) == compared for case in verdict.cases)
    assert "reference: swiglu" in verdict.evidence


def test_with_every_step_nothing_comes_from_the_reference() -> None:
    verdict = judge_block([*OURS.values(), kernels.path("swiglu/02_tiled.cu")], seed=5, lengths=(1,))
    assert verdict.outcome == "passed", verdict.says
    assert all("activated" in case.tensors for case in verdict.cases)
    assert not any(line.startswith("reference:") for line in verdict.evidence)


def test_the_earliest_wrong_tensor_names_the_file(tmp_path: Path) -> None:
    wrong = changed("rope", "sinTable[", "-sinTable[", tmp_path)
    files = [OURS["attention"], wrong, OURS["rmsnorm"]]  # in any order
    verdict = judge_block(files, seed=4, lengths=LENGTHS)
    assert verdict.outcome == "wrong"
    assert verdict.first_wrong is not None
    assert (verdict.first_wrong.tensor, verdict.first_wrong.length) == ("qkv_rotated", 2)
    assert [mistake.code for mistake in verdict.mistakes] == ["rope-sin-sign"]
    assert verdict.submission.file == str(wrong)
    assert verdict.submission.files == tuple(map(str, files))
    stopped = next(case for case in verdict.cases if case.length == 33)
    assert list(stopped.tensors) == ["normed", "qkv_rotated"]  # what follows would have no meaning


def test_a_kernel_that_ends_early_ends_the_judgement(tmp_path: Path) -> None:
    text = OURS["qkv-projection"].read_text(encoding="utf-8")
    launch = next(line for line in text.splitlines() if "<<<" in line)
    file = changed("qkv-projection", launch, f"{launch}\n{launch}", tmp_path)
    verdict = judge_block([OURS["rmsnorm"], file], seed=4, lengths=(1,))
    assert verdict.outcome == "refused"
    assert "exactly 1 launch, this seam makes 2" in verdict.says
    assert verdict.submission.file == str(file)


def test_two_files_for_one_seam_and_a_file_without_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both define runRope"):
        judge_block([OURS["rope"], OURS["rope"]])
    other = tmp_path / "other.cu"
    other.write_text("__global__ void k() {}\n", encoding="utf-8")
    verdict = judge_block([other])
    assert verdict.outcome == "refused"
    assert verdict.says.startswith(f"{other}: no seam of the block is in it: runRmsNorm, ")


def test_the_command_takes_several_files() -> None:
    words = ["judge", "--block", str(OURS["rmsnorm"]), str(OURS["rope"]), "--seed", "4", "--lengths", "1"]
    shown = CliRunner().invoke(cli, words, prog_name="tilestep")
    assert shown.exit_code == 0, shown.output
    assert "normed_2" in shown.stdout
    assert f"tilestep judge --block {OURS['rmsnorm']} {OURS['rope']} --seed 4" in shown.stdout
    document = json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)
    assert (document["step"], document["outcome"]) == ("block", "passed")

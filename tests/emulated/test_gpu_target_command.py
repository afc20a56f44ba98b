"""The command line on a GPU that the fake driver plays: a verdict, its evidence, and a replay of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from fake_driver import SUBMISSIONS, FakeCard

from tilestep import contract, kernels
from tilestep.cli import cli, options
from tilestep.targets.gpu import GpuTarget

ONLINE = kernels.path("attention/03_online.cu")
FEW = ("--lengths", "1,33,256", "--pairs", 30)
COOPERATIVE = kernels.path("attention/02_cooperative.cu")


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch, fake_card: FakeCard, gpu_target: GpuTarget) -> FakeCard:
    """With little L2, a short profile length, and our target in the place of the real one."""
    fake_card.describe(l2=32 * 1024**2)
    monkeypatch.setattr(contract, "PROFILE_LENGTH", 256)
    monkeypatch.setitem(options.TARGETS, "gpu", lambda: gpu_target)
    return fake_card


def call(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)


def verdict(*words: object, target: str = "gpu") -> tuple[int, dict[str, Any]]:
    done = call("judge", *words, "--target", target, "--seed", 3, "--json")
    return done.exit_code, json.loads(done.stdout)


def test_a_verdict_tells_the_speed_that_it_measured() -> None:
    code, told = verdict(ONLINE, "--step", "online-attention", *FEW)
    assert (code, told["outcome"], told["target"]["kind"]) == (0, "passed", "gpu")
    assert told["speed"]["speedup"] == pytest.approx(10, rel=0.02)
    lines = "\n".join(told["evidence"])
    for label in ("ATTN BASELINE MS", "ATTN USER MS", "SPEEDUP"):
        assert label in lines


def test_the_baseline_is_judged_and_not_passed() -> None:
    done = call("judge", COOPERATIVE, "--step", "online-attention", "--target", "gpu", *FEW)
    assert done.exit_code == 1
    assert "SLOW" in done.stdout
    again = next(line for line in done.stdout.splitlines() if line.startswith("again"))
    assert again.endswith("--target gpu --pairs 30")
    # The command to copy is as long as the path of the file.
    lines = [line for line in done.stdout.splitlines() if not line.startswith("again")]
    assert [line for line in lines if len(line) > 80] == []


def test_evidence_is_written_and_a_replay_tells_what_differs(
    tmp_path: Path, card: FakeCard, gpu_target: GpuTarget
) -> None:
    bundle = tmp_path / "out.json"
    code, told = verdict(ONLINE, "--step", "online-attention", *FEW, "--evidence", bundle)
    assert code == 0
    kept = json.loads(bundle.read_text())
    assert kept["verdict"]["outcome"] == told["outcome"]
    again = call("replay", bundle)
    assert again.exit_code == 0, again.output

    card.describe(l2=32 * 1024**2, us__Z12attendOnlinePKfPfi=1000)
    gpu_target.close()
    again = call("replay", bundle, "--json")
    assert again.exit_code == 1
    told = json.loads(again.stdout)
    assert told["verdict"]["speed"]["speedup"] == pytest.approx(4, rel=0.02)
    assert [row["what"] for row in told["compared"] if not row["same"]] == ["speedup"]


def test_without_a_card_the_exit_code_says_so(card: FakeCard, gpu_target: GpuTarget) -> None:
    card.describe(devices=0)
    gpu_target.close()
    done = call("judge", ONLINE, "--target", "gpu")
    assert done.exit_code == 4
    assert "no NVIDIA GPU" in done.output


def test_what_a_target_needs_is_missing_with_the_same_exit_code_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(options.TARGETS, "gpu", GpuTarget)  # the command's own, with its own cache
    where = {
        "TILESTEP_CACHE": ("/proc/nope", "set TILESTEP_CACHE"),
        "TILESTEP_CXX": ("/none", "unset it"),
    }
    for name, (value, mend) in where.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            for target in ("gpu", "cpu", "both"):
                done = call("judge", ONLINE, "--target", target)
                assert done.exit_code == 4, done.output
                assert mend in done.stderr
                assert len(done.stderr.strip().splitlines()) == 1


def test_a_full_card_is_exit_code_4(card: FakeCard, gpu_target: GpuTarget) -> None:
    card.describe(l2=32 * 1024**2, memory=60_000_000, others=1)
    for target in ("gpu", "both"):
        gpu_target.close()
        code, told = verdict(ONLINE, "--step", "online-attention", *FEW, target=target)
        assert (code, told["outcome"]) == (4, "unavailable")
        assert told["says"].endswith("(process 1000000000), or choose another card by CUDA_VISIBLE_DEVICES")


def test_both_asks_the_checkers_first() -> None:
    wrong, told = verdict(SUBMISSIONS / "past_the_end.cu", "--step", "rmsnorm", target="both")
    assert wrong == 1
    assert told["outcome"] in ("wrong", "unsafe")
    assert told["findings"][0]["code"] == "out-of-bounds-global"

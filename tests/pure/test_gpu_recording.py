"""Recordings of a plan: compared, made once, and what a run's end is called."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tilestep.program import Argument, Buffer, Job, Launch, LaunchPlan, Place, Run, Transfer
from tilestep.targets.gpu import outcome, recording, timing
from tilestep.targets.gpu.recording import Recordings, record

LAUNCH = Launch("attend", (4, 1, 1), (32, 1, 1), 0, 7, "_Z6attendPf", (Argument(bytes(4)),))
OTHER = Launch("merge", (1, 1, 1), (32, 1, 1), 0, 9, "_Z5mergePf")
FILL = Transfer(Place("scratch 1"), 64)
PLAN = LaunchPlan(launches=(LAUNCH, OTHER), scratch_bytes=(64,), items=(FILL, LAUNCH, OTHER))
JOB = Job((Buffer("y", 1, 2, "out"),), (1,), mode="fast")


def recorded(monkeypatch: pytest.MonkeyPatch, *runs: Run) -> Run:
    left = list(runs)
    monkeypatch.setattr(recording, "run_job", lambda *_: left.pop())
    return record(Path("recorder"), "a.cu", JOB, Path("confine"))


def test_equal_recordings_are_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run("finished", plan=PLAN)
    assert recorded(monkeypatch, run, replace(run)) == run


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (replace(PLAN, scratch_bytes=(128,)), "scratch of ["),
        (replace(PLAN, items=PLAN.items[1:]), "launches and transfers in one recording"),
        (
            replace(PLAN, items=(FILL, replace(LAUNCH, grid=(5, 1, 1)), OTHER)),
            "the launch of attend at line 7",
        ),
        (replace(PLAN, items=(replace(FILL, fill=1), LAUNCH, OTHER)), "a transfer to scratch 1"),
    ],
)
def test_recordings_that_differ_are_refused(
    monkeypatch: pytest.MonkeyPatch, other: LaunchPlan, says: str
) -> None:
    run = recorded(monkeypatch, Run("finished", plan=other), Run("finished", plan=PLAN))
    assert run.ended == "refused"
    assert run.says.startswith("the launches depend on something other than the sizes of the call: ")
    assert says in run.says


def test_a_seam_that_does_not_finish_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = Run("crashed", "it crashed in host code")
    assert recorded(monkeypatch, crashed, crashed) == crashed
    assert recorded(monkeypatch, Run("finished", plan=PLAN), crashed).ended == "crashed"


def test_many_threads_make_one_recording() -> None:
    kept, made = Recordings(), []
    gate = threading.Barrier(8)

    def make() -> Run:
        made.append(1)
        return Run("finished")

    def ask() -> None:
        gate.wait()
        assert kept.get("key", make).ended == "finished"

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_recording_that_fails_is_made_again() -> None:
    kept = Recordings()

    def fails() -> Run:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        kept.get("key", fails)
    assert kept.get("key", lambda: Run("finished")).ended == "finished"


@pytest.mark.parametrize(
    ("item", "kernel", "line"), [(1, "attend", 7), (2, "merge", 9), (0, None, None), (None, None, None)]
)
def test_a_crash_names_its_launch(item: int | None, kernel: str | None, line: int | None) -> None:
    says, at = outcome.why_crashed("CUDA_ERROR_ILLEGAL_ADDRESS", item, PLAN)
    assert at == line
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in says
    assert says.startswith(f"it crashed in kernel {kernel}: " if kernel else "it crashed: ")


def test_the_only_kernel_of_a_plan_is_the_one_that_never_ends() -> None:
    alone = LaunchPlan(launches=(LAUNCH, LAUNCH), items=(LAUNCH, LAUNCH))
    assert outcome.why_late(None, alone, 10.0) == (
        "it was still running after 10 seconds in kernel attend",
        7,
    )
    assert outcome.why_late(None, PLAN, 10.0) == ("it was still running after 10 seconds", None)


def test_every_refusal_of_a_launch_has_its_sentence() -> None:
    assert set(outcome._REFUSALS) == set(timing._REFUSALS)
    for label in timing._REFUSALS:
        (found,) = outcome.findings({"refused": [[1, label]], "guards": [], "changed": []}, PLAN, JOB, "a.cu")
        assert outcome._REFUSALS[label] in found.says
        assert label in found.says


def test_findings_are_told_in_the_emulators_words() -> None:
    body = {
        "refused": [[1, "CUDA_ERROR_INVALID_VALUE"]],
        "guards": [["y", "after"], ["scratch 1", "before"]],
        "changed": ["x"],
    }
    found = outcome.findings(body, PLAN, JOB, "a.cu")
    assert [(f.code, f.file, f.line) for f in found] == [
        ("launch-refused", "a.cu", 7),
        ("guard-band", "a.cu", None),
        ("guard-band", "a.cu", None),
        ("input-written", "a.cu", None),
    ]
    assert [f.says.split(":")[0] for f in found] == [
        "a GPU would refuse to launch attend",
        "memory past the end of y was written during the run",
        "memory before the start of scratch 1 was written during the run",
        "the input x was changed during the run",
    ]

"""Small submissions on a real GPU: what a plan may hold, and what happens when a kernel goes wrong.

They are those that the fake driver has stand-ins for; here the card runs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu_submissions import RIGHT, STEP_OF_ALL, SUBMISSIONS, job

from tilestep.frontends import cuda
from tilestep.program import Run


def ran(target: Any, name: str, **how: Any) -> Run:
    built = target.build(cuda.load(SUBMISSIONS / f"{name}.cu", STEP_OF_ALL))
    run: Run = target.run(built, job(**how))
    return run


@pytest.mark.parametrize("name", RIGHT)
def test_what_a_plan_may_hold(target: Any, name: str) -> None:
    for _ in range(2):  # a second run begins as fresh as the first
        run = ran(target, name)
        assert run.ended == "finished", run.says
        assert run.findings == ()
        assert np.allclose(run.outputs["y"], RIGHT[name](), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("past_the_end", "guard-band"),
        ("before_the_scratch", "guard-band"),
        ("writes_its_input", "input-written"),
        ("too_many_threads", "launch-refused"),
    ],
)
def test_what_the_target_finds(target: Any, name: str, code: str) -> None:
    run = ran(target, name)
    assert run.ended == "finished", run.says
    assert [finding.code for finding in run.findings] == [code]
    assert run.findings[0].says


def test_an_illegal_address_is_told_and_the_next_kernel_passes(target: Any) -> None:
    run = ran(target, "illegal_address")
    assert run.ended == "crashed"
    assert "astray" in run.says
    assert run.line == 12
    for name in ("scratch", "counter"):
        after = ran(target, name)
        assert after.ended == "finished", after.says
        assert np.allclose(after.outputs["y"], RIGHT[name]())


def test_a_kernel_that_never_ends_is_ended(target: Any) -> None:
    run = ran(target, "endless", timeout=2.0)
    assert run.ended == "timed-out"
    assert "spin" in run.says
    after = ran(target, "stale")
    assert after.ended == "finished", after.says
    assert np.all(after.outputs["y"] == 1.0)


def test_a_plan_that_depends_on_addresses_is_refused(target: Any) -> None:
    run = ran(target, "depends_on_addresses")
    assert run.ended == "refused"
    assert "depend" in run.says

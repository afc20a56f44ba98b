"""What the worker tells of a run, as a Run's own words: the emulator's sentences, wherever it has one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from tilestep.emulator.findings import describe
from tilestep.emulator.refusals import crashed, timed_out
from tilestep.program import Buffer, Finding, Job, Launch, LaunchPlan

_CAUSES = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": "it reads or writes an address that is no memory of its own",
    "CUDA_ERROR_MISALIGNED_ADDRESS": "it accesses an address that is no multiple of the access's size",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": "it accesses one kind of memory with an address of another",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": "it ran into an instruction that the card does not know, or a trap",
    "CUDA_ERROR_INVALID_PC": "it jumped to an address that holds no code",
    "CUDA_ERROR_HARDWARE_STACK_ERROR": "it has used up its stack",
    "CUDA_ERROR_ASSERT": "an assertion of its own does not hold",
    "CUDA_ERROR_LAUNCH_FAILED": "it leaves its shared or local memory, traps, or has used up its stack",
    "CUDA_ERROR_LAUNCH_TIMEOUT": "the system ended it after its time limit",
}
# By the labels of timing.py, which says what counts as a refusal; a test holds the two to each other.
_REFUSALS = {
    "CUDA_ERROR_INVALID_VALUE": "its grid, its block or its shared memory is more than this card has",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "its blocks need more registers or memory than this card has",
    "CUDA_ERROR_INVALID_CONFIGURATION": "its grid or its block has a shape that this card does not launch",
    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE": "its grid is larger than what this card holds at once",
    "CUDA_ERROR_NOT_SUPPORTED": "it asks for what this card or its driver does not have",
    "CUDA_ERROR_INVALID_HANDLE": "the card's driver does not know its kernel",
}


def why_crashed(label: str, item: object, plan: LaunchPlan) -> tuple[str, int | None]:
    """The sentence and the line for a driver's error at an item of the plan, or at one that is not known."""
    launch = launch_at(item, plan)
    why = f"{_CAUSES.get(label, 'the card stopped it')} ({label})"
    return crashed({"kernel": launch.kernel, "why": why} if launch else {"why": why}), _line(launch)


def why_late(item: object, plan: LaunchPlan, seconds: float) -> tuple[str, int | None]:
    """The sentence and the line for a kernel that never ended."""
    launch = launch_at(item, plan)
    return timed_out({"kernel": launch.kernel} if launch else {}, seconds), _line(launch)


def launch_at(item: object, plan: LaunchPlan) -> Launch | None:
    """The launch with that number among the items; where none is known, the only one that there is."""
    if isinstance(item, int) and 0 <= item < len(plan.items):
        found = plan.items[item]
        return found if isinstance(found, Launch) else None
    kernels = {launch.kernel for launch in plan.launches}
    return plan.launches[0] if len(kernels) == 1 else None


def findings(body: dict[str, Any], plan: LaunchPlan, job: Job, file: str) -> tuple[Finding, ...]:
    """Refused launches, broken guard bands and changed inputs of one run."""
    refused = [_refused(item, label, plan) for item, label in body["refused"]]
    changed = [{"code": "input-written", "array": name, "element": -1} for name in body["changed"]]
    found = (
        *_described(refused, job.buffers),
        *outside(body["guards"], job.buffers),
        *_described(changed, job.buffers),
    )
    return tuple(finding if finding.file else replace(finding, file=file) for finding in found)


def outside(guards: Iterable[tuple[str, str]], buffers: Sequence[Buffer]) -> tuple[Finding, ...]:
    """A finding for each guard band, by buffer and side, that a run has written to."""
    events = [{"code": "guard-band", "array": name, "detail": side} for name, side in guards]
    return _described(events, buffers)


def _described(events: Iterable[dict[str, Any]], buffers: Sequence[Buffer]) -> tuple[Finding, ...]:
    shapes = {buffer.name: (buffer.rows, buffer.width) for buffer in buffers}
    return tuple(describe({"event": "finding", **event}, None, None, shapes) for event in events)


def _refused(item: int, label: str, plan: LaunchPlan) -> dict[str, Any]:
    launch = launch_at(item, plan)
    detail = f"{_REFUSALS.get(label, 'this card does')} ({label})"
    line: Sequence[tuple[str, Any]] = [("line", launch.line)] if launch and launch.line else []
    return {
        "code": "launch-refused",
        "kernel": launch.kernel if launch else "",
        "detail": detail,
        **dict(line),
    }


def _line(launch: Launch | None) -> int | None:
    return launch.line if launch else None

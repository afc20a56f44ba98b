"""Sentences for a seam that asked for what it may not have, and for a run that did not finish."""

from __future__ import annotations

from collections.abc import Sequence

from tilestep.emulator.worker_files import Event, text, triple, whole
from tilestep.program import Finding

_REFUSED = {
    "read_back": "a seam must not read device memory back: the values are for the judge",
    "synchronise": "a seam must not wait for its kernels: it only launches them, and the judge waits",
    "stream": "a seam must not make streams or use another than the default one: its launches run in order",
    "event": "a seam must not use events: the judge keeps the clock",
    "managed_memory": "a seam must not use managed or pinned memory: there is device memory only",
    "host_function": "a seam must not queue host functions: it launches kernels",
    "unknown_kernel": "tilestep cannot tell which kernel this launch means; launch it by its name",
    "device_memory_on_host": "host code of the seam reads or writes device memory: only kernels may",
    "many_items": "the seam makes too many launches, memsets and copies: at most MOST in one call",
    "many_bytes": "the seam's launches have too large arguments: at most MOST bytes of them in one call",
}


def refused(event: Event) -> str:
    """Why a seam is refused, in one sentence that names the call where there is one."""
    why = text(event, "why")
    if why == "scratch":
        return _scratch(whole(event, "bytes"))
    sentence = _REFUSED.get(why, f"the seam is refused ({why or 'no reason given'})")
    sentence = sentence.replace("MOST", f"{whole(event, 'most'):,}")
    call = text(event, "call")
    return f"{call}: {sentence}" if call else sentence


def _scratch(size: int) -> str:
    amount = f"{size} bytes" if size < 10_000 else f"{size / 1e6:.2f} MB"
    return f"the seam asks for {amount} of device memory, more than this step allows for workspace"


def crashed(event: Event, findings: Sequence[Finding] = ()) -> str:
    """What a crash was and who was running. Without a signal it is the last finding that ended the run."""
    if findings and not text(event, "signal"):
        return f"the run cannot go on: {findings[-1].says}"
    why = text(event, "why") or text(event, "signal") or "crash"
    signal = text(event, "signal")
    named = f"{why} ({signal})" if signal and signal not in why else why
    return f"it crashed{_who(event)}: {named}"


def timed_out(event: Event, seconds: float) -> str:
    """Who was running when the time was up."""
    return f"it was still running after {seconds:g} seconds{_who(event)}"


def _who(event: Event) -> str:
    kernel = text(event, "kernel")
    if not kernel:
        return " in host code" if "kernel" in event else ""
    where = f" in kernel {kernel}"
    block, thread = triple(event, "block"), triple(event, "thread")
    if block is not None:
        where += f", block {_short(block)}"
    if thread is not None:
        where += f", thread {_short(thread)}"
    return where


def _short(index: tuple[int, int, int]) -> str:
    """(5, 0, 0) is 5; (5, 2, 0) is (5, 2)."""
    x, y, z = index
    return f"({x}, {y}, {z})" if z else f"({x}, {y})" if y else str(x)

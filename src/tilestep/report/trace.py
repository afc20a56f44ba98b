"""Times as trace events, which chrome://tracing and Perfetto draw."""

from __future__ import annotations

import json
from typing import Any

from tilestep.inspect.times import Times

MICROSECONDS = 1000.0  # in a millisecond: trace events are in microseconds


def trace_events(times: Times) -> dict[str, Any]:
    """A row for each lane, a complete event for each launch, one right after the other.

    A launch lasts its median; what lies between launches was not measured and is left out.
    """
    events: list[dict[str, Any]] = [_named("process_name", 0, times.card)]
    for row, lane in enumerate(times.lanes, start=1):
        events.append(_named("thread_name", row, lane.name))
        start = 0.0
        for bar in lane.bars:
            duration = bar.ms * MICROSECONDS
            events.append(
                {
                    "name": bar.kernel,
                    "cat": bar.step,
                    "ph": "X",
                    "pid": 1,
                    "tid": row,
                    "ts": start,
                    "dur": duration,
                    "args": {
                        "step": bar.step,
                        "line": bar.line,
                        "fastest_us": bar.fastest * MICROSECONDS,
                        "slowest_us": bar.slowest * MICROSECONDS,
                    },
                }
            )
            start += duration
    facts = {times.length_name: times.length, "repeats": times.repeats, "card": times.card}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": facts}


def is_trace(data: bytes) -> bool:
    """Whether a file's bytes are trace events, so that new ones may take their place."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "traceEvents" in document


def _named(what: str, row: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": 1, "tid": row, "args": {"name": name}}

"""Runs an executable once in the sandbox: the job goes in as files, a Run comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from tilestep.emulator import refusals, watch_log
from tilestep.emulator.findings import describe
from tilestep.emulator.plan import read_plan
from tilestep.emulator.sandbox import Ended, Limits, private_folder, run_limited
from tilestep.emulator.symbolise import Place, places
from tilestep.emulator.symbols import symbol_at
from tilestep.emulator.worker_files import (
    BadFileError,
    Event,
    read_events,
    read_output,
    text,
    whole,
    write_job,
)
from tilestep.program import Finding, Floats, Job, LaunchPlan, Run, Traffic

_GRACE_SECONDS = 2.0  # the worker ends itself, and says where it was, before the sandbox does
_MOST_FINDINGS = 200
_WRITTEN_BACK = ("out", "inout")


class WorkerError(Exception):
    """The worker could not read its job: our fault, never the submission's."""


def run_job(executable: Path, file: str, job: Job, confine: Path | None) -> Run:
    """Runs `executable`, built from the submission `file`, on one job.

    Whatever the submission does ends up in the Run; only a fault of ours raises (WorkerError, OSError).
    """
    limits = Limits(
        seconds=job.timeout + _GRACE_SECONDS,
        cpu_seconds=(job.timeout + _GRACE_SECONDS) * max(1, job.threads),
    )
    with private_folder() as folder:
        write_job(folder, job)
        ended = run_limited([str(executable), "job.txt"], folder, limits, confine)
        events = read_events(folder)
        return _Reading(executable, file, job, folder, ended, events).run()


class _Reading:
    """What a worker left behind, on its way to a Run."""

    def __init__(
        self, executable: Path, file: str, job: Job, folder: Path, ended: Ended, events: list[Event]
    ) -> None:
        self.executable = executable
        self.file = file
        self.job = job
        self.folder = folder
        self.ended = ended
        self.events = events
        counters = [
            counter
            for event in events
            if event["event"] != "entry"  # of a kernel that is recorded: its name is asked for, not its line
            for counter in (event.get("pc"), event.get("other_pc"), *_callers(event))
            if isinstance(counter, int)
        ]
        self.log = watch_log.read_log(folder) if job.mode == "watch" else []
        self.places = places(executable, file, {*counters, *watch_log.counters(self.log)})

    def run(self) -> Run:
        findings = self._findings()
        ended, says, line = self._outcome(findings)
        outputs: Mapping[str, Floats] = {}
        if ended == "finished" and self.job.mode == "record":
            try:
                self._plan(ended)
            except BadFileError as why:
                ended, says = "crashed", f"its launches cannot be read: {why}"
        elif ended == "finished":
            try:
                outputs, changed = self._outputs()
            except BadFileError as why:
                ended, says = "crashed", f"its results cannot be read: {why}"
            else:
                if changed and not any(finding.code == "input-written" for finding in findings):
                    findings += tuple(self._input_written(name) for name in changed)
        done = self._last("done") or {}
        seconds = done.get("seconds")
        return Run(
            ended,
            says,
            outputs=outputs,
            findings=findings,
            plan=self._plan(ended),
            traffic=self._traffic(),
            watched=watch_log.watched_blocks(self.events, self.log, self.places),
            work=watch_log.work(self.events),
            watch_cut=self._last("watch-full") is not None,
            line=line,
            seconds=float(seconds) if isinstance(seconds, int | float) else self.ended.seconds,
            accesses=whole(done, "accesses"),
        )

    def _outcome(self, findings: tuple[Finding, ...]) -> tuple[str, str, int | None]:
        """(finished, refused, crashed or timed-out; why; the line). The worker's own word counts first."""
        if event := self._last("refused"):
            line = whole(event, "line") or self._line(event)
            return "refused", refusals.refused(event), line
        if event := self._last("timeout"):
            return "timed-out", refusals.timed_out(event, self.job.timeout), self._line(event)
        if event := self._last("crash"):
            return "crashed", refusals.crashed(event, findings), self._line(event)
        if event := self._last("failed"):
            raise WorkerError(text(event, "why"))
        if self.ended.timed_out:
            return "timed-out", self.ended.why, None
        if self.ended.why:
            return "crashed", self.ended.why, None
        if self._last("done") and self.ended.code == 0:
            return "finished", "", None
        if self.ended.code in (125, 126):
            raise WorkerError(self.ended.stderr.decode("utf-8", "replace").strip())
        return (
            "crashed",
            f"it ended itself with exit status {self.ended.code} before its kernels were done",
            None,
        )

    def _outputs(self) -> tuple[dict[str, Floats], list[str]]:
        """What the buffers hold now, and the inputs that are not what they were. Raises BadFileError."""
        outputs: dict[str, Floats] = {}
        changed = []
        for buffer in self.job.buffers:
            after = read_output(self.folder, buffer)
            if buffer.role in _WRITTEN_BACK:
                outputs[buffer.name] = after
            elif buffer.data is not None and after.tobytes() != buffer.data.astype("float32").tobytes():
                changed.append(buffer.name)
        return outputs, changed

    def _input_written(self, name: str) -> Finding:
        event = {"event": "finding", "code": "input-written", "array": name, "element": -1}
        return self._describe(event, None, None)

    def _describe(self, event: Event, where: Place | None, other: Place | None) -> Finding:
        shapes = {buffer.name: (buffer.rows, buffer.width) for buffer in self.job.buffers}
        finding = describe(event, where, other, shapes)
        return finding if finding.file else replace(finding, file=self.file)

    def _findings(self) -> tuple[Finding, ...]:
        counts = {_same(event): whole(event, "count", 1) for event in self._all("finding-count")}
        found = []
        for event in self._all("finding")[:_MOST_FINDINGS]:
            where, other = self._place(event, "pc"), self._place(event, "other_pc")
            if text(event, "code") == "stack-overflow" and where is None and (crash := self._last("crash")):
                where = self._nearest_place(crash)
            if text(event, "code") == "divergent-barrier" and where is not None and where == other:
                continue  # one barrier that the compiler duplicated
            event = {**event, "count": counts.get(_same(event), whole(event, "count", 1))}
            found.append(self._describe(event, where, other))
        return tuple(found)

    def _plan(self, ended: str) -> LaunchPlan:
        recorded = self.job.mode == "record" and ended == "finished"
        return read_plan(self.events, self.folder, partial(symbol_at, self.executable), recorded=recorded)

    def _traffic(self) -> Traffic | None:
        events = self._all("traffic")
        if self.job.mode != "traffic" or not events:
            return None
        keys = [(text(event, "buffer"), text(event, "range")) for event in events]
        return Traffic(
            {key: whole(event, "read") for key, event in zip(keys, events, strict=True)},
            {key: whole(event, "written") for key, event in zip(keys, events, strict=True)},
        )

    def _place(self, event: Event, key: str) -> Place | None:
        value = event.get(key)
        return self.places.get(value) if isinstance(value, int) else None

    def _nearest_place(self, event: Event) -> Place | None:
        """Where it happened; or, where that is no line of the submission, who called it."""
        if place := self._place(event, "pc"):
            return place
        return next((self.places[counter] for counter in _callers(event) if counter in self.places), None)

    def _line(self, event: Event) -> int | None:
        place = self._nearest_place(event)
        return place.line if place else None

    def _all(self, kind: str) -> list[Event]:
        return [event for event in self.events if event["event"] == kind]

    def _last(self, kind: str) -> Event | None:
        found = self._all(kind)
        return found[-1] if found else None


def _callers(event: Event) -> list[int]:
    """What looked like return addresses when a signal came, nearest first."""
    found = event.get("callers")
    return [counter for counter in found if isinstance(counter, int)] if isinstance(found, list) else []


def _same(event: Event) -> tuple[object, ...]:
    return text(event, "code"), event.get("pc"), event.get("array")

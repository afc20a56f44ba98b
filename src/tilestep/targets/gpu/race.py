"""Two programs side by side, timed in turn on equal inputs, each in a worker of its own.

Nothing of the baseline is in the submission's reach: not its answers, and not its code, which a kernel that
writes where it should not could slow down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tilestep.program import Buffer, Job, LaunchPlan
from tilestep.targets.gpu import outcome, wire
from tilestep.targets.gpu.client import WorkerClient, WorkerFailedError, WorkerGoneError
from tilestep.targets.gpu.wire import Data, Message
from tilestep.targets.protocol import Call, Pair

WARM_UP_CALLS = 3
NOT_RUN = "not-run"  # how a call ended that there was no worker for any more
_USER, _BASELINE = "user", "baseline"

Load = tuple[dict[str, Any], Sequence[Data]]


class CallError(RuntimeError):
    """A call that did not finish: `ended` is crashed, timed-out or refused, as a Run's."""

    def __init__(self, ended: str, says: str) -> None:
        super().__init__(says)
        self.ended = ended
        self.says = says


class Runner:
    """Asks a worker for calls of plans, and puts what goes wrong into words. Raises CallError, and
    TargetUnavailableError where the card has no memory left.

    The card does one thing at a time: each request holds `lock`.
    """

    def __init__(
        self, client: WorkerClient, lock: AbstractContextManager[Any], seconds: float, grace: float
    ) -> None:
        self._client = client
        self._lock = lock
        self._seconds = seconds
        self._grace = grace

    def open(self, hold: bytes, buffers: Sequence[Buffer]) -> None:
        """Allocates the buffers of the calls that follow."""
        self.ask({"do": "open", "timing": True, "buffers": wire.pack_buffers(buffers)}, [hold])

    def feed(self, buffers: Sequence[Buffer]) -> None:
        self.ask({"do": "feed"}, wire.pack_data(buffers))

    def ask(
        self, body: dict[str, Any], blobs: Sequence[Data] = (), plan: LaunchPlan | None = None
    ) -> Message:
        """An answer; `plan` is what a failure is of."""
        plan = plan or LaunchPlan()
        try:
            with self._lock:
                answer = self._client.ask(body, blobs, seconds=self._seconds, grace=self._grace)
        except WorkerGoneError as gone:
            if gone.timed_out:
                raise CallError("timed-out", outcome.why_late(None, plan, self._seconds)[0]) from None
            raise CallError("crashed", str(gone)) from None
        except WorkerFailedError as failed:
            raise RuntimeError(str(failed)) from None
        if "unplayable" in answer.body:
            raise CallError("refused", str(answer.body["unplayable"]))
        if "crashed" in answer.body:
            raise CallError("crashed", outcome.why_crashed(answer.body["crashed"], None, plan)[0])
        return answer


class GpuRace:
    """See protocol.Race. What went wrong in a program's warm-up is told by its first call."""

    def __init__(self, runners: Mapping[str, Runner], plans: Mapping[str, LaunchPlan], job: Job) -> None:
        """`runners` may be one and the same, on a card that takes one process at a time."""
        self._runners = runners
        self._workers = tuple(dict.fromkeys(runners.values()))
        self._plans = plans
        self._job = job
        self._failed: dict[str, CallError] = {}

    def open(self, hold: bytes, loads: Mapping[str, Load]) -> None:
        """Loads both and warms them up, the baseline first."""
        for worker in self._workers:
            worker.open(hold, self._job.buffers)
            worker.feed(self._job.buffers)
        for slot in (_BASELINE, _USER):
            try:
                self._runners[slot].ask(*loads[slot], self._plans[slot])
                for _ in range(WARM_UP_CALLS):
                    self._time(slot, outputs=False)
            except CallError as error:
                self._failed[slot] = error
                return

    def pair(self, buffers: tuple[Buffer, ...], user_first: bool) -> Pair:
        """Both plans once on these inputs. After a call that did not finish there are no more."""
        if not self._failed:
            for worker in self._workers:
                worker.feed(buffers)
        calls: dict[str, Call] = {}
        clocks, lowered = [], []
        for slot in (_USER, _BASELINE) if user_first else (_BASELINE, _USER):
            if self._failed:
                calls[slot] = self._not_made(slot)
                continue
            try:
                answer = self._time(slot)
            except CallError as error:
                self._failed[slot] = error
                calls[slot] = self._not_made(slot)
                continue
            body = answer.body
            outputs = wire.unpack_outputs(buffers, answer.blobs)
            calls[slot] = Call(
                float(body["ms"]),
                float(body["wall_ms"]),
                outputs,
                late=bool(body["late"]),
                findings=outcome.outside(body["guards"], buffers),
            )
            clocks.append(int(body["clock"]))
            lowered += [str(reason) for reason in body["lowered"]]
        throttled = tuple(dict.fromkeys(lowered))
        clock = min((mhz for mhz in clocks if mhz), default=0)  # a pair is as slow as its slower half
        return Pair(calls[_USER], calls[_BASELINE], user_first, clock, throttled)

    def _time(self, slot: str, *, outputs: bool = True) -> Message:
        asked = {"do": "time", "slot": slot, "outputs": outputs}
        return self._runners[slot].ask(asked, (), self._plans[slot])

    def _not_made(self, slot: str) -> Call:
        if error := self._failed.get(slot):
            return Call(math.nan, math.nan, ended=error.ended, says=error.says)
        return Call(math.nan, math.nan, ended=NOT_RUN, says="the call before it did not finish")

"""NVIDIA GPUs as a target: the seam is recorded in the sandbox, its plan replayed by a worker of our own."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler, missing_compiler
from tilestep.emulator.job import WorkerError
from tilestep.program import VARIABLE, Job, Launch, LaunchPlan, Program, Run, Transfer
from tilestep.targets.building import build_flavours
from tilestep.targets.gpu import outcome, wire
from tilestep.targets.gpu.card import Facts, NoCardError
from tilestep.targets.gpu.client import WorkerClient, WorkerFailedError, WorkerGoneError
from tilestep.targets.gpu.compile import DeviceCompiler, Maker, NoDeviceCompilerError, choose
from tilestep.targets.gpu.images import DeviceImage
from tilestep.targets.gpu.race import WARM_UP_CALLS, GpuRace, Runner
from tilestep.targets.gpu.racers import Racers
from tilestep.targets.gpu.recording import Recordings, record
from tilestep.targets.protocol import Built, Card, LaunchTime, TargetUnavailableError

LONGEST_SECONDS = 10.0  # a GPU that is still busy after so long is most likely busy for ever
_GRACE_SECONDS = 5.0  # to copy, to load, to answer
_EXTRA = "cuda-core is not installed: pip install 'tilestep[gpu]'"


@dataclass(frozen=True, eq=False)
class GpuBuilt:
    """A program's recorder for the CPU and its image for the card."""

    program: Program
    recorder: Path
    image: DeviceImage


class GpuTarget:
    """Runs submissions on the first GPU that is visible.

    `cache` keeps what was compiled; `compiler` is compile.nvcc or compile.nvrtc where one of them is wanted.
    """

    kind = "gpu"
    checks = False

    def __init__(self, cache: Cache | None = None, compiler: Maker | None = None) -> None:
        self._given_cache = cache
        self._make_compiler = compiler
        self._client: WorkerClient | None = None
        self._lock = threading.RLock()  # one thing at a time on the card
        self._recordings = Recordings()
        self._racers = Racers()
        atexit.register(_close, weakref.ref(self))

    @property
    def name(self) -> str:
        """The card's; where there is none, as `available` tells, that of a card."""
        if self.available() is not None:
            return "an NVIDIA GPU"
        return f"{self.card.name}, driver {self.card.driver}"

    @functools.cached_property
    def card(self) -> Card:
        """Raises NoCardError, or NoDeviceCompilerError."""
        with self._lock:
            facts = self._worker().facts
            compiler = self._compiler
            self._try_driver(facts, compiler)
        return Card(
            name=facts.name,
            driver=facts.driver,
            capability=facts.capability,
            memory_bytes=facts.memory_bytes,
            multiprocessors=facts.multiprocessors,
            l2_bytes=facts.l2_bytes,
            bandwidth=facts.bandwidth,
            highest_clock=facts.highest_clock,
            compiler=compiler.name,
            flags=compiler.flags,
            others=facts.others,
        )

    def available(self) -> str | None:
        """None when it is ready, else one sentence with the command that mends it."""
        if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.core") is None:
            return _EXTRA
        if missing := missing_compiler():
            return missing
        try:
            self._given_cache or Cache()
        except OSError as error:
            return f"the cache folder cannot be written ({error}): set TILESTEP_CACHE to a folder that can"
        try:
            self.card  # noqa: B018  (asked for what it raises)
        except (NoCardError, NoDeviceCompilerError) as error:
            return str(error)
        return None

    def build(self, program: Program) -> GpuBuilt:
        """Compiles both halves at once. Raises SubmissionError; RuntimeBuildError is our fault."""
        builder, compiler = self._builder, self._compiler
        builder.confine  # noqa: B018  (asked once, before two threads ask for it)
        with ThreadPoolExecutor(max_workers=1) as pool:
            image = pool.submit(compiler.image, program)
            (recorder,) = build_flavours(builder, program, "record")
            return GpuBuilt(program, recorder, image.result())

    def run(self, built: Built, job: Job) -> Run:
        """Mode fast runs on the card; record only records. Raises emulator.job.WorkerError: not its fault."""
        ours = _ours(built)
        if job.mode not in ("fast", "record"):
            raise ValueError(f"the GPU has no mode {job.mode}")
        recorded = self._record(ours, job)
        if recorded.ended != "finished" or job.mode == "record":
            return recorded
        with self._lock:
            return self._replay(ours, job, recorded)

    @contextmanager
    def race(self, user: Built, baseline: Built, job: Job) -> Iterator[GpuRace]:
        """See TimingTarget. Raises RuntimeError where a plan cannot be recorded, or the card has no room."""
        slots = {"user": self._slot(user, job), "baseline": self._slot(baseline, job)}
        with ExitStack() as stack:
            runners = {name: self._runner(client, job) for name, client in self._sides(stack).items()}
            race = GpuRace(runners, {name: plan for name, (_, plan) in slots.items()}, job)
            race.open(self._compiler.hold(), {name: _load(name, *slot) for name, slot in slots.items()})
            yield race

    def race_soon(self) -> None:
        """See TimingTarget."""
        with self._lock:
            if not self._worker().facts.exclusive:
                self._racers.start()

    def _sides(self, stack: ExitStack) -> dict[str, WorkerClient]:
        """A new worker for each side; one for both on a card that takes one process at a time."""
        with self._lock:
            exclusive = self._worker().facts.exclusive
            if exclusive:
                self.close()
        clients = self._racers.take(1 if exclusive else 2)
        for client in clients:
            stack.enter_context(closing(client))
        return {"baseline": clients[0], "user": clients[-1]}

    def _runner(self, client: WorkerClient, job: Job) -> Runner:
        return Runner(client, self._lock, _seconds(job), _GRACE_SECONDS)

    def launch_times(self, built: Built, job: Job, repeats: int) -> tuple[LaunchTime, ...]:
        """Each launch of the plan for `job` by itself. Raises RuntimeError if a run fails."""
        image, plan = self._slot(built, job)
        with self._lock:
            runner = self._runner(self._worker(), job)
            runner.open(self._compiler.hold(), job.buffers)
            runner.ask(*_load("user", image, plan), plan)
            runner.feed(job.buffers)
            calls = []
            for _ in range(WARM_UP_CALLS + repeats):
                calls += runner.ask({"do": "each", "repeats": 1}, [], plan).body["calls"]
            runner.ask({"do": "close"}, [], plan)
        times = list(zip(*([ms for _, ms in call] for call in calls[WARM_UP_CALLS:]), strict=True))
        return tuple(
            LaunchTime(launch.kernel, launch.line, ms)
            for launch, ms in zip(plan.launches, times, strict=True)
        )

    def close(self) -> None:
        """Ends the workers; the next run starts another."""
        self._racers.close()
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    @functools.cached_property
    def _builder(self) -> Builder:
        return Builder(find_compiler(), self._given_cache or Cache())

    @functools.cached_property
    def _compiler(self) -> DeviceCompiler:
        with self._lock:
            capability = self._worker().facts.capability
        return (self._make_compiler or choose)(self._builder, capability)

    def _try_driver(self, facts: Facts, compiler: DeviceCompiler) -> None:
        """Loads what the compiler makes. Raises NoCardError where the driver is too old for it."""
        asked = {"do": "open", "timing": True, "buffers": []}
        try:
            self._worker().ask(asked, [compiler.hold()], seconds=LONGEST_SECONDS)
            self._worker().ask({"do": "close"}, seconds=LONGEST_SECONDS)
        except (WorkerFailedError, WorkerGoneError) as failed:
            if isinstance(failed, WorkerFailedError) and failed.no_memory:
                raise NoCardError(str(failed)) from None
            raise NoCardError(
                f"{facts.name}, driver {facts.driver}, does not load what {compiler.name} makes ({failed}): "
                "a newer driver or an older toolkit mends that"
            ) from None

    def _worker(self) -> WorkerClient:
        """The warm worker; a new one where the last has ended. Raises NoCardError."""
        if self._client is not None and not self._client.alive:
            self.close()
        if self._client is None:
            self._client = WorkerClient()
        return self._client

    def _record(self, built: GpuBuilt, job: Job) -> Run:
        """The seam's plan for a job: its sizes and the shapes of its buffers decide."""
        shapes = tuple((b.name, b.rows, b.width, b.role) for b in job.buffers)
        key = (built, job.sizes, shapes, job.scratch_bytes)
        run = self._recordings.get(
            key, lambda: record(built.recorder, built.program.file, job, self._builder.confine)
        )
        variables = built.image.readable_variables()
        return replace(run, plan=replace(run.plan, variables=variables))

    def _slot(self, built: Built, job: Job) -> tuple[DeviceImage, LaunchPlan]:
        """What is loaded for a program. Raises RuntimeError where its plan cannot be recorded."""
        ours = _ours(built)
        recorded = self._record(ours, job)
        if recorded.ended != "finished":
            raise RuntimeError(f"{ours.program.file}: {recorded.says}")
        return ours.image, recorded.plan

    def _replay(self, built: GpuBuilt, job: Job, recorded: Run) -> Run:
        plan, seconds = recorded.plan, _seconds(job)
        body, blobs = _load("user", built.image, plan)
        body = {**body, "do": "run", "buffers": wire.pack_buffers(job.buffers), "data": len(blobs)}
        try:
            data = wire.pack_data(job.buffers)
            answer = self._worker().ask(body, [*blobs, *data], seconds=seconds, grace=_GRACE_SECONDS)
        except WorkerGoneError as gone:
            if not gone.timed_out:
                says, line = outcome.why_crashed("the worker ended", gone.item, plan)
                return replace(recorded, ended="crashed", says=says, line=line)
            says, line = outcome.why_late(gone.item, plan, seconds)
            return replace(recorded, ended="timed-out", says=says, line=line)
        except WorkerFailedError as failed:
            wanted = TargetUnavailableError if failed.no_memory else WorkerError
            raise wanted(str(failed)) from None
        if "unplayable" in answer.body:
            return replace(recorded, ended="refused", says=str(answer.body["unplayable"]))
        if "crashed" in answer.body:
            says, line = outcome.why_crashed(answer.body["crashed"], answer.body["item"], plan)
            return replace(recorded, ended="crashed", says=says, line=line)
        found = outcome.findings(answer.body, plan, job, built.program.file)
        return replace(
            recorded,
            outputs=wire.unpack_outputs(job.buffers, answer.blobs),
            findings=recorded.findings + found,
            seconds=float(answer.body["seconds"]),
        )


def _close(target: weakref.ref[GpuTarget]) -> None:
    """Ends a target's worker; a target that is gone has closed its pipes, and its worker with them."""
    if (there := target()) is not None:
        there.close()


def _ours(built: Built) -> GpuBuilt:
    if not isinstance(built, GpuBuilt):
        raise TypeError("this was built by another target")
    return built


def _seconds(job: Job) -> float:
    return min(job.timeout, LONGEST_SECONDS)


def _load(slot: str, image: DeviceImage, plan: LaunchPlan) -> tuple[dict[str, Any], list[wire.Data]]:
    """The request that loads an image and its plan, and its blobs; the image is the first."""
    blobs: list[wire.Data] = [image.data]
    packed = wire.pack_plan(plan, blobs)
    body = {
        "do": "load",
        "slot": slot,
        "plan": packed,
        "kernels": image.kernel_names(launch.symbol for launch in plan.launches),
        "variables": image.variable_names(_variables(plan)),
    }
    return body, blobs


def _variables(plan: LaunchPlan) -> set[str]:
    """The names of the variables that a plan points to."""
    prefix = VARIABLE
    places = []
    for item in plan.items:
        if isinstance(item, Launch):
            places += [place for argument in item.arguments for _, place in argument.pointers]
        elif isinstance(item, Transfer):
            places += [item.to, *([item.source] if not isinstance(item.source, bytes | None) else [])]
    return {p.buffer.removeprefix(prefix) for p in places if p.buffer.startswith(prefix)}

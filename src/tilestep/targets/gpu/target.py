"""NVIDIA GPUs as a target: the seam is recorded in the sandbox, its plan replayed by a worker of our own."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
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
from tilestep.targets.gpu.card import no_memory
from tilestep.targets.gpu.client import WorkerClient, WorkerFailedError, WorkerGoneError
from tilestep.targets.gpu.compile import DeviceCompiler, Maker, NoDeviceCompilerError, choose, nvcc, nvrtc
from tilestep.targets.gpu.images import DeviceImage
from tilestep.targets.gpu.race import WARM_UP_CALLS, GpuRace, Runner
from tilestep.targets.gpu.recording import Recordings, record
from tilestep.targets.gpu.workers import Workers
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
        self._workers = Workers()
        self._recordings = Recordings()
        atexit.register(_close, weakref.ref(self))

    @property
    def name(self) -> str:
        """The card's; that of any card where `available` has something to tell."""
        if self.available() is not None:
            return "an NVIDIA GPU"
        return f"{self.card.name}, driver {self.card.driver}"

    @functools.cached_property
    def card(self) -> Card:
        """Raises TargetUnavailableError."""
        facts, compiler = self._workers.facts(), self._compiler
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
            others=len(facts.others),
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
        except TargetUnavailableError as error:
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
        """Mode fast runs on the card; record only records. Raises TargetUnavailableError where the card
        cannot, and emulator.job.WorkerError for a fault of ours."""
        ours = _ours(built)
        if job.mode not in ("fast", "record"):
            raise ValueError(f"the GPU has no mode {job.mode}")
        recorded = self._record(ours, job)
        if recorded.ended != "finished" or job.mode == "record":
            return recorded
        with self._workers.lock:
            return self._replay(ours, job, recorded)

    @contextmanager
    def race(self, user: Built, baseline: Built, job: Job) -> Iterator[GpuRace]:
        """See TimingTarget. Raises RuntimeError where a plan cannot be recorded."""
        slots = {"user": self._slot(user, job), "baseline": self._slot(baseline, job)}
        with ExitStack() as stack:
            sides = self._workers.sides(stack)
            runners = {name: self._runner(client, job) for name, client in sides.items()}
            race = GpuRace(runners, {name: plan for name, (_, plan) in slots.items()}, job)
            race.open(self._compiler.hold(), {name: _load(name, *slot) for name, slot in slots.items()})
            yield race

    def race_soon(self) -> None:
        """See TimingTarget."""
        self._workers.race_soon()

    def _runner(self, client: WorkerClient, job: Job) -> Runner:
        return Runner(client, self._workers.lock, _seconds(job), _GRACE_SECONDS)

    def launch_times(self, built: Built, job: Job, repeats: int) -> tuple[LaunchTime, ...]:
        """Each launch of the plan for `job` by itself. Raises RuntimeError if a run fails."""
        image, plan = self._slot(built, job)
        with self._workers.lock:
            runner = self._runner(self._workers.warm(), job)
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
        self._workers.close()

    @functools.cached_property
    def _builder(self) -> Builder:
        return Builder(find_compiler(), self._given_cache or Cache())

    @functools.cached_property
    def _compiler(self) -> DeviceCompiler:
        makers = (self._make_compiler,) if self._make_compiler else (nvcc, nvrtc)
        return choose(makers, self._builder, self._workers.facts().capability, self._try_out)

    def _try_out(self, compiler: DeviceCompiler) -> None:
        """Has the driver load a compiler's smallest image: one that is older than the compiler refuses it."""
        body, blobs = _load("user", DeviceImage(compiler.hold(), frozenset(), {}), LaunchPlan())
        body = {**body, "do": "run", "buffers": [], "data": len(blobs)}
        with self._workers.lock:
            worker = self._workers.warm()
            facts = worker.greet()
            try:
                answer = worker.ask(body, blobs, seconds=LONGEST_SECONDS, grace=_GRACE_SECONDS)
            except WorkerGoneError as gone:
                raise TargetUnavailableError(f"{facts.name} does not answer ({gone}): nvidia-smi") from None
            except WorkerFailedError as failed:
                raise WorkerError(str(failed)) from None
        if says := str(answer.body.get("unplayable", "")):
            label = says.rpartition(" ")[2]
            if "OUT_OF_MEMORY" in label:
                raise TargetUnavailableError(no_memory(facts.name, facts.others, label))
            raise NoDeviceCompilerError(
                f"driver {facts.driver} does not load what {compiler.name} compiles ({label}): "
                "install a newer driver, or put nvcc of an older CUDA toolkit first on the PATH"
            )

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
            worker = self._workers.warm()
            answer = worker.ask(body, [*blobs, *data], seconds=seconds, grace=_GRACE_SECONDS)
        except WorkerGoneError as gone:
            if not gone.timed_out:
                says, line = outcome.why_crashed("the worker ended", gone.item, plan)
                return replace(recorded, ended="crashed", says=says, line=line)
            says, line = outcome.why_late(gone.item, plan, seconds)
            return replace(recorded, ended="timed-out", says=says, line=line)
        except WorkerFailedError as failed:
            raise WorkerError(str(failed)) from None
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

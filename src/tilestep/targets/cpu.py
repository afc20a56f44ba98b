"""The emulator as a target: a submission compiled for this machine's processor, run under the sandbox."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler, missing_compiler
from tilestep.emulator.job import run_job
from tilestep.program import Job, Program, Run
from tilestep.targets.building import build_flavours
from tilestep.targets.protocol import Built


@dataclass(frozen=True)
class CpuBuilt:
    """A program's two executables."""

    program: Program
    fast: Path
    checked: Path


class CpuTarget:
    """Runs submissions on the emulator. `cache` keeps what was compiled, by default in the user's folder."""

    kind = "cpu"
    checks = True

    def __init__(self, cache: Cache | None = None) -> None:
        self._given_cache = cache

    @property
    def name(self) -> str:
        if missing_compiler():
            return "emulator"
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return f"emulator, {find_compiler().name}, {cores} core{'s' if cores > 1 else ''}"

    def available(self) -> str | None:
        if missing := missing_compiler():
            return missing
        try:
            self._given_cache or Cache()
        except OSError as error:
            return f"the cache folder cannot be written ({error}): set TILESTEP_CACHE to a folder that can"
        return None

    def build(self, program: Program) -> CpuBuilt:
        """Compiles both flavours at once. Raises SubmissionError; RuntimeBuildError is our fault."""
        fast, checked = build_flavours(self._builder, program, "fast", "checked")
        return CpuBuilt(program, fast, checked)

    def run(self, built: Built, job: Job) -> Run:
        if not isinstance(built, CpuBuilt):
            raise TypeError("this was built by another target")
        executable = built.fast if job.mode == "fast" else built.checked
        return run_job(executable, built.program.file, job, self._builder.confine)

    @functools.cached_property
    def _builder(self) -> Builder:
        return Builder(find_compiler(), self._given_cache or Cache())

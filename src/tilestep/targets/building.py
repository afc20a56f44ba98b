"""From a Program to executables of the emulator's builder: the last rules, then the compiler."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tilestep.emulator.build import Builder, CompileError
from tilestep.emulator.toolchain import Flavour
from tilestep.frontends.diagnostics import explain_compiler
from tilestep.frontends.expanded import check_expanded, to_expand
from tilestep.program import Program, SubmissionError


def build_flavours(builder: Builder, program: Program, *flavours: Flavour) -> tuple[Path, ...]:
    """The executables of a submission, compiled at once.

    Raises SubmissionError, refused or broken; RuntimeBuildError is our fault.
    """
    refuse_hidden(builder, program)
    with ThreadPoolExecutor(max_workers=len(flavours)) as pool:
        builds = [pool.submit(builder.build, program.source, flavour) for flavour in flavours]
    try:
        return tuple(build.result() for build in builds)
    except CompileError as failed:
        raise explained(failed, program) from None


def refuse_hidden(builder: Builder, program: Program) -> None:
    """Raise SubmissionError for what only the preprocessor brings to light. Comes before any compiling.

    It also asks the builder for what its threads would otherwise make twice.
    """
    builder.toolchain  # noqa: B018
    builder.confine  # noqa: B018
    expansion = builder.expand(to_expand(program), program.file)
    if expansion is not None:
        check_expanded(expansion, program)


def explained(failed: CompileError, program: Program) -> SubmissionError:
    """What the builder says of a submission, about the person's own line where there is one."""
    if failed.why:
        return SubmissionError(failed.why, file=program.file, outcome=failed.outcome)
    return explain_compiler(failed.stderr, program)

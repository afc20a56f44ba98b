"""From a Program to executables of the emulator's builder: the last rules, then the compiler."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tilestep.emulator.build import Builder, CompileError
from tilestep.emulator.toolchain import Flavour
from tilestep.frontends.diagnostics import explain_compiler
from tilestep.frontends.expanded import from_expansion, to_expand
from tilestep.program import Program, SubmissionError


def build_flavours(builder: Builder, program: Program, *flavours: Flavour) -> tuple[Path, ...]:
    """The executables of a submission, compiled at once.

    Raises SubmissionError, refused or broken; RuntimeBuildError is our fault.
    """
    plain = as_compiled(builder, program)
    with ThreadPoolExecutor(max_workers=len(flavours)) as pool:
        builds = [pool.submit(builder.build, plain.source, flavour) for flavour in flavours]
    try:
        return tuple(build.result() for build in builds)
    except CompileError as failed:
        raise explained(failed, plain) from None


def as_compiled(builder: Builder, program: Program) -> Program:
    """The program as every compiler gets it: preprocessed once. Raises SubmissionError.

    It also asks the builder for what its threads would otherwise make twice.
    """
    builder.toolchain  # noqa: B018
    builder.confine  # noqa: B018
    expansion = builder.expand(to_expand(program), program.file)
    if expansion is not None:
        return from_expansion(expansion, program)
    try:
        builder.build(program.source, "fast")  # for what the compiler says of it
    except CompileError as failed:
        raise explained(failed, program) from None
    says = "the preprocessor gives up on this file: write its conditionals and macros more plainly"
    raise SubmissionError(says, file=program.file, outcome="broken")


def explained(failed: CompileError, program: Program) -> SubmissionError:
    """What the builder says of a submission, about the person's own line where there is one."""
    if failed.why:
        return SubmissionError(failed.why, file=program.file, outcome=failed.outcome)
    return explain_compiler(failed.stderr, program)

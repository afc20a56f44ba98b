"""What a device compiler said about a submission, as one sentence about the person's own line."""

from __future__ import annotations

import re

from tilestep.program import Program, SubmissionError

_PLACE = r"^(?:\S*/)?submission\.cu"
_FRONT = re.compile(_PLACE + r"\((?P<line>\d+)\): (?:catastrophic |fatal )?error(?: #[\w-]+)?: (?P<says>.+)$")
_HOST = re.compile(_PLACE + r":(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<says>.+)$")
_SHARED = re.compile(
    r"Entry function '(?P<kernel>\w+)' uses too much shared data "
    r"\(0x(?P<used>\w+) bytes, 0x(?P<most>\w+) max\)"
)
_ASSEMBLER = re.compile(r"^ptxas (?:error|fatal)\s*: (?P<says>.+)$")
_ARCHITECTURE = re.compile(r"(?:Unsupported gpu architecture|invalid value for --gpu-architecture).*")
_MOST = 240


def explain(compiler: str, said: str, why: str, program: Program) -> SubmissionError:
    """The first error that concerns the submission. `why` is a sentence where a limit ended the compiler."""
    if why:
        return _broken(f"{compiler} was ended: {why}", program)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for line in lines:
        if found := _FRONT.match(line) or _HOST.match(line):
            return _broken(f"{compiler}: {_short(found['says'])}", program, int(found["line"]))
    for line in lines:
        if found := _SHARED.search(line):
            used, most = int(found["used"], 16), int(found["most"], 16)
            says = f"kernel {found['kernel']} has {used:,} bytes of shared arrays, and a GPU allows {most:,}"
            return _broken(says, program, _line_of(found["kernel"], program))
        if found := _ASSEMBLER.match(line):
            return _broken(f"{compiler}: {_short(found['says'])}", program)
        if found := _ARCHITECTURE.search(line):
            return _broken(f"{compiler} does not know this card ({_short(found[0])})", program)
    return _broken(
        f"{compiler} refuses the file: {_short(lines[0] if lines else 'it gives no reason')}", program
    )


def _line_of(symbol: str, program: Program) -> int | None:
    """The line of a kernel, by the name that is in its symbol."""
    named = [kernel for kernel in program.kernels if kernel.name in symbol]
    return max(named, key=lambda kernel: len(kernel.name)).line if named else None


def _short(says: str) -> str:
    return says if len(says) <= _MOST else says[: _MOST - 3].rstrip() + "..."


def _broken(says: str, program: Program, line: int | None = None) -> SubmissionError:
    return SubmissionError(says, file=program.file, line=line, outcome="broken")

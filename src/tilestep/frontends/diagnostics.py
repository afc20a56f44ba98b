"""What a compiler or linker said about a translated submission, as a sentence about the person's own line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tilestep.contract import KERNEL_CONSTANTS, STEP
from tilestep.frontends.seam import GLUE_FILE
from tilestep.frontends.structure import analyse
from tilestep.frontends.tokens import lex
from tilestep.program import Program, SubmissionError

_GIVEN_NAMES = frozenset({*KERNEL_CONSTANTS, "RMS_EPS"})
_PLACE = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)?\s+(?P<rest>.*)$")
_INCLUDED = re.compile(r"^(?:In file included from|\s+from) (?P<file>.+?):(?P<line>\d+)(?::\d+)?[,:]$")
_KIND = re.compile(r"^(?P<kind>(?:fatal )?error|note|warning): (?P<says>.*)$")
_UNDECLARED = re.compile(
    r"'(?:\w+::)*(?P<name>\w+)' (?:was not declared|has not been declared|does not name a (?:template )?type"
    r"|is not a namespace-name)"
    r"|(?:use of undeclared identifier|unknown type name|no template named) '(?P<clang>\w+)'"
    r"|'(?P<member>\w+)' is not a member of '(?P<space>[\w:]+)'"
    r"|no (?:type|member|template) named '(?P<absent>\w+)' in namespace '(?P<home>[\w:]+)'"
)
_CUDA_NAME = re.compile(
    r"^(__\w+|cuda\w*|cu[A-Z]\w*|cg|cooperative_groups|nvcuda|wmma|cub|thrust|half\d?|nv_\w+|__half\w*|curand\w*"
    r"|atomic[A-Z]\w*|tex[12]D\w*|tex3D\w*|surf\w+|mbarrier\w*|tiled_partition|[a-z]+f)$"
)
_GIVEN = "|".join(sorted(_GIVEN_NAMES))
_REDEFINED = re.compile(
    rf"(?:redefinition of|conflicting declaration|redeclared|redefined).*\b(?P<name>{_GIVEN})\b"
    rf"|\b(?P<first>{_GIVEN})\b.*(?:redeclared|redefinition|redefined)"
)
_HEADER_OF = {
    "cuda_bf16.h": re.compile(r"^((__)?nv_bfloat162?|__\w*bfloat16\w*)$"),  # before the wider one
    "cuda_fp16.h": re.compile(r"^(half2?|__half2?|__(float|half|low|high)\w*2\w*)$"),
    "cooperative_groups.h": re.compile(r"^(cg|cooperative_groups)$"),
}
_UNDEFINED = re.compile(r"undefined (?:reference to [`'\"]?|symbol: )(?P<name>[^'\"`\n]+)")


@dataclass(frozen=True)
class _Report:
    """One error, at the place in the submission (or the glue) that it is about."""

    file: str
    line: int | None
    says: str
    certain: bool = True  # False: a header's line, or the #include that led to it; a clang note may say more


def explain_compiler(stderr: str, program: Program) -> SubmissionError:
    """The first error that concerns the submission, as a SubmissionError. Takes g++, clang and linkers."""
    text = stderr.replace("\u2018", "'").replace("\u2019", "'")  # g++ quotes as the locale does
    reports = _reports(text, program.file)
    own = [report for report in reports if report.file == program.file]
    if own:
        return _broken(_sentence(own[0].says, program.source), program, own[0].line)
    if any(report.file == GLUE_FILE for report in reports):
        return _glue_error([r for r in reports if r.file == GLUE_FILE], program)
    if linked := _linker_error(text, program):
        return linked
    if reports:
        return _broken(_sentence(reports[0].says, program.source), program, None)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if any(
        "internal compiler error" in line or "Killed signal" in line or "out of memory" in line
        for line in lines
    ):
        return _broken("the compiler ran out of memory or gave up on this file", program, None)
    last = next((line for line in lines if "error" in line), lines[-1] if lines else "it gave no reason")
    return _broken(f"the compiler refused the file: {_shorten(last)}", program, None)


def _reports(text: str, file: str) -> list[_Report]:
    """Every error with its best place: its own, else that of the submission's line that led to it.

    g++ prints what led to an error before it, clang behind it, as notes.
    """
    found: list[_Report] = []
    led_here: int | None = None  # the submission's line in the context that g++ printed
    included: int | None = None  # the submission's #include line that the next error is below
    places = {file, GLUE_FILE}
    for line in text.splitlines():
        if match := _INCLUDED.match(line):
            included = int(match["line"]) if match["file"] == file else included
            continue
        place = _place_of(line, places)
        if place is None:
            continue
        where, number, rest = place
        kind = _KIND.match(rest)
        if kind is None:
            # The first line is the innermost: the call that the person wrote themselves.
            if led_here is None and where == file and "required from" in rest:
                led_here = number
        elif kind["kind"] == "note":
            last = found[-1] if found else None
            if last and where == file and not last.certain and "in instantiation of" in kind["says"]:
                found[-1] = _Report(file, number, last.says)
        elif kind["kind"] != "warning":
            outside = where not in places
            cause = led_here if led_here is not None else included
            if outside and cause is not None:
                where, number = file, cause
            found.append(_Report(where, number, kind["says"], certain=not outside or led_here is not None))
            led_here = included = None
    return found


def _place_of(line: str, known: set[str]) -> tuple[str, int, str] | None:
    """(file, line, rest) of a diagnostic. A known file name may hold colons and spaces."""
    for name in known:
        if line.startswith(f"{name}:"):
            match = _PLACE.match("x" + line[len(name) :])
            return (name, int(match["line"]), match["rest"]) if match else None
    match = _PLACE.match(line)
    return (match["file"], int(match["line"]), match["rest"]) if match else None


def _sentence(says: str, source: str) -> str:
    """One error in words that make sense to somebody who has never seen the translated text."""
    says = re.sub(r"\s*\[-[WF][\w-]*\]$|\s*\[-fpermissive\]$", "", says).strip()
    if "tilestep: " in says:
        ours = says[says.index("tilestep: ") + len("tilestep: ") :]
        return ours.strip().strip('"').strip()
    if match := _REDEFINED.search(says):
        name = match["name"] or match["first"]
        return f"{name} is already defined by the header that comes before every submission; remove this one"
    if "'configure'" in says or "'configure(" in says:
        return (
            "this launch does not fit: a launch is kernel<<<grid, block, shared bytes, stream>>>(arguments)"
        )
    if (match := _UNDECLARED.search(says)) and (unknown := _unknown_name(match, says, source)):
        return unknown
    if "jump to case label" in says or "cannot jump" in says or "jump bypasses" in says:
        return "this jump passes a declaration (a __shared__ one, say): put that in front of the jump"
    says = re.sub(r"'auto& (\w+)'", r"'\1'", says)
    says = re.sub(r"'?tilestep_a#(\d+)'?", lambda m: f"argument {int(m[1]) + 1} of the launch", says)
    says = re.sub(r"'[^']*<lambda\(auto[^']*'", "the launch", says)
    says = re.sub(r"\btilestep_(shared|type)_\w+::", "", says)
    return f"does not compile: {_shorten(says)}"


def _unknown_name(match: re.Match[str], says: str, source: str) -> str | None:
    """A name that nothing declares: CUDA's, a header's, or a slip. None for one of the standard library."""
    name = match["name"] or match["clang"] or match["member"] or match["absent"]
    space = match["space"] or match["home"]
    if space:
        return None if space.split("::")[0] == "std" else f"{space}::{name} is not known to the emulator"
    for header, names in _HEADER_OF.items():
        if names.match(name) and header not in source:
            return f"{name} needs #include <{header}>"
    hint = re.search(r"did you mean '([\w:]+)'", says)
    meant = f"; did you mean {hint[1]}?" if hint else ""
    if _CUDA_NAME.match(name):
        return f"{name} is not known to the emulator{meant}"
    return f"does not compile: {name} is not declared here{meant}"


def _glue_error(reports: Sequence[_Report], program: Program) -> SubmissionError:
    """Errors behind the submission's last line: something above is not closed, or the seam does not fit."""
    step = STEP[program.step]
    unclosed = analyse(lex(program.source, renumbered=True)).unclosed
    if unclosed is not None:
        return _broken(f"this {unclosed.text} is never closed", program, unclosed.line)
    first = reports[0].says
    if (
        step.seam.function in first
        or "conver" in first
        or "initialize a parameter" in first
        or "argument" in first
        or "matching" in first
    ):
        says = f"the signature of {step.seam.function} is wrong: want `{step.seam.prototype}`"
        return _broken(f"{says} ({_shorten(first)})", program, None)
    return _broken(f"the end of the file does not parse: {_shorten(first)}", program, None)


def _linker_error(text: str, program: Program) -> SubmissionError | None:
    place = re.search(rf"(?:^|[/\s]){re.escape(program.file)}:(\d+)\b", text, re.MULTILINE)
    line = int(place[1]) if place else None
    if match := _UNDEFINED.search(text):
        name = match["name"].strip()
        return _broken(f"{name} is declared and used, but nowhere defined", program, line)
    if match := re.search(
        r"(?:multiple definition of|duplicate symbol:?) [`'\"]?(?P<name>[^'\"`;\n]+)", text
    ):
        name = match["name"].strip()
        if name == "main":
            says = "a submission has no main: tilestep brings its own and calls the step's function"
        else:
            says = f"{name} has the name of a function of the runtime or the C library; rename it"
        return _broken(says, program, line)
    if "relocation truncated" in text or "out of range" in text:
        return _broken("the arrays at file level are too large: over 2 GB together", program, None)
    return None


def _shorten(says: str, most: int = 240) -> str:
    return says if len(says) <= most else says[: most - 3].rstrip() + "..."


def _broken(says: str, program: Program, line: int | None) -> SubmissionError:
    return SubmissionError(says, file=program.file, line=line, outcome="broken")

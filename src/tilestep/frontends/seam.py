"""The host function that a step asks for: found, compared with its prototype, and called by the glue."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tilestep.contract import Seam
from tilestep.emulator.refusals import refused
from tilestep.frontends.declarations import BUILTIN_TYPES, split_commas
from tilestep.frontends.structure import Function, Structure
from tilestep.frontends.tokens import Lexed, Token, flatten, words
from tilestep.program import SubmissionError

GLUE_FILE = "<tilestep glue>"
_IGNORED = words("__restrict__ __restrict restrict register")
_HEAD_WORDS = words("static inline extern __host__ __forceinline__ __noinline__ constexpr")
_KNOWN_TYPES = BUILTIN_TYPES - {"auto"} | {
    "half",
    "__half",
    "float2",
    "float4",
    "size_t",
    "unsigned",
    "cudaError_t",
}
_REFUSED_IN_SEAM = {
    "cudaDeviceSynchronize": "synchronise",
    "cudaThreadSynchronize": "synchronise",
    "cudaStreamSynchronize": "synchronise",
    "cudaEventSynchronize": "synchronise",
    "cudaStreamCreate": "stream",
    "cudaStreamCreateWithFlags": "stream",
    "cudaStreamCreateWithPriority": "stream",
    "cudaEventCreate": "event",
    "cudaEventCreateWithFlags": "event",
    "cudaMemcpyDeviceToHost": "read_back",
    "cudaMallocManaged": "managed_memory",
    "cudaLaunchHostFunc": "host_function",
}


def check_seam(lexed: Lexed, structure: Structure, seam: Seam, file: str) -> None:
    """Raise SubmissionError unless the file defines the seam once, at namespace scope, with its prototype."""
    named = [f for f in structure.functions if f.name.text == seam.function]
    outside = [f for f in named if not any(f.namespaces)]
    if not outside:
        _refuse_missing(lexed, structure, seam, named, file)
        return
    fitting = [f for f in outside if _mismatch(f, seam) is None]
    if not fitting:
        function = outside[0]
        raise SubmissionError(f"{_mismatch(function, seam)}", file=file, line=function.name.line)
    certain = [f for f in fitting if f.name.conditions == 0]
    if len(certain) > 1:
        raise SubmissionError(
            f"{seam.function} is defined twice, here and in line {certain[0].name.line}",
            file=file,
            line=certain[1].name.line,
        )
    for function in certain:
        _refuse_host_calls(lexed.tokens, function, file)


def glue(seam: Seam) -> str:
    """The function that the runtime calls: it hands each pointer and size to the seam."""
    arguments: list[str] = []
    pointers = sizes = 0
    for parameter in seam.parameters:
        if parameter.role == "size":
            arguments.append(f"tilestep_n[{sizes}]")
            sizes += 1
        else:
            arguments.append(f"static_cast<{parameter.cpp_type}>(tilestep_p[{pointers}])")
            pointers += 1
    return (
        f'#line 1 "{GLUE_FILE}"\n'
        'extern "C" void tilestep_seam(void* const* tilestep_p, const int* tilestep_n) {\n'
        f"  (void)tilestep_n; ::{seam.function}({', '.join(arguments)});\n"
        "}\n"
    )


def _refuse_missing(lexed: Lexed, structure: Structure, seam: Seam, named: list[Function], file: str) -> None:
    wanted = f"`{seam.prototype}`"
    if structure.unclosed is not None:
        says = f"this {structure.unclosed.text} is never closed"
        raise SubmissionError(says, file=file, line=structure.unclosed.line, outcome="broken")
    if named:
        where = "::".join(filter(None, named[0].namespaces))
        says = f"{seam.function} is inside {where}; define it outside any namespace or class, as {wanted}"
        raise SubmissionError(says, file=file, line=named[0].name.line)
    in_macro = any(token.text == seam.function for d in lexed.directives if not d.dead for token in d.tokens)
    if in_macro:
        return  # a macro makes it, or renames it: the compiler knows
    mentioned = [
        token
        for index, token in enumerate(lexed.tokens)
        if token.text == seam.function and structure.scope_of[index].at_namespace_level
    ]
    if mentioned:
        says = f"{seam.function} is declared here, but nowhere defined; the step asks for {wanted}"
        raise SubmissionError(says, file=file, line=mentioned[0].line)
    similar = _similar(structure, seam)
    hint = f"; did you mean that for {similar.name.text} in line {similar.name.line}?" if similar else ""
    raise SubmissionError(f"the function {seam.function} is missing: define {wanted}{hint}", file=file)


def _similar(structure: Structure, seam: Seam) -> Function | None:
    """The host function whose name or parameters come closest, if any does."""
    hosts = [
        f for f in structure.functions if not f.is_kernel and "__device__" not in {t.text for t in f.head}
    ]
    names = {f.name.text.lower().replace("_", ""): f for f in hosts}
    close = difflib.get_close_matches(seam.function.lower(), names, n=1, cutoff=0.6)
    if close:
        return names[close[0]]
    return next((f for f in hosts if f.name.text != "main" and _mismatch(f, seam) is None), None)


def _mismatch(function: Function, seam: Seam) -> str | None:
    """Why the function cannot be the seam; None if it can, or if only the compiler could tell."""
    head = [token.text for token in function.head]
    want = f"`{seam.prototype}`"
    if function.is_kernel:
        return f"{seam.function} is a __global__ function; a host function that launches is asked for: {want}"
    if "__device__" in head and "__host__" not in head:
        return f"{seam.function} is a __device__ function; a host function is asked for: {want}"
    if "template" in head:
        return None
    returned = [
        word for word in head if word not in _HEAD_WORDS and not word.startswith(('"', "__attribute__"))
    ]
    got = [_canonical(part) for part in split_commas(function.parameters) if part]
    if [part for part in got if part == ("void",)] and len(got) == 1:
        got = []
    wanted = [tuple(_canonical_text(p.cpp_type)) for p in seam.parameters]
    known = all(part is not None for part in got)
    wrong_return = returned[:1] != ["void"] and set(returned) <= _KNOWN_TYPES and returned != []
    if not wrong_return and (not known or got == wanted) and len(got) == len(wanted):
        return None
    if not wrong_return and len(got) != len(wanted) and any(t.text == "..." for t in function.parameters):
        return None
    head_text = " ".join(returned) or "void"
    shown = f"`{head_text} {seam.function}({flatten(function.parameters)})`"
    return f"the signature of {seam.function} is wrong: got {shown}, want {want}"


def _canonical(parameter: Sequence[Token]) -> tuple[str, ...] | None:
    """A parameter's type in one spelling: `float const* q` and `const float q[]` are both const float *.

    None if it names a type that only the compiler knows.
    """
    words: list[str] = []
    pointers: list[str] = []
    tokens = [token.text for token in parameter if token.text not in _IGNORED]
    if "=" in tokens:
        tokens = tokens[: tokens.index("=")]
    if "[" in tokens:
        tokens = [*tokens[: tokens.index("[")], "[]"]
    for position, text in enumerate(tokens):
        if text in ("*", "[]"):
            pointers.append("*")
        elif text in ("const", "volatile"):
            if pointers:
                continue  # of the pointer itself
            words.append(text)
        elif text in _KNOWN_TYPES:
            words.append(text)
        elif (
            text.isidentifier()
            and any(w in _KNOWN_TYPES for w in words)
            and all(later == "[]" for later in tokens[position + 1 :])
        ):
            continue  # its name
        else:
            return None
    if not pointers:
        words = [word for word in words if word != "const"]
    return (*sorted(words), *pointers)


def _canonical_text(cpp_type: str) -> list[str]:
    stars = cpp_type.count("*")
    return sorted(cpp_type.replace("*", "").split()) + ["*"] * stars


def _refuse_host_calls(tokens: Sequence[Token], function: Function, file: str) -> None:
    """The obvious ones, with their line, before anything compiles; the recording runtime refuses them all."""
    for index in range(function.scope.opening, function.scope.closing):
        token = tokens[index]
        why = _REFUSED_IN_SEAM.get(token.text)
        if why and token.kind == "name" and token.conditions == function.name.conditions:
            says = refused({"event": "refused", "why": why, "call": token.text})
            raise SubmissionError(says, file=file, line=token.line)

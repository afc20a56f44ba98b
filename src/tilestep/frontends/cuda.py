"""CUDA C++: from a `.cu` file to a translation unit that the emulator's compiler takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tilestep.contract import PROJECTION, STEPS, Step
from tilestep.frontends.edits import Edits
from tilestep.frontends.entries import mark_entries
from tilestep.frontends.host_calls import check_host_calls
from tilestep.frontends.launches import rewrite_launches
from tilestep.frontends.reading import SourceFile, read_source
from tilestep.frontends.rules import check_rules
from tilestep.frontends.seam import check_seam, glue
from tilestep.frontends.shared import SharedRewriter
from tilestep.frontends.structure import Function, Structure, analyse, name_position
from tilestep.frontends.tokens import Lexed, closing, lex
from tilestep.frontends.variables import rewrite_variables
from tilestep.program import KernelSource, Program, SubmissionError

LANGUAGE = "cuda"
_STEPS = {step.name: step for step in (*STEPS, PROJECTION)}


def load(path: Path, step: Step) -> Program:
    """Read a submission for `step`. Raises SubmissionError: one sentence, and the line where there is one."""
    return translate(read_source(path), step)


def translate(source: SourceFile, step: Step) -> Program:
    """Check a submission's rules and rewrite what is CUDA's own syntax; every line keeps its number."""
    lexed = lex(source.text, source.name)
    if not lexed.tokens and not lexed.directives:
        raise SubmissionError("there is no code in this file, only comments", file=source.name)
    structure = analyse(lexed)
    check_rules(lexed, structure, source.name)
    check_seam(lexed, structure, step.seam, source.name)
    check_host_calls(lexed, structure, source.name)
    kernels = _kernels(lexed, structure, source.name)
    return Program(
        file=source.name,
        sha256=source.sha256,
        language=LANGUAGE,
        step=step.name,
        source=_unit(lexed, structure, step, source.name),
        kernels=kernels,
        text=source.text,
    )


def with_text(program: Program, lexed: Lexed) -> Program:
    """The program with `lexed`, what the preprocessor made of its file, in the place of its text.

    The rules that a macro could have hidden a name from are asked again.
    """
    step = _STEPS[program.step]
    structure = analyse(lexed)
    check_seam(lexed, structure, step.seam, program.file)
    check_host_calls(lexed, structure, program.file)
    return replace(program, source=_unit(lexed, structure, step, program.file), text=lexed.text)


def c_string(name: str) -> str:
    """A file's name as a #line takes it."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unit(lexed: Lexed, structure: Structure, step: Step, file: str) -> str:
    body = rewrite(lexed, structure, file)
    return f"#line 1 {c_string(file)}\n{body}\n{glue(step.seam)}"


def rewrite(lexed: Lexed, structure: Structure, file: str) -> str:
    """The file's text with launches, kernels, shared memory and device variables in plain C++."""
    edits = Edits(lexed.text, file)
    mark_entries(lexed, structure, edits)  # before all else that a body begins with
    SharedRewriter(lexed, structure, edits).run()
    rewrite_variables(lexed, structure, edits)
    kernels = _kernel_names(lexed)
    rewrite_launches(lexed.tokens, edits, kernels)
    for macro in lexed.macros():
        rewrite_launches(macro.body, edits, kernels, macro)
    return edits.apply()


def _kernels(lexed: Lexed, structure: Structure, file: str) -> tuple[KernelSource, ...]:
    found: dict[str, KernelSource] = {}
    for function in _kernel_functions(lexed, structure):
        found.setdefault(function.name.text, KernelSource(function.name.text, function.name.line))
    marked = any(token.text == "__global__" for token in lexed.tokens) or _kernel_macros(lexed)
    if not found and not marked:
        raise SubmissionError("there is no kernel in this file: nothing is marked __global__", file=file)
    return tuple(found.values())


def _kernel_functions(lexed: Lexed, structure: Structure) -> list[Function]:
    macros = _kernel_macros(lexed)
    return [f for f in structure.functions if any(t.text == "__global__" or t.text in macros for t in f.head)]


def _kernel_macros(lexed: Lexed) -> set[str]:
    """Macros that stand for `__global__`, or make a whole kernel."""
    return {m.name for m in lexed.macros() if any(token.text == "__global__" for token in m.body)}


def _kernel_names(lexed: Lexed) -> frozenset[str]:
    """Every name that a kernel may have: defined, declared, or handed to a macro that makes kernels."""
    macros = _kernel_macros(lexed)
    tokens = lexed.tokens
    names: set[str] = set()
    for index, token in enumerate(tokens):
        if token.text == "__global__" and index and tokens[index - 1].text == "__global__":
            continue  # each would be followed to the end of the statement
        if token.text in macros and index + 1 < len(tokens) and tokens[index + 1].text == "(":
            names.update(t.text for t in tokens[index : closing(tokens, index + 1)])
        elif token.text in macros or token.text == "__global__":
            end = next((at for at in range(index, len(tokens)) if tokens[at].text in (";", "{")), len(tokens))
            at = name_position(tokens[index:end])
            names.update([] if at is None else [tokens[index + at].text])
    return frozenset(names)

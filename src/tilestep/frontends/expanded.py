"""The rules once more, on what the preprocessor makes of a submission: no macro hides a word from them."""

from __future__ import annotations

from pathlib import Path

from tilestep.emulator.expansion import Expansion
from tilestep.frontends.edits import Edits
from tilestep.frontends.rules import STANDARD_HEADERS, include_name, word_faults
from tilestep.frontends.tokens import lex
from tilestep.program import Program, SubmissionError

_EXPANDED = STANDARD_HEADERS - {"cassert", "assert.h"}  # assert is the emulator's own


def to_expand(program: Program) -> str:
    """The submission for the preprocessor alone, without CUDA's headers: their macros are the builder's."""
    lexed = lex(program.text, program.file)
    edits = Edits(lexed.text, program.file)
    for directive in lexed.directives:
        if directive.name == "include" and include_name(lexed, directive) not in _EXPANDED:
            edits.replace(directive.start, directive.end, "")
    named = program.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{named}"\n{edits.apply()}\n'


def check_expanded(expansion: Expansion, program: Program) -> None:
    """Raise SubmissionError for the first line that breaks a rule once its macros are replaced."""
    lexed = lex(expansion.text, program.file)
    faults = [(expansion.line(line), says) for line, says in word_faults(lexed)]
    faults += [
        (line, f"the file {Path(path).name} is included in a way that hides it; write #include <...>")
        for line, path in expansion.entered
        if not path.endswith(tuple(f"/{name}" for name in STANDARD_HEADERS))
    ]
    if faults:
        line, says = min(faults)
        raise SubmissionError(says, file=program.file, line=line)

"""`__shared__` declarations become references into the block's shared segment.

A CUDA `__shared__` variable has static storage: lambdas use it without capturing it, and one at namespace
scope is seen by every function. The reference that stands for it here is a local, so it is declared anew at
the start of each lambda or function that names it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from tilestep.frontends.declarations import Declaration, Declarator, parse
from tilestep.frontends.edits import Edits
from tilestep.frontends.launches import name_literal
from tilestep.frontends.structure import ATTRIBUTE_CALLS, Scope, Structure
from tilestep.frontends.tokens import Lexed, Macro, Token, closing, flatten
from tilestep.program import SubmissionError

_MOST_LOOKED_AT = 2_000_000  # places of shared variables' names, each for every variable that it may mean
_ACCESS = 100  # such places, for each body that a variable is declared anew in
_STORAGE = frozenset({"__shared__", "static", "extern", "inline", "thread_local"})
_QUALIFIER_WORDS = frozenset({"__shared__", "static", "extern", "volatile", "const", "__align__", "alignas"})
# Alignment of the pointer itself would mean nothing, and the segment is aligned for every type.
_ALIGNMENT = frozenset({"alignas", "__align__", "__attribute__", "__builtin_align__"})


@dataclass(frozen=True)
class _Variable:
    """One shared variable: `access` is the statement that makes its name usable in a function."""

    name: str
    access: str


class SharedRewriter:
    """Rewrites every `__shared__` declaration of a file; refuses one that it cannot read."""

    def __init__(self, lexed: Lexed, structure: Structure, edits: Edits) -> None:
        self.lexed = lexed
        self.structure = structure
        self.edits = edits
        self.numbers = count(1)
        self.looked_at = 0
        self.macros = lexed.macros()
        self.places: dict[str, list[int]] = defaultdict(list)  # where each name stands, in order
        for at, token in enumerate(lexed.tokens):
            if token.kind == "name":
                self.places[token.text].append(at)
        self.parameters = {found.opening: found.parameters for found in structure.lambdas}
        self.functions = {f.scope.opening: f.parameters for f in structure.functions}
        self.aliases = {m.name for m in self.macros if m.parameters is None and _is_alias(m.body)}
        self.extern = {
            m.name for m in self.macros if m.name in self.aliases and any(t.text == "extern" for t in m.body)
        }
        self.macros_with: dict[str, set[str]] = defaultdict(set)  # those whose body has a name in it
        for macro in self.macros:
            for token in macro.body:
                self.macros_with[token.text].add(macro.name)

    def run(self) -> None:
        tokens = self.lexed.tokens
        done = -1
        for index, token in enumerate(tokens):
            if (
                index > done
                and token.kind == "name"
                and (token.text == "__shared__" or token.text in self.aliases)
            ):
                done = self._declaration(tokens, index, None)
        for macro in self.macros:
            if macro.name in self.aliases:
                continue
            done = -1
            for index, token in enumerate(macro.body):
                if index > done and token.text == "__shared__":
                    done = self._declaration(macro.body, index, macro)

    def _declaration(self, tokens: Sequence[Token], index: int, macro: Macro | None) -> int:
        """Rewrite the declaration around tokens[index]; the index of its last token."""
        begin, end = statement_begin(tokens, index), statement_end(tokens, index)
        words = [
            token
            for token in tokens[begin:end]
            if token.text not in _STORAGE and token.text not in self.aliases
        ]
        declared = parse(words)
        line = tokens[index].line
        ended = end == len(tokens) if macro else False
        ended = ended or (end < len(tokens) and tokens[end].text == ";")
        if declared is None or not ended or any(d.function for d in declared.declarators if not d.grouped):
            raise self._error("tilestep cannot read this __shared__ declaration", line)
        if any(d.initialised for d in declared.declarators):
            raise self._error("a __shared__ variable cannot have an initial value", line)
        if macro is None and self._directive_within(tokens[begin].start, tokens[end - 1].end):
            raise self._error("a preprocessor line stands inside this __shared__ declaration", line)
        at_file_level = macro is None and self.structure.scope_of[index].at_namespace_level
        dynamic = self._is_extern(tokens[begin:end])
        definitions, variables = self._dynamic(declared) if dynamic else self._static(declared, line, macro)
        accesses = "" if at_file_level else " ".join(variable.access for variable in variables)
        self.edits.replace(tokens[begin].start, tokens[end - 1].end, (definitions + accesses).rstrip("; "))
        if macro is None and (at_file_level or self.parameters):
            self._declare_anew(index, end, variables, at_file_level=at_file_level)
            if self.looked_at > _MOST_LOOKED_AT:
                raise self._error("the shared arrays are named too often, or too many have one name", line)
        return end

    def _is_extern(self, tokens: Iterable[Token]) -> bool:
        return any(token.text == "extern" or token.text in self.extern for token in tokens)

    def _static(self, declared: Declaration, line: int, macro: Macro | None) -> tuple[str, list[_Variable]]:
        number = next(self.numbers)
        unnamed = f"tilestep_type_{number}"
        definitions = declared.definition_text(unnamed)
        kind = declared.type_text(unnamed)
        variables = []
        for position, declarator in enumerate(declared.declarators):
            if position:
                number = next(self.numbers)
            name = declarator.name.text
            parameter = macro is not None and name in (macro.parameters or ())
            # A macro that declares the array it is told to may be used twice in a function: one tag a name.
            tag = f"tilestep_shared_{number}" + (f"_##{name}" if parameter else "")
            definitions += f"struct {tag} {{ {kind} {flatten(declarator.tokens)}; }}; "
            literal = name_literal([declarator.name], macro)
            where = "__LINE__" if macro else str(line)
            access = f"auto& {name} = ::tilestep::shared<{tag}>({literal}, {where}).{name};"
            variables.append(_Variable(name, access))
        return definitions, variables

    def _dynamic(self, declared: Declaration) -> tuple[str, list[_Variable]]:
        unnamed = f"tilestep_type_{next(self.numbers)}"
        kept = _without_alignment(declared.specifiers)
        bare = Declaration(tuple(kept), declared.defined, declared.declarators)
        kind = bare.type_text(unnamed)
        variables = [_Variable(d.name.text, _dynamic_access(kind, d)) for d in declared.declarators]
        return declared.definition_text(unnamed), variables

    def _declare_anew(self, index: int, end: int, variables: list[_Variable], *, at_file_level: bool) -> None:
        """Declare the variables again at the start of each body that names them and cannot see the local."""
        reach = range(end, self.structure.scope_of[index].closing)
        for variable in variables:
            bodies = self._bodies(self._spellings(variable.name), reach)
            for opening in sorted(bodies):
                parameters = self.parameters.get(opening)
                if parameters is None and at_file_level:
                    parameters = self.functions.get(opening)
                if parameters is not None and opening in reach:
                    self._inject(range(opening + 1, bodies[opening].closing), parameters, variable)

    def _bodies(self, names: Iterable[str], reach: range) -> dict[int, Scope]:
        """The scopes around each place of these names within reach, by their opening brace."""
        found: dict[int, Scope] = {}
        for name in names:
            places = self.places.get(name, [])
            within = places[bisect_left(places, reach.start) : bisect_left(places, reach.stop)]
            self.looked_at += len(within)
            for at in within:
                scope: Scope | None = self.structure.scope_of[at]
                while scope is not None and scope.opening not in found:
                    found[scope.opening] = scope
                    scope = scope.parent
        return found

    def _inject(self, body: range, parameters: Sequence[Token], variable: _Variable) -> None:
        self.looked_at += _ACCESS
        if not self._hidden(parameters, body, variable.name):
            self.edits.insert(self.lexed.tokens[body.start - 1].end, f" {variable.access}")

    def _hidden(self, parameters: Sequence[Token], body: range, name: str) -> bool:
        """Does a parameter, or the body's own `__shared__` declaration, take the name?"""
        if any(token.text == name for token in parameters):
            return True
        tokens, declared = self.lexed.tokens, self.places.get("__shared__", [])
        for at in declared[bisect_left(declared, body.start) : bisect_left(declared, body.stop)]:
            words = tokens[statement_begin(tokens, at) : statement_end(tokens, at)]
            if any(token.text == name for token in words):
                return True
        return False

    def _spellings(self, name: str) -> set[str]:
        """The name, and every macro whose body leads to it."""
        names, new = {name}, {name}
        while new:
            new = set[str]().union(*(self.macros_with.get(one, ()) for one in new)) - names
            names |= new
        return names

    def _directive_within(self, start: int, end: int) -> bool:
        return any(start < directive.start < end for directive in self.lexed.directives)

    def _error(self, says: str, line: int) -> SubmissionError:
        return SubmissionError(says, file=self.edits.file, line=line, outcome="broken")


def statement_begin(tokens: Sequence[Token], index: int) -> int:
    """The first token of the declaration around a qualifier."""
    begin = index
    while begin > 0:
        before = tokens[begin - 1]
        if before.text in (";", "{", "}", ":", "(", "["):
            break
        if before.text == ")":
            opening = _attribute_opening(tokens, begin - 1)
            if opening is None:
                break
            begin = opening
        begin -= 1
    return begin


def statement_end(tokens: Sequence[Token], index: int) -> int:
    """The `;` of the declaration around a qualifier, or the end of the tokens."""
    end = index
    while end < len(tokens) and tokens[end].text not in (";", "}", ")"):
        if tokens[end].text in ("(", "[", "{"):
            end = min(closing(tokens, end), len(tokens) - 1)
        end += 1
    return end


def _attribute_opening(tokens: Sequence[Token], last: int) -> int | None:
    """The `(` of `alignas(...)` that ends at `last`; None if the parenthesis is no attribute's."""
    depth = 0
    for at in range(last, 0, -1):
        if tokens[at].text == ")":
            depth += 1
        elif tokens[at].text == "(":
            depth -= 1
            if depth == 0:
                return (
                    at if tokens[at - 1].text in ATTRIBUTE_CALLS - {"if", "while", "for", "switch"} else None
                )
    return None


def _is_alias(body: Sequence[Token]) -> bool:
    """Is this macro only another spelling of `__shared__` (with extern, alignment, ...)?"""
    names = [token.text for token in body if token.kind == "name"]
    return "__shared__" in names and all(name in _QUALIFIER_WORDS for name in names)


def _without_alignment(tokens: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    at = 0
    while at < len(tokens):
        if tokens[at].text in _ALIGNMENT and at + 1 < len(tokens) and tokens[at + 1].text == "(":
            at = closing(tokens, at + 1)
        else:
            kept.append(tokens[at])
        at += 1
    return kept


def _dynamic_access(kind: str, declarator: Declarator) -> str:
    name = declarator.name.text
    pointed = " ".join(filter(None, (kind, flatten(_without_alignment(declarator.prefix)))))
    inner = "".join(f"[{flatten(bound)}]" for bound in declarator.bounds[1:])
    start = "tilestep_dynamic_shared()"
    if not declarator.bounds:
        return f"{pointed}& {name} = *reinterpret_cast<{pointed}*>({start});"
    if declarator.bounds[0]:
        whole = f"[{flatten(declarator.bounds[0])}]{inner}"
        return f"{pointed} (&{name}){whole} = *reinterpret_cast<{pointed} (*){whole}>({start});"
    if inner:
        return f"{pointed} (*const {name}){inner} = reinterpret_cast<{pointed} (*){inner}>({start});"
    return f"{pointed}* const {name} = reinterpret_cast<{pointed}*>({start});"

"""Files that are made to exhaust their reader end in one sentence, before anything takes time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilestep import contract
from tilestep.frontends.cuda import translate
from tilestep.frontends.reading import SourceFile
from tilestep.frontends.tokens import DEEPEST, LONGEST_STATEMENT, MOST_TOKENS, closing, lex
from tilestep.program import SubmissionError

KERNEL = "__global__ void k(const float* x, float* sums, int rows, int columns) { }\n"
SEAM = "void runBlockSum(const float* x, float* sums, int rows, int columns) { }\n"
SHARED = f"void f() {{ {'__shared__ int a;' * 4000} []{{ {'a=1;' * 8000} }}; }}"

NESTED = f"void f() {{ {'__shared__ int a;' * 200} {('[]{' * 240 + 'a=1;' + '}' * 240 + ';') * 100} }}"


@pytest.mark.parametrize(
    ("text", "says", "outcome"),
    [
        ("int x = 0\n" + "[" * 300_000, "brackets stand more than 256 deep", "refused"),
        ("int x = " + "(" * 200_000 + "1" + ")" * 200_000, "brackets stand more than 256 deep", "refused"),
        ("__attribute__((" * 60_000, "brackets stand more than 256 deep", "refused"),
        ("[]{" * 30_000, "brackets stand more than 256 deep", "refused"),
        ("#if X\n" * 60_000, "#if stands more than 256 deep", "refused"),
        ("#if X\n" * 20 + "#else\n{" * 60_000, "brackets stand more than 256 deep", "refused"),
        ('R"x(\n' * 150_000, "this raw string never ends", "broken"),
        ("__device__ " * 60_000, "a statement has more than 1,024 words", "refused"),
        ("__global__ " * 60_000, "a statement has more than 1,024 words", "refused"),
        ("+ a < b " * 50_000, "a statement has more than 1,024 words", "refused"),
        ("__attribute__(())" * 50_000, "a statement has more than 1,024 words", "refused"),
        ("#define M " + "a " * 60_000, "a statement has more than 1,024 words", "refused"),
        ("int a;" * 100_000, "the file goes on after 200,000 words", "refused"),
        (NESTED, "the shared arrays are named too often", "broken"),
        (SHARED, "the shared arrays are named too often", "broken"),
    ],
)
def test_a_file_without_end_is_told_where_it_has_too_much(text: str, says: str, outcome: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        translate(SourceFile("a.cu", KERNEL + SEAM + text, ""), contract.STEP["block-sum"])
    assert says in caught.value.says
    assert caught.value.outcome == outcome
    assert caught.value.line is not None
    assert caught.value.line >= 3


def test_what_honest_files_hold_is_far_below() -> None:
    table = "const float table[] = {" + "-1.0e-3f, " * 20_000 + "};"
    deep = "(" * (DEEPEST - 1) + "1" + ")" * (DEEPEST - 1)
    lex(f"{table}\nint x = {deep};\n" + "x += 1;" * (MOST_TOKENS // 10))
    lex("a " * LONGEST_STATEMENT + ";" + "a " * LONGEST_STATEMENT)


@given(st.text("()[]{};a<", max_size=40))
def test_a_bracket_is_closed_where_as_many_have_closed_as_opened(text: str) -> None:
    tokens = lex(text).tokens
    for opening, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            depth, at = 0, opening
            while at < len(tokens):
                depth += (tokens[at].text in ("(", "[", "{")) - (tokens[at].text in (")", "]", "}"))
                if depth == 0:
                    break
                at += 1
            assert closing(tokens, opening) == at
            assert closing(tokens[opening:], 0) == at - opening

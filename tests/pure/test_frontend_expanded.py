"""What the preprocessor shows: the lines of a file after it, and the rules that are asked once more."""

from __future__ import annotations

from typing import Any

import pytest

from tilestep import contract
from tilestep.emulator.expansion import Expansion, neutral_macros, own_lines
from tilestep.frontends.cuda import translate
from tilestep.frontends.expanded import from_expansion, to_expand
from tilestep.frontends.reading import SourceFile
from tilestep.frontends.tokens import lex
from tilestep.program import Program, SubmissionError

KERNEL = """\
#include <cmath>
#include <cuda_fp16.h>
#include <cassert>
__global__ void fold(const float* x, float* sums) { sums[threadIdx.x] = x[threadIdx.x]; }
void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<1, rows>>>(x, sums);
}
"""
OUTPUT = """\
# 1 "expanded.cpp"
# 1 "/lib/macros.h" 1
int of_a_header;
# 1 "sum.cu"
int first;
# 1 "/usr/include/c++/12/cmath" 1 3
int of_cmath;
# 3 "sum.cu" 2

int fourth; int
# 4 "sum.cu"
 fourth_again;
"""


@pytest.fixture
def program() -> Program:
    return translate(SourceFile("sum.cu", KERNEL, ""), contract.STEP["block-sum"])


def test_only_the_files_own_lines_are_kept_each_with_its_number() -> None:
    expansion = own_lines(OUTPUT, "sum.cu")
    lines = expansion.text.split("\n")
    assert lines[:4] == ["int first;", "", "int fourth; int", " fourth_again;"]
    assert [expansion.line(number) for number in range(1, 5)] == [1, 3, 4, 4]
    assert expansion.entered == ((2, "/usr/include/c++/12/cmath"),)


def test_our_macros_stay_defined_and_expand_to_themselves() -> None:
    without = "#define NAN (0.0f / 0.0f)\n"
    ours = ("__CUDA_ARCH__ 900", "threadIdx (own_thread())", "__align__(n) alignas(n)", "EMPTY ")
    with_ours = without + "".join(f"#define {macro}\n" for macro in ours)
    made = [line for line in neutral_macros(without, with_ours).splitlines() if "define" in line]
    assert made == [
        "#define __CUDA_ARCH__ 900",
        "#define threadIdx threadIdx",
        "#define __align__ __align__",
        "#define EMPTY EMPTY",
    ]


def test_the_preprocessor_gets_the_file_without_cudas_headers_and_marks_every_include(
    program: Program,
) -> None:
    seen = own_lines(to_expand(program).replace('#line 1 "sum.cu"', '# 1 "sum.cu"'), "sum.cu").text
    assert "#pragma tilestep_included cmath" in seen
    assert "#include <cmath>" in seen
    assert "#pragma tilestep_included cuda_fp16.h" in seen
    assert "#include <cuda_fp16.h>" not in seen
    assert "fold<<<1, rows>>>(x, sums);" in seen


def lines_of(text: str) -> tuple[int, ...]:
    return tuple(range(1, text.count("\n") + 2))


def after(program: Program, text: str, **more: Any) -> Program:
    """The program whose file is `text` once it is preprocessed."""
    return from_expansion(Expansion(text, lines_of(text), **more), program)


def test_headers_are_included_again_where_the_preprocessor_met_them(program: Program) -> None:
    text = KERNEL.replace("#include <", "#pragma tilestep_included ").replace(">\n__g", "\n__g")
    made = after(program, text.replace("cmath>", "cmath").replace("fp16.h>", "fp16.h"))
    assert made.text == KERNEL
    assert made.source == program.source


def test_a_line_that_does_not_follow_has_its_number_before_it(program: Program) -> None:
    fold, runs, launch = KERNEL.splitlines()[3:6]
    made = from_expansion(Expansion(f"\n\n{fold}\n{runs}\n{launch}\n}}", (1, 1, 4, 5, 9, 10)), program)
    assert made.text == f"\n#line 4\n{fold}\n{runs}\n#line 9\n{launch}\n}}"
    tokens = lex(made.source, renumbered=True).tokens
    numbers = {token.text: token.line for token in reversed(tokens)}  # of the first of each
    assert (numbers["fold"], numbers["runBlockSum"], numbers["configure"]) == (4, 5, 9)


@pytest.mark.parametrize(
    ("text", "became"),
    [
        ("tilestep_unrolled 4", "#pragma unroll 4"),
        ("#pragma tilestep_no_assert", "#define NDEBUG"),
        ("#pragma tilestep_asserts", "#undef NDEBUG"),
        ("#pragma unroll", "#pragma unroll"),
    ],
)
def test_what_stood_for_a_line_becomes_that_line(program: Program, text: str, became: str) -> None:
    body = KERNEL[KERNEL.index("__global__") :]
    assert after(program, f"{text}\n{body}").text == f"{became}\n{body}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('asm("x");', "inline assembly (PTX)"),
        ("__attribute__((constructor)) void f();", "the attribute constructor changes how or when code runs"),
        ("#pragma GCC optimize 3", "#pragma GCC optimize changes how the file is compiled"),
        ("tilestep_trap();", "tilestep_trap: names that begin with tilestep"),
        ("#pragma tilestep_included evil.h", "#include <evil.h>: not among the headers"),
        (" # define assert(x)", "a macro brings a # to the start of a line"),
        ("void f(int __VECTOR_TYPES_H__);", "__VECTOR_TYPES_H__: such a name is for compilers"),
        ("void f(int CUDARTAPI);", "CUDARTAPI: such a name is for compilers"),
    ],
)
def test_a_rule_is_kept_on_what_macros_became(program: Program, text: str, says: str) -> None:
    with pytest.raises(SubmissionError) as refusal:
        from_expansion(Expansion(f"int harmless;\n{text}", (7, 9)), program)
    assert (refusal.value.line, refusal.value.outcome) == (9, "refused")
    assert refusal.value.says.startswith(says)


def test_our_own_macros_are_no_names_of_another_compiler(program: Program) -> None:
    body = KERNEL[KERNEL.index("__global__") :]
    text = f"const float top = CUDART_INF_F;\n{body}"
    after(program, text, macros=frozenset({"CUDART_INF_F"}))


def test_a_header_that_came_in_unseen_is_refused(program: Program) -> None:
    body = KERNEL[KERNEL.index("__global__") :]
    after(program, body, entered=((1, "/usr/include/c++/12/cmath"),))
    with pytest.raises(SubmissionError, match=r"03_online\.cu is included in a way that hides it"):
        after(program, body, entered=((4, "/somewhere/03_online.cu"),))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("%:define A 1\n", "%: is another spelling of #; write #"),
        ("%\\\n:define A 1\n", "%: is another spelling of #; write #"),
        ("int as\\\nm;\n", "the word asm is broken over two lines; write it in one"),
        ("#inc\\\nlude <cmath>\n", "the word include is broken over two lines; write it in one"),
    ],
)
def test_spellings_that_hide_are_refused(text: str, says: str) -> None:
    with pytest.raises(SubmissionError) as refusal:
        translate(SourceFile("sum.cu", text + KERNEL, ""), contract.STEP["block-sum"])
    assert (refusal.value.line, refusal.value.says) == (1, says)


@pytest.mark.parametrize(
    "text", ["#define PAIR(a) a, \\\n  a\n", 'const char* s = "as\\\nm";\n', "int rest = 7 %\\\n3;\n"]
)
def test_a_line_may_be_continued_between_words(text: str) -> None:
    translate(SourceFile("sum.cu", text + KERNEL, ""), contract.STEP["block-sum"])

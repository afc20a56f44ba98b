"""What the preprocessor shows: the lines of a file after it, and the rules that are asked once more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilestep import contract
from tilestep.emulator.expansion import Expansion, neutral_macros, own_lines
from tilestep.frontends.cuda import translate
from tilestep.frontends.expanded import check_expanded, to_expand
from tilestep.frontends.reading import SourceFile
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


def test_the_preprocessor_gets_the_file_as_it_is_without_cudas_headers(program: Program) -> None:
    text = to_expand(program)
    assert text.splitlines()[0] == '#line 1 "sum.cu"'
    assert text.splitlines()[1:5] == ["#include <cmath>", "", "", KERNEL.splitlines()[3]]
    assert "fold<<<1, rows>>>(x, sums);" in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('asm("x");', "inline assembly (PTX) cannot be judged on a CPU; write it in CUDA C++"),
        ("__attribute__((constructor)) void f();", "the attribute constructor changes how or when code runs"),
        ("#pragma GCC optimize 3", "#pragma GCC optimize changes how the file is compiled"),
        ("tilestep_trap();", "tilestep_trap: names that begin with tilestep"),
    ],
)
def test_a_rule_is_kept_on_what_macros_became(program: Program, text: str, says: str) -> None:
    with pytest.raises(SubmissionError) as refusal:
        check_expanded(Expansion(f"int harmless;\n{text}", (7, 9)), program)
    assert (refusal.value.line, refusal.value.outcome) == (9, "refused")
    assert refusal.value.says.startswith(says)


def test_a_header_that_came_in_unseen_is_refused(program: Program) -> None:
    seen = Expansion("", (), ((1, "/usr/include/c++/12/cmath"),))
    check_expanded(seen, program)
    with pytest.raises(SubmissionError, match=r"03_online\.cu is included in a way that hides it"):
        check_expanded(replace(seen, entered=((4, "/somewhere/03_online.cu"),)), program)


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

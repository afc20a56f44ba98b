"""What compilers and linkers print, recorded from g++ 12 and clang 21, and the sentence that a person reads."""

# ruff: noqa: E501, ISC004  (tables: a row a line)

import pytest

from tilestep.contract import STEP
from tilestep.frontends.cuda import translate
from tilestep.frontends.diagnostics import explain_compiler
from tilestep.frontends.reading import SourceFile
from tilestep.program import Program, SubmissionError

FILE = "my dir/a: b.cu"
TEXT = """__global__ void k(float* x, int n) { x[0] = n; }
void runCausalAttention(const float* qkv, float* attnOut, int T) { k<<<1, 32>>>(attnOut, T); }
"""
PROGRAM = translate(SourceFile(FILE, TEXT, ""), STEP["online-attention"])


def explained(stderr: str, program: Program = PROGRAM) -> SubmissionError:
    error = explain_compiler(stderr, program)
    assert error.outcome == "broken"
    assert error.file == program.file
    assert "\n" not in error.says
    return error


CASES = {
    "g++: a name that CUDA might have": (
        f"{FILE}: In function \u2018void k(float*, int)\u2019:\n"
        f"{FILE}:1:45: error: \u2018__foo\u2019 was not declared in this scope; did you mean \u2018__fo\u2019?\n"
        "    1 | __global__ void k(float* x, int n) { x[0] = __foo(n) }\n"
        f"{FILE}:2:15: error: something later\n",
        (1, "__foo is not known to the emulator; did you mean __fo?"),
    ),
    "clang: a name that CUDA might have": (
        f"{FILE}:1:45: error: use of undeclared identifier '__foo'\n    1 | x\n",
        (1, "__foo is not known to the emulator"),
    ),
    "an ordinary name": (
        f"{FILE}:7:3: error: \u2018total\u2019 was not declared in this scope\n",
        (7, "does not compile: total is not declared here"),
    ),
    "a member of a namespace": (
        f"{FILE}:7:3: error: 'grid_group' is not a member of 'cooperative_groups'\n",
        (7, "cooperative_groups::grid_group is not known to the emulator"),
    ),
    "clang: a member of a namespace": (
        f"{FILE}:7:3: error: no type named 'grid_group' in namespace 'cooperative_groups'\n",
        (7, "cooperative_groups::grid_group is not known to the emulator"),
    ),
    "the standard library": (
        f"{FILE}:7:3: error: 'sort' is not a member of 'std'\n",
        (7, "does not compile: 'sort' is not a member of 'std'"),
    ),
    "a type without its header": (
        f"{FILE}:5:3: error: \u2018half\u2019 was not declared in this scope\n",
        (5, "half needs #include <cuda_fp16.h>"),
    ),
    "clang: a type without its header": (
        f"{FILE}:5:3: error: unknown type name 'half'\n",
        (5, "half needs #include <cuda_fp16.h>"),
    ),
    "g++: a constant of the contract": (
        f"{FILE}:2:15: error: redefinition of \u2018constexpr const int D\u2019\n"
        "In file included from <command-line>:\n/x/contract.h:3:15: note: previously defined here\n",
        (2, "D is already defined by the header that comes before every submission; remove this one"),
    ),
    "clang: a constant of the contract": (
        f"{FILE}:2:15: error: redefinition of 'QKV_OUT'\n/x/contract.h:3:15: note: previous definition is here\n",
        (2, "QKV_OUT is already defined by the header that comes before every submission; remove this one"),
    ),
    "g++: a launch without a block": (
        f"{FILE}:4:23: error: no matching function for call to \u2018configure(int, const char [2], "
        "f(float*)::<lambda(auto:2 ...)>, int)\u2019\n/x/launch.h:3:136: note: candidate: ...\n",
        (4, "this launch does not fit: a launch is kernel<<<grid, block, shared bytes, stream>>>(arguments)"),
    ),
    "clang: a launch without a block": (
        f"{FILE}:4:2: error: no matching function for call to 'configure'\n",
        (4, "this launch does not fit: a launch is kernel<<<grid, block, shared bytes, stream>>>(arguments)"),
    ),
    "an argument of a launch": (
        f"/x/launch.h:3:101:   required from \u2018void tilestep::C<K>::operator()(A&& ...)\u2019\n{FILE}:3:83:   required from here\n"
        f"{FILE}:3:68: error: could not convert \u2018tilestep_a#1\u2019 from \u2018const char*\u2019 to \u2018int\u2019 [-fpermissive]\n",
        (3, "does not compile: could not convert argument 2 of the launch from 'const char*' to 'int'"),
    ),
    "g++: our own refusal, by the line that led to it": (
        f"In file included from {FILE}:1:\nbad.h: In instantiation of 'void needs(T) [with T = int]':\n"
        f"{FILE}:12:38:   required from 'void h(T) [with T = int]'\n{FILE}:13:13:   required from here\n"
        "bad.h:1:58: error: static assertion failed: tilestep: clusters are not run by the emulator\n",
        (12, "clusters are not run by the emulator"),
    ),
    "clang: our own refusal, by the line that led to it": (
        f"In file included from {FILE}:1:\n"
        "./bad.h:1:49: error: static assertion failed due to requirement 'sizeof(int) == 1': tilestep: clusters "
        f"are not run by the emulator\n{FILE}:12:33: note: in instantiation of function template "
        f"specialization 'needs<int>' requested here\n{FILE}:13:12: note: in instantiation of function template "
        "specialization 'h<int>' requested here\n",
        (12, "clusters are not run by the emulator"),
    ),
    "g++: a header that is not run": (
        f"In file included from {FILE}:2:\nbad.h:1:2: error: #error \"tilestep: mma.h is not run here\"\n",
        (2, "mma.h is not run here"),
    ),
    "clang: a header that is not run": (
        f"In file included from {FILE}:2:\n./bad.h:1:2: error: \"tilestep: mma.h is not run here\"\n",
        (2, "mma.h is not run here"),
    ),
    "a warning is no error": (
        f"{FILE}:3:1: warning: unused\n{FILE}:4:1: fatal error: too bad\n",
        (4, "does not compile: too bad"),
    ),
    "the submission comes before the glue": (
        f"<tilestep glue>:2:23: error: odd\n{FILE}:3:1: error: even\n",
        (3, "does not compile: even"),
    ),
    "g++: a seam that takes something else": (
        "<tilestep glue>: In function \u2018void tilestep_seam(void* const*, const int*)\u2019:\n"
        "<tilestep glue>:3:7: error: invalid conversion from 'const float*' to 'float*' [-fpermissive]\n"
        f"{FILE}:3:14: note:   initializing argument 1\n",
        (None, "the signature of runCausalAttention is wrong: want `void runCausalAttention(const float* qkv,"),
    ),
    "clang: a seam that takes something else": (
        "<tilestep glue>:3:7: error: cannot initialize a parameter of type 'float *' with an rvalue\n",
        (None, "the signature of runCausalAttention is wrong: want `void runCausalAttention(const float* qkv,"),
    ),
    "ld: a function without a body": (
        "/usr/bin/ld: /tmp/x.o: in function `main':\n"
        f"/private/{FILE}:2: undefined reference to `later(int)'\ncollect2: error: ld returned 1 exit status\n",
        (2, "later(int) is declared and used, but nowhere defined"),
    ),
    "lld: a function without a body": (
        "ld.lld: error: undefined symbol: later(int)\n"
        f">>> referenced by {FILE}:2\n>>>               /x/3.o:(main)\n",
        (2, "later(int) is declared and used, but nowhere defined"),
    ),
    "a second main": (
        "/usr/bin/ld: /tmp/x.o: in function `main':\n/x/main.cpp:1: multiple definition of `main'; first here\n",
        (None, "a submission has no main: tilestep brings its own and calls the step's function"),
    ),
    "a name of the C library": (
        "/usr/bin/ld: multiple definition of `free'; /x/y.o: first defined here\n",
        (None, "free has the name of a function of the runtime or the C library; rename it"),
    ),
    "no room": (
        "g++: fatal error: Killed signal terminated program cc1plus\ncompilation terminated.\n",
        (None, "the compiler ran out of memory or gave up on this file"),
    ),
    "a message of no known shape": ("odd\nthe error is here\n", (None, "the compiler refused the file: the error is")),
    "no message": ("", (None, "the compiler refused the file: it gave no reason")),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_error_becomes_a_sentence_about_the_persons_line(name: str) -> None:
    stderr, (line, says) = CASES[name]
    error = explained(stderr)
    assert error.line == line
    assert error.says.startswith(says)
    assert "tilestep_" not in error.says


def test_an_unclosed_brace_is_named_instead_of_the_end_of_the_file() -> None:
    text = "#if 1\nvoid g() { if (1) {\n}\n#endif\n" + TEXT
    source = f'#line 1 "a.cu"\n{text}\n#line 1 "<tilestep glue>"\nextern "C" void f() {{\n}}\n'
    program = Program("a.cu", "", "cuda", "online-attention", source)
    error = explained("<tilestep glue>:1:8: error: expected unqualified-id before string constant\n", program)
    assert (error.line, error.says) == (2, "this { is never closed")


def test_a_type_that_its_header_does_not_have_either_is_not_known() -> None:
    program = translate(SourceFile("a.cu", "#include <cuda_fp16.h>\n" + TEXT, ""), STEP["online-attention"])
    error = explained("a.cu:5:3: error: unknown type name '__half2_raw'\n", program)
    assert error.says == "__half2_raw is not known to the emulator"


def test_a_very_long_message_is_cut() -> None:
    error = explained(f"{FILE}:1:1: error: no matching function for call to 'f({'x, ' * 1000})'\n")
    assert len(error.says) < 300

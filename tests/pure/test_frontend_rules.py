"""What a submission may not contain, and the seam that it has to: each refusal with its line and its sentence."""

# ruff: noqa: E501, ISC004  (tables: a row a line)

from pathlib import Path

import pytest

from tilestep.contract import STEP, STEPS, Step
from tilestep.frontends.cuda import translate
from tilestep.frontends.reading import SourceFile
from tilestep.program import Program, SubmissionError

STEP_6 = STEP["online-attention"]
KERNEL = "__global__ void k(float* o) { o[0] = 1; }\n"
SEAM = "void runCausalAttention(const float* qkv, float* attnOut, int T) { k<<<1, 32>>>(attnOut); }\n"


def accepted(text: str, step: Step = STEP_6) -> Program:
    return translate(SourceFile("a.cu", text, ""), step)


def refusal(text: str, step: Step = STEP_6) -> SubmissionError:
    with pytest.raises(SubmissionError) as caught:
        accepted(text, step)
    assert caught.value.outcome == "refused"
    return caught.value


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_seam_of_every_step_is_found_and_called(step: Step) -> None:
    program = accepted(KERNEL + step.seam.prototype + " { k<<<1, 1>>>(nullptr); }", step)
    glue = program.source.split('#line 1 "<tilestep glue>"\n')[1]
    assert f"::{step.seam.function}(static_cast<" in glue
    assert glue.count("tilestep_p[") == len(step.seam.pointers)
    assert glue.count("tilestep_n[0]") == 1


@pytest.mark.parametrize(
    "seam",
    [
        "void runCausalAttention(const float* qkv, float* attnOut, int T) {}",
        'extern "C" void runCausalAttention(float const* __restrict__ q, float *__restrict__ o, const int n) {}',
        "static inline void runCausalAttention(const float q[], float o[], int) {}",
        "namespace { void runCausalAttention(const float*, float*, int) {} }",
        'extern "C" { __host__ void runCausalAttention(const float* const a, float* const b, int c = 3) {} }',
        "void runCausalAttention(const Input* q, float* o, int T) {}",
        "using F = float; void runCausalAttention(const F* q, F* o, int T) {}",
        "auto runCausalAttention(const float* q, float* o, int T) -> void {}",
        "template <class T> void runCausalAttention(const T* q, T* o, int n) {}",
        "void runCausalAttention(float* o) {}\nvoid runCausalAttention(const float* q, float* o, int T) {}",
        "#if A\nvoid runCausalAttention(const float* q, float* o, int T) {}\n#else\n"
        "void runCausalAttention(const float* q, float* o, int T) {}\n#endif",
        "#if 0\nvoid runCausalAttention(int) {}\n#endif\n"
        "void runCausalAttention(const float* q, float* o, int T) {}",
        "#define NAME runCausalAttention\nvoid NAME(const float* q, float* o, int T) {}",
        "void runCausalAttention(const float*, float*, int);\n"
        "void runCausalAttention(\n    const float* q,  // [T, 768]\n    float* o, int T)\n{\n}",
    ],
)
def test_spellings_of_the_right_signature_are_accepted(seam: str) -> None:
    assert accepted(KERNEL + seam).kernels


@pytest.mark.parametrize(
    ("seam", "line", "says"),
    [
        ("", None, "the function runCausalAttention is missing: define `void runCausalAttention(const float* qkv,"),
        ("\nvoid run_causal_attention(int) {}", None, "did you mean that for run_causal_attention in line 3?"),
        ("void runCausalAttentoin(int) {}", None, "did you mean that for runCausalAttentoin in line 2?"),
        ("void attention(const float* a, float* b, int c) {}", None, "mean that for attention in line 2?"),
        ("void runCausalAttention(const float*, float*, int);", 2, "is declared here, but nowhere defined"),
        ("namespace mine { void runCausalAttention(const float*, float*, int) {} }", 2, "is inside mine; define"),
        ("struct S { void runCausalAttention(const float*, float*, int) {} };", 2, "is inside S; define it outside"),
        ("__global__ void runCausalAttention(const float* q, float* o, int T) {}", 2, "is a __global__ function"),
        ("__device__ void runCausalAttention(const float* q, float* o, int T) {}", 2, "is a __device__ function"),
        ("void runCausalAttention(float* q, float* o, int T) {}", 2,
         "got `void runCausalAttention(float* q, float* o, int T)`, want `void runCausalAttention(const float* qkv,"),
        ("void runCausalAttention(const float* q, float* o) {}", 2, "the signature of runCausalAttention is wrong"),
        ("void runCausalAttention() {}", 2, "is wrong"),
        ("void runCausalAttention(void) {}", 2, "is wrong"),
        ("void runCausalAttention(const float* q, float* o, size_t T) {}", 2, "is wrong"),
        ("void runCausalAttention(const double* q, float* o, int T) {}", 2, "is wrong"),
        ("void runCausalAttention(const float** q, float* o, int T) {}", 2, "is wrong"),
        ("void runCausalAttention(const float* q, float* o, int T, int n) {}", 2, "is wrong"),
        ("int runCausalAttention(const float* q, float* o, int T) { return 0; }", 2, "got `int runCausal"),
        ("void runCausalAttention(const float* q, float* o, int T) {}\n"
         "void runCausalAttention(const float* a, float* b, int c) {}", 3, "is defined twice, here and in line 2"),
    ],
)  # fmt: skip
def test_a_missing_or_wrong_seam_is_refused(seam: str, line: int | None, says: str) -> None:
    error = refusal(KERNEL + seam)
    assert error.line == line
    assert says in error.says


def test_a_file_without_a_kernel_is_refused() -> None:
    error = refusal("void runCausalAttention(const float* q, float* o, int T) {}")
    assert "there is no kernel" in error.says


def test_kernels_are_listed_with_their_lines() -> None:
    program = accepted(
        "__global__ void later(int n);\ntemplate <int N>\n__global__ void __launch_bounds__(N)\n    one(float* o) {}\n"
        'namespace a { extern "C" __global__ void two() {} }\n#define KERNEL __global__ void\nKERNEL three() {}\n'
        "__global__ void later(int n) {}\n" + SEAM
    )
    assert [(kernel.name, kernel.line) for kernel in program.kernels] == [
        ("one", 4),
        ("two", 5),
        ("three", 7),
        ("later", 8),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('#include "mine.h"', '#include "mine.h": a submission is one file'),
        ("#include <thread>", "starts threads"),
        ("#include <fstream>", "opens files"),
        ("#include <unistd.h>", "reaches the system"),
        ("#include <cutlass/cutlass.h>", "this CUDA header is not run by the emulator"),
        ("#include <boost/any.hpp>", "not among the headers"),
        ("#include <tilestep/abi.h>", "not among the headers"),
        ("#include </etc/passwd>", "not among the headers"),
        ('#include "../../cuda_runtime.h"', "one file"),
        ("#include HEADER", "must name its header"),
        ("#include", "must name its header"),
        ("#include_next <cmath>", "#include_next is not allowed"),
        ("#line 7", "#line would hide"),
        ("# 7 \"b.cu\"", "#line would hide"),
        ("#pragma GCC optimize(\"Ofast\")", "#pragma GCC optimize changes how the file is compiled"),
        ("#pragma GCC push_options", "changes how"),
        ("#pragma clang optimize off", "changes how"),
        ("#pragma weak f", "#pragma weak changes how"),
        ("#define __shared__", "__shared__ is CUDA's own word"),
        ("#undef __global__", "CUDA's own word"),
        ("#define A tilestep_seam", "tilestep_seam: names that begin with tilestep"),
        ("int tilestep_x;", "names that begin with tilestep"),
        ("using namespace tilestep;", "names that begin with tilestep"),
        ('extern "C" void __tsan_read4(void*);', "__tsan_read4: names that begin"),
        ("__device__ void f() { asm volatile(\"bar.sync 0;\"); }", "inline assembly (PTX)"),
        ("#define BAR __asm__(\"bar.sync 0;\")", "inline assembly"),
        ("__attribute__((constructor)) void f() {}", "the attribute constructor"),
        ("__attribute__((unused, __no_sanitize__(\"thread\"))) void f() {}", "the attribute __no_sanitize__"),
        ("[[gnu::constructor]] void f() {}", "the attribute constructor"),
        ("void f() { _Pragma(\"GCC optimize 3\") }", "_Pragma GCC optimize"),
        ("int main() { return 0; }", "a submission has no main"),
        ("void f() { fopen(\"x\", \"r\"); }", "fopen opens files"),
        ("void f() { std::ofstream x; }", "std::ofstream opens files"),
        ("void f() { std::thread t; }", "std::thread starts threads"),
        ("void f() { if (fork() == 0) {} }", "fork starts processes"),
        ("void f() { ::system(\"ls\"); }", "system starts processes"),
        ("void f() { std::system(\"ls\"); }", "std::system starts processes"),
        ("void f() { getenv(\"HOME\"); }", "getenv reads the environment"),
        ("#define NOW time(nullptr)", "time reads a clock"),
        ("auto t = std::chrono::steady_clock::now();", "std::chrono reads a clock"),
        ("void f() { socket(1, 2, 3); }", "socket opens sockets"),
        ("void f() { dlopen(nullptr, 1); }", "dlopen loads libraries"),
        ("extern \"C\" int fork(); int f() { return fork(); }", "fork starts processes"),
    ],
)  # fmt: skip
def test_what_is_outside_the_rules_is_refused_with_its_line(text: str, says: str) -> None:
    error = refusal(f"{KERNEL}\n{text}\n{SEAM}")
    assert error.line == 3
    assert says in error.says


@pytest.mark.parametrize(
    "text",
    [
        "#include <cmath>\n#include <cuda_runtime.h>\n#include \"cuda_runtime.h\"\n#include <cstdio> // printf",
        "#pragma once\n#pragma unroll 4\n#pragma GCC diagnostic ignored \"-Wall\"\n#pragma nv_diag_suppress 1",
        "#ifndef __CUDACC__\n#define __shared__\n#endif",
        "#ifdef STANDALONE\nint main() {}\n#endif",
        "namespace mine { int main() { return 0; } }",
        "// tilestep, asm, fopen(1)\nconst char* s = \"tilestep asm fork()\";",
        "#if 0\n#include <thread>\nasm(\"\");\nint main() {}\n#endif",
        "float time(float x) { return x; } float f() { return time(1); }",
        "struct S { int open(int); }; int f(S s) { return s.open(1); }",
        "void f() { auto signal = [](int x) { return x; }; signal(1); }",
        "int g(int listen) { return listen; } int h(int x) { return ns::open(x); }",
        "__device__ int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }",
        "__attribute__((noinline)) [[maybe_unused]] int f() { return 0; }",
        "void f() { std::remove(a, b, 1); std::bind(f); clock(); exit(1); }",
    ],
)  # fmt: skip
def test_what_only_looks_alike_is_accepted(text: str) -> None:
    assert accepted(f"{KERNEL}\n{text}\n{SEAM}").kernels


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("cudaDeviceSynchronize();", "cudaDeviceSynchronize: a seam must not wait"),
        ("cudaStream_t s; cudaStreamCreate(&s);", "cudaStreamCreate: a seam must not make streams"),
        ("cudaEvent_t e; cudaEventCreate(&e);", "cudaEventCreate: a seam must not use events"),
        ("cudaMemcpy(h, o, 4, cudaMemcpyDeviceToHost);", "must not read device memory back"),
    ],
)
def test_a_seam_that_waits_or_reads_back_is_refused_before_it_is_compiled(call: str, says: str) -> None:
    seam = f"void runCausalAttention(const float* q, float* o, int T) {{\n  k<<<1, 32>>>(o);\n  {call}\n}}\n"
    error = refusal(KERNEL + seam)
    assert error.line == 4
    assert says in error.says
    hidden = seam.replace(f"  {call}", f"#ifdef DEBUG\n  {call}\n#endif")
    assert accepted(KERNEL + hidden + "void unused() { cudaDeviceSynchronize(); }").kernels


def test_the_first_fault_of_a_file_is_named() -> None:
    error = refusal(f'{KERNEL}int main() {{}}\nvoid f() {{ asm(""); }}\n#include <thread>\n')
    assert error.line == 2


def test_the_error_reads_as_one_line_with_its_place() -> None:
    error = refusal(f"{KERNEL}\n#include <thread>\n{SEAM}")
    assert str(error) == "a.cu:3: #include <thread>: it starts threads, and a seam only launches kernels"


def test_every_header_of_the_emulator_may_be_included() -> None:
    include = Path(__file__).parents[2] / "src" / "tilestep" / "emulator" / "include"
    names = [
        str(path.relative_to(include)) for path in include.rglob("*.h") if path.parent.name != "tilestep"
    ]
    assert "cuda_runtime.h" in names
    text = "".join(f"#include <{name}>\n" for name in names)
    assert accepted(text + KERNEL + SEAM).kernels

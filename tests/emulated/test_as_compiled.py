"""What every compiler of a submission gets: preprocessed once, by the host's preprocessor itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilestep import contract
from tilestep.emulator.build import Builder
from tilestep.emulator.cache import Cache
from tilestep.emulator.compilers import find_compiler
from tilestep.frontends.cuda import translate
from tilestep.frontends.reading import SourceFile
from tilestep.program import Program, SubmissionError
from tilestep.targets.building import as_compiled, build_flavours

END = """
__global__ void fold(const float* x, float* sums, int rows, int columns) { sums[0] = x[0]; }
void runBlockSum(const float* x, float* sums, int rows, int columns) {
  fold<<<1, 64>>>(x, sums, rows, columns);
}
"""


@pytest.fixture(scope="module")
def builder() -> Builder:
    return Builder(find_compiler(), Cache())


def program(text: str) -> Program:
    return translate(SourceFile("sum.cu", text + END, ""), contract.STEP["block-sum"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__\nint a;\n#else\nint b;\n#endif", "int b;"),
        ("#if __CUDA_ARCH__ >= 900 && defined(__CUDACC__)\nint a;\n#else\nint b;\n#endif", "int a;"),
        ("#define JOIN(a, b) a##b\nint JOIN(le, ft);", "int left;"),
        ("#define JOIN(a, b) a##b\n#if JOIN(__SANI, TIZE_THREAD__)\nint a;\n#else\nint b;\n#endif", "int b;"),
        (
            "#ifndef CUDART_PI_F\n#define CUDART_PI_F 3.25f\n#endif\nfloat f = CUDART_PI_F;",
            "float f = 3.25f;",
        ),
        (
            "#include <math_constants.h>\n#ifdef CUDART_PI_F\nfloat f = CUDART_PI_F;\n#endif",
            "float f = CUDART_PI_F;",
        ),
        ("#define TILE 4\n#pragma unroll TILE", "#pragma unroll 4"),
        ('#define ROLL _Pragma("unroll")\nROLL', "#pragma unroll"),
        ("#define NDEBUG\n#include <cassert>", "#define NDEBUG"),
        ("#include <cassert>\nvoid f(int i) { assert(i); }", "void f(int i) { assert(i); }"),
        ("#if 0\n#include <cuda_fp16.h>\n#endif\n#include <cuda_bf16.h>", "#include <cuda_bf16.h>"),
        ("const char* name = __FILE__;", 'const char* name = "sum.cu";'),
        ("int here = __LINE__;", "int here = 1;"),
    ],
)
def test_conditionals_and_macros_of_the_file_are_gone(builder: Builder, text: str, line: str) -> None:
    made = as_compiled(builder, program(text)).text
    assert line in made.splitlines()
    assert "__NVCC_DIAG" not in made
    assert "cuda_fp16" not in made


def test_every_line_keeps_its_number(builder: Builder) -> None:
    wide = "#define WIDE(a, b) \\\n  a + b\n\n#include <cfloat>\nfloat f = WIDE(FLT_MAX,\n  1);\n"
    text = f"{wide}int broken = nowhere;"
    with pytest.raises(SubmissionError, match=r"^sum\.cu:7: .*nowhere is not declared here"):
        build_flavours(builder, program(text), "record")


def test_what_the_preprocessor_refuses_is_told_by_the_compiler(builder: Builder) -> None:
    with pytest.raises(SubmissionError, match=r"^sum\.cu:2: .*only on Mondays"):
        as_compiled(builder, program("\n#error only on Mondays"))


def test_what_only_the_real_macros_let_pass_is_not_built(builder: Builder) -> None:
    with pytest.raises(SubmissionError, match="the preprocessor gives up on this file"):
        as_compiled(builder, program("#if 1 __host__\n#endif"))


def test_honest_files_compile(builder: Builder, tmp_path: Path) -> None:
    text = """\
#include <cassert>
#include <cfloat>
#include <climits>
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <math_constants.h>
namespace cg = cooperative_groups;
#define LOAD(p) __ldg(p)
#define GO(kernel, ...) kernel<<<1, 64>>>(__VA_ARGS__)
__global__ __launch_bounds__(64) void other(const float4* x, float* y, int n) {
  __shared__ __align__(16) float tile[64];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  assert(n < INT_MAX);
  float top = fmaxf(-INFINITY, fmaxf(-FLT_MAX, -CUDART_INF_F));
#if __CUDA_ARCH__ >= 800
#pragma unroll 4
#endif
  for (int i = 0; i < n; ++i) top = fmaxf(top, LOAD(&x[i]).x);
  tile[threadIdx.x] = __half2float(__float2half(warp.shfl(top, 0)));
  y[0] = isnan(top) ? NAN : tile[0];
}
void launch(float* y) { GO(other, NULL, y, 0); }
"""
    build_flavours(builder, program(text), "record", "checked")

"""What the frontend makes of a file compiles and means what the CUDA meant; else the error is explained."""

from pathlib import Path

import numpy as np
import pytest

from tilestep.contract import STEP
from tilestep.frontends.cuda import load, translate
from tilestep.frontends.reading import SourceFile
from tilestep.program import Buffer, Job, SubmissionError
from tilestep.targets.cpu import CpuTarget

STEP_6 = STEP["online-attention"]
SEAM = "void runCausalAttention(const float* qkv, float* attnOut, int T) {{ {} }}\n"
EXOTIC = [254.0, 10.0, 20.0, 7.0, 7.0, 1105.0, 7.0, 1.0, 7.0, 7.0, 7.0, 32.0, 42.0, 1.0, 251.0]


@pytest.fixture(scope="module")
def target() -> CpuTarget:
    return CpuTarget()


def test_an_exotic_file_computes_what_cuda_would(target: CpuTarget) -> None:
    program = load(Path(__file__).parent / "cu" / "exotic.cu", STEP_6)
    built = target.build(program)
    buffers = (
        Buffer("qkv", 1, 768, "in", np.zeros((1, 768), np.float32)),
        Buffer("attnOut", 1, 512, "out"),
    )
    for mode in ("fast", "check"):
        run = target.run(built, Job(buffers, (1,), mode=mode))
        assert run.ended == "finished", run.says
        assert [finding.says for finding in run.findings] == []
        assert run.outputs["attnOut"][0, : len(EXOTIC)].tolist() == EXOTIC
        assert [launch.kernel for launch in run.plan.launches[:4]] == [
            "(detail::inner::fill<T>)",
            "detail::overloaded",
            "detail::overloaded",
            "kernels[0]",
        ]


@pytest.mark.parametrize(
    ("body", "launch", "line", "says"),
    [
        ("o[0] = __mystery(n);", "k<<<1, 32>>>(attnOut, T);", 2, "__mystery is not known to the emulator"),
        ("half h; o[0] = n;", "k<<<1, 32>>>(attnOut, T);", 2, "half needs #include <cuda_fp16.h>"),
        ("o[0] = n", "k<<<1, 32>>>(attnOut, T);", 2, "does not compile: expected ';'"),
        ("o[0] = n;", "k<<<1, 32>>>(attnOut);", 4, "does not compile: "),
        ("o[0] = n;", "k<<<1>>>(attnOut, T);", 4, "a launch is kernel<<<grid, block"),
        ("o[0] = n;", "lost<<<1, 32>>>(attnOut, T);", 4, "does not compile: lost is not declared here"),
        ("o[0] = n; } constexpr int D = 512; void g() {", "k<<<1, 32>>>(attnOut, T);", 2,
         "D is already defined by the header that comes before every submission"),
        ("o[0] = missing(n); } __device__ float later(int); float missing(int n) { return later(n);",
         "k<<<1, 32>>>(attnOut, T);", 2, ""),
    ],
)  # fmt: skip
def test_what_does_not_compile_is_explained(
    target: CpuTarget, body: str, launch: str, line: int, says: str
) -> None:
    text = f"__global__ void k(float* o, int n) {{\n  {body}\n}}\n{SEAM.format(launch)}"
    program = translate(SourceFile("dir with space/a.cu", text, ""), STEP_6)
    with pytest.raises(SubmissionError) as caught:
        target.build(program)
    assert caught.value.outcome == "broken"
    assert (caught.value.line, caught.value.file) == (line, "dir with space/a.cu")
    assert says in caught.value.says
    assert "tilestep_" not in caught.value.says

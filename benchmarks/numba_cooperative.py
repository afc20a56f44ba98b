"""kernels/attention/02_cooperative.cu on numba's CUDA simulator, line for line: a yardstick.

Run by benchmarks/capstone.py with an interpreter that has numba. Prints one JSON line: seconds, and the
largest error against float64.

    NUMBA_ENABLE_CUDASIM=1 python benchmarks/numba_cooperative.py 33
"""

from __future__ import annotations

import json
import math
import os
import sys
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numpy as np
from numba import cuda, float32

D, HQ, HKV, DH, KV, QKV_OUT = 512, 8, 2, 64, 128, 768
THREADS, MAX_T = 256, 2048


@cuda.jit
def attend_cooperative(qkv, out, length):
    score = cuda.shared.array(MAX_T, float32)
    q = cuda.shared.array(DH, float32)
    tree = cuda.shared.array(THREADS, float32)
    tid = cuda.threadIdx.x
    row, head = cuda.blockIdx.x // HQ, cuda.blockIdx.x % HQ
    k0 = D + head // (HQ // HKV) * DH
    v0 = k0 + KV
    if tid < DH:
        q[tid] = qkv[row, head * DH + tid] * float32(0.125)
    cuda.syncthreads()

    largest = float32(-math.inf)
    for j in range(tid, length, THREADS):
        s = float32(-math.inf)
        if j <= row:
            s = float32(0)
            for d in range(DH):
                s += q[d] * qkv[j, k0 + d]
        score[j] = s
        largest = max(largest, s)
    tree[tid] = largest
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            tree[tid] = max(tree[tid], tree[tid + half])
        cuda.syncthreads()
        half //= 2
    largest = tree[0]
    cuda.syncthreads()

    total = float32(0)
    for j in range(tid, row + 1, THREADS):
        p = math.exp(score[j] - largest)
        score[j] = p
        total += p
    tree[tid] = total
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if tid < half:
            tree[tid] = tree[tid] + tree[tid + half]
        cuda.syncthreads()
        half //= 2
    total = tree[0]
    cuda.syncthreads()

    if tid < DH:
        acc = float32(0)
        for j in range(row + 1):
            acc += score[j] * qkv[j, v0 + tid]
        out[row, head * DH + tid] = acc / total


def main() -> None:
    length = int(sys.argv[1]) if len(sys.argv) > 1 else 33
    qkv = np.random.default_rng(0).standard_normal((length, QKV_OUT)).astype(np.float32)
    out = np.full((length, D), np.nan, np.float32)
    began = time.perf_counter()
    attend_cooperative[length * HQ, THREADS](qkv, out, length)
    seconds = time.perf_counter() - began

    exact = qkv.astype(np.float64)
    want = np.empty((length, D))
    mask = np.tril(np.ones((length, length), bool))
    for head in range(HQ):
        k0 = D + head // (HQ // HKV) * DH
        scores = exact[:, head * DH :][:, :DH] @ exact[:, k0 : k0 + DH].T / 8
        p = np.where(mask, np.exp(scores - np.where(mask, scores, -np.inf).max(1, keepdims=True)), 0)
        want[:, head * DH :][:, :DH] = p @ exact[:, k0 + KV : k0 + KV + DH] / p.sum(1, keepdims=True)
    print(json.dumps({"seconds": seconds, "length": length, "max_error": float(np.abs(out - want).max())}))


if __name__ == "__main__":
    main()

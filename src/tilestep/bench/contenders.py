"""Who is measured: our rungs, found in their folder, and the peers, each backend by its own name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from tilestep import kernels

FOLDER = "attention"  # of our kernels: every file in it is a rung
RUNG, PEER = "rung", "peer"
FP32, BF16 = "fp32", "bf16"

# What PyTorch calls its backends, and what they are.
SDPA = {
    "math": ("MATH", "PyTorch SDPA, MATH: matrix products and a softmax"),
    "efficient": ("EFFICIENT_ATTENTION", "PyTorch SDPA, EFFICIENT: CUTLASS, from xFormers"),
    "flash": ("FLASH_ATTENTION", "PyTorch SDPA, FLASH: FlashAttention-2"),
    "cudnn": ("CUDNN_ATTENTION", "PyTorch SDPA, CUDNN: cuDNN's fused attention"),
}
FLEX, FA3 = "flex", "fa3"


@dataclass(frozen=True)
class Contender:
    """A kernel that is measured. `family` is the rung's folder, or how a peer is called: sdpa, flex, fa3.

    `precision` is that of the values which it reads and writes: fp32 or bf16.
    """

    name: str
    title: str
    kind: str
    precision: str
    family: str
    part: str = ""  # a rung's file by its name in kernels, or the backend of sdpa


def rungs() -> tuple[Contender, ...]:
    """Our attention kernels, in the order of their numbers."""
    ours = [name for name in kernels.names() if name.startswith(f"{FOLDER}/")]
    return tuple(
        Contender(PurePosixPath(name).stem, kernels.idea(name), RUNG, FP32, FOLDER, name) for name in ours
    )


def peers() -> tuple[Contender, ...]:
    """Every peer that tilestep knows to call, whether it is installed or not."""
    sdpa = [
        Contender(f"sdpa-{backend}-{precision}", title, PEER, precision, "sdpa", backend)
        for precision in (FP32, BF16)
        for backend, (_, title) in SDPA.items()
    ]
    flex = [
        Contender(f"flex-{precision}", "PyTorch FlexAttention, compiled", PEER, precision, FLEX)
        for precision in (FP32, BF16)
    ]
    fa3 = Contender("fa3-bf16", "FlashAttention-3, its own package", PEER, BF16, FA3)
    by_precision = sorted([*sdpa, *flex, fa3], key=lambda peer: peer.precision == BF16)
    return tuple(by_precision)


def everyone() -> tuple[Contender, ...]:
    """Rungs, then peers."""
    return (*rungs(), *peers())


def groups(contender: Contender) -> set[str]:
    """The words that choose a contender, beside its name."""
    return {contender.name, contender.kind + "s", contender.precision, contender.family}


def choose(only: Sequence[str] = (), without: Sequence[str] = ()) -> tuple[Contender, ...]:
    """The contenders that `only` names (all, if it names none), less those of `without`.

    A word is a name, or a group: rungs, peers, fp32, bf16, attention, sdpa, flex, fa3. Raises ValueError for
    a word that names nobody, and if nobody is left.
    """
    known = everyone()
    _refuse_strangers((*only, *without), known)
    chosen = tuple(
        one for one in known if (not only or groups(one) & set(only)) and not groups(one) & set(without)
    )
    if not chosen:
        raise ValueError("nobody is left to measure")
    return chosen


def _refuse_strangers(words: Iterable[str], known: Sequence[Contender]) -> None:
    allowed = set[str]().union(*(groups(one) for one in known))
    for word in words:
        if word not in allowed:
            names = ", ".join(one.name for one in known)
            raise ValueError(
                f"nobody is called {word!r}; there are {names}, and the groups "
                + ", ".join(sorted(allowed - {one.name for one in known}))
            )

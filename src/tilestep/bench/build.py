"""Our rungs made ready: compiled for the card, and their plans recorded at each length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tilestep import contract, kernels
from tilestep.bench.contenders import RUNG, Contender
from tilestep.bench.ladder import FAILED
from tilestep.bench.messages import LeftOut, Loaded
from tilestep.bench.worker import attention_buffers
from tilestep.emulator.job import WorkerError
from tilestep.frontends.cuda import load
from tilestep.program import Floats, Job, LaunchPlan, SubmissionError
from tilestep.targets.gpu import GpuTarget

_STEP = "causal-attention"  # every rung has attention's seam


def load_rungs(
    target: GpuTarget, contenders: Sequence[Contender], packed: Mapping[int, Floats]
) -> tuple[list[Loaded], list[LeftOut]]:
    """The rungs among the contenders, and why those are left out that cannot be had, at which length."""
    ours = [one for one in contenders if one.kind == RUNG]
    with ThreadPoolExecutor(max_workers=4) as pool:
        results = list(pool.map(lambda one: _load(target, one, packed), ours))
    loaded = [rung for rung, _ in results if rung is not None]
    return loaded, [told for _, left_out in results for told in left_out]


def _load(
    target: GpuTarget, rung: Contender, packed: Mapping[int, Floats]
) -> tuple[Loaded | None, list[LeftOut]]:
    try:
        built = target.build(load(kernels.path(rung.part), contract.STEP[_STEP]))
    except SubmissionError as error:
        return None, [LeftOut(rung.name, length, FAILED, error.says) for length in packed]
    plans: dict[int, LaunchPlan] = {}
    left_out = []
    for length, values in packed.items():
        try:
            run = target.run(built, Job(attention_buffers(values), (length,), mode="record"))
        except WorkerError as error:
            left_out.append(LeftOut(rung.name, length, FAILED, str(error)))
            continue
        if run.ended == "finished":
            plans[length] = run.plan
        else:
            left_out.append(LeftOut(rung.name, length, FAILED, run.says))
    symbols = {launch.symbol for plan in plans.values() for launch in plan.launches}
    return Loaded(rung, built.image.data, plans, built.image.kernel_names(symbols)), left_out

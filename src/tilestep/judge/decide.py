"""The outcome of a trial: wrong before unsafe before slow before passed."""

from __future__ import annotations

from typing import Any

from tilestep import contract
from tilestep.judge import verdict
from tilestep.judge.compare import earliest_wrong
from tilestep.judge.diagnose import merge_findings, name_mistakes
from tilestep.judge.race import MOST_PAIRS
from tilestep.judge.schedule import orders
from tilestep.judge.speed import RaceRecord, Speed, describe_interval, describe_race
from tilestep.judge.timed import TIMED
from tilestep.judge.trial import Trial
from tilestep.judge.verdict import FirstWrong, KvTraffic, MistakeFound, Verdict
from tilestep.program import Finding

UNCHECKED = "checkers: not run on a GPU; --target both runs them first"


def decide(trial: Trial, facts: dict[str, Any]) -> Verdict:
    """The verdict of a trial whose runs all finished. `facts` are submission, step, seed and target."""
    # A result that changes with the thread order is a symptom: told only where no checker saw the cause.
    findings = merge_findings(trial.findings or trial.unsteady[:1])
    shared: dict[str, Any] = {
        **facts,
        "cases": tuple(case.result() for case in trial.compared),
        "findings": findings,
        "traffic": trial.traffic,
        "evidence": describe_runs(trial),
        "race": trial.race,
    }
    first = earliest_wrong(trial.compared)
    if first is not None:
        named = name_mistakes(trial.seen)
        return verdict.Wrong(
            first_wrong=first,
            mistakes=named,
            says=say_wrong(trial.step.length_name, first, named, findings),
            **shared,
        )
    if findings:
        return verdict.Unsafe(says=say_unsafe(findings), **shared)
    if trial.traffic is not None and not trial.traffic.ok:
        return verdict.Slow(says=_slow(trial.traffic), **shared)
    if trial.race is not None:
        return _decide_race(trial.race, len(trial.compared), shared)
    return verdict.Passed(says=_passed(trial), **shared)


def _decide_race(race: RaceRecord, cases: int, shared: dict[str, Any]) -> Verdict:
    """The gate must be met by the whole interval, and is missed only if the whole interval misses it."""
    speed = race.speed
    if speed is None:
        return verdict.Inconclusive(says=f"Right at every value, but {race.alarm}.", **shared)
    if speed.gate is None or speed.low >= speed.gate:
        # Only a GPU races, and no checker ran there: nothing is said of findings.
        right = f"Right in all {cases} cases and in {len(race.pairs)} timed calls"
        return verdict.Passed(says=f"{right}, at {_times(speed)}.", speed=speed, **shared)
    if speed.high < speed.gate:
        return verdict.Slow(says=f"Right at every value, but only {_times(speed)}.", speed=speed, **shared)
    says = (
        f"Right at every value, but the gate of {speed.gate:g}x lies inside the 95 % interval of the "
        f"speedup, {speed.low:.2f}x to {speed.high:.2f}x: judge it again, with --pairs {MOST_PAIRS} perhaps."
    )
    return verdict.Inconclusive(says=says, **shared)


def _times(speed: Speed) -> str:
    return f"{speed.speedup:.2f}x the baseline's speed ({describe_interval(speed)})"


def describe_runs(trial: Trial) -> tuple[str, ...]:
    """The facts behind a verdict, a line each: a label, a colon, the fact."""
    lines = [f"seed: {trial.seed}"]
    if trial.compared:
        lengths = sorted({case.length for case in trial.compared})
        lines.append(
            f"values: {len(trial.compared)} cases against float64, "
            f"{trial.step.length_name} = {', '.join(map(str, lengths))}"
        )
    if trial.checked_runs:
        lines.append(
            f"checkers: {trial.checked_runs} runs in {len(orders(trial.seed))} thread orders, "
            f"{_rounded(trial.accesses)} accesses, {_count(len(merge_findings(trial.findings)))}"
        )
    elif not trial.target.checks:
        lines.append(UNCHECKED)
    if trial.compared and not trial.launches:
        lines.append("launches: the seam launched no kernel")
    if trial.unsteady and trial.findings:
        lines.append(f"order: {trial.unsteady[0].says}")
    if trial.traffic is not None:
        t = trial.traffic
        lines.append(
            f"bytes: at T = {t.length} {t.k_bytes:,} of K and {t.v_bytes:,} of V read from global memory, "
            f"baseline {t.baseline_kv_bytes:,} in all"
        )
    if trial.race is not None:
        return (*lines, *describe_race(trial.race))
    if not trial.target.checks:
        lines.append(_not_timed(trial))
    return (*lines, *describe_speed(trial.target.kind))


def _not_timed(trial: Trial) -> str:
    """Why a target with a clock stated no speed."""
    if trial.step.speed_gate is None:
        return "speed: no gate at this step"
    if trial.profile is None:
        return f"speed: not judged, the gate stands at T = {contract.PROFILE_LENGTH}"
    return "speed: not judged, a kernel that is not right has none"


def describe_speed(target: str) -> tuple[str, ...]:
    return ("speed: not judged here, no GPU",) if target == "cpu" else ()


def _count(findings: int) -> str:
    return "no finding" if findings == 0 else f"{findings} finding{'s' if findings > 1 else ''}"


def _rounded(count: int) -> str:
    return f"{count / 1e6:,.0f} million" if count >= 10_000_000 else f"{count:,}"


def say_wrong(
    length_name: str, first: FirstWrong, named: tuple[MistakeFound, ...], findings: tuple[Finding, ...]
) -> str:
    at = f"{length_name} = {first.length} ({first.family})"
    where = f"{first.tensor} is wrong at {at}, {first.place}"
    if first.family.startswith(TIMED):
        return f"{where}, in a timed call; the calls before it, which were not timed, were right."
    if named:
        return f"{where}: {_lower_first(named[0].says)}"
    if findings:
        return f"{where}; the finding{'s' if len(findings) > 1 else ''} may be why."
    return f"{where}; it matches no mistake that has a name here."


def say_unsafe(findings: tuple[Finding, ...]) -> str:
    first = findings[0]
    where = f"{first.file}:{first.line}" if first.file and first.line else first.array or first.kernel
    more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    return f"Every value came out right here, but a GPU does not promise that: {first.code} at {where}{more}."


def _slow(traffic: KvTraffic) -> str:
    return (
        f"Right at every value, but its K and V traffic is cut {traffic.cut:.1f}x "
        f"against the baseline, and the gate is {traffic.gate:g}x."
    )


def _passed(trial: Trial) -> str:
    found = ", with no finding" if trial.target.checks else ""
    says = f"Right in all {len(trial.compared)} cases{found}"
    if trial.traffic is not None and trial.traffic.gate is not None:
        return f"{says}, and K and V traffic is cut {trial.traffic.cut:.1f}x against the baseline."
    if trial.step.speed_gate is not None:
        return f"{says}; the gate stands at T = {contract.PROFILE_LENGTH}, which was not judged."
    return f"{says}."


def _lower_first(sentence: str) -> str:
    """A sentence that goes on after a colon: its capital falls, unless it is an acronym's or Q, K or V."""
    first, _, _ = sentence.partition(" ")
    falls = first.istitle() and (len(first) > 1 or first == "A")
    return sentence[0].lower() + sentence[1:] if falls else sentence

"""The parts of gpu-check that compare bits of training with those of the same training, run otherwise."""
import json
import math

from machine import Failed, Unproven, collect

VANISHED = 0.01  # below it gradients are nearly zero, and most bits agree whatever is wrong


def finite(losses):
    return bool(losses) and all(isinstance(loss, (int, float)) and math.isfinite(loss) for loss in losses)


def in_force(check, told, cap_bytes):
    """Whether a run's --cap took the rest of the device: the host has none."""
    memory = told.get("device_memory") or {}
    return check.dry or (memory.get("ballast_bytes") or 0) > 0 or 0 < (memory.get("total_bytes") or 0) <= cap_bytes


def losses_of(steps):
    """Of the steps that counted: f16 skips some, until its scale is low enough, and the one behind has the same loss."""
    return [step.get("loss") for step in steps if not step.get("skipped")]


def fault_of_losses(losses):
    """Why equal bits after these steps would mean less; None when they mean what they should."""
    if not finite(losses):
        return f"a loss is no number: {losses}"
    if len(set(losses)) < len(losses):
        return f"losses repeat: {losses}"
    if losses[-1] <= VANISHED:
        return f"the losses vanish, bits mean less: the last is {losses[-1]:.3g}"
    return None


def choices(check, model, flags):
    """{op: alternative} of the plan of these flags."""
    check.plan(model, [flag for flag in flags if flag != "--no-graph"])
    plan = json.loads((check.work / "plan.json").read_text())
    names = [op["name"] for op in plan["graph"]["ops"]]
    return {names[step["op"]]: step["alternative"] for step in plan["steps"] if step["alternative"] is not None}


def tell_choices(check, model, variants, found):
    """Where bits differ: the ops that do not take the same choice in all variants."""
    told = {}
    for name, flags in variants.items():
        with collect(found, f"choices {name}"):
            told[name] = choices(check, model, flags)
    ops = sorted({op for chosen in told.values() for op in chosen})
    found.setdefault("choices", {}).update({op: {name: chosen.get(op) for name, chosen in told.items()} for op in ops
                                            if len({chosen.get(op) for chosen in told.values()}) > 1})


def variants_of(check, model, kind, found):
    """{name: flags}: in place, once more, recomputed, each recorded and not. The recomputed plan must recompute."""
    word = f"{kind[-1].lstrip('-')} " if kind else ""
    plan = check.plan(model, kind)
    again = [*kind, "--budget", plan["total_bytes"] - plan["arena_bytes"] * 35 // 100, "--effort", check.effort]
    n = found["n_recomputed"][word + "recomputed"] = check.plan(model, again)["n_recomputed"]
    if n == 0:
        raise Failed("the plan within a budget recomputes nothing: its bits prove nothing")
    named = {"in place": kind, "once more": kind, "recomputed": again, "unrecorded": [*kind, "--no-graph"],
             "recomputed, unrecorded": [*again, "--no-graph"]}
    return {word + name: flags for name, flags in named.items() if not (kind and name == "once more")}


def compare_bits(check, goal, model, variants, found, more=()):
    """Runs the variants of one precision and says whether they agree; `more`: flags of runs alone."""
    told, faults = {}, len(found.get("faults", []))
    for name, flags in variants.items():
        with collect(found, name):
            document = check.run(model, [*flags, *more, "--hash", "--steps", check.bits_steps])
            told[name] = found["hashes"][name] = {"params": document["params_hash"],
                                                   "losses": losses_of(document["steps"])}
            why = fault_of_losses(told[name]["losses"])
            if why:
                raise Failed(why)
    if len({json.dumps(one) for one in told.values()}) > 1:
        check.goals.judge(goal, False, f"different bits: { {name: one['params'] for name, one in told.items()} }")
        tell_choices(check, model, {name: variants[name] for name in told}, found)
    elif len(told) == len(variants) and len(found.get("faults", [])) == faults:
        check.goals.judge(goal, True, f"{len(told)} variants, {check.bits_steps} steps, {next(iter(told.values()))['params']}")


def bits(check, found):
    """20 steps: with and without recomputation, recorded and not, and once more the same; in fp32 and TF32."""
    model = check.model(check.bits_batch)
    found.update(steps=check.bits_steps, batch=check.bits_batch, hashes={}, n_recomputed={})
    for goal, kind in (("bits_fp32", []), ("bits_tf32", ["--tf32"])):
        with collect(found, goal):
            compare_bits(check, goal, model, check.refusable(lambda kind=kind: variants_of(check, model, kind, found)), found)


def full(check, found):
    """A device so full that the plan does not fit: --auto plans again within what is left."""
    model, common = check.model(check.full_batch), ["--effort", check.effort, "--hash", "--steps", 3]
    try:
        free = check.run(model, common)
    except Failed as fault:
        if fault.code == 4:
            raise Unproven(f"the plan does not fit this device when it is empty: {fault}") from fault
        raise
    try:
        told = check.refusable(lambda: check.run(model, ["--cap", check.full_bytes, "--auto", *common]))
    except Unproven:
        raise
    except Failed as fault:
        check.goals.judge("full", False, str(fault))
        return
    found.update(batch=check.full_batch, cap_bytes=check.full_bytes)
    for key, one in (("free", free), ("full", told)):
        found[key] = {name: one[name] for name in ("planned_bytes", "allocated_bytes", "params_hash")}
        found[key]["losses"] = [step.get("loss") for step in one["steps"]]
    faults = [why for why, wrong in (
        ("the cap was not in force", not in_force(check, told, check.full_bytes)),
        ("it did not plan again", "planning again" not in told["stderr"]),
        (f"{told['planned_bytes']} bytes planned, in place {free['planned_bytes']}: nothing had to go",
         told["planned_bytes"] >= free["planned_bytes"]),
        (f"planned {told['planned_bytes']}, allocated {told['allocated_bytes']}", told["planned_bytes"] != told["allocated_bytes"]),
        (f"different bits: {told['params_hash']}, in place {free['params_hash']}", told["params_hash"] != free["params_hash"]),
        ("a loss is no number", not finite([step.get("loss") for step in told["steps"]]))) if wrong]
    check.goals.judge("full", not faults, "; ".join(faults) or f"{told['planned_bytes']} bytes, {told['params_hash']}")

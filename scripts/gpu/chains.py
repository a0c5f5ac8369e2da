"""The part of gpu-check about chains of pointwise ops, whose code NVRTC makes, and MLIR and Halide where they are: the bits of ops one
by one, and both times."""
import json

from bits import compare_bits
from machine import Failed, Unproven, collect
from measure import median_ns

APART = ["--opt-level", "2"]
SLOWLY = ["--lr", "0.0001"]  # else it knows its one batch by heart after two steps, and gradients vanish


def fused(check):
    return ["--opt-level", "3", *([] if check.dry else ["--jit", "NVRTC"])]


def planned(check, model, flags, found):
    """The plan of these flags, which must have chains."""
    try:
        plan = check.plan(model, flags)
    except Failed as fault:
        if fault.code == 5:
            raise Unproven(f"nobody makes code here: {fault}") from fault
        raise
    ops = json.loads((check.work / "plan.json").read_text())["graph"]["ops"]
    found["n_chains"] = [op.get("kind") for op in ops].count("fused")
    if not found["n_chains"]:
        raise Failed("the plan has no chain: its bits prove nothing")
    return plan


def variants_of(check, model, found):
    """{name: flags}: ops one by one; chains in place, within a budget, launched."""
    chains = fused(check)
    plan = planned(check, model, chains, found)
    again = [*chains, "--budget", plan["total_bytes"] - plan["arena_bytes"] * 35 // 100, "--effort", check.effort]
    found["n_recomputed"] = planned(check, model, again, found)["n_recomputed"]
    ways = {"one by one": APART, "chains": chains, "chains, unrecorded": [*chains, "--no-graph"], "chains, recomputed": again}
    for name in "MLIR", "HALIDE":
        flags = ["--opt-level", "3", "--jit", name]
        try:
            planned(check, model, flags, found)
            ways[f"chains by {name}"] = flags
        except Unproven as why:
            found.setdefault("not_here", {})[name] = str(why)
    return ways


def chains(check, found):
    """GPT-2, whose chains are of biases, activations and sums."""
    model = [check.file("gpt2_small"), *[word for dim in check.chain_dims for word in ("--dim", dim)]]
    found.update(steps=check.bits_steps, hashes={}, ms={"one by one": [], "chains": []})
    with collect(found, "bits_chains"):
        compare_bits(check, "bits_chains", model, variants_of(check, model, found), found, SLOWLY)
    for _ in range(check.rounds if found.get("n_chains") else 0):
        for name, flags in (("one by one", APART), ("chains", fused(check))):
            with collect(found, name):
                told = check.run(model, [*flags, "--steps", 4 if check.dry else 12])
                found["ms"][name].append(round(median_ns(told["steps"]) / 1e6, 3))

"""The parts of gpu-check that measure Ebb: within a cap, with engines chosen by the planner, against what was foretold."""
import statistics

import machine
from bits import finite, in_force
from goals import PROVEN, UNPROVEN
from machine import Failed, NoTime, Unproven, collect


def median_ns(steps):
    """Of the steps behind the first two: one is launched op by op, and one is recorded."""
    times = [step["ns"] for step in steps]
    return round(statistics.median(times[2:] or times))


def row(batch, flags, document):
    """A line of the measured table."""
    ns, memory = median_ns(document["steps"]), document.get("device_memory") or {}
    ballast = memory.get("ballast_bytes") or 0  # of the cap, and not the process's own

    def without(key):
        return memory[key] - ballast if memory.get(key) is not None else None

    return {"batch": batch, "flags": " ".join(map(str, flags)), "planned_bytes": document["planned_bytes"],
            "allocated_bytes": document["allocated_bytes"], "process_bytes": without("process_bytes"),
            "context_bytes": memory.get("context_bytes"), "taken_bytes": without("taken_bytes"), "hidden_bytes": memory.get("hidden_bytes"),
            "timed_steps": max(len(document["steps"]) - 2, 1), "ms": round(ns / 1e6, 3), "img_per_s": round(batch * 1e9 / ns, 1),
            "predicted_ms": round(document["predicted_step_ns"] / 1e6, 3), "losses": [step.get("loss") for step in document["steps"]],
            "params_hash": document.get("params_hash")}


# ---- within a cap ---------------------------------------------------------------------------------------

def in_cap(check, batch, more, steps):
    """(the row, the flags that did) of one batch within the cap: what libraries allocate beside the block is not known
    before, so more and more is left for it."""
    failed = []
    budget = check.plan(check.model(batch), [])["total_bytes"] * 4 // 5 if check.dry else None
    for reserve in [None] if check.dry else check.cap_reserves:
        flags = ["--budget", budget or check.cap_bytes - reserve, "--effort", check.effort,
                 *([] if check.dry else ["--cap", check.cap_bytes]), *more]
        try:
            told = check.run(check.model(batch), [*flags, "--hash", "--steps", steps])
        except NoTime as fault:
            raise NoTime("; ".join([*failed, str(fault)])) from fault
        except Failed as fault:
            if check.dry and fault.code == 2:
                raise
            failed.append(f"{' '.join(map(str, flags))}: {fault}")
            continue
        return {**row(batch, flags, told), "reserve_bytes": reserve, "failed_before": failed,
                "in_force": in_force(check, told, check.cap_bytes)}, flags
    raise Failed("; ".join(failed))


def watch(check, batch, flags, told, found):
    """Hidden allocations, in a short run of its own: CUPTI, which counts them, slows a run and may be missing."""
    if check.dry:
        return
    try:
        memory = check.run(check.model(batch), [*flags, "--watch-memory", "--steps", 2]).get("device_memory") or {}
        told["hidden_bytes"] = memory.get("hidden_bytes")
        why = "the command does not tell"
    except Failed as fault:
        found["watch_fault"] = why = str(fault)
    known = told["hidden_bytes"] is not None
    check.goals.say("hidden", PROVEN if known else UNPROVEN, f"{batch} images: {told['hidden_bytes']} bytes" if known else why)


def same_weights(check, batch, told, steps):
    """Those of the same steps with all memory that there is, where that is enough."""
    try:
        free = check.run(check.model(batch), ["--effort", check.effort, "--hash", "--steps", steps])
    except NoTime:
        raise
    except Failed as fault:
        if fault.code == 4:
            raise Unproven(f"{batch} images do not fit this device without the cap") from fault
        raise
    told["free_hash"], told["free_bytes"] = free["params_hash"], free["planned_bytes"]
    check.goals.judge("capped_bits", told["params_hash"] == free["params_hash"],
                      f"{batch} images: {told['params_hash']} within the cap, {free['params_hash']} without")


def capped(check, found):
    """Batches that must fit 11 GiB, in a device of which no more is left."""
    found.update(cap_bytes=check.cap_bytes, rows=[])
    for batch in check.capped_batches:
        steps = check.steps(batch)
        try:
            told, flags = in_cap(check, batch, [], steps)
        except Unproven as why:
            check.goals.say("capped", UNPROVEN, f"{batch} images: {why}")
            continue
        except Failed as fault:
            check.goals.judge("capped", False, f"{batch} images: {fault}")
            continue
        found["rows"].append(told)
        check.save()
        check.goals.judge("capped", finite(told["losses"]) and told["in_force"],
                          f"{batch} images: {told['ms']} ms, {told['allocated_bytes']} bytes, losses {told['losses']}"
                          f"{'' if told['in_force'] else ', the cap was not in force'}")
        if batch == check.capped_batches[0]:
            with collect(found, f"batch {batch} without the cap"):
                same_weights(check, batch, told, steps)
        with collect(found, f"batch {batch}, watched"):
            watch(check, batch, flags, told, found)


def engines(check, found):
    """The planner chooses among cuDNN's engines: the largest batch that fits, twice."""
    found["rows"] = []
    _, out, _ = machine.run([check.ebb, "run", "--help"], check.left(30))
    if b"--free-engines" not in out:
        raise Unproven("the command has no --free-engines")
    largest = check.capped_batches[0]
    for batch in [largest, *[batch for batch in reversed(check.batches) if batch < largest]]:
        steps = check.steps(batch)
        try:
            told, flags = check.refusable(lambda batch=batch, steps=steps: in_cap(check, batch, ["--free-engines"], steps))
        except Unproven:
            raise
        except Failed as fault:
            found.setdefault("does_not_fit", []).append(f"{batch} images: {fault}")
            continue
        found["rows"].append(told)
        again = check.run(check.model(batch), [*flags, "--no-graph", "--hash", "--steps", steps])
        check.goals.judge("engines", finite(told["losses"]) and told["in_force"] and told["params_hash"] == again["params_hash"],
                          f"{batch} images, {told['ms']} ms: {told['params_hash']}, not recorded {again['params_hash']}")
        return
    check.goals.judge("engines", False, "; ".join(found["does_not_fit"]))


# ---- times ----------------------------------------------------------------------------------------------

def table(check, found):
    """Batch by budget, in fp32 and TF32."""
    found["rows"] = []
    for batch in check.batches:
        variants = [[]] if check.dry else [[], ["--tf32"]]
        with collect(found, f"plan of batch {batch}"):
            plan = check.plan(check.model(batch), [])
            variants.append(["--budget", plan["total_bytes"] - plan["arena_bytes"] * 2 // 5, "--effort", check.effort])
        for flags in variants:
            with collect(found, f"batch {batch} {' '.join(map(str, flags))}".strip()):
                found["rows"].append(row(batch, flags, check.run(check.model(batch), [*flags, "--steps", check.steps(batch)])))
        check.save()


def costs(check, found):
    """Ops measured in their steps, and the added time that they foretell against what it is."""
    model, file = check.model(check.costs_batch), check.work / "costs.json"
    found.update(batch=check.costs_batch, most_off_points=check.off_points, rows=[], step_ns={})
    code, _, err = machine.run([check.ebb, "bench", "--ops", *model, "--device", check.device, "--steps", 7, "-o", file], check.left(90))
    if code is None:
        raise NoTime("bench: too slow")
    if code != 0:
        raise Failed(f"bench: {machine.last_line(err)}")
    plan, times = check.plan(model, ["--costs", file]), found["step_ns"]
    for share in (100, 80, 60):
        budget = plan["total_bytes"] - plan["arena_bytes"] * (100 - share) // 100
        flags = ["--costs", file, *([] if share == 100 else ["--budget", budget, "--effort", check.effort])]
        with collect(found, f"{share} %"):
            told = check.run(model, [*flags, "--steps", check.steps(check.costs_batch)])
            times[str(share)] = (told["predicted_step_ns"], median_ns(told["steps"]))
    for share in ("80", "60"):
        if not (share in times and "100" in times):
            check.goals.say("added_time", UNPROVEN, f"{share} % was not measured")
            continue
        foretold, measured = (100 * (times[share][i] / times["100"][i] - 1) for i in (0, 1))
        off = measured - foretold
        found["rows"].append({"arena_percent": int(share), "predicted_added_percent": round(foretold, 2),
                              "measured_added_percent": round(measured, 2), "off_points": round(off, 2)})
        check.goals.judge("added_time", abs(off) <= check.off_points,
                          f"{share} % of the arena: {foretold:.2f} % foretold, {measured:.2f} % found")


def kinds(check, found):
    """What kinds of ops take the time of a step."""
    batch, sums = check.batches[-1], {}
    told = check.run(check.model(batch), ["--profile", "--steps", check.steps(batch)])
    for step in told["profile"]:
        sums.setdefault(step["kind"], [0, 0, 0])
        for i, value in enumerate((1, step["median_ns"], step["predicted_ns"])):
            sums[step["kind"]][i] += value
    rows = sorted(([kind, n, round(ns / 1e6, 3), round(foretold / 1e6, 3)] for kind, (n, ns, foretold) in sums.items()),
                  key=lambda r: -r[2])
    found.update(batch=batch, columns=["kind", "steps", "ms", "predicted ms"], rows=rows[:24])

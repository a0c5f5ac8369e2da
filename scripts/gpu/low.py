"""The parts of gpu-check about 16 bits: bits, agreement with ref and a large batch within the cap; speed beside PyTorch's AMP."""
import machine
import pytorch
from bits import compare_bits, finite, variants_of
from goals import UNPROVEN
from machine import Failed, Unproven, collect
from measure import in_cap, median_ns
from meter import Meter

AMP_TIMES, H100_IMAGES = 1.5, 6000  # goals: of PyTorch's AMP, eager; images a second of an H100, in bf16


def agree(check, precision, found):
    """Models at small sizes, op by op against ref, which rounds to the same 16 bits."""
    goal = f"compare_{precision}"
    for name, dims in check.compared_low:
        model = [check.file(name), *[word for dim in dims for word in ("--dim", dim)]]
        with collect(found, f"{name} in {precision}"):
            told = machine.run_json([check.ebb, "run", *model, "--device", check.device, "--compare", "ref", "--precision", precision,
                                     "--json"], check.left(60), codes=(0, 1))
            first = told["first"] or {}
            well = told["verdict"] == "agree" and told["ops"] > 0
            found["compared"][f"{name} {precision}"] = {key: told[key] for key in ("verdict", "ops", "over", "first")}
            check.goals.judge(goal, well, f"{name}: {told['ops']} ops" if well else
                              f"{name}: {told['over']} of {told['ops']} ops differ, first {first.get('op')} ({first.get('kind')})")
        if f"{name} {precision}" not in found["compared"]:
            check.goals.say(goal, UNPROVEN, f"{name} did not run")


def capped(check, found):
    """More images than f32 can have there."""
    batch = check.low_batch
    try:
        told, _ = in_cap(check, batch, ["--precision", "bf16"], check.steps(batch))
    except Unproven as why:
        check.goals.say("capped_bf16", UNPROVEN, f"{batch} images: {why}")
        return
    except Failed as fault:
        check.goals.judge("capped_bf16", False, f"{batch} images: {fault}")
        return
    found["rows"].append(told)
    check.goals.judge("capped_bf16", finite(told["losses"]) and told["in_force"],
                      f"{batch} images: {told['ms']} ms, {told['allocated_bytes']} bytes, losses {told['losses']}"
                      f"{'' if told['in_force'] else ', the cap was not in force'}")


def low(check, found):
    """bf16 and f16: the same bits however memory is planned, ops that agree with ref, a batch of more than f32 can have."""
    model = check.model(check.bits_batch)
    found.update(steps=check.bits_steps, batch=check.bits_batch, hashes={}, n_recomputed={}, compared={}, rows=[])
    for precision in check.precisions:
        kind, goal = ["--precision", precision], f"bits_{precision}"
        with collect(found, goal):
            compare_bits(check, goal, model, check.refusable(lambda kind=kind: variants_of(check, model, kind, found)), found)
        agree(check, precision, found)
        check.save()
    if "bf16" in check.precisions:
        capped(check, found)


# ---- speed ----------------------------------------------------------------------------------------------

def speed(check, found):
    """bf16 at 256 images; the goal is of an H100 and says nothing of another device."""
    names = [gpu["name"] for gpu in check.record["machine"].get("gpus") or []]
    told = check.run(check.model(check.speed_batch), ["--precision", "bf16", "--steps", check.steps(check.speed_batch)])
    rate = found["img_per_s_bf16"] = round(check.speed_batch * 1e9 / median_ns(told["steps"]), 1)
    why = f"{rate} images a second at {check.speed_batch}"
    if check.dry or "H100" not in (names[check.ordinal] if check.ordinal < len(names) else ""):
        check.goals.say("speed_bf16", UNPROVEN, f"{why}; the goal is of an H100")
    else:
        check.goals.judge("speed_bf16", rate >= H100_IMAGES, why)


def amp(check, found):
    """PyTorch's autocast, eager, and Ebb in the same precision, at one batch, in turn on one device."""
    if "bf16" in check.precisions:
        with collect(found, "speed"):
            speed(check, found)
    pytorch.probe(check)
    found.update(batch=check.torch_batch, rows={}, optimizers={}, times_best={})
    meter = Meter(check.torch_device)
    for precision in check.precisions:
        group, ebb = [f"eager-{precision}"], f"ebb-{precision}"
        lasted = pytorch.measure(check, group, ebb, check.torch_batch, found, meter)
        pytorch.medians(found, meter)
        pytorch.judge(check, f"amp_{precision}", group, lasted, ebb, found, AMP_TIMES)
        check.save()

"""The parts of gpu-check that look for wrong numbers: kernels by themselves, and models."""
from goals import UNPROVEN
from machine import Failed, collect, run_json


def conformance(check, found):
    told = run_json([check.ebb, "doctor", "--full", "--device", check.device, "--json"], check.left(120), codes=(0, 1, 5))
    rows = told.pop("rows")
    found.update(told, n_faults=told["faults"], failing=[f"{line['op']}: {line['fault']}" for line in rows if line["faults"]])
    del found["faults"]
    found["worst_rows"] = sorted(((line["worst"], line["op"]) for line in rows if line["worst"] is not None), reverse=True)[:8]
    if told["verdict"] == "broken_off":
        raise Failed("it was broken off")
    tried = f"{told['ops']} ops, {told['calls']} calls, {told['runs']} runs, {found['n_faults']} do not hold"
    check.goals.judge("conformance", told["verdict"] == "holds" and told["runs"] > 0,
                      f"{tried} {'; '.join(found['failing'])[:900]}".strip())


def compare(check, found):
    """Models at small sizes, op by op against ref; and the same with dead bytes poisoned."""
    for name, dims in check.compared:
        model = [check.file(name), *[word for dim in dims for word in ("--dim", dim)]]
        with collect(found, name):
            told = run_json([check.ebb, "run", *model, "--device", check.device, "--compare", "ref", "--json"],
                            check.left(60), codes=(0, 1))
            found[name] = {key: told[key] for key in ("verdict", "ops", "over", "first")}
            found[name]["worst"] = told["worst"][:3]
            first = told["first"] or {}
            agree = told["verdict"] == "agree"
            check.goals.judge("compare", agree and told["ops"] > 0, f"{name}: {told['ops']} ops" if agree else
                              f"{name}: {told['over']} of {told['ops']} ops differ, first {first.get('op')} ({first.get('kind')})")
        if name not in found:
            check.goals.say("compare", UNPROVEN, f"{name} did not run")
    model = check.model(check.bits_batch)
    with collect(found, "poison"):
        hashes = {more: check.run(model, [*([more] if more else []), "--hash", "--steps", 2])["params_hash"]
                  for more in ("", "--poison", "--check-finite")}
        found["poison"] = hashes
        check.goals.judge("poison", len(set(hashes.values())) == 1, f"{hashes}")

"""One call of gpu-check: its device, command, sizes and clock; runs of Ebb, each looked at; its parts, one after the other."""
import json
import pathlib
import shutil
import tempfile
import time

import bits
import build
import chains
import facts
import low
import machine
import measure
import pytorch
import sanitizer
import table
import wrong
from goals import MISSED, UNPROVEN, Goals
from machine import Failed, Unproven

# In the order of their worth: (part, the most seconds that it may take, what does it, whether it makes training runs).
PARTS = [("build", 300, build.build, False), ("conformance", 120, wrong.conformance, False), ("bits", 180, bits.bits, True),
         ("capped", 150, measure.capped, True), ("low", 170, low.low, True), ("chains", 110, chains.chains, True), ("full", 75, bits.full, True), ("costs", 90, measure.costs, True),
         ("engines", 90, measure.engines, True), ("compare", 120, wrong.compare, True), ("questions", 45, build.questions, False),
         ("pytorch", 400, pytorch.pytorch, True), ("amp", 150, low.amp, True), ("sanitizer", 430, sanitizer.sanitizer, False), ("table", 150, measure.table, True),
         ("kinds", 45, measure.kinds, True)]
NAMES = [name for name, _, _, _ in PARTS]
GIB, MIB = 1 << 30, 1 << 20
UNPROVEN_CODE = 8  # none of ebb's own
NO_TF32 = "does not multiply in TF32"  # in what ebb says of such a device


class Check:
    def __init__(self, args):
        self.args, self.dry, self.begin = args, args.dry, time.monotonic()
        self.device, self.python, self.ordinal = args.device, args.python, machine.ordinal(args.device)
        self.is_whole = "build" not in args.parts  # what an earlier build left is not what is asked about
        self.wheels = machine.environments(args.python)
        self.toolkit = machine.toolkit(args.toolkit, self.wheels)
        self.cudnn = machine.cudnn(args.cudnn, self.toolkit, self.wheels)
        self.build = pathlib.Path(args.build).resolve()
        self.output = pathlib.Path(args.output).resolve() if args.output else self.build / "gpu-check.json"
        self.logs = self.output.parent
        self.ebb = pathlib.Path(args.ebb).resolve() if args.ebb else self.build / "src/tool/ebb"
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="ebb-gpu-check-"))
        self.goals, self.part, self.found, self.part_end = Goals(), None, {}, self.begin
        self.record = {"schema": "ebb.gpu-check/2", "dry": args.dry, "quick": args.quick}
        self.sizes()

    def sizes(self):
        small, quick = self.dry, self.args.quick
        self.name, self.size = ("small", 33) if small else ("resnet50", 224)
        (self.work / "small.ebb").write_text(build.small_model())
        self.bits_batch, self.bits_steps = (2, 3) if small else (32, 20)
        self.batches = [4, 8] if small else [256] if quick else [64, 256, 512]
        self.capped_batches = [4] if small else [500] if quick else [500, 640]
        self.low_batch, self.speed_batch = (4, 8) if small else (1024, 256)
        self.cap_bytes, self.cap_reserves = 11 * GIB, (256 * MIB, 512 * MIB, 1024 * MIB)
        self.full_batch, self.full_bytes = (4, GIB) if small else (256, 6 * GIB)
        self.costs_batch, self.torch_batch = (8, 2) if small else (256, self.args.torch_batch)
        self.rounds, self.effort = (1, 500) if small else (2 if quick else 3, 300000)
        self.off_points = 100000 if small else 5  # a dry run's times mean nothing
        self.torch_device = "cpu" if small else f"cuda:{self.ordinal}"
        self.tool_limits = dict.fromkeys(sanitizer.CLEAN, 3) if small else {"memcheck": 150, "racecheck": 240, "initcheck": 90}
        self.checked_ops = ["--op", "softmax", "--op", "sum_squares"] if small else []  # by the sanitizer; none: all
        self.chain_dims = ["N=1", "T=33", "V=257", "C=96", "P=64"] if small else ["N=4", "T=256"]
        self.compared = [("small", ["N=2", "H=17"] if small else [])]
        if not small:
            self.compared += [("resnet18", ["N=2", "H=33"]), ("resnet50", ["N=2", "H=64"]), ("mobilenet_v2", ["N=2", "H=64"]),
                              ("unet", ["N=1", "H=32", "W=16"]), ("gpt2_small", ["N=1", "T=33", "V=257", "C=96", "P=64"])]

        # Most results in 16 bits are looked at again beside what shaken inputs make of them: more than ten times the time.
        smaller = {"resnet18": ["N=1", "H=17"], "resnet50": ["N=1", "H=17"], "unet": ["N=1", "H=16", "W=16"],
                   "gpt2_small": ["N=1", "T=17", "V=129", "C=48", "P=32"]}
        self.compared_low = [(name, smaller.get(name, dims)) for name, dims in self.compared]
        self.precisions = self.args.precisions

    def choose_device(self):
        """In a dry run without --device: the first that the command has of cpu and ref."""
        if self.device is None and self.built():
            told = machine.run_json([self.ebb, "doctor", "--json"], self.left(90), codes=(0, 1, 5))
            self.device = next(one["name"] for one in told["devices"] if one["available"] and one["name"] in ("cpu", "ref"))
            self.record["device"] = self.device

    def built(self):
        """Whether there is what the other parts are about."""
        if self.args.ebb:
            return True
        return self.is_whole and self.ebb.exists() and (self.dry or (self.build / "src/libebb_cuda.so").exists())

    def steps(self, batch):
        """Inputs of large batches take longer to bring than the step. The first two are not counted."""
        return 4 if self.dry else 8 if batch >= 256 else 12

    # ---- time ----

    def end(self):
        return self.begin + 60 * self.args.minutes

    def left(self, most_s):
        """Seconds that a command may take: of its own limit, its part's, and the whole."""
        left_s = min(self.part_end, self.end()) - time.monotonic()
        if left_s < 2:
            raise machine.NoTime("no time is left")
        return min(most_s, left_s)

    def spare_s(self):
        """Seconds of this part that no later one may want."""
        later_s = sum(limit_s for name, limit_s, _, _ in PARTS[NAMES.index(self.part) + 1:] if name in self.args.parts)
        return min(self.part_end, self.end() - later_s) - time.monotonic()

    def save(self):
        """Writes the record, whole or not at all."""
        half = self.output.with_name(self.output.name + ".part")
        half.write_text(json.dumps(facts.plain(self.record, facts.folders(self)), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        half.replace(self.output)

    # ---- Ebb ----

    def file(self, name):
        return self.work / "small.ebb" if name == "small" else machine.ROOT / "examples/models" / f"{name}.ebb"

    def model(self, batch):
        return [self.file(self.name), "--dim", f"N={batch}", "--dim", f"H={self.size}"]

    def common(self):
        return ["--device", self.device, "--cache", self.work, "--json"]

    def plan(self, model, flags):
        return self.told(["plan", *model, *flags, *self.common(), "-o", self.work / "plan.json"], 60)[0]

    def told(self, words, limit_s):
        """(document, standard error) of Ebb; what it cannot do without TF32 is unproven on a device that has none."""
        try:
            return machine.run_told([self.ebb, *words], self.left(limit_s))
        except Failed as fault:
            if fault.code == 2 and NO_TF32 in str(fault):
                raise Unproven("the device has no TF32") from fault
            raise

    def run(self, model, flags):
        """One run of training: what it tells, and "stderr". Of every one, planned and allocated bytes are compared, and
        steps that were not replayed from a recording are a fault: Ebb only warns of it, and goes on."""
        told, errors = self.told(["run", *model, *flags, *self.common()], 90)
        what = " ".join(map(str, [model[0].name, *model[1:], *flags]))
        self.goals.n_runs += 1
        recordable = not {"--no-graph", "--profile", "--check-finite"} & set(flags)
        self.goals.n_to_record += recordable
        if not 0 < told["planned_bytes"] == told["allocated_bytes"]:
            self.fault(self.goals.wrong_bytes, f"planned {told['planned_bytes']}, allocated {told['allocated_bytes']}: {what}")
        n_replayable = len(told["steps"]) - 1 if recordable and not self.dry else 0
        if "not recorded" in errors or told["n_replayed"] < n_replayable:
            line = next((line for line in errors.splitlines() if "not recorded" in line), "")
            self.fault(self.goals.not_recorded, f"{told['n_replayed']} of {n_replayable} steps were replayed: {line}: {what}")
        for line in errors.splitlines():
            if "default effort" not in line and line not in self.found.setdefault("warnings", []):
                self.found["warnings"].append(line)
        return {**told, "stderr": errors}

    def fault(self, of_goal, why):
        of_goal.append(why)
        self.found.setdefault("faults", []).append(why)

    def refusable(self, work):
        """In a dry run, what the host's devices refuse by a word on usage is unproven, not wrong."""
        try:
            return work()
        except Failed as fault:
            if self.dry and fault.code == 2:
                raise Unproven(f"a dry run's device cannot: {fault}") from fault
            raise


def run_part(check, name, limit_s, work):
    """"failed": something is wrong, or a goal missed; "unproven": something could not be tried; else "ok"."""
    begin, found, why = time.monotonic(), {}, []
    check.part, check.part_end, check.found = name, begin + limit_s, found
    check.record["parts"][name] = found  # as it grows: what is saved before its end has no status
    try:
        check.choose_device()
        work(check, found)
    except Unproven as reason:
        found.setdefault("unproven", []).append(str(reason))
    except Exception as failed:  # a fault of this script must not cost the other parts
        found.setdefault("faults", []).append(str(failed) if isinstance(failed, Failed) else f"{type(failed).__name__}: {failed}")
    verdicts = check.goals.end_part(name, "; ".join([*found.get("faults", []), *found.get("unproven", [])]))
    for goal, (verdict, reasons) in verdicts.items():
        if verdict == MISSED:
            found.setdefault("faults", []).append(f"{goal} is missed: {'; '.join(reasons)}")
        elif verdict == UNPROVEN:
            why += [f"{goal}: {reason}" for reason in reasons if reason not in "; ".join(found.get("unproven", []))]
    why = found.get("faults") or [*found.get("unproven", []), *why]
    status = "failed" if found.get("faults") else "unproven" if why else "ok"
    told = {"status": status, "why": "; ".join(dict.fromkeys(why)), "seconds": round(time.monotonic() - begin, 1), **found}
    check.record["parts"][name] = told
    check.save()
    print(f"{name:12} {status:8} {told['seconds']:6.1f} s  {facts.plain(told['why'], facts.folders(check))[:300]}", flush=True)
    return status


def run_parts(check):
    """Runs what was asked for; the exit code."""
    asked, record, statuses = check.args.parts, check.record, []
    check.build.mkdir(parents=True, exist_ok=True)
    check.logs.mkdir(parents=True, exist_ok=True)
    record.update(device=check.device, machine=facts.of_machine(check.args.commit), versions={}, parts={})
    record["not_asked"] = [name for name in NAMES if name not in asked]
    for name, limit_s, work, _ in PARTS:
        if name not in asked:
            continue
        if name != "build" and not record["versions"]:
            record["versions"] = facts.versions(check)
        statuses.append(run_part(check, name, limit_s, work))
        if name == "build" and not check.built():
            break
    runs = any(runs for name, _, _, runs in PARTS if name in asked)
    record["goals"] = check.goals.listed(asked, check.dry, runs)
    record["seconds"] = round(time.monotonic() - check.begin, 1)
    verdicts = [goal["verdict"] for goal in record["goals"]]
    code = 1 if "failed" in statuses or MISSED in verdicts else UNPROVEN_CODE if "unproven" in statuses or UNPROVEN in verdicts else 0
    record["exit_code"] = code
    check.save()
    table.print_all(facts.plain(record, facts.folders(check)), check.output)
    return code


def clear(check):
    shutil.rmtree(check.work, ignore_errors=True)


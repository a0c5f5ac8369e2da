"""Pieces of `scripts/gpu-check` by themselves, those among them that only a GPU reaches."""
import pathlib
import sys

from gpu_check_fakes import SCRIPT, program
from tester import equal, holds

sys.path.insert(0, str(SCRIPT.parent / "gpu"))
import bits  # noqa: E402
import build  # noqa: E402
import check as checks  # noqa: E402
import facts  # noqa: E402
import machine  # noqa: E402
import measure  # noqa: E402
import versions  # noqa: E402
from goals import MISSED, NOT_ASKED, PROVEN, UNPROVEN, Goals  # noqa: E402


def losses_are_judged(_):
    for losses, why in (([3.0, 2.0, 1.0], None), ([3.0, float("nan"), 1.0], "no number"), ([3.0, None], "no number"), ([], "no number"),
                        ([3.0, 2.0, 2.0], "repeat"), ([3.0, 0.01], "vanish"), ([3.0, float("inf")], "no number")):
        found = bits.fault_of_losses(losses)
        holds(found is None if why is None else why in found, (losses, found))


def the_worst_that_is_said_of_a_goal_is_its_verdict(_):
    goals = Goals()
    for verdict, why in ((PROVEN, "a"), (MISSED, "b"), (UNPROVEN, "c"), (MISSED, "d"), (PROVEN, "e")):
        goals.say("capped", verdict, why)
    equal(goals.said["capped"], (MISSED, ["b", "d"]))
    equal(goals.end_part("full", "late")["full"], (UNPROVEN, ["late"]))
    listed = {one["goal"]: one["verdict"] for one in goals.listed(["capped", "full"], False, True)}
    equal([listed[goal] for goal in ("capped", "hidden", "full", "ratio_fp32", "planned", "recorded")],
          [MISSED, UNPROVEN, UNPROVEN, NOT_ASKED, UNPROVEN, NOT_ASKED])


class Full:
    """A device within a cap: 256 MiB are too few, and `watched` is what a run with CUPTI tells."""
    dry, effort, cap_bytes, cap_reserves = False, 9, 11 << 30, (256 << 20, 512 << 20)

    def __init__(self, watched, ballast=1):
        self.watched, self.ballast, self.asked, self.goals = watched, ballast, [], Goals()

    def model(self, batch):
        return [batch]

    def plan(self, *_):
        return {"total_bytes": 9}

    def run(self, _, flags):
        self.asked.append(flags)
        if flags[1] == self.cap_bytes - self.cap_reserves[0]:
            raise machine.Failed("no")
        if "--watch-memory" in flags and self.watched is None:
            raise machine.Failed("no CUPTI")
        steps = [{"ns": ns, "loss": 1} for ns in (900, 900, 5, 7, 6, 5, 7, 6)]
        return {"steps": steps, "planned_bytes": 1, "allocated_bytes": 1, "predicted_step_ns": 1,
                "device_memory": {"hidden_bytes": self.watched, "ballast_bytes": self.ballast}}


def within_the_cap_it_tries_more_reserve_and_watches_apart(_):
    for watched, verdict in ((25348, PROVEN), (None, UNPROVEN)):
        one, found = Full(watched), {}
        told, flags = measure.in_cap(one, 500, [], 8)
        measure.watch(one, 500, flags, told, found)
        equal((told["reserve_bytes"], len(told["failed_before"]), told["timed_steps"]), (512 << 20, 1, 6), told)
        equal(["--watch-memory" in flags for flags in one.asked], [False, False, True])
        equal((one.goals.said["hidden"][0], "watch_fault" in found), (verdict, watched is None))


def a_cap_that_takes_nothing_is_no_cap(_):
    for ballast, holds_it in ((1, True), (0, False), (None, False)):
        told, _flags = measure.in_cap(Full(1, ballast), 500, [], 8)
        equal(told["in_force"], holds_it, ballast)


def what_does_not_fit_without_the_cap_is_unproven(_):
    one = Full(1)
    for code, kind in ((4, machine.Unproven), (6, machine.Failed)):
        def fails(*_, code=code):
            raise machine.Failed("it fails", code)
        one.run = fails
        try:
            measure.same_weights(one, 500, {}, 8)
            raise AssertionError("it passes")
        except machine.Failed as fault:
            holds(type(fault) is kind, fault)


def paths_are_no_part_of_a_record(_):
    known = [("/home/someone/ebb", "."), ("/opt/cu", "TOOLKIT")]
    for text, clean in (("/home/someone/ebb/examples/a.ebb", "./examples/a.ebb"), ("-Dx=/opt/cu", "-Dx=TOOLKIT"),
                        ("/opt/cuda/lib/x.so: no", ".../x.so: no"),
                        ("54 GB/s in 3/4 of ebb.gpu-check/2", "54 GB/s in 3/4 of ebb.gpu-check/2"),
                        ("see https://a.b/c/d/e", "see https://a.b/c/d/e")):
        equal(facts.clean(text, known), clean)
    equal(facts.plain({"/opt/cu": [float("inf"), pathlib.Path("/opt/cu/bin")]}, known), {"TOOLKIT": ["inf", "TOOLKIT/bin"]})


def wheels_of_an_environment_that_is_not_active_are_found(t):
    for name in ("include/cudnn.h", "lib/libcudnn.so.9"):
        program(t, f"site/nvidia/cudnn/{name}", "")
    python = program(t, "venv/python", f"#!/bin/sh\necho '[\"{t.folder}/site\"]'\n")
    wheels = machine.environments(str(python))
    holds(t.folder / "site/nvidia" in wheels, wheels)
    kept = machine.is_cudnn
    machine.is_cudnn = lambda folder: folder != pathlib.Path("/usr") and kept(folder)  # this machine may have one
    try:
        equal(machine.cudnn(None, None, wheels[-1:]), t.folder / "site/nvidia/cudnn")
    finally:
        machine.is_cudnn = kept
    equal(machine.cudnn(t.folder / "site/nvidia/cudnn", None, []), (t.folder / "site/nvidia/cudnn").resolve())


def a_driver_that_is_not_there_has_no_version(_):
    for told, version in ((0, None), (13000, 13000)):
        def asked(out, told=told):
            out._obj.value = told
            return 0
        equal(versions.filled(asked), version)


def a_build_folder_is_configured_again(t):
    class One:
        dry, build, ebb, logs = True, t.folder / "b", "ebb", t.folder

        def left(self, most_s):
            return most_s

    asked = []
    kept = build.machine.builders, build.logged, build.run_json
    build.machine.builders = lambda: (["meson"], "ninja")
    build.logged = lambda _, name, command, limit_s: asked.append(command) or (0, "")
    build.run_json = lambda *_, **__: {}
    try:
        build.build(One(), {})
        program(t, "b/build.ninja", "")
        build.build(One(), {})
    finally:
        build.machine.builders, build.logged, build.run_json = kept
    equal(["--reconfigure" in command for command in asked], [False, False, True, False])


def the_documented_calls_ask_for_every_part_once(_):
    lines = [line.split("--parts ")[1] for line in SCRIPT.read_text().splitlines()
             if "--parts " in line and line.startswith("    scripts/gpu-check")]
    equal(sorted(",".join(lines).split(",")), sorted(checks.NAMES))
    limits = {name: limit_s for name, limit_s, _, _ in checks.PARTS}
    holds(max(limits.values()) <= 9 * 60, limits)


TESTS = [
    losses_are_judged,
    the_worst_that_is_said_of_a_goal_is_its_verdict,
    within_the_cap_it_tries_more_reserve_and_watches_apart,
    a_cap_that_takes_nothing_is_no_cap,
    what_does_not_fit_without_the_cap_is_unproven,
    paths_are_no_part_of_a_record,
    wheels_of_an_environment_that_is_not_active_are_found,
    a_driver_that_is_not_there_has_no_version,
    a_build_folder_is_configured_again,
    the_documented_calls_ask_for_every_part_once,
]

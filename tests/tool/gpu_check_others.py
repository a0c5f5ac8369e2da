"""Runs of `scripts/gpu-check` whose fault is planted beside Ebb: in PyTorch, the sanitizer, or the device."""
from gpu_check_fakes import CLEAN, HELD, MISSED, PROVEN, UNPROVEN, canned, check, fake_toolkit, fake_torch, verdicts
from tester import equal, holds


def a_worker_that_ends_is_told_with_its_log_and_has_no_ratio(t):
    code, _, _, record = check(t, "--parts", "pytorch", python=fake_torch(t, fails_at=1))
    part = record["parts"]["pytorch"]
    equal((code, part["status"], part["times_best"], verdicts(record)["ratio_fp32"]), (8, "unproven", {}, UNPROVEN), part)
    holds("eager: it ended: it is too large (torch.log)" in part["why"] and "eager did not last" in part["why"], part["why"])
    holds("=== eager\nof no use" in (t.folder / "out/torch.log").read_text(), "log")


def graphs_that_were_not_recorded_do_not_count(t):
    """Else a variant that is another under its name would be PyTorch's best."""
    planted = """
if variant == "graphs":
    print("W0801 [0/0] skipping cudagraphs due to mutated inputs", file=sys.stderr, flush=True)
    told.update(ns=[500000] * int(line), cudagraph_skips=2)
if variant == "graphs-tf32": del told["cudagraph_skips"]
"""
    code, out, _, record = check(t, "--quick", "--parts", "pytorch", ebb=canned(t),
                               python=fake_torch(t, device="cuda:0", planted=planted), dry=False)
    equal((code, record["parts"]["pytorch"]["times_best"]), (0, {"ratio_fp32": 2.0, "ratio_tf32": 2.0}), out)
    why = {goal["goal"]: goal["why"] for goal in record["goals"]}
    holds("graphs recorded no graphs and does not count: skipping cudagraphs due to mutated inputs" in why["ratio_fp32"], why)
    holds("whether graphs-tf32 recorded its graphs is not known" in why["ratio_tf32"] and "SGD" not in why["ratio_tf32"], why)


def without_tf32_what_is_about_it_is_unproven(t):
    refuses = "if '--tf32' in args: print('ebb: X does not multiply in TF32: leave out --tf32', file=sys.stderr); sys.exit(2)"
    code, out, _, record = check(t, "--quick", "--parts", "bits,pytorch,table", ebb=canned(t, refuses),
                               python=fake_torch(t, device="cuda:0"), dry=False)
    told, parts = verdicts(record), record["parts"]
    equal((code, [told[goal] for goal in ("bits_fp32", "bits_tf32", "ratio_fp32", "ratio_tf32")]), (8, [PROVEN, UNPROVEN] * 2), out)
    equal({part["status"] for part in parts.values()}, {"unproven"}, out)
    holds(all("the device has no TF32" in part["why"] for part in parts.values()), parts)
    equal((sorted(parts["pytorch"]["rows"]), len(parts["table"]["rows"])), (["compile", "eager", "ebb", "fused", "graphs"], 2))


def a_tool_of_the_sanitizer_is_clean_only_by_its_own_word(t):
    toolkit = fake_toolkit(t, MEMCHECK='echo "========= Invalid read"; echo "========= ERROR SUMMARY: 1 error"; exit 99',
                           RACECHECK="sleep 20",
                           INITCHECK="exit 0")
    code, _, _, record = check(t, "--parts", "sanitizer", "--toolkit", toolkit)
    told, part = verdicts(record), record["parts"]["sanitizer"]
    equal((code, told["memcheck"], told["racecheck"], told["initcheck"], told["libraries"]), (1, MISSED, UNPROVEN, UNPROVEN, MISSED), part)
    equal(part["memcheck"][0]["lines"], ["Invalid read", "ERROR SUMMARY: 1 error"])
    why = {goal["goal"]: goal["why"] for goal in record["goals"]}
    holds("longer than" in why["racecheck"] and "does not say" in why["initcheck"], why)


def raced(t, does=CLEAN["RACECHECK"]):
    """(exit code, verdict, its part of the record) where racecheck does this."""
    code, _, _, record = check(t, "--parts", "sanitizer", "--toolkit", fake_toolkit(t, RACECHECK=does))
    return code, verdicts(record)["racecheck"], record["parts"]["sanitizer"]


def a_race_in_one_share_counts_though_another_is_too_slow(t):
    hazards = 'echo "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)"; exit 99'
    code, verdict, part = raced(t, f'case "$*" in *softmax*) {hazards} ;; esac; sleep 20')
    told = [one for one in part["racecheck"] if "--op softmax" in one["command"]]
    equal((code, verdict, [one["code"] for one in told]), (1, MISSED, [99]), part)


def an_op_that_breaks_the_tool_is_named_and_the_rest_is_tried(t):
    breaks = 'echo "========= Internal Sanitizer Error: it failed"; echo "========= RACECHECK SUMMARY: 1 hazard displayed"; exit 99'
    code, verdict, part = raced(t, f'case "$*" in *softmax*) {breaks} ;; esac; {CLEAN["RACECHECK"]}')
    broke = [one["command"].partition("--op ")[2] for one in part["racecheck"] if one["code"] == 99]
    equal((code, verdict, broke), (8, UNPROVEN, ["softmax"]), part)
    holds("--op softmax: Internal" in part["why"] and any("--op sum_squares" in one["command"] for one in part["racecheck"]), part)


def every_op_is_in_a_share_of_racecheck(t):
    code, verdict, part = raced(t)
    ops = sorted(word for one in part["racecheck"] for word in one["command"].split() if word in ("softmax", "sum_squares"))
    equal((code, verdict, ops), (0, HELD, ["softmax", "sum_squares"]), part)


def a_tool_that_misses_a_planted_fault_proves_nothing(t):
    elsewhere = 'echo "========= Program hit error 209"; echo "=========     Host Frame: launch at a.cpp in cuda_kernel_control"; exit 99'
    for sees in ("exit 0", elsewhere):
        code, _, _, record = check(t, "--parts", "sanitizer", "--toolkit", fake_toolkit(t, SEES=sees))
        told = verdicts(record)
        equal((code, told["memcheck"], told["racecheck"], told["initcheck"]), (8, HELD, HELD, UNPROVEN), sees)
        holds("planted fault" in record["parts"]["sanitizer"]["why"], record["parts"]["sanitizer"])


def without_a_planted_fault_no_tool_proves_anything(t):
    code, _, _, record = check(t, "--parts", "sanitizer", "--toolkit", fake_toolkit(t, COMPILES='echo "no compiler" >&2; exit 1'))
    told = verdicts(record)
    equal((code, {told[tool] for tool in ("memcheck", "racecheck", "initcheck")}), (8, {UNPROVEN}), record["parts"])
    holds("not built: no compiler" in record["parts"]["sanitizer"]["why"], record["parts"]["sanitizer"])


TESTS = [
    a_worker_that_ends_is_told_with_its_log_and_has_no_ratio,
    graphs_that_were_not_recorded_do_not_count,
    without_tf32_what_is_about_it_is_unproven,
    a_tool_of_the_sanitizer_is_clean_only_by_its_own_word,
    a_race_in_one_share_counts_though_another_is_too_slow,
    an_op_that_breaks_the_tool_is_named_and_the_rest_is_tried,
    every_op_is_in_a_share_of_racecheck,
    a_tool_that_misses_a_planted_fault_proves_nothing,
    without_a_planted_fault_no_tool_proves_anything,
]

"""What a report takes up from other commands: the log of a search, sizes that fit, times of ops."""
import json

from report_page import MIB, tight_plan


def logged_plan(t, *args):
    """A plan in which something runs again, and the log of its search."""
    total = t.json("plan", "conv.ebb")["total_bytes"]
    t.ebb_run("plan", "conv.ebb", "--dim", "N=3", "--budget", str(total - 10000), "-o", "plan.json", "--log", "search.json", *args)
    return json.loads((t.folder / "search.json").read_text())


FIT = {"schema": "ebb.fit/1", "budget_bytes": 64 * MIB, "rows": [
    {"mode": "none", "batch": 3, "total_bytes": 63 * MIB, "time_ns": 3000, "baseline_time_ns": 3000, "plan": None},
    {"mode": "in_place", "batch": 9, "total_bytes": 62 * MIB, "time_ns": 9000, "baseline_time_ns": 9000, "plan": None},
    {"mode": "sublinear", "batch": 0, "total_bytes": 0, "time_ns": 0, "baseline_time_ns": 0, "plan": None},
    {"mode": "budget", "batch": 20, "total_bytes": 64 * MIB, "time_ns": 26000, "baseline_time_ns": 20000, "plan": None}]}


def fit_of(plan):
    return {**FIT, "graph": plan["graph"]["name"], "backend": plan["backend"], "n_threads": plan["n_threads"]}


def profiled_run(t):
    """A run of a plan in which something runs again, as ebb run --profile tells of it; the times are made up."""
    plan = tight_plan(t)
    run = {"schema": "ebb.run/1", "steps": [{"ns": 5}], "graph": plan["graph"]["name"], "backend": plan["backend"], "n_threads": plan["n_threads"],
           "planned_bytes": plan["arena_bytes"] + plan["persistent_bytes"], "allocated_bytes": 7, "process_peak_bytes": 8, "mean_step_ns": 9,
           "best_step_ns": 4, "profile": [{"op": step["op"], "bytes": 4096 * step["op"] + 1, "median_ns": 100 * (i * i % 7) + i}
                                          for i, step in enumerate(plan["steps"])]}
    (t.folder / "run.json").write_text(json.dumps(run))
    return run

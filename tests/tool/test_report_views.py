#!/usr/bin/env python3
"""The views of a report agree with its JSON: text, Markdown, the trace, MegEngine's layout.

    test_report_views.py EBB
"""
import json
import re
import sys

from recount import CATEGORIES
from report_page import bytes_word, tight_plan, view
from report_rows import again_rows, alive_rows, category_rows, markdown_rows, verdict_rows
from tester import equal, holds, main


def the_text_shows_the_figures_of_the_json(t):
    tight_plan(t)
    report, lines = t.json("report", "plan.json"), view(t).splitlines()
    columns = [re.split(r"\s{2,}", line.strip()) for line in lines]
    for name, figure, words in verdict_rows(report):
        holds([name, str(figure), words] in columns, f"{name} {figure} {words}")
    for name, figure, *words in category_rows(report):
        holds(any(row[:4] == [name, str(figure), *words] for row in columns), f"{name} {figure} {words}")
    for name, *cells in again_rows(report)[:20]:
        holds([*cells, name] in columns, f"{name} {cells}")
    for (name, held, category, dropped), row in list(zip(alive_rows(report), report["alive_at_peak"]))[:20]:
        tensor = report["tensors"][row["tensor"]]
        holds([held, category, f"[{tensor['lower']}, {tensor['until']})", dropped, name] in columns, f"{name} {dropped}")
    holds(any(line.endswith(f"budget {bytes_word(report['verdict']['budget_bytes'])}") for line in lines), "the budget's line")


def the_markdown_shows_the_figures_of_the_json(t):
    tight_plan(t)
    report, rows = t.json("report", "plan.json"), markdown_rows(view(t, "--markdown"))
    for name, figure, words in verdict_rows(report):
        holds([name, str(figure), words] in rows, f"{name} {figure} {words}")
    for name, figure, *words in category_rows(report):
        holds(any(row[:4] == [name, str(figure), *words] for row in rows), f"{name} {figure} {words}")
    for row in again_rows(report)[:20]:
        holds(row in rows, str(row))
    for row in alive_rows(report)[:20]:
        holds(any([*cells[:3], cells[-1]] == row for cells in rows), str(row))


def the_trace_has_an_event_a_step_and_its_bytes(t):
    tight_plan(t)
    report, events = t.json("report", "plan.json"), json.loads(view(t, "--trace"))["traceEvents"]
    ops = [event for event in events if event["ph"] == "X"]
    counters = [event for event in events if event["ph"] == "C"]
    equal(len(ops), len(report["steps"]))
    equal(len(counters), len(report["steps"]) + 1)
    for step, op, counter in zip(report["steps"], ops, counters):
        equal((op["name"], round(op["ts"] * 1000), round(op["dur"] * 1000), op["cat"], op["args"]["live_bytes"]),
              (step["name"], step["start_ns"], step["time_ns"], step["phase"], step["live_bytes"]))
        equal(op["tid"] == 3, step["recompute"], "lane")
        equal(counter["args"], dict(zip(CATEGORIES, step["bytes"])))
    equal(round(counters[-1]["ts"] * 1000), report["verdict"]["time_ns"], "end")


def megengines_layout_holds_every_byte_once(t):
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json")
    plan, report = json.loads((t.folder / "plan.json").read_text()), t.json("report", "plan.json")
    info = json.loads(view(t, "--format", "megengine"))
    equal(sorted(info), ["chunk", "opr"])
    equal([info["opr"][str(s)]["name"] for s in range(len(plan["steps"]))], [step["name"] for step in report["steps"]])
    for key, chunk in info["chunk"].items():
        equal(sorted(chunk), ["id", "logic_addr_begin", "logic_addr_end", "overwrite_dest_id", "time_begin", "time_end", "type"])
        holds(all(isinstance(member, str) for member in chunk.values()), "all are texts")
        equal(chunk["id"], key)
    peak = 0
    for s in range(len(plan["steps"])):  # as MegEngine counts: what overwrites counts from the next op on
        peak = max(peak, sum(int(c["logic_addr_end"]) - int(c["logic_addr_begin"]) for c in info["chunk"].values()
                             if int(c["time_begin"]) + (c["overwrite_dest_id"] != "-1") <= s < int(c["time_end"])
                             and c["type"] == "static_mem"))
    transient = [sum(step["bytes"]) - step["bytes"][9] - report["verdict"]["persistent_bytes"] for step in report["steps"]]
    holds(peak <= max(transient) + plan["alignment"] * len(plan["buffers"]) and peak >= max(transient) * 0.9, f"peak {peak}")
    holds(any(c["overwrite_dest_id"] != "-1" for c in info["chunk"].values()), "something lies in place")
    for chunk in info["chunk"].values():
        if chunk["overwrite_dest_id"] != "-1":
            over = info["chunk"][chunk["overwrite_dest_id"]]
            equal((over["logic_addr_begin"], int(over["time_end"])), (chunk["logic_addr_begin"], int(chunk["time_begin"]) + 1))
    weights = [c for c in info["chunk"].values() if c["type"] == "weight_mem"]
    holds(weights and all(int(c["logic_addr_begin"]) >= plan["arena_bytes"] for c in weights), "weights are above the arena")


TESTS = [
    the_text_shows_the_figures_of_the_json,
    the_markdown_shows_the_figures_of_the_json,
    the_trace_has_an_event_a_step_and_its_bytes,
    megengines_layout_holds_every_byte_once,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))

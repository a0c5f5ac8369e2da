#!/usr/bin/env python3
"""ebb report: what it counts, that its views agree, and that names do nothing in any of them.

    test_report.py EBB
"""
import json
import re
import sys

import harness
from harness import Case
from models import chain, changed, text
from recount import CATEGORIES, Recount
from report_page import HOSTILE, MIB, Page, bytes_word, check_page, hostile_plan, is_plain, plan_file, shown, tight_plan, time_word, view
from tester import equal, holds, main


def every_step_is_the_sum_of_its_categories_counted_again(t):
    for models in (["conv.ebb"], ["conv.ebb", "--no-reuse"], ["conv.ebb", "--momentum", "0"], ["small.ebb", "--phased"]):
        t.ebb_run("plan", *models, "-o", "plan.json")
        check_steps(t, json.loads((t.folder / "plan.json").read_text()))
    check_steps(t, tight_plan(t))
    in_place = t.json("plan", "conv.ebb")["total_bytes"]
    t.ebb_run("plan", "conv.ebb", "--budget", str(in_place - 10000), "-o", "plan.json")
    check_steps(t, json.loads((t.folder / "plan.json").read_text()))


def check_steps(t, plan):
    report = t.json("report", "plan.json")
    table = Recount(plan).table()
    equal(len(report["steps"]), len(table), "steps")
    for s, (row, step) in enumerate(zip(table, report["steps"])):
        equal(dict(zip(CATEGORIES, step["bytes"])), row, f"step {s}")
        equal(sum(step["bytes"]), step["live_bytes"], f"step {s}")
    verdict, peak = report["verdict"], report["steps"][report["verdict"]["peak_step"]]
    equal(verdict["peak_bytes"], max(step["live_bytes"] for step in report["steps"]), "peak")
    equal([c["peak_bytes"] for c in report["categories"]], peak["bytes"], "categories at the peak")
    equal(verdict["peak_bytes"] + verdict["holes_bytes"], plan["total_bytes"], "peak and holes")
    equal(verdict["max_live_bytes"], plan["max_live_bytes"], "most live")
    equal(sum(row["held_bytes"] for row in report["alive_at_peak"]) + peak["bytes"][8] + verdict["persistent_bytes"]
          + verdict["fixed_bytes"] + (-peak["bytes"][8]) % plan["alignment"], verdict["peak_bytes"], "alive at the peak")


def dropping_what_is_alive_is_counted_on_the_curve(t):
    plan = plan_file(t, chain())
    report = t.json("report", "plan.json")
    live = [step["live_bytes"] for step in report["steps"]]
    n = 0
    for row in report["alive_at_peak"]:
        if row["drop"] != "can be dropped":
            continue
        n += 1
        gap = range(row["gap_lower"], row["gap_upper"])
        holds(report["verdict"]["peak_step"] in gap, "the gap holds the peak")
        equal(row["drop_peak_bytes"], max(b - (s in gap) * row["held_bytes"] for s, b in enumerate(live)), "peak without it")
        used = [s for s, step in enumerate(plan["steps"]) if row["tensor"] in step["reads"] + step["writes"]]
        equal([s for s in used if s in gap], [], "uses in the gap")
        holds(gap[0] - 1 in used and gap[-1] + 1 in used, "the gap ends at uses")
        equal(row["drop_ns"], 1000)
    holds(n >= 3, f"{n} can be dropped")


def what_runs_again_is_told_with_what_it_saves(t):
    plan = tight_plan(t)
    report = t.json("report", "plan.json")
    again = [step["op"] for step in plan["steps"] if step["recompute"]]
    equal(sum(row["n_runs"] for row in report["run_again"]), len(again))
    equal({row["op"] for row in report["run_again"]}, set(again))
    equal(sum(row["added_ns"] for row in report["run_again"]), report["verdict"]["added_ns"])
    holds(sum(row["saved_at_peak_bytes"] for row in report["run_again"]) >= 2 * MIB, "the budget's bytes are saved")
    for row in report["run_again"]:
        equal(row["bytes_per_ms"], row["saved_bytes"] * 10**6 // row["added_ns"], "bytes per ms")
    rates = [row["bytes_per_ms"] for row in report["run_again"]]
    equal(rates, sorted(rates, reverse=True), "order")
    fates = {tensor["fate"] for tensor in report["tensors"]}
    holds({"dropped", "kept", "given", "lasts", "used_up"} <= fates, f"fates {fates}")
    for tensor in report["tensors"]:
        if tensor["fate"] == "dropped":
            holds(report["tensors"][tensor["next"]]["recomputed"], "the next life is made again")
            holds(f"made again in step {report['tensors'][tensor['next']]['lower']}" in tensor["why"], tensor["why"])


def what_is_saved_is_counted_again_from_the_plan(t):
    graph = chain(n=9)
    for op in graph["ops"][1:9:2]:
        op["in_place"] = [[0, 0]]  # each second one may be written over the one before
    graph["ops"][11]["inputs"] = graph["ops"][11]["inputs"][:1]
    total = plan_file(t, graph)["total_bytes"]
    plan, saved = plan_file(t, graph, budget=total - 3 * MIB), {}
    count, report = Recount(plan), t.json("report", "plan.json")
    lives = {}
    for step in plan["steps"]:
        for b in step["writes"]:
            lives.setdefault(plan["buffers"][b]["value"], []).append(b)
    for value, made in lives.items():
        row = saved.setdefault(next(op["id"] for op in plan["graph"]["ops"] if value in op["outputs"]), [0, 0])
        gaps = []
        for b, following in zip(made, made[1:]):
            first = count.first(b)
            steps = [s for s in range(count.n) if count.owner_at(first, s) is not None]
            if count.owner_at(first, steps[-1]) == b and steps[-1] + 1 < plan["buffers"][following]["lower"]:
                gaps.append(range(steps[-1] + 1, plan["buffers"][following]["lower"]))
        held = count.up(plan["buffers"][made[0]]["bytes"])
        row[0] += held * bool(gaps)
        row[1] += held * any(report["verdict"]["peak_step"] in gap for gap in gaps)
    equal({row["op"]: [row["saved_bytes"], row["saved_at_peak_bytes"]] for row in report["run_again"]},
          {step["op"]: saved[step["op"]] for step in plan["steps"] if step["recompute"]}, "saved")
    holds(any(row["saved_bytes"] == 0 for row in report["run_again"]), "some run again for others only")


def verdict_rows(report):
    """name -> (figure, words), as text and Markdown show them."""
    v, n = report["verdict"], len(report["steps"])
    change = lambda now: f" ({100 * (now - v['baseline_time_ns']) / v['baseline_time_ns']:+.1f} %)"
    rows = [("total", v["total_bytes"]), ("budget", v["budget_bytes"]), ("headroom", v["headroom_bytes"]),
            ("total without recomputation", v["baseline_total_bytes"]), ("arena", v["arena_bytes"]),
            ("persistent", v["persistent_bytes"]), ("fixed", v["fixed_bytes"]), ("most live in a step", v["peak_bytes"]),
            ("lost by packing", v["holes_bytes"])]
    rows = [(name, figure, bytes_word(figure)) for name, figure in rows]
    return [*rows, ("step of the peak", v["peak_step"], f"of {n}"),
            ("predicted time", v["time_ns"], time_word(v["time_ns"]) + change(v["time_ns"])),
            ("time without recomputation", v["baseline_time_ns"], time_word(v["baseline_time_ns"])),
            ("added time", v["added_ns"], time_word(v["added_ns"])),
            ("lower bound", v["bound_time_ns"], time_word(v["bound_time_ns"]) + change(v["bound_time_ns"])),
            ("steps run again", v["n_recomputed"], f"of {n}")]


def category_rows(report):
    return [(c["category"], c["peak_bytes"], bytes_word(c["peak_bytes"]), bytes_word(c["most_bytes"]))
            for c in report["categories"] if c["most_bytes"]]


def dropped_word(row):
    return (f"{bytes_word(row['drop_peak_bytes'])}, +{time_word(row['drop_ns'])}" if row["drop"] == "can be dropped"
            else row["drop"])


def again_rows(report):
    return [[row["name"], bytes_word(row["saved_bytes"]), bytes_word(row["saved_at_peak_bytes"]), str(row["n_runs"]),
             time_word(row["added_ns"]), bytes_word(row["bytes_per_ms"]) + "/ms"] for row in report["run_again"]]


def alive_rows(report):
    return [[report["tensors"][row["tensor"]]["name"], bytes_word(row["held_bytes"]),
             report["tensors"][row["tensor"]]["category"], dropped_word(row)] for row in report["alive_at_peak"]]


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


def markdown_tables(document):
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in document.splitlines()
            if line.startswith("|")]


def the_markdown_shows_the_figures_of_the_json(t):
    tight_plan(t)
    report, rows = t.json("report", "plan.json"), markdown_tables(view(t, "--markdown"))
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


def a_measurement_of_the_plan_stands_beside_it(t):
    run = t.json("run", "small.ebb", "--steps", "2")
    (t.folder / "run.json").write_text(json.dumps(run))
    t.ebb_run("plan", "small.ebb", "-o", "plan.json")
    report = t.json("report", "plan.json", "--measured", "run.json")
    equal(report["measured"]["n_steps"], 2)
    for key in ("planned_bytes", "allocated_bytes", "process_peak_bytes", "mean_step_ns", "best_step_ns"):
        equal(report["measured"][key], run[key], key)
    for name in ([], ["--markdown"]):
        words = view(t, "--measured", "run.json", *name)
        holds("Measured over 2 steps" in words, "heading")
        for word in (bytes_word(run["allocated_bytes"]), time_word(run["mean_step_ns"]), time_word(run["best_step_ns"])):
            holds(word in words, word)
    other = {**run, "planned_bytes": run["planned_bytes"] + 64}
    for name, document, stderr in [("another plan", other, rb"this very plan"), ("another graph", {**run, "graph": "x"}, rb"graph \"x\""),
                                   ("another backend", {**run, "backend": "x"}, rb"backend \"x\""),
                                   ("no steps", {**run, "steps": []}, rb"nothing was measured"),
                                   ("another schema", {**run, "schema": "ebb.run/2"}, rb"must be \"ebb\.run/1\"")]:
        (t.folder / "run.json").write_text(json.dumps(document))
        done = t.ebb_run("report", "plan.json", "--measured", "run.json", code=3)
        holds(re.search(stderr, done.stderr) and done.stderr.count(b"\n") == 1 and not done.stdout, f"{name}: {done.stderr}")


FORMATS = ["text", "json", "markdown", "html", "trace", "megengine"]


def the_same_plan_gives_the_same_bytes(t):
    tight_plan(t)
    for name in FORMATS:
        once = t.ebb_run("report", "plan.json", "--format", name).stdout
        equal(t.ebb_run("report", "plan.json", "--format", name).stdout, once, name)
        t.ebb_run("report", "plan.json", "--format", name, "-o", "out")
        equal((t.folder / "out").read_bytes(), once, f"{name} in a file")


def a_suffix_names_the_format(t):
    tight_plan(t)
    for suffix, name in [(".json", "json"), (".md", "markdown"), (".txt", "text"), (".html", "html"), ("", "json")]:
        t.ebb_run("report", "plan.json", "-o", "out" + suffix)
        equal((t.folder / ("out" + suffix)).read_bytes(), t.ebb_run("report", "plan.json", "--format", name).stdout, suffix)
    for flags, name in [([], "json"), (["--json"], "json"), (["--markdown"], "markdown"), (["--format", "text"], "text"), (["--text"], "text")]:
        equal(t.ebb_run("report", "plan.json", "-o", "-", *flags).stdout, t.ebb_run("report", "plan.json", "--format", name).stdout)
    t.ebb_run("report", "plan.json", "--trace", "-o", "out.json")
    holds("traceEvents" in json.loads((t.folder / "out.json").read_text()), "a flag is stronger than a suffix")


def hostile_names_are_cleaned_in_the_model(t):
    hostile_plan(t)
    report = t.json("report", "plan.json")
    equal(report["graph"], shown(HOSTILE[0]))
    for i, name in enumerate(HOSTILE):
        equal([x["name"] for x in report["tensors"] if x["value"] == i + 1][0], shown(name))
        equal([x["name"] for x in report["steps"] if x["op"] == i][0], shown(name))


def hostile_names_are_inert_in_text_and_json(t):
    hostile_plan(t)
    for name in FORMATS:
        document = t.ebb_run("report", "plan.json", "--format", name).stdout.decode()
        odd = {c for c in document if c != "\n" and not is_plain(c)}
        equal(odd, set(), name)
        holds("A" * 97 not in document, f"{name}: the long name is cut")


def hostile_names_are_inert_in_markdown(t):
    hostile_plan(t)
    document = view(t, "--markdown")
    rest = re.sub(r"```text\n.*?```", "", document, flags=re.DOTALL)
    for line in rest.splitlines():
        equal(line.count("`") % 2, 0, line)
        outside = re.sub(r"`[^`]*`", "", line)
        holds(re.fullmatch(r"[\w\s|*#().,:+%/\[\]-]*", outside) is not None, f"outside of code spans: {outside!r}")
        holds("](" not in outside, line)
    for rows in re.findall(r"(?:^\|.*\n)+", rest, flags=re.MULTILINE):
        equal(len({line.count("|") for line in rows.splitlines()}), 1, "cells of a row")
    holds("`</script><img src=x onerror=alert(1)>`" in rest, "the name is there, as code")
    holds("`'code' \u00a6 cell \u00a6 <b>`" in rest, "what would end a span or a cell is shown as its like")


def the_page_shows_the_figures_of_the_json(t):
    tight_plan(t)
    report, page = t.json("report", "plan.json"), check_page(view(t, "--html"))
    verdict = {attrs.get("data-key"): row for attrs, row in page.sections["verdict"]}
    for key, figure in report["verdict"].items():
        if key in verdict:
            equal(verdict[key][1], [str(figure), str(figure)], key)
    holds({"total_bytes", "budget_bytes", "headroom_bytes", "peak_bytes", "time_ns", "added_ns", "bound_time_ns"} <= set(verdict),
          "the verdict's rows")
    equal([(row[0][1], row[2][1]) for row in page.rows("verdict")[1:] if row[1][0] is not None],
          [(name, words) for name, _, words in verdict_rows(report)], "words")
    tiles = {attrs["data-key"]: int(attrs["data-n"]) for tag, attrs in page.tags if attrs.get("class") == "figure" and "data-n" in attrs}
    equal(tiles, {key: report["verdict"][key] for key in tiles}, "tiles")
    equal(sorted(tiles), ["added_ns", "baseline_total_bytes", "headroom_bytes", "n_recomputed", "peak_bytes", "total_bytes"])
    equal([(row[0][1], int(row[1][0]), row[2][1], row[3][1]) for row in page.rows("categories")[1:-1]], category_rows(report))
    equal(int(page.rows("categories")[-1][1][0]), report["verdict"]["peak_bytes"], "live")
    for cells, row, (name, held, category, dropped) in zip(page.rows("alive")[1:], report["alive_at_peak"], alive_rows(report)):
        can = row["drop"] == "can be dropped"
        equal([cells[0][1], cells[1][1], cells[2][1]], [name, held, category])
        equal(int(cells[1][0]), row["held_bytes"])
        equal(f"{cells[5][1]}, +{cells[6][1]}" if can else cells[7][1], dropped)
        equal([int(cells[5][0]), int(cells[6][0])], [row["drop_peak_bytes"], row["drop_ns"]] if can
              else [report["verdict"]["peak_bytes"], -1])
    equal(len(page.rows("alive")) - 1, len(report["alive_at_peak"]))
    equal([[row[0][1], row[2][1], row[3][1], row[4][1], row[5][1], row[6][1]] for row in page.rows("again")[1:]], again_rows(report))


def the_pages_drawings_have_a_title_for_every_step_and_tensor(t):
    plan = tight_plan(t)
    report, page = t.json("report", "plan.json"), Page(view(t, "--html"))
    titles = [text for place, text in page.titles if place.endswith("svg/rect")]
    for s, step in enumerate(report["steps"]):
        words = [f"{name} {bytes_word(n)}" for name, n in zip(CATEGORIES, step["bytes"]) if n]
        again = ", run again" if step["recompute"] else ""
        holds("\n".join([f"step {s}, {step['phase']}{again}", step["name"], f"{bytes_word(step['live_bytes'])} live", *words])
              in titles, f"step {s}")
    for tensor in report["tensors"]:
        if tensor["owner"] == tensor["id"] and tensor["region"] == "transient" and tensor["until"] > tensor["lower"]:
            lines = [tensor["name"], f"{tensor['category']}, {bytes_word(tensor['bytes'])} at {tensor['offset']}"]
            found = [text for text in titles if text.startswith("\n".join(lines)) and tensor["why"] in text]
            holds(found, f"{tensor['name']}: {tensor['why']}")
    boxes = [attrs for tag, attrs in page.tags if tag == "rect" and attrs.get("class", "").startswith("t ")]
    for attrs in boxes:
        holds(0 <= int(attrs["x"]) and int(attrs["x"]) + int(attrs["width"]) <= 12000 and int(attrs["y"]) >= 0
              and int(attrs["y"]) + int(attrs["height"]) <= 5000, f"{attrs} is outside of the drawing")
    equal(len(boxes), sum(x["owner"] == x["id"] and x["region"] == "transient" for x in report["tensors"])
          + sum(step["scratch_bytes"] > 0 for step in plan["steps"]), "boxes")


def edge(words, from_x, to_x, n):
    """An edge of a layer, as columns of (H x, V y) from one side to the other: the y of each of n columns."""
    x, y, out = from_x, None, {}
    for letter, number in words:
        if letter == "H":
            low, high = sorted((x, number))
            out.update({i: y for i in range(n) if y is not None and low <= (2 * i + 1) * 12000 // (2 * n) < high})
            x = number
        else:
            y = number
    equal(x, to_x, "the edge's end")
    return [out[i] for i in range(n)]


def layers_lie_on_one_another_up_to_the_live_bytes(t):
    tight_plan(t)
    report, page = t.json("report", "plan.json"), Page(view(t, "--html"))
    paths = {attrs["class"].removeprefix("layer "): attrs["d"] for tag, attrs in page.tags
             if tag == "path" and attrs["class"].startswith("layer ")}
    n, verdict = len(report["steps"]), report["verdict"]
    top = max(verdict["total_bytes"], verdict["budget_bytes"], verdict["baseline_total_bytes"])
    height = lambda size: 3600 - int(size / top * 3600 + 0.5)
    for k, name in enumerate(CATEGORIES):
        equal(name in paths, any(step["bytes"][k] for step in report["steps"]), name)
        if name not in paths:
            continue
        words = [(letter, int(number)) for letter, number in re.findall(r"([HV])(\d+)", paths[name])]
        first = int(re.match(r"M0 (\d+)", paths[name]).group(1))
        turn = next(i for i, word in enumerate(words) if word == ("H", 12000))
        upper = edge([("V", first), *words[:turn + 1]], 0, 12000, n)
        lower = edge(words[turn + 1:], 12000, 0, n)
        equal(upper, [height(sum(step["bytes"][:k + 1])) for step in report["steps"]], f"upper edge of {name}")
        equal(lower, [height(sum(step["bytes"][:k])) for step in report["steps"]], f"lower edge of {name}")


def a_line_above_the_scale_is_told_of(t):
    t.ebb_run("plan", "chain.json", "--budget", "1GiB", "-o", "plan.json")
    for args in ([], ["--html"]):
        words = view(t, *args)
        holds(re.search(r"[Aa]bove the scale: budget 1\.00 GiB", words), f"{args}: the budget is far above")
        holds("scale: without recomputation" not in words, f"{args}: the baseline is on the scale")


def a_tensors_box_tells_what_it_is_and_why_it_is_there(t):
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json")
    plan, report = json.loads((t.folder / "plan.json").read_text()), t.json("report", "plan.json")
    titles = {text.split("\n")[0]: text.split("\n") for place, text in Page(view(t, "--html")).titles if place.endswith("svg/rect")}
    tensors = {tensor["name"]: tensor for tensor in report["tensors"]}
    shapes = {value["name"]: value["shape"] for value in plan["graph"]["values"]}
    equal(shapes["c1"], "f32[3,33,7,7]")
    equal({name: tensor["shape"] for name, tensor in tensors.items()}, {name: shapes[name] for name in tensors}, "shapes")
    for name, kind in (("r1", "relu"), ("c2.weight.grad", "conv2d_wgrad")):
        tensor, lines = tensors[name], titles[name]
        step = report["steps"][tensor["writer"]]
        holds(f"shape {shapes[name]}" in lines, f"{lines}: shape")
        holds(("layer " + name.rpartition(".")[0] in lines) == ("." in name), f"{lines}: layer")
        until = "" if tensor["until"] == tensor["upper"] else f"; owns its bytes until step {tensor['until'] - 1}"
        holds(f"born in step {tensor['lower']}, last used in step {tensor['upper'] - 1}{until}" in lines, f"{lines}: birth and death")
        holds(f"made by {step['name']} ({step['kind']})" in lines and step["kind"] == kind, f"{lines}: op")
        holds(tensor["why"] in lines, f"{lines}: why")


def an_in_place_chain_is_named_in_the_drawing(t):
    t.ebb_run("plan", "conv.ebb", "-o", "plan.json")
    titles = [text for place, text in Page(view(t, "--html")).titles]
    holds(any("in place: c1 > r1" in text for text in titles), "the chain of c1")


def hostile_names_are_inert_in_the_page(t):
    hostile_plan(t)
    document = view(t, "--html")
    page = check_page(document)
    holds("onmouseover='" not in document and "\"&gt;" not in document, "quotes are escaped, too")
    names = {row[0][1] for row in page.rows("alive")[1:]} | {row[0][1] for row in page.rows("again")[1:]}
    names |= {line for _, text in page.titles for line in text.split("\n")}
    for name in HOSTILE:
        holds(shown(name) in names, repr(name))
    equal(page.titles[0], ["html/head", "Memory of " + shown(HOSTILE[0])])


def a_page_of_a_large_plan_stays_small(t):
    plan_file(t, chain(n=5000, unit=1 << 16))
    document = view(t, "--html")
    page = check_page(document)
    holds(len(document.encode()) < 8 << 20, f"{len(document)} characters")
    holds("1000 columns for 10001 steps" in document, "says that steps share columns")
    drawn, rest = map(int, re.search(r"The (\d+) largest boxes are drawn one by one; the (\d+) others", document).groups())
    summed = [int(text.split()[0]) for _, text in page.titles if "small tensors" in text]
    equal((drawn, sum(summed)), (8000, rest), "boxes")
    columns = [attrs for tag, attrs in page.tags if attrs.get("class") == "column"]
    equal((len(columns), sum(int(attrs["width"]) for attrs in columns)), (1000, 12000), "columns")


def bad_input_is_one_line(t):
    plan = tight_plan(t)
    broken = {
        "another version": (changed(plan, schema="ebb.plan/2"), r"ebb\.plan/2"),
        "a figure that lies": (changed(plan, arena_bytes=plan["arena_bytes"] + 64), r"p\.json: the plan does not hold: .*arena_bytes"),
        "a life that lies": (changed(plan, buffers__3__upper=2), r"p\.json: the plan does not hold: "),
        "no plan": ({"schema": "ebb.graph/1"}, r"p\.json"),
    }
    cases = [Case(name, ["report", "p.json", "-o", "{d}/out.html"], 3, stderr, files={"p.json": text(document)})
             for name, (document, stderr) in broken.items()]
    good = {"p.json": text(plan)}
    cases += [
        Case("truncated", ["report", "p.json"], 3, r"p\.json: line \d+", files={"p.json": text(plan)[:5000]}),
        Case("no file", ["report", "p.json"], 7, r"p\.json"),
        Case("a folder that is not there", ["report", "p.json", "-o", "no/such/x.html"], 7, r"no/such/x\.html", files=good),
        Case("a full device", ["report", "p.json", "-o", "/dev/full"], 7, r"/dev/full", files=good),
        Case("standard output is full", ["report", "p.json"], 7, r"standard output", files=good, stdout="/dev/full"),
        Case("no measurement", ["report", "p.json", "--measured", "no.json"], 7, r"no\.json", files=good),
        Case("two formats", ["report", "p.json", "--trace", "--json"], 2, r"json and trace are both", files=good),
        Case("text and a page", ["report", "p.json", "--text", "--html"], 2, r"text and html are both", files=good),
        Case("an unknown format", ["report", "p.json", "--format", "pdf"], 2, r"\"pdf\"", files=good),
        Case("no plan at all", ["report"], 2, r"report needs a PLAN"),
    ]
    wrong = [(case.name, fault) for case in cases for fault in harness.faults(t.ebb, case)]
    equal(wrong, [], "rows")


TESTS = [
    every_step_is_the_sum_of_its_categories_counted_again,
    dropping_what_is_alive_is_counted_on_the_curve,
    what_runs_again_is_told_with_what_it_saves,
    what_is_saved_is_counted_again_from_the_plan,
    the_text_shows_the_figures_of_the_json,
    the_markdown_shows_the_figures_of_the_json,
    the_trace_has_an_event_a_step_and_its_bytes,
    megengines_layout_holds_every_byte_once,
    a_measurement_of_the_plan_stands_beside_it,
    the_same_plan_gives_the_same_bytes,
    a_suffix_names_the_format,
    hostile_names_are_cleaned_in_the_model,
    hostile_names_are_inert_in_text_and_json,
    hostile_names_are_inert_in_markdown,
    the_page_shows_the_figures_of_the_json,
    the_pages_drawings_have_a_title_for_every_step_and_tensor,
    layers_lie_on_one_another_up_to_the_live_bytes,
    a_line_above_the_scale_is_told_of,
    a_tensors_box_tells_what_it_is_and_why_it_is_there,
    an_in_place_chain_is_named_in_the_drawing,
    hostile_names_are_inert_in_the_page,
    a_page_of_a_large_plan_stays_small,
    bad_input_is_one_line,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))

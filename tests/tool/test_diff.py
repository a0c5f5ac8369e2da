#!/usr/bin/env python3
"""ebb diff: what it finds, that its views agree, and that names do nothing in any of them.

    test_diff.py EBB
"""
import json
import re
import sys

import harness
from harness import Case
from models import chain, changed, text
from report_page import HOSTILE, bytes_word, check_page, is_plain, shown, time_word
from report_rows import markdown_rows
from tester import equal, holds, main

MIB = 1 << 20


def two_plans(t, second=None):
    """a.json in place; b.json of another graph, or of the same one with less memory."""
    (t.folder / "a.graph").write_text(text(chain()))
    (t.folder / "b.graph").write_text(text(second or chain()))
    t.ebb_run("plan", "a.graph", "-o", "a.json")
    total = json.loads((t.folder / "a.json").read_text())["total_bytes"]
    t.ebb_run("plan", "b.graph", "-o", "b.json", *([] if second else ["--budget", str(total - 2 * MIB)]))
    return t.json("diff", "a.json", "b.json")


def a_plan_does_not_differ_from_itself(t):
    t.ebb_run("plan", "conv.ebb", "-o", "a.json")
    diff = t.json("diff", "a.json", "a.json", "--fail-if", "total>+0%,time>+0%,kept>+0%")
    equal((diff["layers"], diff["tensors"], diff["fault"]), ([], [], None))
    n = len(json.loads((t.folder / "a.json").read_text())["buffers"])
    equal(diff["changes"], {"added": 0, "removed": 0, "resized": 0, "fate": 0, "moved": 0, "same": n})
    holds(b"No layer and no tensor differs" in t.ebb_run("diff", "a.json", "a.json").stdout, "says so")


def its_figures_are_the_reports(t):
    diff = two_plans(t)
    reports = [t.json("report", name) for name in ("a.json", "b.json")]
    figures = {row["figure"]: (row["a"], row["b"]) for row in diff["figures"]}
    for name, key in [("total", "total_bytes"), ("peak", "peak_bytes"), ("arena", "arena_bytes"), ("time", "time_ns"),
                      ("persistent", "persistent_bytes"), ("again", "n_recomputed")]:
        equal(figures[name], tuple(r["verdict"][key] for r in reports), name)
    equal(figures["steps"], tuple(len(r["steps"]) for r in reports))
    for i, row in enumerate(reports[0]["categories"]):
        equal(figures[row["category"]], tuple(r["categories"][i]["peak_bytes"] for r in reports), row["category"])
    holds(figures["total"][1] < figures["total"][0] and figures["again"][1] > 0, "the plans differ")
    side = {row["name"]: row for row in diff["tensors"]}
    for name in {x["name"] for r in reports for x in r["tensors"]}:
        held = [sum(row["held_bytes"] for row in r["alive_at_peak"] if r["tensors"][row["tensor"]]["name"] == name) for r in reports]
        row = side.get(name)
        equal([row["a"]["peak_bytes"], row["b"]["peak_bytes"]] if row else [held[0]] * 2, held, name)
    equal({(row["a"]["fate"], row["b"]["fate"], row["b"]["n_lives"]) for row in diff["tensors"] if row["change"] == "fate"},
          {("kept", "dropped", 2)}, "of the first life")
    dropped = {x["name"] for x in reports[1]["tensors"] if x["fate"] == "dropped"}
    equal({row["name"] for row in diff["tensors"] if row["change"] == "fate"}, dropped, "what is dropped")
    for which, report in zip("ab", reports):
        layers = {}
        for step in report["steps"]:
            layers[step["name"]] = layers.get(step["name"], 0) + step["time_ns"]
        for row in diff["layers"]:
            equal(row[which + "_ns"], layers[row["layer"]] if row["layer"] in layers else 0, row["layer"])


def tensors_are_matched_by_name_whatever_their_ids(t):
    graph = chain()
    order = [0, *reversed(range(1, len(graph["values"])))]
    at = {old: new for new, old in enumerate(order)}
    graph["values"] = [{**graph["values"][old], "id": new} for new, old in enumerate(order)]
    for op in graph["ops"]:
        op["inputs"], op["outputs"] = [at[v] for v in op["inputs"]], [at[v] for v in op["outputs"]]
    diff = two_plans(t, graph)
    equal([diff["changes"][key] for key in ("added", "removed", "resized", "fate")], [0] * 4)


def what_is_added_removed_and_resized_is_told(t):
    graph = chain()
    graph["values"][2]["name"] = "new"
    graph["values"][3]["bytes"] = 3 * MIB
    diff = two_plans(t, graph)
    rows = {row["name"]: row for row in diff["tensors"]}
    equal((rows["f1"]["change"], rows["f1"]["b"]), ("removed", None))
    equal((rows["new"]["change"], rows["new"]["a"]), ("added", None))
    equal((rows["f2"]["change"], rows["f2"]["a"]["bytes"], rows["f2"]["b"]["bytes"]), ("resized", MIB, 3 * MIB))
    equal([diff["changes"][key] for key in ("added", "removed", "resized")], [1, 1, 1])


def two_graphs_are_said_to_be_two(t):
    diff = two_plans(t)
    n = len(chain()["values"])
    equal([diff[key] for key in ("same_graph", "n_names", "n_shared_names")], [True, n, n])
    flags = ([], ["--markdown"], ["--html"])
    for flag in flags:
        holds(b"two graphs" not in t.ebb_run("diff", "a.json", "b.json", *flag).stdout, flag)
    named, renamed = {**chain(), "name": "other"}, chain()
    for value in renamed["values"]:
        value["name"] += "'"
    for graph, n_names, n_shared in ((named, n, n), (renamed, 2 * n, 0)):
        diff = two_plans(t, graph)
        equal([diff[key] for key in ("same_graph", "n_names", "n_shared_names")], [False, n_names, n_shared])
        line = f"two graphs: layers and tensors are paired by name alone; {n_shared} of {n_names} names are in both"
        for flag in flags:
            holds(line in t.ebb_run("diff", "a.json", "b.json", *flag).stdout.decode(), f"{flag}: {line}")


def layers_are_names_up_to_their_last_dot(t):
    graph = chain()
    for i, name in enumerate(["block.0.conv", "block.0.relu", "block.1.conv", ".x", "block.00.conv"]):
        graph["values"][i + 1]["name"] = graph["ops"][i]["name"] = name
    bigger = changed(graph, values__2__bytes=2 * MIB, ops__0__time_ns=1500, ops__3__time_ns=1400, ops__4__time_ns=1300)
    (t.folder / "a.graph").write_text(text(graph))
    (t.folder / "b.graph").write_text(text(bigger))
    for which in "ab":
        t.ebb_run("plan", f"{which}.graph", "-o", f"{which}.json")
    diff = t.json("diff", "a.json", "b.json")
    equal(diff["layers"], [{"layer": "block.0", "a_peak_bytes": 2 * MIB, "b_peak_bytes": 3 * MIB, "a_ns": 2000, "b_ns": 2500},
                           {"layer": ".x", "a_peak_bytes": MIB, "b_peak_bytes": MIB, "a_ns": 1000, "b_ns": 1400},
                           {"layer": "block.00", "a_peak_bytes": MIB, "b_peak_bytes": MIB, "a_ns": 1000, "b_ns": 1300}])


def names_of_one_beginning_stay_apart(t):
    graph = chain()
    for i in range(6):
        graph["values"][i + 1]["name"] = "long" * 100 + str(i)
    bigger = changed(graph, values__4__bytes=2 * MIB)
    (t.folder / "a.graph").write_text(text(graph))
    (t.folder / "b.graph").write_text(text(bigger))
    for which in "ab":
        t.ebb_run("plan", f"{which}.graph", "-o", f"{which}.json")
    resized = [row for row in t.json("diff", "a.json", "b.json")["tensors"] if row["change"] == "resized"]
    equal([(row["name"], row["a"]["value"]) for row in resized], [(shown("long" * 100), 4)])


def difference(a, b, word):
    if a == b:
        return "same"
    return ("+" if b > a else "") + word(b - a) + (f" ({100 * (b - a) / a:+.1f} %)" if a > 0 else "")


def its_views_show_the_same(t):
    diff = two_plans(t)
    words = [re.split(r"\s{2,}", line.strip()) for line in t.ebb_run("diff", "a.json", "b.json").stdout.decode().splitlines()]
    cells = markdown_rows(t.ebb_run("diff", "a.json", "b.json", "--markdown").stdout.decode())
    for i, row in enumerate(diff["figures"]):
        if row["a"] == row["b"] == 0:
            continue
        word = {"time": time_word, "steps": str, "again": str}.get(row["figure"], bytes_word)
        line = [row["figure"], str(row["a"]), str(row["b"]), difference(row["a"], row["b"], word)]
        holds(line in words, str(line))
        holds([line[0] + ("" if i < 7 else ", at the peak"), *line[1:]] in cells, f"markdown {line}")
    for row in diff["layers"][:30]:
        line = [difference(row["a_peak_bytes"], row["b_peak_bytes"], bytes_word), difference(row["a_ns"], row["b_ns"], time_word)]
        holds([*line, row["layer"]] in words and [row["layer"], *line] in cells, str(line))
    for row in diff["tensors"][:30]:
        a, b = row["a"], row["b"]
        line = [difference(a["peak_bytes"], b["peak_bytes"], bytes_word),
                f"{a['fate']} x{a['n_lives']} -> {b['fate']} x{b['n_lives']}" if row["change"] == "fate" else row["change"]]
        holds([*line, row["name"]] in words and [row["name"], *line] in cells, str(line))
    page = check_page(t.ebb_run("diff", "a.json", "b.json", "--html").stdout.decode())
    for section in ("figures", "layers", "tensors"):
        for row in page.rows(section)[1:]:
            line = [cell[1] for cell in row]
            holds(line in cells, f"the page shows {line}, Markdown does not")
    equal([int(row[3][0]) for row in page.rows("figures")[1:]], [row["b"] - row["a"] for row in diff["figures"] if row["a"] or row["b"]])
    equal(len(page.rows("tensors")) - 1, len(diff["tensors"]))
    for name, flag in [("d.json", "--json"), ("d.md", "--markdown"), ("d.html", "--html")]:
        t.ebb_run("diff", "a.json", "b.json", "-o", name)
        equal((t.folder / name).read_bytes(), t.ebb_run("diff", "a.json", "b.json", flag).stdout, name)


def over_its_rule_it_answers_with_exit_code_1(t):
    two_plans(t)
    t.ebb_run("diff", "a.json", "b.json", "--fail-if", "peak>+1%,total>+0%")
    done = t.ebb_run("diff", "a.json", "b.json", "--fail-if", "peak>+1%,time>+1%", code=1)
    holds(re.fullmatch(rb"ebb: b\.json: time is [\d.]+ us, \+[^:]*: over time>\+1%\n", done.stderr), done.stderr)
    holds(b"over time>+1%" in done.stdout, "the answer is there all the same")
    done = t.ebb_run("diff", "a.json", "b.json", "--fail-if", "time>+1%", "--json", "-o", "d.json", code=1)
    holds("over time>+1%" in json.loads((t.folder / "d.json").read_text())["fault"], "in the file, too")


def hostile_names_are_inert(t):
    graph = chain(n=len(HOSTILE))
    for i, name in enumerate(HOSTILE):
        graph["values"][i + 1]["name"] = graph["ops"][i]["name"] = name
    graph["name"] = HOSTILE[0]
    bigger = changed(graph, **{f"values__{i + 1}__bytes": 2 * MIB for i in range(len(HOSTILE))})
    (t.folder / "a.graph").write_text(text(graph))
    (t.folder / "b.graph").write_text(text(bigger))
    for which in "ab":
        t.ebb_run("plan", f"{which}.graph", "-o", f"{which}.json")
    page = check_page(t.ebb_run("diff", "a.json", "b.json", "--html").stdout.decode())
    names = {row[0][1] for row in page.rows("tensors")}
    equal({shown(name) for name in HOSTILE} - names, set(), "names in the page")
    for flags in ([], ["--json"], ["--html"], ["--markdown"]):
        document = t.ebb_run("diff", "a.json", "b.json", *flags).stdout.decode()
        equal({c for c in document if c != "\n" and not is_plain(c)}, set(), str(flags))
        holds("A" * 97 not in document, "the long name is cut")
    for line in document.splitlines():
        equal(line.count("`") % 2, 0, line)
        outside = re.sub(r"`[^`]*`", "", line)
        holds(re.fullmatch(r"[\w\s|*#().,;:+%/>-]*", outside), f"outside of code spans: {outside!r}")


def bad_input_is_one_line(t):
    two_plans(t)
    plan = json.loads((t.folder / "a.json").read_text())
    good = {"a.json": text(plan), "b.json": text(plan)}
    lies = {**good, "b.json": text(changed(plan, arena_bytes=plan["arena_bytes"] + 64))}
    cases = [
        Case("B lies", ["diff", "a.json", "b.json"], 3, r"b\.json: the plan does not hold", files=lies),
        Case("A is no plan", ["diff", "a.json", "b.json"], 3, r"a\.json", files={**good, "a.json": "{}"}),
        Case("B is not there", ["diff", "a.json", "c.json"], 7, r"c\.json", files=good),
        Case("one plan", ["diff", "a.json"], 2, r"diff needs a B", files=good),
        Case("three plans", ["diff", "a.json", "b.json", "a.json"], 2, r"one argument too many", files=good),
        Case("no plan", ["diff"], 2, r"diff needs a A|diff needs an A"),
        Case("standard input twice", ["diff", "-", "-"], 2, r"one plan", stdin=b""),
        Case("two formats", ["diff", "a.json", "b.json", "--json", "--markdown"], 2, r"json and markdown", files=good),
        Case("a rule that is none", ["diff", "a.json", "b.json", "--fail-if", "peak"], 2, r"FIGURE>LIMIT", files=good),
        Case("a figure that is none", ["diff", "a.json", "b.json", "--fail-if", "peek>+1%"], 2, r"no figure \"peek\"", files=good),
        Case("a target that cannot be written", ["diff", "a.json", "b.json", "-o", "no/d.json"], 7, r"no/d\.json", files=good),
    ]
    wrong = [(case.name, fault) for case in cases for fault in harness.faults(t.ebb, case)]
    equal(wrong, [], "rows")


TESTS = [
    a_plan_does_not_differ_from_itself,
    its_figures_are_the_reports,
    tensors_are_matched_by_name_whatever_their_ids,
    what_is_added_removed_and_resized_is_told,
    two_graphs_are_said_to_be_two,
    layers_are_names_up_to_their_last_dot,
    names_of_one_beginning_stay_apart,
    its_views_show_the_same,
    over_its_rule_it_answers_with_exit_code_1,
    hostile_names_are_inert,
    bad_input_is_one_line,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))

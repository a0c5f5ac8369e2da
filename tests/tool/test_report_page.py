#!/usr/bin/env python3
"""The page of a report: its figures, its drawings, its size.

    test_report_page.py EBB
"""
import json
import re
import sys

from models import chain, text
from recount import CATEGORIES
from report_page import Page, bytes_word, check_page, plan_file, tight_plan, view
from report_rows import again_rows, alive_rows, category_rows, verdict_rows
from tester import equal, holds, main


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


TESTS = [
    the_page_shows_the_figures_of_the_json,
    the_pages_drawings_have_a_title_for_every_step_and_tensor,
    layers_lie_on_one_another_up_to_the_live_bytes,
    a_line_above_the_scale_is_told_of,
    a_tensors_box_tells_what_it_is_and_why_it_is_there,
    an_in_place_chain_is_named_in_the_drawing,
    a_page_of_a_large_plan_stays_small,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))

#!/usr/bin/env python3
"""Hostile names do nothing in any view of a report.

    test_report_names.py EBB
"""
import json
import re
import sys

from models import text
from report_page import HOSTILE, check_page, hostile_plan, is_plain, shown, view
from report_rows import FORMATS, markdown_rows
from tester import equal, holds, main


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


def hostile_texts_of_the_sources_are_inert(t):
    plan = hostile_plan(t)
    log = {"schema": "ebb.search/1", "graph": plan["graph"]["name"], "mode": HOSTILE[4], "seed": 1,
           "dims": [{"name": name, "size": 3} for name in HOSTILE[:3] + HOSTILE[11:13]],
           "config": {"thresh_nr_try": 1, "genetic_nr_iter": 0, "genetic_pool_size": 2, "lb_memory_bytes": 0},
           "plan": {"n_steps": len(plan["steps"]), **{key: plan[key] for key in ("arena_bytes", "total_bytes", "time_ns")}}, "searches": []}
    (t.folder / "search.json").write_text(json.dumps(log))
    for name in ("text", "json", "markdown", "html", "trace", "megengine"):
        document = view(t, "--search", "search.json", "--format", name)
        equal({c for c in document if c != "\n" and not is_plain(c)}, set(), name)
    page = check_page(view(t, "--search", "search.json", "--html"))
    holds(any(row[0][1] == "batch" and row[2][1].startswith(shown(HOSTILE[0])) for row in page.rows("verdict")), "the batch, escaped")
    batch = next(row for row in markdown_rows(view(t, "--search", "search.json", "--markdown")) if row[0] == "batch")
    equal(len(batch), 3, "cells")


TESTS = [
    hostile_names_are_cleaned_in_the_model,
    hostile_names_are_inert_in_text_and_json,
    hostile_names_are_inert_in_markdown,
    hostile_names_are_inert_in_the_page,
    hostile_texts_of_the_sources_are_inert,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))

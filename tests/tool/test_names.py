#!/usr/bin/env python3
"""Names that would do something: of files, graphs, values, rows and dimensions, in what the commands beside report and diff
print. And tables whose figures are those of the documents.

    test_names.py EBB
"""
import json
import os
import re
import sys
import xml.etree.ElementTree

from models import CONV, chain, changed, text
from report_page import HOSTILE, bytes_word, is_plain, time_word
from tester import equal, holds, main

MIB = 1 << 20


def joined(names):
    """As few names as hold all of these, and are shown whole: what is printed of them is looked at character by character."""
    all_names = []
    for name in names:
        if all_names and len((all_names[-1] + name).encode()) <= 90:
            all_names[-1] += name
        else:
            all_names.append(name)
    return all_names


# What a folder holds as it is.
FILES = joined(name for name in HOSTILE if "/" not in name and len(name.encode()) < 200)


def is_inert(done, what):
    for document in (done.stdout, done.stderr):
        shown = document.decode()  # all of it is UTF-8
        equal({c for c in shown if c != "\n" and not is_plain(c)}, set(), what)
    return done


def names_of_files_are_inert(t):
    holds(len("".join(FILES)) > 150 and any("\x1b" in name for name in FILES) and any("\u202e" in name for name in FILES), FILES)
    for name in FILES:
        model, graph, plan, config = (name + suffix for suffix in (".ebb", ".graph", ".plan", ".config"))
        (t.folder / model).write_text(CONV)
        (t.folder / graph).write_text(text(chain()))
        budget, quick = ("--budget", "2MiB"), ("--device", "ref", "--effort", "200")
        for args in (["inspect", model, "--device", "ref"], ["plan", model, "--device", "ref", "-o", plan], ["verify", plan],
                     ["fit", model, *budget, *quick], ["fit", model, *budget, *quick, "--batch", "9"],
                     ["frontier", graph, "--points", "2", "--effort", "200", "--plans", name],
                     ["tune", graph, "--budget", "9MiB", "--effort", "200", "-o", config],
                     ["plan", graph, "--budget", "9MiB", "--config", config, "--print-config"],
                     ["run", model, "--device", "ref", "--steps", "1"], ["diff", plan, plan]):
            is_inert(t.ebb_run(*args), args)
            if args[0] != "run":
                document = is_inert(t.ebb_run(*args, "--json"), args).stdout
                for row in json.loads(document).get("rows", []):
                    holds(row.get("plan") is None or os.path.exists(t.folder / row["plan"]), f"{args}: {row}")
        for args, code in ((["plan", "no" + model], 7), (["verify", graph], 3), (["plan", model, "--dim", name + "=3"], 2),
                           (["fit", model, *budget, "--over", name], 2), (["plan", graph, "--drop", name], 2),
                           (["plan", graph, "--config", graph], 3), (["fit", model, "--device", "./" + graph], 3)):
            equal(is_inert(t.ebb_run(*args, code=code), args).stderr.count(b"\n"), 1, args)


def names_in_graphs_are_inert(t):
    for name in joined(HOSTILE):
        graph = changed(chain(), name=name)
        for thing in graph["values"] + graph["ops"]:
            thing["name"] = name + thing["name"]
        (t.folder / "g.json").write_text(text(graph))
        quick = ("--effort", "200")
        for args, code in ((["inspect"], 0), (["plan", "--budget", "9MiB"], 0), (["plan", "--budget", "1MiB"], 1),
                           (["plan", "--budget", "9MiB", "--drop", name + "loss", "--keep", name + "loss"], 2),
                           (["frontier", "--points", "3"], 0), (["tune", "--budget", "9MiB"], 0), (["tune", "--budget", "1MiB"], 1)):
            more = quick if args[0] != "inspect" else ()
            is_inert(t.ebb_run(args[0], "g.json", *args[1:], *more, code=code), (name[:20], args))


def names_of_rows_are_inert(t):
    quoted = ['"' + re.sub("[\r\n]", "", name).replace('"', '""') + '"' for name in HOSTILE]
    head, rows = "id,lower,upper,size\n", [f"{name},0,{i + 2},{i + 5}\n" for i, name in enumerate(quoted)]
    (t.folder / "r.csv").write_text(head + "".join(rows))
    is_inert(t.ebb_run("pack", "r.csv", "-o", "out.csv", "--svg", "out.svg"), "table")
    is_inert(t.ebb_run("pack", "r.csv", "--json"), "document")
    equal((t.folder / "out.csv").read_text().count("\n"), len(rows) + 1, "rows")
    drawing = (t.folder / "out.svg").read_text()
    equal({c for c in drawing if c != "\n" and not is_plain(c)}, set(), "the drawing")
    tags = {e.tag.rsplit("}")[-1] for e in xml.etree.ElementTree.fromstring(drawing).iter()}
    holds(not tags & {"script", "img", "image", "a", "foreignObject"}, tags)
    for row in rows:
        (t.folder / "r.csv").write_text(head + row + row)
        equal(is_inert(t.ebb_run("pack", "r.csv", code=3), row[:40]).stderr.count(b"\n"), 1)


# ---- figures --------------------------------------------------------------------------------------------


def change_word(now, before):
    return f"{100 * (now - before) / before:+.1f} %" if before else "-"


def rate_word(n, ns):
    rate = n * 1e9 / ns
    return f"{time_word(ns)}, " + (f"{rate:.3g}/s" if rate < 100 else f"{rate:.0f}/s")


def cells(document):
    return [re.split(r"\s{2,}", line.strip()) for line in document.stdout.decode().splitlines()]


def the_table_of_fit_has_the_documents_figures(t):
    args = ("fit", "conv.ebb", "--budget", "3MiB", "--effort", "4000", "--plans", "p")
    document, table = t.json(*args), cells(t.ebb_run(*args))
    holds(len(document["rows"]) == 4 and any(row["time_ns"] > row["baseline_time_ns"] for row in document["rows"]), "rows")
    for row in document["rows"]:
        line = [row["mode"], str(row["batch"]), bytes_word(row["total_bytes"]), rate_word(row["batch"], row["time_ns"]),
                change_word(row["time_ns"], row["baseline_time_ns"]), row["plan"]]
        holds(line in table, f"{line} in {table}")
        more = "too much time" if row["next_total_bytes"] <= document["budget_bytes"] else bytes_word(row["next_total_bytes"])
        holds(any(f"{row['mode']} N={row['batch'] + 1} takes {more}" in line[0] for line in table), f"{row} in {table}")
        plan = json.loads((t.folder / row["plan"]).read_text())
        equal([plan["total_bytes"], plan["time_ns"]], [row["total_bytes"], row["time_ns"]], "the plan")


def the_table_of_one_batch_has_the_documents_figures(t):
    args = ("fit", "conv.ebb", "--budget", "3MiB", "--batch", "120", "--effort", "4000", "--plans", "p")
    document, table = t.json(*args), cells(t.ebb_run(*args))
    for row in document["rows"]:
        line = [row["mode"], "fits" if row["fits"] else "no", bytes_word(row["total_bytes"]), rate_word(120, row["time_ns"]),
                change_word(row["time_ns"], row["baseline_time_ns"]), *([row["plan"]] if row["plan"] else [])]
        holds(line in table, f"{line} in {table}")
    sums, whole = document["accumulation"], document["rows"][1]["time_ns"]
    line = (f"gradient accumulation, {sums['n_micro']} micro-batches of {sums['micro_batch']}, nothing run again: "
            f"{bytes_word(sums['total_bytes'])}, {rate_word(120, sums['time_ns'])}, {change_word(sums['time_ns'], whole)} of the batch in one")
    holds([line] in table, f"{line} in {table}")


def the_table_of_tune_has_the_documents_figures(t):
    (t.folder / "long.json").write_text(text(chain(20)))
    args = ("tune", "long.json", "--budget", "15MB", "--effort", "4000")
    document, table = t.json(*args), cells(t.ebb_run(*args))
    base = document["baseline"]
    head = (f"within 14.31 MiB (15MB, 15000000 bytes); in place, nothing run again: {bytes_word(base['total_bytes'])}, "
            f"{time_word(base['time_ns'])}; no plan adds less than {change_word(document['time_ns_lower_bound'], base['time_ns'])}")
    equal(table[0], [head])
    for i, row in enumerate(document["rows"]):
        note = ["recommended"] if i == document["recommended"] else [] if row["fits"] else ["over the budget"]
        line = [row["what"], bytes_word(row["total_bytes"]), change_word(row["time_ns"], base["time_ns"]), str(row["candidates"])]
        holds(any(shown[:4] + shown[5:] == line + note for shown in table), f"{line + note} in {table}")


TESTS = [
    names_of_files_are_inert,
    names_in_graphs_are_inert,
    names_of_rows_are_inert,
    the_table_of_fit_has_the_documents_figures,
    the_table_of_one_batch_has_the_documents_figures,
    the_table_of_tune_has_the_documents_figures,
]


if __name__ == "__main__":
    sys.exit(main(TESTS))

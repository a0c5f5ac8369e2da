"""What the views of a report show: their names, their rows as its JSON has them, and the tables in a view."""
import re

from report_page import bytes_word, time_word

FORMATS = ["text", "json", "markdown", "html", "trace", "megengine"]


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


def change_word(now, before):
    return f"{100 * (now - before) / before:+.1f} %" if before else "-"


def columns_of(document):
    return [re.split(r"\s{2,}", line.strip()) for line in document.splitlines()]


def markdown_rows(document):
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in document.splitlines() if line.startswith("|")]

"""What gpu-check prints when it is done: figures side by side, and what they settle."""
import collections

from goals import DRY, MISSED, NOT_ASKED, PROVEN, UNPROVEN

MIB = 1 << 20


def rows_of(parts):
    for part in ("capped", "engines", "table"):
        for line in parts.get(part, {}).get("rows", []):
            mib = [f"{line[key] / MIB:.1f}" if line[key] is not None else "-"
                   for key in ("planned_bytes", "allocated_bytes", "process_bytes")]
            yield [str(line["batch"]), line["flags"], *mib, f"{line['ms']:.2f}", f"{line['img_per_s']:.1f}"]
    for name, line in parts.get("pytorch", {}).get("rows", {}).items():
        if "median_ms" in line:
            of = "block_bytes" if "block_bytes" in line else line.get("memory", "steady_peak_bytes")
            mib = f"{line[of] / MIB:.1f}" if line.get(of) else "-"
            named = f"{name} (reserved)" if of == "reserved_bytes" else name
            yield [str(parts["pytorch"]["batch"]), named, "-", mib, "-", f"{line['median_ms']:.2f}", f"{line['img_per_s']:.1f}"]


def print_figures(record):
    rows = [["batch", "flags", "planned", "allocated", "process", "ms/step", "img/s"], *rows_of(record["parts"])]
    if len(rows) == 1:
        return
    widths = [max(len(cells[i]) for cells in rows) for i in range(len(rows[0]))]
    print("\ndry run; MiB" if record["dry"] else "\nResNet-50, fp32 unless tf32; MiB")
    for cells in rows:
        print("  ".join(cell.ljust(width) if i == 1 else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))))


def print_goals(record):
    counts = collections.Counter(goal["verdict"] for goal in record["goals"])
    dry = " (a dry run: of this script, not of a GPU)" if record["dry"] else ""
    print(f"\ngoals{dry}: " + ", ".join(f"{counts[verdict]} {verdict}"
                                          for verdict in (PROVEN, DRY, MISSED, UNPROVEN, NOT_ASKED) if counts[verdict]))
    for verdict in (MISSED, UNPROVEN, PROVEN, DRY, NOT_ASKED):
        for goal in record["goals"]:
            if goal["verdict"] == verdict:
                print(f"  {verdict:9} {goal['goal']:12} {goal['claim']}{': ' if goal['why'] else ''}{goal['why'][:300]}")


def print_all(record, output):
    statuses = collections.Counter(part["status"] for part in record["parts"].values())
    print_figures(record)
    print_goals(record)
    print(f"\n{statuses['ok']} parts ok, {statuses['failed']} failed, {statuses['unproven']} unproven "
          f"in {record['seconds']:.0f} s: {output}")

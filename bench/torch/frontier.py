"""Added time over peak, of Ebb's budgets and of PyTorch's own means, as SVG: a panel a model and backend.

    python bench/torch/frontier.py times.json frontier.svg [--table]

Rows are those of times.py, of one machine. Both axes are relative to `plain` of the same backend: what the step takes and how long it
lasts without any means. --table prints, for each of PyTorch's rows, Ebb's fastest row whose measured peak is no higher.
"""

import argparse
import json

WIDTH, HEIGHT, COLUMNS, EDGE = 250, 190, 4, 38
KINDS = {"ebb": "#1a56c4", "torch": "#d97706", "selective": "#7c3aed", "blocks": "#059669"}
NAMES = {"ebb": "Ebb, by budget", "torch": "activation_memory_budget", "selective": "selective checkpointing", "blocks": "a checkpoint per block"}
TITLE = "step time over peak memory, each relative to a step that saves none"


def panels(rows):
    """{(model, backend): {kind: [(peak, time)]}} relative to plain."""
    found = {}
    for row in rows:
        if "seconds" in row:
            found.setdefault((row["model"], row["backend"]), []).append(row)
    made = {}
    for key, group in found.items():
        plain = [r for r in group if r["means"] == "plain"]
        if not plain:
            continue
        points = {}
        for r in group:
            kind = r["means"].split()[0]
            if kind in KINDS:
                points.setdefault(kind, []).append((r["peak"] / plain[0]["peak"], r["seconds"] / plain[0]["seconds"], r["means"]))
        made[key] = {kind: sorted(p) for kind, p in points.items()}
    return made


def draw(made):
    rows = -(-len(made) // COLUMNS)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * COLUMNS} {HEIGHT * rows + 24}" font-family="sans-serif" '
             'font-size="10" fill="#6b7280">', '<rect width="100%" height="100%" fill="#ffffff"/>',
             f'<text x="{WIDTH * COLUMNS - 12}" y="16" text-anchor="end">{TITLE}</text>']
    for i, (kind, colour) in enumerate(KINDS.items()):
        x = 20 + 142 * i
        lines.append(f'<circle cx="{x}" cy="12" r="4" fill="{colour}"/><text x="{x + 8}" y="16">{NAMES[kind]}</text>')
    for i, ((model, backend), points) in enumerate(sorted(made.items())):
        lines += panel(WIDTH * (i % COLUMNS), 24 + HEIGHT * (i // COLUMNS), f"{model}, {backend}", points)
    return "\n".join([*lines, "</svg>"]) + "\n"


def panel(left, top, title, points):
    everything = [p for kind in points.values() for p in kind]
    low, high = min(0.9, *(p[1] for p in everything)), max(1.5, *(p[1] for p in everything))
    widest = max(1.0, *(p[0] for p in everything))

    def place(peak, time):
        x = left + EDGE + (WIDTH - EDGE - 12) * peak / widest
        return f"{x:.1f},{top + HEIGHT - 26 - (HEIGHT - 52) * (time - low) / (high - low):.1f}"

    lines = [f'<text x="{left + EDGE}" y="{top + 12}" fill="#374151">{title}</text>',
             f'<path d="M{place(0, high)}L{place(0, low)}L{place(widest, low)}" fill="none" stroke="#9ca3af"/>']
    for value in (low, 1.0, high):
        x, y = place(0, value).split(",")
        lines.append(f'<text x="{float(x) - 4:.1f}" y="{float(y) + 3:.1f}" text-anchor="end">{value:.2f}</text>')
    for value in (0.5, 1.0):
        x, y = place(value, low).split(",")
        lines.append(f'<text x="{x}" y="{float(y) + 12:.1f}" text-anchor="middle">{value:.0%}</text>')
    for kind, there in points.items():
        lines.append(f'<polyline points="{" ".join(place(p[0], p[1]) for p in there)}" fill="none" stroke="{KINDS[kind]}" stroke-opacity="0.4"/>')
        lines += [f'<circle cx="{a}" cy="{b}" r="3" fill="{KINDS[kind]}"/>' for a, b in (place(p[0], p[1]).split(",") for p in there)]
    return lines


def table(made):
    print("| model, backend | means | peak | time | Ebb's peak | its time |\n|---|---|---|---|---|---|")
    for (model, backend), points in sorted(made.items()):
        for kind in KINDS:
            for peak, time, means in points.get(kind, []) if kind != "ebb" else []:
                lower = [p for p in points.get("ebb", []) if p[0] <= peak * 1.005]
                best = min(lower, key=lambda p: p[1]) if lower else None
                own = f"{best[0]:.2f} | {best[1]:.2f}" if best else "none | "
                print(f"| {model}, {backend} | {means} | {peak:.2f} | {time:.2f} | {own} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows")
    parser.add_argument("svg", nargs="?")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    made = panels([json.loads(line) for line in open(args.rows, encoding="utf-8")])
    if args.table:
        table(made)
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(draw(made))


if __name__ == "__main__":
    main()

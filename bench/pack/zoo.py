#!/usr/bin/env python3
"""How far the arena of each model's plan is above its most live bytes, at several budgets.

    zoo.py EBB [MODEL.ebb ...]

Without models: those of examples/models. Budgets are shares of the total without recomputation; exit code 1 when a
plan's arena is more than 0.1 % above."""
import json
import pathlib
import subprocess
import sys
import tempfile

SHARES = (None, 0.75, 0.5)
MOST = 0.001


def plan(ebb, model, budget, path):
    command = [ebb, "plan", str(model), "-o", str(path), "--effort", "2000"]
    if budget is not None:
        command += ["--budget", str(budget)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(path.read_text()) if done.returncode == 0 else None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    models = [pathlib.Path(name) for name in sys.argv[2:]]
    models = models or sorted((pathlib.Path(__file__).parents[2] / "examples" / "models").glob("*.ebb"))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            total = None
            for share in SHARES:
                budget = None if share is None else int(total * share)
                found = plan(sys.argv[1], model, budget, pathlib.Path(folder) / "plan.json")
                if found is None:
                    print(f"{model.stem:16} {share} no plan", flush=True)
                    if total is None:
                        break
                    continue
                total = total or found["total_bytes"]
                above = found["arena_bytes"] / found["max_live_bytes"] - 1
                worst = max(worst, above)
                print(f"{model.stem:16} {share or 1:.2f} {found['arena_bytes']:14} {100 * above:8.4f} %", flush=True)
    return 1 if worst > MOST else 0


if __name__ == "__main__":
    sys.exit(main())

"""How the graphs of a step share its bytes. They run one in another, each as often as it does: what an earlier run holds between its
halves is there while later ones run, and the gradients of these while it runs back. So each graph has two limits, on its peak and on what it
holds; the second is what a loop over one graph multiplies."""

from ._graphs import settle

HOLDS = (1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.04, 0)  # of what a graph holds when nothing runs again, beyond what the caller has been given
PASSES = 2


class Graphs:
    """What the graphs of one step take together. `planned` within their plans, `in_order` in PyTorch's order, `kept` of both by the caller."""

    def __init__(self, runs, plans=None):
        found = plans or {}
        self.planned = peak_of([(found.get(g, g).planned_bytes, found.get(g, g).held_bytes, g.gradient_bytes) for g in runs])
        self.in_order = peak_of([(g.bytes_in_order, g.held_in_order, g.gradient_bytes) for g in runs])
        self.kept = min(self.in_order, sum(g.kept_bytes for g in runs))


def peak_of(graphs):
    """(peak, bytes held between the halves, gradients) of each, in the order of their forward halves."""
    gradients, held, most = sum(g[2] for g in graphs), 0, 0
    for peak, holds, made in graphs:
        gradients -= made
        most, held = max(most, held + peak + gradients), held + holds
    return most


def share_out(runs, total, options):
    """{GraphPlan: Settled} of the fastest plans that were found to hold `total` together, or of those that take least."""
    best = least = None
    for part in HOLDS:
        plans = attempt(runs, total, part, options)
        together = Graphs(runs, plans).planned
        if least is None or together < least[0]:
            least = together, plans
        if together > total:
            continue
        time_ns = sum(plans[g].time_ns for g in runs)
        if best is not None and time_ns >= best[0]:
            break
        best = time_ns, plans
    return (best or least)[1]


def attempt(runs, total, part, options):
    """A plan for each graph when all hold that part. What one that can go no lower takes is taken from the others in a second pass."""
    holds = {g: g.given_bytes + part * (g.held_in_order - g.given_bytes) for g in runs}
    for again in range(PASSES):
        plans = {g: settle(g, limit, int(holds[g]), options) for g, limit in limits(runs, total, holds).items()}
        if again or Graphs(runs, plans).planned <= total or all(plan.held_bytes <= holds[g] for g, plan in plans.items()):
            break
        holds = {g: max(holds[g], plan.held_bytes) for g, plan in plans.items()}
    return plans


def limits(runs, total, holds):
    """The peak that each graph may have in the tightest of its runs."""
    found, gradients, held = {}, sum(g.gradient_bytes for g in runs), 0
    for g in runs:
        gradients -= g.gradient_bytes
        left = int(total - held - gradients)
        found[g] = min(found.get(g, left), left)
        held += holds[g]
    return found

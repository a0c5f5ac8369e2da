"""What was measured of programs, as MegEngine's profiler lays it out, and step by step."""


def profile_of(core):
    """graph_exec and profiler name steps by number, over all programs, and count seconds; programs: see docs."""
    programs = [{"plan": core.plan(i), "steps": core.profile(i)} for i in range(core.facts()["n_programs"])]
    operators, device, footprint, now = {}, {}, {}, 0.0
    for step in (step for program in programs for step in program["steps"]):
        key, end = str(len(operators)), now + step["median_ns"] * 1e-9
        operators[key] = {"id": key, "name": step["name"], "type": step["kind"], "phase": step["phase"]}
        device[key] = {"xpux:0": {"start": now, "kern": now, "end": end}}
        footprint[key] = {"memory": step["bytes"]}
        now = end
    return {"graph_exec": {"operator": operators}, "profiler": {"device": device, "opr_footprint": footprint},
            "programs": programs}

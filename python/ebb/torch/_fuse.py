"""Groups for Inductor (stub for now)."""
def decompositions():
    return {}
groups = None

class Fit: pass
def fit(*a): raise NotImplementedError

"""Samples to a batch."""

import numpy as np


class Collator:
    """Arrays and numbers stacked, in tuples, lists and dicts as they are."""

    def apply(self, samples):
        first = samples[0]
        if isinstance(first, (tuple, list)):
            return type(first)(self.apply([s[i] for s in samples]) for i in range(len(first)))
        if isinstance(first, dict):
            return {k: self.apply([s[k] for s in samples]) for k in first}
        return first if isinstance(first, (str, bytes)) and len(samples) == 1 else np.stack(samples)

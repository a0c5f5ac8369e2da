"""How traced functions save memory and time."""

import os


class SublinearMemoryConfig:
    """Recomputation as MegEngine's search chooses it: fewest bytes. With trace(budget=...) the first three scale
    the search for the least time within the budget instead.

    thresh_nr_try: points of each sweep of thresholds; genetic_nr_iter: generations; genetic_pool_size:
    survivors of a generation; lb_memory_mb: below so many MiB memory is given back to save time; num_worker:
    threads. MGB_SUBLINEAR_MEMORY_* in the environment come before what is said here.
    """

    def __init__(self, thresh_nr_try=10, genetic_nr_iter=0, genetic_pool_size=20, lb_memory_mb=0,
                 num_worker=max(1, (os.cpu_count() or 2) // 2)):
        for name, value, least in (
            ("thresh_nr_try", thresh_nr_try, 0),
            ("genetic_nr_iter", genetic_nr_iter, 0),
            ("genetic_pool_size", genetic_pool_size, 0 if genetic_nr_iter == 0 else 1),
            ("lb_memory_mb", lb_memory_mb, 0),
            ("num_worker", num_worker, 1),
        ):
            if value < least:
                raise ValueError(f"SublinearMemoryConfig: {name} {value} is below {least}")
        self.thresh_nr_try = thresh_nr_try
        self.genetic_nr_iter = genetic_nr_iter
        self.genetic_pool_size = genetic_pool_size
        self.lb_memory_mb = lb_memory_mb
        self.num_worker = num_worker

    def options(self):
        return {
            "thresh_nr_try": self.thresh_nr_try,
            "genetic_nr_iter": self.genetic_nr_iter,
            "genetic_pool_size": max(1, self.genetic_pool_size),
            "lb_memory_bytes": int(self.lb_memory_mb * 2**20),
            "num_worker": self.num_worker,
        }


class DTRConfig:
    """eviction_threshold: bytes, or "5GB": here a budget that plans keep to, and not a hint. The other fields
    are MegEngine's and are not used: plans count time and bytes themselves."""

    def __init__(self, eviction_threshold=0, evictee_minimum_size=1024**2, recomp_memory_factor=1,
                 recomp_time_factor=1):
        if not eviction_threshold:
            raise ValueError("DTRConfig: eviction_threshold must be above 0")
        self.eviction_threshold = eviction_threshold
        self.evictee_minimum_size = evictee_minimum_size
        self.recomp_memory_factor = recomp_memory_factor
        self.recomp_time_factor = recomp_time_factor


class GraphOptimizationConfig:
    """MegEngine's: jit_fuse_dimshuffle and jit_fuse_reduce are accepted, and change nothing."""

    def __init__(self):
        self.jit_fuse_dimshuffle = False
        self.jit_fuse_reduce = False

    def __repr__(self):
        return f"GraphOptimizationConfig {{ {self.__dict__} }}"

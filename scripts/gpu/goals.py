"""What gpu-check is to settle: each claim with its verdict, which is never better than what was tried."""

PROVEN, MISSED, UNPROVEN, NOT_ASKED = "proven", "missed", "unproven", "not asked"
DRY = "held dry"  # in place of proven, where there was no GPU
WORSE = (PROVEN, UNPROVEN, MISSED)

# (goal, its part, or None: of all runs; the claim)
GOALS = [
    ("conformance", "conformance", "every op's kernel agrees with ref, at any address, in place, recorded"),
    ("bits_fp32", "bits", "training gives the same bits in place, again, recomputed, recorded or not"),
    ("bits_tf32", "bits", "the same in TF32"),
    ("capped", "capped", "the capped batches train within 11 GiB, every loss a finite number"),
    ("capped_bits", "capped", "weights trained within the cap are those trained without, bit by bit"),
    ("hidden", "capped", "what libraries allocate out of sight is counted"),
    ("bits_bf16", "low", "training in bf16 gives the same bits in place, recomputed, recorded or not"),
    ("bits_f16", "low", "the same in f16, of the steps that count"),
    ("compare_bf16", "low", "models in bf16 agree with ref, op by op"),
    ("compare_f16", "low", "models in f16 agree with ref, op by op"),
    ("capped_bf16", "low", "1,024 images train in bf16 within 11 GiB, every loss a finite number"),
    ("bits_chains", "chains", "chains of pointwise ops give the bits of ops one by one, recorded or not, recomputed"),
    ("full", "full", "--auto plans again in a device that is full, with the same bits"),
    ("added_time", "costs", "added time is within 5 points of what was foretold, at 80 and 60 % of the arena"),
    ("engines", "engines", "--free-engines trains the capped batch, with the same bits each time"),
    ("compare", "compare", "models agree with ref, op by op"),
    ("poison", "compare", "dead bytes are never read: poisoned, the bits are the same"),
    ("device", "questions", "the device by cuDNN's own words, and the speed of its copies"),
    ("ratio_fp32", "pytorch", "at least as many images a second as PyTorch's best, fp32"),
    ("ratio_tf32", "pytorch", "at least as many images a second as PyTorch's best, TF32"),
    ("amp_bf16", "amp", "at least 1.5 times as many images a second as PyTorch's autocast in bf16, eager"),
    ("amp_f16", "amp", "the same in f16"),
    ("speed_bf16", "amp", "6,000 images a second in bf16, 256 at a time, on an H100"),
    ("memcheck", "sanitizer", "no kernel of Ebb's accesses memory outside of what was allocated"),
    ("racecheck", "sanitizer", "no race between threads of a block"),
    ("initcheck", "sanitizer", "no kernel reads bytes never written in their block since its allocation"),
    ("libraries", "sanitizer", "no kernel of cuDNN's or cuBLASLt's accesses memory outside of what was allocated"),
    ("planned", None, "planned bytes = allocated bytes, in every run but --compare and the sanitizer's"),
    ("recorded", None, "every run that should be is recorded"),
]


class Goals:
    def __init__(self):
        self.said, self.wrong_bytes, self.not_recorded = {}, [], []
        self.n_runs = self.n_to_record = 0

    def say(self, goal, verdict, why):
        """The worst that is said of a goal is its verdict; the reasons are those of that one."""
        before, reasons = self.said.get(goal, (PROVEN, []))
        if WORSE.index(verdict) > WORSE.index(before):
            reasons = []
        elif verdict != before:
            return
        self.said[goal] = (verdict, [*reasons, why])

    def judge(self, goal, well, why):
        self.say(goal, PROVEN if well else MISSED, why)

    def of_part(self, part):
        return [goal for goal, of, _ in GOALS if of == part]

    def end_part(self, part, why):
        """What the part did not come to, or could not try."""
        for goal in self.of_part(part):
            if goal not in self.said:
                self.say(goal, UNPROVEN, why or "it was not tried")
        return {goal: self.said[goal] for goal in self.of_part(part)}

    def of_all_runs(self, dry):
        """{goal: (verdict, why)} of what holds for runs of all parts."""
        planned = (PROVEN, f"{self.n_runs} runs") if self.n_runs else (UNPROVEN, "nothing was run")
        recorded = (PROVEN, f"{self.n_to_record} runs") if self.n_to_record else (NOT_ASKED, "")
        if dry and self.n_to_record:
            recorded = (UNPROVEN, "a dry run's device records nothing")
        if self.wrong_bytes:
            planned = (MISSED, "; ".join(self.wrong_bytes))
        if self.not_recorded:
            recorded = (MISSED, "; ".join(self.not_recorded))
        return {"planned": planned, "recorded": recorded}

    def listed(self, asked, dry, runs_are_asked):
        """Every goal with its verdict, those of parts that were not asked for among them."""
        all_runs, rows = self.of_all_runs(dry), []
        for goal, part, claim in GOALS:
            verdict, why = NOT_ASKED, ""
            if part is None and runs_are_asked:
                verdict, why = all_runs[goal]
            elif part in asked:
                verdict, reasons = self.said.get(goal, (UNPROVEN, ["it was not tried"]))
                why = "; ".join(reasons)
            if dry and verdict == PROVEN:
                verdict = DRY
            rows.append({"goal": goal, "part": part or "all", "claim": claim, "verdict": verdict, "why": why})
        return rows

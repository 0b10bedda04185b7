"""A DataLoader with one worker, which cannot keep up."""
import says
from case import Case, Fix
from loading import loop


def build(at):
    return Case("host", loop(at, num_workers=1), [
        Fix("workers", loop(at, num_workers=8, pin_memory=not at.cpu), says.WORKERS)],
        n=12, n_full=8, reps=at.size(32, 2), settle=at.size(20, 1))

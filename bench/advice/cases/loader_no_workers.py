"""A DataLoader with num_workers=0: the loop decodes its own samples."""
import says
from case import Case, Fix
from loading import loop


def build(at):
    return Case("host", loop(at, num_workers=0), [
        Fix("workers", loop(at, num_workers=8, pin_memory=not at.cpu), says.WORKERS)],
        n=8, n_full=6, reps=at.size(32, 2), settle=at.size(20, 1))

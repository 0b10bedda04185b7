"""JAX: a jitted step in a loop that reads nothing."""
from case import Case
from jax_loss_read import trainer


def build(at):
    step, wait = trainer(at, False)
    return Case("healthy", step, n=20, wait=wait, recorders=("strata",), seen_by=("strata",))

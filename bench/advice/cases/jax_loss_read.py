"""JAX: a jitted training step whose loss is read every time."""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax
import jax.numpy as jnp
import says
from case import Case, Fix


def loss(weights, x):
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return (x.astype(jnp.float32) ** 2).mean()


@jax.jit
def update(weights, x):
    value, slopes = jax.value_and_grad(loss)(weights, x)
    return [w - 1e-3 * s for w, s in zip(weights, slopes)], value


def trainer(at, read):
    key, dim = jax.random.key(0), at.size(2048, 32)
    state = [[jax.random.normal(key, (dim, dim), jnp.bfloat16) * dim ** -0.5 for _ in range(6)], None]
    x, log = jax.random.normal(key, (dim, dim), jnp.bfloat16), []

    def step():
        state[:] = update(state[0], x)
        if read:
            log.append(float(state[1]))
    return step, lambda: state[1].block_until_ready()


def build(at):
    (step, wait), (free, wait_free) = trainer(at, True), trainer(at, False)

    def both():
        wait(), wait_free()
    return Case("host", step, [Fix("no_read", free, says.NO_SYNC + "|__float__")], n=20, wait=both,
                recorders=("strata",), seen_by=("strata",))

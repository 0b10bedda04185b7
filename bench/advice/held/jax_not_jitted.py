"""JAX: a step without jax.jit, one operator after the other."""
import says
from case import Case, Fix, Skip


def build(at):
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise Skip("JAX is missing") from None
    key = jax.random.PRNGKey(0)
    dim = at.size(512, 16)
    weights = [jax.random.normal(key, (dim, dim)) / dim ** 0.5 for _ in range(12)]
    x = jax.random.normal(key, (64, dim))

    def step(y):
        for w in weights:
            y = jnp.tanh(y @ w) + y * 0.5
            y = (y - y.mean(-1, keepdims=True)) / (y.std(-1, keepdims=True) + 1e-5)
        return y

    jitted, last = jax.jit(step), [x]

    def wait():
        last[0].block_until_ready()

    def unit(f):
        def call():
            last[0] = f(x)
        return call

    return Case("launch", unit(step), [Fix("jit", unit(jitted), r"(?i)\bjit\b|" + says.GRAPH[4:])],
                n=6, wait=wait, recorders=("strata",), seen_by=("strata",))

"""Linear systems are solved by way of their inverse."""
import torch
from case import Case, Fix

unforeseen = True


def build(at):
    many, n = at.size((256, 192), (2, 4))
    root = at.randn(many, n, n, dtype=torch.float32)
    a = root @ root.mT / n + torch.eye(n, device=at.device)
    b = at.randn(many, n, 4, dtype=torch.float32)
    factored = torch.linalg.cholesky_ex

    def solved():
        return torch.cholesky_solve(b, factored(a).L)

    return Case("gpu", lambda: torch.linalg.inv(a) @ b,
                [Fix("solve", lambda: torch.linalg.solve(a, b), r"(?i)\bsolve|inverse"),
                 Fix("cholesky", solved, r"(?i)cholesky|\bsolve")], n=6)

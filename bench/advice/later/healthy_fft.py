"""Long convolutions by FFT: as fast as cuFFT is."""
import torch
from case import Case


def build(at):
    n, rows = at.size((1 << 17, 512), (64, 2))
    x, filters = at.randn(rows, n, dtype=torch.float32), at.randn(rows, n, dtype=torch.float32)
    spectrum = torch.fft.rfft(filters, 2 * n)

    def convolve():
        return torch.fft.irfft(torch.fft.rfft(x, 2 * n).mul_(spectrum), 2 * n)[:, :n]

    return Case("healthy", convolve, n=8)

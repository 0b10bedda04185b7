"""A recogniser's spectra are made on the CPU, then uploaded."""
import torch
from case import Case, Fix
from parts import blocks


def build(at):
    dim, seconds = at.size((512, 30), (32, 1))
    model = blocks(at.size(8, 1), dim, at.size(8, 2)).to(at.device, torch.bfloat16).eval()
    sound = torch.randn(at.size(16, 1), 16000 * seconds)
    window = {"cpu": torch.hann_window(2 * dim), at.device: torch.hann_window(2 * dim, device=at.device)}

    def log_spectrum(wave):
        there = torch.stft(wave, 2 * dim, 320, window=window[wave.device.type], return_complex=True)
        return there.abs().square().clamp(min=1e-10).log10()[:, :dim].transpose(1, 2)

    @torch.no_grad()
    def on_cpu():
        return model(log_spectrum(sound).to(at.device, torch.bfloat16))

    @torch.no_grad()
    def on_gpu():
        return model(log_spectrum(sound.to(at.device)).to(torch.bfloat16))

    words = r"(?i)log_spectrum|stft|spectr|on the GPU"
    return Case("host", on_cpu, [Fix("on_gpu", on_gpu, words)], n=2)

"""A picture decoder works tile by tile, with the cache emptied after each, though memory is free."""
import torch
from case import Case, Fix
from parts import decoder


def build(at):
    model = decoder(at.size(128, 4), at.size(3, 1)).to(at.device, torch.bfloat16).eval()
    model = model.to(memory_format=torch.channels_last)
    side, tile, over = at.size((128, 32, 8), (16, 8, 2))
    z = at.randn(1, 4, side, side).to(memory_format=torch.channels_last)

    @torch.no_grad()
    def tiled():
        rows = []
        for top in range(0, side, tile):
            row = []
            for left in range(0, side, tile):
                part = z[:, :, max(0, top - over):top + tile + over, max(0, left - over):left + tile + over]
                y = model(part)
                cut_top, cut_left = 4 * min(top, over), 4 * min(left, over)
                row.append(y[:, :, cut_top:cut_top + 4 * tile, cut_left:cut_left + 4 * tile])
                if not at.cpu:
                    torch.cuda.empty_cache()
            rows.append(torch.cat(row, 3))
        return torch.cat(rows, 2)

    words = r"(?i)\btil(e|es|ed|ing)\b|one (larger )?batch|\bbatched\b|larger batch"
    return Case("launch", tiled, [Fix("whole", torch.no_grad()(lambda: model(z)), words),
                                  Fix("cache_kept", torch.no_grad()(lambda: model(z)), r"(?i)empty_cache")],
                n=2, tolerance=2)

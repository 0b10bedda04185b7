"""A trace with torch.profiler, as its documentation has it."""
import torch
from torch.profiler import ProfilerActivity, profile, schedule

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
x = torch.randn(32, 256)
with profile(activities=[ProfilerActivity.CPU], with_stack=True, record_shapes=True,
             schedule=schedule(wait=1, warmup=2, active=3)) as prof:
    for _ in range(6):
        model(x).sum().item()
        prof.step()
prof.export_chrome_trace("trace.json.gz")

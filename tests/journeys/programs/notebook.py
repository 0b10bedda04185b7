"""What the cells of a notebook do, and what Jupyter asks of the last value of each."""
import polars
import torch

import strata

model = torch.nn.Linear(256, 256)
with strata.timeline() as part:
    with strata.stage("forward"):
        for _ in range(20):
            model(torch.ones(8, 256))
print(part.report())

with strata.profile(activities=[torch.profiler.ProfilerActivity.CPU], report=False) as prof:
    for _ in range(3):
        model(torch.ones(8, 256))
page = strata.report(prof)._repr_html_()
print("inline page:", len(page) > 100_000, "sandboxed:", "sandbox" in page)

frame = polars.DataFrame(strata.report(part.folder).stages)
print("stages as a data frame:", frame.filter(polars.col("name") == "forward")["count"].to_list())

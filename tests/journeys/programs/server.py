"""A server of two stages; the argument `slow` makes a request wait in its decoder."""
import asyncio
import os

import torch
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

import strata

model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))


@strata.stage("request")
async def generate(request):
    with strata.stage("prefill"):
        x = model(torch.randn(8, 256))
    with strata.stage("decode"):
        await asyncio.sleep(0.5 if "slow" in request.query_params else 0.005)
        return JSONResponse({"sum": model(x).sum().item()})


app = Starlette(routes=[Route("/generate", generate)])
uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")

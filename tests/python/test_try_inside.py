"""What strata try does inside a program, in this process: outputs, modules by name, fixes around them."""
import gc
import json
import os
import random
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from strata._try import compare, fixes  # noqa: E402
from strata._try.fixes import pinned_uploads  # noqa: E402
from strata._try.fixes.base import Already, Unfit, tensors_mapped  # noqa: E402
from strata._try.fixes.graph import MOST_GRAPHS, Graph, _key  # noqa: E402
from strata._try.inside import device, modules, outputs, places, units  # noqa: E402
from strata._try.inside.log import Log  # noqa: E402
from strata._try.inside.random_state import RandomState  # noqa: E402
from strata._try.trial import Trial, read  # noqa: E402


def trial(folder, value):
    folder.mkdir()
    log = Log(str(folder))
    found = units.Units(log, {})
    found.keep(0, value)
    made = Trial(str(folder), [])
    read(made)
    return made


@pytest.mark.parametrize("value,other,verdict", [
    (torch.arange(9.0), torch.arange(9.0), "same"),
    (torch.arange(9.0), torch.arange(9.0) + 1e-4, "close"),
    (torch.ones(9, dtype=torch.bfloat16), torch.full((9,), 1.5, dtype=torch.bfloat16), "different"),
    ({"sequences": torch.tensor([[1, 2, 3]])}, {"sequences": torch.tensor([[1, 2, 4]])}, "different"),
    ([torch.full((4, 4, 3), 9, dtype=torch.uint8)], [torch.full((4, 4, 3), 10, dtype=torch.uint8)], "close"),
    (torch.ones(2, dtype=torch.complex64), torch.ones(2, dtype=torch.complex64), "same"),
    (torch.tensor(True), torch.tensor(False), "different"),
    (torch.empty(0), torch.empty(0), "same"),
    ("a cat", "a dog", "different"),
    ((1, 2.5, None), (1, 2.5, None), "same"),
    (object(), object(), "unknown"),
])
def test_outputs_of_all_kinds(tmp_path, value, other, verdict):
    a, b = trial(tmp_path / "a", value), trial(tmp_path / "b", other)
    assert compare.compare(a, b)["verdict"] == verdict


def test_images_of_pil(tmp_path):
    image = pytest.importorskip("PIL.Image")
    a = trial(tmp_path / "a", {"images": [image.new("RGB", (9, 9), (200, 100, 0))]})
    b = trial(tmp_path / "b", {"images": [image.new("RGB", (9, 9), (201, 100, 0))]})
    c = trial(tmp_path / "c", {"images": [image.new("RGB", (9, 9), (0, 100, 200))]})
    found = compare.compare(a, b)
    assert found["verdict"] == "close" and found["largest"] == 1 and 50 < found["psnr_db"] < 55
    assert compare.compare(a, c)["verdict"] == "different" and compare.compare(a, a)["verdict"] == "same"


def test_what_is_kept_is_bounded(tmp_path):
    many = [torch.randn(200_000) for _ in range(50)]
    items = outputs.save(many, str(tmp_path / "o.bin"))
    assert len(items) == outputs.MOST_ITEMS and max(i["count"] for i in items) <= outputs.MOST_SAMPLES


class Pipe:
    """As diffusers has them."""

    def __init__(self):
        self.unet = torch.nn.Linear(2, 2)
        self.vae = torch.nn.Module()
        self.vae.decoder = torch.nn.Linear(2, 2)
        self.vae.decode = self.vae.decoder
        self.components = {"unet": self.unet, "vae": self.vae, "scheduler": object(), "tokenizer": None}


def test_modules_by_name():
    pipe = Pipe()
    named = modules.of_pipeline(pipe)
    assert named["model"] is named["unet"] is pipe.unet and named["vae"] is pipe.vae.decoder
    assert modules.reach({"net": torch.nn.Sequential(pipe.unet)}, "net.0") is pipe.unet
    assert modules.reach(named, "linear") is pipe.unet  # by its class
    assert modules.reach(named, "unet.nothing") is None and modules.reach(named, "scheduler") is None


def test_around_a_module():
    net = torch.nn.Linear(2, 2)
    seen = []
    modules.around(net, lambda plain, a, k: (seen.append("outer"), plain(*a, **k))[1])
    modules.around(net, lambda plain, a, k: (seen.append("last"), plain(*a, **k))[1])
    x = torch.ones(1, 2)
    assert torch.equal(net(x), net.forward(x)) and seen == ["last", "outer"]
    assert set(net.state_dict()) == {"weight", "bias"}


def test_bf16_gives_back_what_it_took():
    net = torch.nn.Linear(4, 4).eval()
    fix = fixes.parse("bf16:net")
    with torch.no_grad():
        fix.on_module(net)
        assert net.weight.dtype == torch.bfloat16
        assert net(torch.ones(1, 4)).dtype == torch.float32


def test_graphed_results_are_copies(monkeypatch):
    """Of the mode whose graphs overwrite them; each call is a step."""
    steps = []
    monkeypatch.setattr(torch.compiler, "cudagraph_mark_step_begin", lambda: steps.append(1))
    buffer = torch.zeros(2)
    fix = fixes.parse("compile:net:reduce-overhead")
    fix.has_compiled = True
    with torch.no_grad():
        first = fix.call(lambda: buffer.add_(1), (), {})
        second = fix.call(lambda: buffer.add_(1), (), {})
    assert first.tolist() == [1, 1] and second.tolist() == [2, 2] and len(steps) == 2
    fix.call(lambda: buffer.add_(1), (), {})  # a backward pass may need what was returned before
    assert len(steps) == 2


def test_modules_of_torch_are_compiled():
    """Module.compile() makes nothing of them."""
    from torch._dynamo.utils import counters
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval()
    fix = fixes.parse("compile:net:eager")
    fix.on_module(net)
    before = counters["stats"]["unique_graphs"]
    with torch.no_grad():
        net(torch.ones(1, 4))
        assert counters["stats"]["unique_graphs"] == before + 1
        net(torch.ones(1, 4))
        assert counters["stats"]["unique_graphs"] == before + 1
    (note,) = fix.code("net", {"is_of_torch": True})
    assert note.text == ['net = torch.compile(net, backend="eager")']
    (note,) = fix.code("net", {})
    assert note.text == ['net.compile(backend="eager")']


class Block(torch.nn.Module):
    def forward(self, x):
        return x


def test_code_for_repeated_blocks():
    """Only models of diffusers have compile_repeated_blocks(); others get a loop that does the same."""
    def lines(net, spec="compile:net:blocks"):
        fix = fixes.parse(spec)
        return fix.code("net", fix.seen_of(net))[0].text

    def listed(*members):
        return torch.nn.ModuleList(members)

    net = torch.nn.Module()
    net.layers, net.model = listed(Block(), Block()), torch.nn.Module()
    net.model.deep = listed(listed(Block(), Block()), torch.nn.Identity())
    net.other = listed(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1))
    text = lines(net, "compile:net:reduce-overhead:blocks")
    assert text[:6] == ["for block in net.layers:", '    block.compile(mode="reduce-overhead")',
                        "for block in net.model.deep[0]:", '    block.compile(mode="reduce-overhead")',
                        "for i, block in enumerate(net.other):",
                        '    net.other[i] = torch.compile(block, mode="reduce-overhead")']
    compile("\n".join(text), "code", "exec")
    exec("\n".join(lines(net)), {"net": net, "torch": torch})
    assert all(block._compiled_call_impl for block in [*net.layers, *net.model.deep[0]])
    net._repeated_blocks, net.compile_repeated_blocks = [], None  # which raises if it has named none
    assert lines(net)[0] == "for block in net.layers:"
    net._repeated_blocks = ["Block"]
    assert lines(net) == ["net.compile_repeated_blocks()"]
    assert lines(Block()) == ["net.compile()"]  # which has none: all of it is compiled


def test_a_module_of_which_nothing_is_compiled_says_so():
    class Net(torch.nn.Module):
        @torch.compiler.disable
        def forward(self, x):
            return x + 1

    net = Net().eval()
    fixes.parse("compile:net:eager").on_module(net)
    with torch.no_grad(), pytest.raises(RuntimeError, match="compiled nothing of it"):
        net(torch.ones(1, 4))


def test_what_a_graph_cannot_take(monkeypatch):
    a = _key(torch, ((torch.ones(2),), {"scale": 1.0, "mask": None}))
    assert a == _key(torch, ((torch.zeros(2),), {"scale": 1.0, "mask": None}))
    assert a != _key(torch, ((torch.ones(3),), {"scale": 1.0, "mask": None}))
    with pytest.raises(TypeError, match="Cache cannot be kept in place"):
        _key(torch, type("Cache", (), {})())
    graph = Graph(["net"])
    with pytest.raises(RuntimeError, match="with gradients"):
        graph._graph(torch, print, (torch.ones(2, requires_grad=True),), {})
    graph.graphs = dict.fromkeys(range(MOST_GRAPHS))
    with torch.no_grad(), pytest.raises(RuntimeError, match="change from call to call"):
        graph._graph(torch, print, (torch.ones(2),), {})


def test_containers_keep_their_kind():
    from collections import namedtuple
    pair = namedtuple("Pair", "a b")(torch.ones(1), 2)
    got = tensors_mapped({"x": [pair, (torch.ones(1),)]}, lambda t: t + 1)
    assert type(got["x"][0]) is type(pair) and got["x"][0].a == 2 and got["x"][1][0] == 2


def test_random_numbers_are_put_back():
    mine = torch.Generator().manual_seed(3)
    state = RandomState((mine,), {"generator": [mine]})
    drawn = [random.random(), torch.rand(1).item(), torch.rand(1, generator=mine).item()]
    state.restore()
    assert drawn == [random.random(), torch.rand(1).item(), torch.rand(1, generator=mine).item()]


def test_errors_name_the_users_line():
    def users():
        return torch.ones(2) @ torch.ones(3)

    try:
        users()
    except RuntimeError as why:
        found = places.of_error(why)
    assert found["type"] == "RuntimeError" and found["source"]["function"] == "users"
    assert places.name_of(users) == "users"


def test_few_calls_are_made_again(tmp_path):
    """The last call is repeated with the same random numbers; the program notices nothing."""
    found = units.Units(Log(str(tmp_path)), {"repeat": {"at": 0, "times": 3}})
    torch.manual_seed(1)
    drawn = []

    def call():
        drawn.append(torch.rand(1).item())
        return drawn[-1]

    assert found.around("f", call, (), {}) == drawn[0]
    after = torch.rand(1).item()
    assert drawn == [drawn[0]] * 4
    torch.manual_seed(1)
    assert [torch.rand(1).item(), torch.rand(1).item()] == [drawn[0], after]
    made = Trial(str(tmp_path), [])
    read(made)
    assert len(made.series["call:f"]) == 4


def test_steps_and_calls_inside_calls(tmp_path):
    found = units.Units(Log(str(tmp_path)), {})
    found.around("outer", lambda: (found.around("inner", int, (), {}), found.step("x")), (), {})
    for _ in range(3):
        found.step("loop")
    found.flush(True)
    made = Trial(str(tmp_path), [])
    read(made)
    assert {k: len(v) for k, v in made.series.items()} == {"call:outer": 1, "step:loop": 2}


def test_switching_takes_no_time_of_a_unit(tmp_path, monkeypatch):
    """What is done between two steps, such as a collection of garbage, is neither's."""
    clock = [0.0]
    monkeypatch.setattr(device.time, "perf_counter", lambda: clock[0])
    found = units.Units(Log(str(tmp_path)), {"turns": []})

    def switch(k):
        found.is_switched = k == 1
        clock[0] += 100 if k == 1 else 0

    found.on_unit = switch
    for _ in range(4):
        clock[0] += 1
        found.step("loop")
    found.flush(True)
    made = Trial(str(tmp_path), [])
    read(made)
    assert made.series["step:loop"] == [1000, 1000, 1000]


def test_a_program_that_closes_all_descriptors(tmp_path):
    """Daemons do. Nothing is lost, and nothing lands in the file that gets the number."""
    log = Log(str(tmp_path))
    log.write("first")
    os.close(log._file)
    log.write("second")
    os.close(log._file)
    with open(tmp_path / "theirs", "w") as theirs:
        assert theirs.fileno() == log._file
        log.write("third")
    assert (tmp_path / "theirs").read_text() == ""
    (ours,) = tmp_path.glob("units-*.jsonl")
    assert [json.loads(line)["what"] for line in ours.open()] == ["first", "second", "third"]


# ---- fixes that are switched while the program runs ----


def shared(spec):
    """A fix in a process in which others have their turns, too: it begins without it."""
    fix = fixes.parse(spec)
    fix.is_shared, fix.is_on = True, False
    return fix


@pytest.mark.parametrize("spec", ["bf16:net", "channels_last:net"])
def test_weights_are_back_where_they_were(spec):
    net = torch.nn.Conv2d(3, 4, 3).eval()
    x, fix = torch.ones(1, 3, 8, 8), shared(spec)
    with torch.no_grad():
        plain = net(x)
        places = [p.data_ptr() for p in net.parameters()]
        fix.on_module(net)
        assert torch.equal(net(x), plain)
        for _ in range(2):
            fix.switch(True)
            assert net.weight.dtype == torch.bfloat16 or net.weight.is_contiguous(
                memory_format=torch.channels_last)
            assert torch.allclose(net(x), plain, atol=0.05) and net(x).dtype == plain.dtype
            fix.switch(False)
            assert torch.equal(net(x), plain)
            assert [p.data_ptr() for p in net.parameters()] == places


def test_weights_that_are_trained_are_kept():
    net, fix = torch.nn.Conv2d(3, 4, 3), shared("channels_last:net")
    fix.on_module(net)
    fix.switch(True)
    with torch.no_grad():
        net.weight.add_(1)
    kept = net.weight.detach().clone()
    fix.switch(False)
    assert torch.equal(net.weight, kept) and net.weight.is_contiguous()


@pytest.mark.parametrize("spec", ["fused_optimizer", "foreach_optimizer"])
def test_an_optimizer_is_switched(spec, monkeypatch):
    """It computes the same, in whichever way it counts its steps."""
    for name in ("Adam", "AdamW", "SGD"):
        monkeypatch.setattr(getattr(torch.optim, name), "__init__",
                            getattr(torch.optim, name).__init__)
    fix = shared(spec)
    fix.classes = lambda optim: [optim.Adam, optim.AdamW, optim.SGD]
    fix.on_torch(torch)

    def trained(switched):
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 4)
        made = torch.optim.AdamW(net.parameters(), lr=0.1, foreach=False)
        for k in range(8):
            if switched:
                fix.switch(k % 3 != 0)
                assert made.param_groups[0][fix.sets] == (k % 3 != 0) or k % 3 == 0
            made.zero_grad()
            net(torch.ones(2, 4)).sum().backward()
            made.step()
        fix.switch(False)
        assert made.param_groups[0]["foreach"] is False and not made.param_groups[0]["fused"]
        return net.weight.detach()

    assert torch.allclose(trained(False), trained(True), atol=1e-5)


def test_an_optimizer_that_is_so_already(monkeypatch):
    """Nothing is tried where every optimizer is made with the option; one that is not is reason enough."""
    from strata._try.fixes.base import Already
    monkeypatch.setattr(torch.optim.AdamW, "__init__", torch.optim.AdamW.__init__)
    fix = shared("fused_optimizer")
    fix.classes = lambda optim: [optim.AdamW]
    fix.on_torch(torch)
    net = torch.nn.Linear(4, 4)
    fix.on_first_unit()  # none yet
    torch.optim.AdamW(net.parameters(), fused=True)
    with pytest.raises(Already, match="makes AdamW with fused=True already"):
        fix.on_first_unit()
    torch.optim.AdamW(net.parameters())
    fix.on_first_unit()


def test_workers_are_gone_when_the_program_ends(monkeypatch):
    """Those that are kept for the next epoch, too: older torch waits for each of them."""
    from torch.utils.data import dataloader
    registered = []
    for name in ("__init__", "_get_iterator"):
        monkeypatch.setattr(dataloader.DataLoader, name, getattr(dataloader.DataLoader, name))
    monkeypatch.setattr(fixes.loader.atexit, "register", lambda *call: registered.append(call))
    fixes.parse("loader:2")._dataloader(dataloader)
    loader = dataloader.DataLoader(list(range(8)), batch_size=2)
    assert [x.tolist() for x in loader] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    workers = loader._iterator._workers
    assert len(workers) == 2 and all(w.is_alive() for w in workers)
    for action, *args in [call for call in registered if call[0] is fixes.loader._end_workers]:
        action(*args)
    assert not any(w.is_alive() for w in workers)


class Pids(torch.utils.data.Dataset):
    """Who made a sample: the sample itself, and the process."""

    def __init__(self, n, broken=-1):
        self.n, self.broken, self.pid = n, broken, os.getpid()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == self.broken and os.getpid() != self.pid:
            raise RuntimeError("not in a worker")
        return torch.tensor([i, os.getpid()])


@pytest.fixture
def shared_loader(monkeypatch):
    """loader:2 where fixes have their turns, and what has failed."""
    from torch.utils.data import dataloader
    for name in ("__init__", "__iter__", "_get_iterator"):
        monkeypatch.setattr(dataloader.DataLoader, name, getattr(dataloader.DataLoader, name))
    fix, fix.why = shared("loader:2"), []

    def failed(fix, why):
        fix.why.append(why)
        fix.switch(False)

    fix.failed = failed
    fix._dataloader(dataloader)
    return fix


@pytest.mark.parametrize("own", [{"batch_size": 2}, {"batch_size": None}, {"batch_size": 2, "num_workers": 1},
                                 {"batch_size": 2, "num_workers": 1, "persistent_workers": True}])
def test_batches_are_made_by_whoever_is_on(shared_loader, own):
    """Each of them once, in the order that the program would have them, in every epoch."""
    fix, here = shared_loader, os.getpid()
    plain, loader = (torch.utils.data.DataLoader(Pids(60), shuffle=True, **own, generator=torch.Generator())
                     for _ in range(2))
    unchanged = torch.utils.data.DataLoader.__iter__.__wrapped__
    expected = [batch.reshape(-1, 2)[:, 0].tolist() for batch in unchanged(plain)]
    assert len(iter(loader)) == len(loader) == len(expected)
    loader = torch.utils.data.DataLoader(Pids(60), shuffle=True, **own, generator=torch.Generator())
    found, makers = [], set()
    for k, batch in enumerate(loader):
        batch = batch.reshape(-1, 2)
        found.append(batch[:, 0].tolist())
        on = fix.is_on
        by = set(batch[:, 1].tolist())
        assert (here not in by) == (on or "num_workers" in own)
        makers |= by if on else set()
        fix.switch(k % 7 in (1, 2, 3))
    assert found == expected and len(makers) == 2
    fix.switch(True)
    again = [x for batch in loader for x in batch.reshape(-1, 2)[:, 0].tolist()]
    assert sorted(again) == list(range(60)) and not fix.why
    assert makers == {pid for batch in loader for pid in batch.reshape(-1, 2)[:, 1].tolist()}  # they are kept


def test_no_worker_goes_on_while_it_is_off(shared_loader):
    loader = torch.utils.data.DataLoader(Pids(100))
    batches = iter(loader)
    for on in (False, True, False):
        shared_loader.switch(on)
        next(batches)
    inner = batches.ways[True].loader._iterator
    assert inner._tasks_outstanding == 0 and all(w.is_alive() for w in inner._workers)


def test_a_sample_that_workers_cannot_make(shared_loader):
    """The program makes it itself, and the fix has failed."""
    loader = torch.utils.data.DataLoader(Pids(20, broken=10))
    shared_loader.switch(True)
    assert [int(batch[0, 0]) for batch in loader] == list(range(20))
    assert len(shared_loader.why) == 1 and "not in a worker" in str(shared_loader.why[0])


def test_iterable_datasets_are_left_alone(shared_loader):
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(4))

    notes = []
    shared_loader.note = lambda fix, what, **more: notes.append((what, more["why"]))
    shared_loader.switch(True)
    assert [int(x) for x in torch.utils.data.DataLoader(Stream())] == [0, 1, 2, 3]
    assert notes == [("skipped", "its dataset is iterable, and each worker would yield all of it")]


@pytest.mark.parametrize("shape,swap,why", [
    ((1, 2, 64, 16), False, ""), ((1, 2, 16, 64), True, "contiguous")])
def test_attention_that_no_fused_kernel_takes(monkeypatch, shape, swap, why):
    """Then nothing is gained, and the report says what it is about the inputs."""
    functional = torch.nn.functional
    monkeypatch.setattr(functional, "scaled_dot_product_attention", functional.scaled_dot_product_attention)
    monkeypatch.setattr(torch.nn.attention, "sdpa_kernel", torch.nn.attention.sdpa_kernel)
    fix, said = shared("attention:flash"), []
    fix.failed = lambda _, error: said.append(places.of_error(error))
    own = functional.scaled_dot_product_attention
    fix.on_torch(torch)
    fix.switch(True)
    assert functional.scaled_dot_product_attention is own  # the program has not begun
    fix.switch(False)
    fix.on_first_unit()
    x = torch.randn(shape).transpose(2, 3) if swap else torch.randn(shape)
    plain = functional.scaled_dot_product_attention(x, x, x)
    for k in range(70):
        fix.switch(k % 10 != 0)
        assert torch.allclose(functional.scaled_dot_product_attention(x, x, value=x), plain)
    for _ in range(20):
        functional.scaled_dot_product_attention(x, x, x)
    fix.switch(False)
    assert functional.scaled_dot_product_attention is own
    assert len(said) == bool(why)
    if why:
        assert why in said[0]["message"] and said[0]["source"]["file"] == __file__


def test_settings_are_the_programs_own_while_it_is_off():
    own = torch.backends.cuda.flash_sdp_enabled(), torch.get_float32_matmul_precision()
    plain = torch.nn.attention.sdpa_kernel
    attend = torch.nn.functional.scaled_dot_product_attention
    try:
        torch.backends.cuda.enable_flash_sdp(False)
        attention, tf32 = shared("attention:flash"), shared("tf32")
        for fix in (attention, tf32):
            fix.on_torch(torch)
            fix.on_first_unit()
        assert not torch.backends.cuda.flash_sdp_enabled()
        for fix in (attention, tf32):
            fix.switch(True)
        assert torch.backends.cuda.flash_sdp_enabled()
        assert torch.get_float32_matmul_precision() == "high"
        for fix in (attention, tf32):
            fix.switch(False)
        assert not torch.backends.cuda.flash_sdp_enabled()
        assert torch.get_float32_matmul_precision() == own[1]
    finally:
        torch.nn.attention.sdpa_kernel = plain
        torch.nn.functional.scaled_dot_product_attention = attend
        torch.backends.cuda.enable_flash_sdp(own[0])
        torch.set_float32_matmul_precision(own[1])


@pytest.mark.slow
def test_what_the_program_has_frozen_stays_so():
    fix = shared("gc:freeze")
    fix.at_start()
    gc.freeze()
    try:
        with pytest.raises(Unfit, match="calls gc.freeze"):
            fix.switch(True)
        assert gc.get_freeze_count()
    finally:
        gc.unfreeze()
    for _ in range(2):
        fix.switch(True)
        assert gc.get_freeze_count()
        fix.switch(False)
        assert not gc.get_freeze_count()


@pytest.mark.slow
def test_what_python_itself_has_frozen_is_no_obstacle():
    """CPython 3.12 begins with some hundred objects frozen."""
    fix = shared("gc:freeze")
    gc.freeze()
    try:
        fix.at_start()
        fix.switch(True)
        fix.switch(False)
    finally:
        gc.unfreeze()


def test_a_static_cache_where_the_choice_is_open():
    """While it is on, and where the program has not chosen a cache itself."""
    class Mixin:
        generation_config = types.SimpleNamespace(cache_implementation=None)

        def generate(self, *args, **kwargs):
            if "breaks" in kwargs and "cache_implementation" in kwargs:
                raise ValueError("this model has no static cache")
            return args, kwargs

    fix, model, seen, failed = shared("static_cache"), Mixin(), [], []
    fix.note = lambda *args, **kwargs: seen.append(kwargs["source"]["function"])
    fix.failed = lambda broken, why: (failed.append(str(why)), broken.switch(False))
    fix._generation(types.SimpleNamespace(GenerationMixin=Mixin))
    static = {"cache_implementation": "static"}
    assert model.generate(1, n=2) == ((1,), {"n": 2})
    fix.switch(True)
    assert model.generate(1, n=2) == ((1,), {"n": 2, **static})
    for own in ({"past_key_values": 1}, {"use_cache": False}, {"cache_implementation": "quantized"},
                {"generation_config": types.SimpleNamespace(cache_implementation="offloaded")}):
        assert model.generate(**own) == ((), own)
    assert model.generate(breaks=1) == ((), {"breaks": 1})
    assert set(failed) == {"this model has no static cache"} and not fix.is_on
    assert seen == ["test_a_static_cache_where_the_choice_is_open"]


def test_pinned_buffers_are_used_again_when_they_were_read():
    """Not before: the device would read what was written for the next copy."""
    class Event:
        is_done = False

        def record(self, stream):
            assert stream == "of the device"
            events.append(self)

        def query(self):
            return self.is_done

    def empty(size, dtype, pin_memory):
        assert pin_memory
        return torch.empty(size, dtype=dtype)

    events = []
    cuda = types.SimpleNamespace(Event=Event, is_current_stream_capturing=lambda: False,
                                 current_stream=lambda device: "of the device")
    buffers = pinned_uploads.Buffers(types.SimpleNamespace(cuda=cuda, empty=empty, uint8=torch.uint8))
    seen = []
    for k in range(4):
        with buffers.of(torch.full((2, 3), float(k))) as pinned:
            assert pinned.shape == (2, 3) and pinned.eq(k).all()
            seen.append(pinned)
        events[0].is_done = k > 0
    places = [p.data_ptr() for p in seen]
    assert len(set(places)) == 3 and places[2] == places[0]
    assert seen[1].eq(1).all() and seen[3].eq(3).all()


def test_a_fix_that_breaks_is_off_from_then_on():
    """In a process with others; the program gets what it would have got without it."""
    net, fix = torch.nn.Linear(2, 2).eval(), shared("bf16:net")
    failed = []

    def fail(broken, why):
        failed.append(str(why))
        broken.switch(False)

    fix.failed = fail
    fix.call = lambda plain, args, kwargs: 1 / 0
    with torch.no_grad():
        plain = net(torch.ones(1, 2))
        fix.on_module(net)
        fix.switch(True)
        assert torch.equal(net(torch.ones(1, 2)), plain)
    assert failed == ["division by zero"] and not fix.is_on


def test_anomaly_detection_is_off_while_the_fix_is_on(monkeypatch):
    monkeypatch.setattr(torch, "set_anomaly_enabled", torch.set_anomaly_enabled)
    sites = []
    fix = fixes.parse("no_anomaly")
    fix.note = lambda *a, **k: sites.append(a[1])
    fix.on_torch(torch)
    with torch.autograd.detect_anomaly():
        assert not torch.is_anomaly_enabled() and sites == ["site"]
        fix.switch(False)
        assert torch.is_anomaly_enabled()
        fix.switch(True)
        assert not torch.is_anomaly_enabled()
    fix.switch(False)
    assert not torch.is_anomaly_enabled()


def test_determinism_is_the_programs_own_while_the_fix_is_off(monkeypatch):
    monkeypatch.setattr(torch, "use_deterministic_algorithms", torch.use_deterministic_algorithms)
    fix = fixes.parse("no_determinism")
    fix.on_torch(torch)
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert not torch.are_deterministic_algorithms_enabled()
    fix.switch(False)
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(False)
    assert not torch.are_deterministic_algorithms_enabled()


def test_memory_history_is_switched_as_the_program_wants_it(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", lambda *a, **k: calls.append((a, k)))
    fix = fixes.parse("no_memory_history")
    fix.on_torch(torch)
    fix.switch(True)
    torch.cuda.memory._record_memory_history(max_entries=9)
    assert calls == []
    fix.switch(False)
    fix.switch(True)
    torch.cuda.memory._record_memory_history(enabled=None)
    assert calls == [((), {"max_entries": 9}), ((), {"enabled": None}), ((), {"enabled": None})]


def test_checkpointed_functions_run_once(monkeypatch):
    import torch.utils.checkpoint as library
    monkeypatch.setattr(library, "checkpoint", library.checkpoint)
    fix = fixes.parse("no_checkpointing")
    fix.on_torch(torch)
    runs = []

    def layer(x, scale=1):
        runs.append(scale)
        return (x * scale).sin()

    for on, expected in ((True, 1), (False, 2)):
        fix.switch(on)
        runs.clear()
        x = torch.ones(3, requires_grad=True)
        library.checkpoint(layer, x, scale=2, use_reentrant=False).sum().backward()
        assert len(runs) == expected and torch.allclose(x.grad, 2 * torch.cos(2 * torch.ones(3)))


def test_weight_norm_is_folded():
    old = torch.nn.utils.weight_norm(torch.nn.Conv1d(2, 2, 3))
    new = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(2, 2, 3))
    model = torch.nn.Sequential(old, new).eval()
    x = torch.randn(1, 2, 9)
    expected = model(x)
    fix = fixes.parse("no_weight_norm:model")
    fix.on_module(model)
    assert torch.allclose(model(x), expected) and not old._forward_pre_hooks
    assert not torch.nn.utils.parametrize.is_parametrized(new)
    with pytest.raises(Unfit, match="weight norm"):
        fix.on_module(model)
    fix.is_training = True
    with pytest.raises(Unfit, match="trains"):
        fix.on_module(model)


@pytest.fixture
def attention(monkeypatch):
    """Masks that scaled_dot_product_attention got."""
    masks = []
    plain = torch.nn.functional.scaled_dot_product_attention

    def attend(q, k, v, attn_mask=None, **how):
        masks.append(attn_mask)
        return plain(q, k, v, attn_mask, **how)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", attend)
    return masks


@pytest.mark.parametrize("mask,is_open", [
    (torch.ones(4, 4, dtype=torch.bool), True), (torch.zeros(4, 4), True),
    (torch.ones(4, 4, dtype=torch.bool).tril(), False), (torch.full((4, 4), -1.0), False)])
def test_masks_that_mask_nothing_are_dropped(attention, mask, is_open):
    fix = fixes.parse("no_mask")
    fix.switch(True)
    x = torch.randn(1, 1, 4, 8)
    torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    fix.switch(False)
    torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    assert (attention[0] is None) == is_open and attention[1] is mask


def test_a_mask_that_once_masked_something_stays(attention):
    fix = fixes.parse("no_mask")
    x = torch.randn(1, 1, 4, 8)
    fix.switch(True)
    for mask in (torch.ones(4, 4, dtype=torch.bool).tril(), torch.ones(4, 4, dtype=torch.bool)):
        torch.nn.functional.scaled_dot_product_attention(x, x, x, mask)
    fix.switch(False)
    assert all(mask is not None for mask in attention)


class Adapted(torch.nn.Module):
    """A layer as PEFT makes it."""

    def __init__(self):
        super().__init__()
        self.base, self.merged = torch.nn.Linear(2, 2, bias=False), False
        self.delta = torch.randn(2, 2) / 3

    def get_base_layer(self):
        return self.base

    def merge(self):
        self.base.weight.data += self.delta
        self.merged = True

    def unmerge(self):
        self.base.weight.data -= self.delta
        self.merged = False


def test_adapters_are_merged_while_the_fix_is_on():
    model = torch.nn.Sequential(Adapted(), torch.nn.ReLU())
    before = model[0].base.weight.detach().clone()
    fix = fixes.parse("merged_adapters:model")
    fix.on_module(model)
    assert model[0].merged and torch.equal(model[0].base.weight, before + model[0].delta)
    fix.switch(False)
    assert not model[0].merged and torch.equal(model[0].base.weight, before)
    with pytest.raises(Unfit, match="adapter"):
        fixes.parse("merged_adapters:model").on_module(torch.nn.Linear(2, 2))
    fix.is_training = True
    with pytest.raises(Unfit, match="trains"):
        fix.on_module(model)


def test_cudnn_is_kept_out_of_attention_while_the_fix_is_on(monkeypatch):
    from torch.nn.attention import SDPBackend
    monkeypatch.setattr(torch.nn.attention, "sdpa_kernel", torch.nn.attention.sdpa_kernel)
    fix = fixes.parse("no_cudnn_attention")
    own = torch.backends.cuda.cudnn_sdp_enabled()
    fix.on_torch(torch)
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    with torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        assert not torch.backends.cuda.cudnn_sdp_enabled() and torch.backends.cuda.flash_sdp_enabled()
    fix.switch(False)
    assert torch.backends.cuda.cudnn_sdp_enabled() == own


def test_workers_that_there_are_stay(monkeypatch):
    from torch.utils.data import DataLoader
    monkeypatch.setattr(DataLoader, "__init__", DataLoader.__init__)
    sites = []
    fix = fixes.parse("persistent_workers")
    fix.note = lambda *a, **k: sites.append(a[1])
    fix._dataloader(sys.modules["torch.utils.data.dataloader"])
    assert DataLoader([1], num_workers=1).persistent_workers and sites == ["site"]
    assert not DataLoader([1]).persistent_workers and len(sites) == 1


def test_tiles_are_left_out():
    class Codec(torch.nn.Module):
        use_tiling, use_slicing = True, False

    codec = Codec()
    fix = fixes.parse("no_tiling:vae")
    fix.on_module(codec)
    assert not codec.use_tiling
    fix.switch(False)
    assert codec.use_tiling and not codec.use_slicing
    codec.use_tiling = False
    with pytest.raises(Already, match="tiles"):
        fixes.parse("no_tiling:vae").on_module(codec)
    with pytest.raises(Unfit, match="tiling"):
        fixes.parse("no_tiling:vae").on_module(torch.nn.Linear(1, 1))


def test_threads_are_the_programs_own_while_the_fix_is_off(monkeypatch):
    own = torch.get_num_threads()
    monkeypatch.setattr(torch, "set_num_threads", torch.set_num_threads)
    fix = fixes.parse("threads:2")
    fix.on_torch(torch)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 2
    fix.switch(False)
    assert torch.get_num_threads() == 1
    fix.plain(own)


@pytest.mark.parametrize("text,numbers", [("0-3,8\n", {0, 1, 2, 3, 8}), ("5", {5}), ("\n", set())])
def test_lists_of_processors(text, numbers):
    from strata._base import process_settings
    assert process_settings.read_list(text) == numbers
    assert process_settings.cpus_of("no such device") == set()


@pytest.mark.parametrize("finding,spec", [
    ({"rule": "settings", "subject": "torch.autograd.set_detect_anomaly"}, "no_anomaly"),
    ({"rule": "settings", "subject": "CUDA_LAUNCH_BLOCKING"}, "no_launch_blocking"),
    ({"rule": "settings", "subject": "torch.use_deterministic_algorithms"}, "no_determinism"),
    ({"rule": "repeated_work", "fix": "torch.utils.checkpoint.checkpoint"}, "no_checkpointing"),
    ({"rule": "repeated_work", "fix": "torch.nn.utils.remove_weight_norm"}, "no_weight_norm:model"),
    ({"rule": "slow_attention", "fix": "Pass no mask (attn_mask=None)"}, "no_mask"),
    ({"rule": "cheaper_way", "fix": "model.merge_and_unload() of PEFT"}, "merged_adapters:model"),
])
def test_findings_about_settings_ask_for_one_fix(finding, spec):
    assert fixes.from_finding({**finding, "predicted_gain_pct": 7.0}, "") == [(spec, 7.0)]


@pytest.mark.parametrize("layer,order", [(torch.nn.Conv2d(1, 1, 1), "channels_last"),
                                         (torch.nn.Conv3d(1, 1, 1), "channels_last_3d")])
def test_the_order_fits_the_convolutions(layer, order):
    fix = fixes.parse("channels_last:vae")
    assert fix.code("vae", fix.seen_of(layer))[0].text == [f"vae.to(memory_format=torch.{order})"]
    finding = {"rule": "cheaper_way", "fix": "model.to(memory_format=torch.channels_last_3d)",
               "predicted_gain_pct": 9.0}
    assert fixes.from_finding(finding, "vae") == [("channels_last:vae", 9.0)]

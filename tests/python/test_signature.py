"""Descriptions of what goes in and out: every kind of value, ranges, budgets, and the way back."""
import collections
import dataclasses
import functools
import json
import math

import pytest

torch = pytest.importorskip("torch")


@dataclasses.dataclass
class Settings:
    scale: float
    size: tuple
    mask: object = None


Point = collections.namedtuple("Point", "x y")


@pytest.fixture
def describe(strata):
    """Describes one argument through the whole path: decorator, file, JSON."""
    def through(value):
        from strata._report.timing import signatures

        @strata.stage("described")
        def fn(argument):
            return argument

        strata.reset()
        fn(value)
        found = json.loads(json.dumps(signatures()))["stages"]["described"]["signatures"]
        assert len(found) == 1 and found[0]["count"] == 1
        assert found[0]["inputs"]["argument"] == found[0]["output"]
        return found[0]["output"]

    return through


def test_plain_values(describe):
    assert describe(None) == {"kind": "value", "value": None}
    assert describe(True) == {"kind": "value", "value": True}
    assert describe("euler") == {"kind": "value", "value": "euler"}
    assert describe(3) == {"kind": "value", "value": 3, "range": [3, 3]}
    assert describe(0.5) == {"kind": "value", "value": 0.5, "range": [0.5, 0.5]}
    assert describe(math.inf) == {"kind": "value", "value": "inf"}
    assert describe(10**30)["value"] == 1e30
    assert describe("x" * 1000) == {"kind": "value", "value": "(hidden)", "hidden": 1000}


def test_tensors(describe):
    t = torch.randn(4, 6).to(torch.bfloat16).t()[1:]
    assert describe(t) == {
        "kind": "tensor", "shape": [5, 4], "stride": [1, 6], "dtype": "bfloat16", "device": "cpu",
        "requires_grad": False}
    assert describe(torch.zeros(2, requires_grad=True))["requires_grad"]
    assert describe(torch.tensor([[3, 9], [-2, 4]]))["range"] == [-2, 9]
    assert describe(torch.tensor([True, False]))["range"] == [0, 1]
    assert describe(torch.tensor([True, True]))["range"] == [1, 1]
    assert "range" not in describe(torch.empty(0, dtype=torch.int64))
    assert describe(torch.zeros(3, device="meta"))["device"] == "meta"
    assert describe(torch.eye(2).to_sparse())["layout"] == "sparse_coo"
    assert describe(torch.zeros(2, dtype=torch.float8_e4m3fn))["dtype"] == "float8_e4m3fn"


def test_containers(describe):
    assert describe([]) == {"kind": "list", "items": []}
    assert describe((1, [None]))["items"][1] == {"kind": "list", "items": [
        {"kind": "value", "value": None}]}
    assert describe({"a": torch.ones(1), 3: {}})["items"][1] == [3, {"kind": "dict", "items": []}]
    assert describe({1, 2})["kind"] == "set"
    assert describe(Point(1, 2))["type"].endswith("Point")
    found = describe(Settings(0.5, (1, 2), torch.ones(2, dtype=torch.bool)))
    assert found["kind"] == "dataclass" and found["type"].endswith("test_signature.Settings")
    assert found["fields"]["mask"]["range"] == [1, 1]
    assert describe(list(range(1000)))["length"] == 1000
    assert describe(object()) == {"kind": "object", "type": "builtins.object"}
    deep = current = []
    for _ in range(50):
        current.append([])
        current = current[0]
    assert describe(deep)["kind"] == "list"
    loop = []
    loop.append(loop)
    assert describe(loop)["kind"] == "list"


def test_torch_words(describe):
    assert describe(torch.float16) == {"kind": "dtype", "value": "float16"}
    assert describe(torch.device("cpu")) == {"kind": "device", "value": "cpu"}
    assert describe(torch.Generator()) == {"kind": "generator", "device": "cpu"}


@pytest.mark.parametrize("value", [
    None, True, 7, 0.25, "text", [1, "a", None], (1, (2,)), {"k": [0.5]}, math.inf,
    Settings(1.0, (2,), None), torch.float32, torch.device("cpu"), Point(1, (2,)),
    torch.Size([2, 3])])
def test_values_come_back_as_they_were(describe, value):
    import strata.mock
    assert strata.mock.build(describe(value), types=[__name__]) == value


@pytest.mark.parametrize("value", [
    torch.randn(3, 5).t(), torch.randint(5, 9, (4,)), torch.ones(2, dtype=torch.bool),
    torch.zeros(2, 3, dtype=torch.float8_e4m3fn), torch.randn(2, dtype=torch.complex64),
    torch.zeros((), dtype=torch.int32), torch.randn(2, requires_grad=True),
    torch.arange(3).expand(4, 3), torch.randn(1).expand(2, 5), torch.empty(0, 3),
    torch.arange(24).view(2, 3, 4)[:, 1:, ::2], torch.tensor([-2**63, 2**63 - 1])])
def test_tensors_come_back_alike(describe, value):
    import strata.mock
    made = strata.mock.build(describe(value))
    assert made.shape == value.shape and made.stride() == value.stride()
    assert made.dtype is value.dtype and made.requires_grad == value.requires_grad
    if value.numel() and not value.dtype.is_floating_point and not value.dtype.is_complex:
        assert made.min() >= value.min() and made.max() <= value.max()


def word(value):
    return {"kind": "value", "value": value}


# What a description that someone else wrote must not reach: functions, classes of modules that were
# not named, what a named module has only imported, and names that are no names.
HOSTILE = [
    {"kind": "list", "type": "subprocess.call", "items": [word("touch"), word("MARK")]},
    {"kind": "tuple", "type": "subprocess.call", "items": [word("touch"), word("MARK")]},
    {"kind": "tuple", "type": "subprocess.Popen", "items": [word("touch"), word("MARK")]},
    {"kind": "dict", "type": "subprocess.Popen", "items": [["args", word("touch MARK")]]},
    {"kind": "dataclass", "type": "os.system", "fields": {}},
    {"kind": "dataclass", "type": "test_signature.Opener", "fields": {"path": word("MARK")}},
    {"kind": "dataclass", "type": "json.dataclasses.Opener", "fields": {}},
    {"kind": "dataclass", "type": "collections.Thing", "fields": {}},
    {"kind": "dataclass", "type": "json.b(open('MARK','w'))", "fields": {}},
    {"kind": "dataclass", "type": "Thing", "fields": {}},
    {"kind": "dtype", "value": "hub"},
    {"kind": "dtype", "value": "float32).load('MARK'"},
    {"kind": "tensor", "shape": [1], "dtype": "load", "device": "cpu"},
    {"kind": "tensor", "shape": [1], "dtype": "float32", "device": "cpu", "layout": "load"},
]


@dataclasses.dataclass
class Opener:
    """Building it does something."""
    path: str

    def __post_init__(self):
        open(self.path, "w", encoding="utf-8").close()


@pytest.mark.parametrize("described", HOSTILE, ids=lambda d: d.get("type", d["kind"]))
def test_a_description_names_no_code(described, tmp_path):
    """Neither what is built nor the script that builds it."""
    import strata.mock
    from strata._pipeline.single_call import Maker
    from strata.bench import script
    mark = tmp_path / "called"
    described = json.loads(json.dumps(described).replace("MARK", str(mark)))
    some = ["collections", "json"]  # are allowed: not what is asked for
    for make in (lambda: strata.mock.build(described, types=some),
                 lambda: eval(script.code(described, some), {"make": Maker(), "torch": torch})):
        try:
            assert type(make()) in (list, dict)  # the plain container, at most
        except ValueError:
            pass
        assert not mark.exists()


def test_types_are_built_by_permission(describe):
    import strata.mock
    found = describe(Settings(1.0, (2,)))
    with pytest.raises(ValueError, match=f"--types {__name__}"):
        strata.mock.build(found)
    assert strata.mock.inputs({"inputs": {"a": found}}, types=[__name__])["a"] == Settings(1.0, (2,))
    with pytest.raises(ValueError, match="cannot be generated here"):
        strata.mock.build({**found, "type": f"{__name__}.Nothing"}, types=[__name__])


def test_numbers_differ_without_being_different(strata):
    from strata._report.timing import signatures

    @strata.stage("steps")
    def step(i, t):
        return t

    for i in range(10):
        step(i, torch.tensor([i, 5]))
    step(3, torch.tensor([1, 2, 3]))
    first, second = signatures()["stages"]["steps"]["signatures"]
    assert (first["count"], second["count"]) == (10, 1)
    assert first["inputs"]["i"]["range"] == [0, 9]
    assert first["inputs"]["t"]["range"] == [0, 9]
    assert second["inputs"]["t"]["shape"] == [3]


def test_arguments_by_name(strata):
    from strata._report.timing import signatures

    class Model:
        @strata.stage("named")
        def call(self, a, b=2, *rest, c=4, **more):
            return None

    Model().call(1, 2, 3, c=5, d="x")
    inputs = signatures()["stages"]["named"]["signatures"][0]["inputs"]
    assert {k: v["value"] for k, v in inputs.items()} == {
        "a": 1, "b": 2, "rest[0]": 3, "c": 5, "d": "x"}


def test_by_path(strata):
    from strata._report.timing import signatures

    @strata.stage("inner")
    def inner(x):
        return x

    inner(1)
    with strata.stage("outer"):
        inner("a")
    found = signatures()["stages"]
    assert found["inner"]["signatures"][0]["inputs"]["x"]["value"] == 1
    assert found["outer/inner"]["signatures"][0]["inputs"]["x"]["value"] == "a"


def test_secrets_are_hidden(strata):
    from strata._report.timing import signatures

    @strata.stage("login")
    def login(user, password, api_key=None):
        return None

    login("me", "hunter2", api_key="sk-123")
    text = json.dumps(signatures())
    assert "hunter2" not in text and "sk-123" not in text and '"me"' in text


def test_many_signatures_have_an_end(strata, monkeypatch):
    from strata._record import io_signature
    from strata._report.timing import signatures
    monkeypatch.setattr(io_signature, "SHARE", 1e9)

    @strata.stage("ragged")
    def ragged(t):
        return None

    for n in range(100):
        ragged(torch.zeros(n))
    found = signatures()["stages"]["ragged"]
    assert len(found["signatures"]) == 64
    assert found["further_signatures"] == 36


def test_hot_functions_are_not_looked_at_forever(strata):
    from strata._report.timing import signatures

    @strata.stage("hot")
    def hot(t):
        return None

    t = torch.zeros(3)
    for _ in range(2000):
        hot(t)
    looked = signatures()["stages"]["hot"]["signatures"][0]["count"]
    assert 16 <= looked < 2000
    assert strata.report()["stages"]["hot"]["count"] == 2000


def test_a_shape_that_comes_late_is_seen(strata):
    """Also in a hot function that has spent its share long ago, in containers, and after a reset."""
    from strata._report.timing import signatures

    @strata.stage("late")
    def late(t, *, more=None, flag=False):
        return None

    def shapes():
        return [s["inputs"]["t"]["shape"] for s in signatures()["stages"]["late"]["signatures"]]

    for _ in range(2000):
        late(torch.zeros(3))
    late(torch.zeros(1, 77))
    assert shapes() == [[3], [1, 77]]
    late(torch.zeros(3), more=[torch.zeros(5)])
    late(torch.zeros(3), more={"mask": torch.zeros(6)})
    late(torch.zeros(3), flag=True)
    assert len(shapes()) == 5
    strata.reset()
    late(torch.zeros(3))
    assert shapes() == [[3]]


def test_what_cannot_be_described_does_no_harm(strata):
    class Spiteful:
        def __getattribute__(self, name):
            raise RuntimeError("no")

        __class__ = property(lambda self: 1 / 0)

    @strata.stage("spiteful")
    def fn(x):
        return 5

    assert fn(Spiteful()) == 5
    assert fn(1) == 5
    assert strata.report()["stages"]["spiteful"]["count"] == 2


def test_failed_calls_have_none(strata):
    from strata._report.timing import signatures

    @strata.stage("fails")
    def fn(x):
        raise ValueError

    with pytest.raises(ValueError):
        fn(1)
    assert "fails" not in signatures()["stages"]


def test_switched_off(program):
    done = program("""
        import strata

        @strata.stage("a")
        def fn(x): return x
        fn(1)
    """, STRATA_TEST_SIGNATURES="off", STRATA_TABLE="off")
    assert done.status == 0
    assert not (done.folder() / "timing_io_signature.json").exists()


def test_looking_runs_none_of_the_programs_code(strata):
    """What a property raises would reach the program, and what it takes is the program's time."""
    import dataclasses

    asked = []

    class Asked:
        def __getattribute__(self, name):
            asked.append(name)
            raise KeyboardInterrupt(name)

        def __repr__(self):
            asked.append("repr")
            return "x"

        __hash__ = object.__hash__

    class Computed:
        @property
        def shape(self):
            asked.append("shape")
            raise SystemExit("from .shape")

    class Tuned(torch.Tensor):
        @classmethod
        def __torch_function__(cls, *args, **kwargs):
            asked.append("torch_function")
            return super().__torch_function__(*args, **kwargs)

    class Mapping(dict):
        def items(self):
            asked.append("items")
            return super().items()

    @dataclasses.dataclass
    class Fields:
        kept: int = 1

        @property
        def shape(self):
            asked.append("field")
            return ()

    @strata.stage("asked")
    def call(*values, **named):
        return None

    tuned = torch.ones(2).as_subclass(Tuned)
    asked.clear()
    for value in (Asked(), Computed(), tuned, Mapping(a=Asked()), Fields(), {Asked(): 1}, {Asked()},
                  [Computed()]):
        call(value, named=value)
    assert asked == []


def test_types_and_owners_run_none_of_the_programs_code(strata):
    """Types that compare themselves, modules and hooks that compute what others store."""
    asked = []

    def ask(what):
        asked.append(what)
        raise KeyboardInterrupt(what)

    class Meta(type):
        is_armed = False

        def __hash__(cls):
            return ask("hash") if Meta.is_armed else 1

        def __eq__(cls, other):
            return ask("eq") if Meta.is_armed else cls is other

        def __getattribute__(cls, name):
            return ask(name) if Meta.is_armed else super().__getattribute__(name)

    class Plain(metaclass=Meta):
        pass

    class Listed(list, metaclass=Meta):
        pass

    class Pair(tuple, metaclass=Meta):
        pass

    class Hook:
        def __getattr__(self, name):
            ask(f"hook.{name}")

        def __call__(self, *args):
            return None

    class Odd(torch.nn.Module):
        @property
        def training(self):
            return ask("training")

        @training.setter
        def training(self, value):
            pass

        def modules(self):
            return ask("modules")

        @strata.stage("odd")
        def forward(self, x):
            return x

    class Slots:
        __slots__ = ()

        @property
        def __dict__(self):
            return ask("dict")

        @strata.stage("slots")
        def step(self, x):
            return x

    @strata.stage("typed")
    def call(*values, **named):
        return values[0]

    values = [Plain(), Listed([1]), Pair((1, 2)), Plain]
    odd = Odd()
    odd._forward_hooks[1] = Hook()
    Meta.is_armed = True
    for value in values:
        call(value, [value], named={"a": value})
    Meta.is_armed = False
    odd.forward(1)
    Slots().step(1)
    assert asked == []


def test_hooks_of_modules_and_of_those_inside(strata):
    from strata._record import call_state

    inner = torch.nn.Linear(1, 1)
    outer = torch.nn.Sequential(inner, torch.nn.Sequential(inner))

    def watch(*args):
        return None

    inner.register_forward_hook(watch)
    outer.register_forward_pre_hook(watch)
    outer.register_forward_pre_hook(functools.partial(watch))
    name = watch.__qualname__
    assert call_state.hooks(outer) == {name: 2, "partial": 1}
    assert call_state.hooks(torch.nn.ReLU()) == {}


def test_texts_are_kept_only_where_they_are_harmless(strata):
    from strata._report.timing import signatures

    @strata.stage("request")
    def request(*args, **named):
        return {"access_token": "letters"}

    @dataclasses.dataclass
    class Login:
        user: str
        password: str
        pin: int

    request("sk-proj-abcdefghijklmnop", "9f86d081884c7d659a2feaa0c55ad015",
            headers={"Authorization": "Bearer letters"},
            cfg={"inner": {"hf_token": "letters"}}, url="https://user:letters@host/x",
            aws={"SecretAccessKey": "letters"},
            auth=("user", "letters"), login=Login("me", "letters", 4711), prompt="my name is letters",
            mode="euler-a", sizes=["512x512", "fp16"], by={"meet letters at noon": 1})
    text = json.dumps(signatures())
    for secret in ("letters", "sk-proj", "9f86d081884c", "4711"):
        assert secret not in text
    for word in ("euler-a", "512x512", "fp16"):
        assert word in text

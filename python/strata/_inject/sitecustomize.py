"""What a Python started by `strata run` loads first (this folder is in front of its path).

It makes the strata package importable, waits for torch to be imported, and gets out of the way: its
folder leaves sys.path, and the sitecustomize the program would have loaded without Strata is loaded
now. Whatever goes wrong on our side is dropped. Any Python may come by here, also one that is too
old for strata (a tool that the program starts): for those only the last part counts."""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = os.path.dirname(os.path.dirname(_HERE))


class _Package(object):
    """Finds strata and nothing else: what lies beside it may be another Python's."""

    def find_spec(self, name, path=None, target=None):
        if name != "strata":
            return None
        from importlib.machinery import PathFinder
        return PathFinder.find_spec(name, [_PACKAGES])


class _Waiter(object):
    """Imports strata just before torch, so that programs without it pay nothing."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        try:
            import strata
            del strata
        except Exception:
            pass
        import importlib.util
        return importlib.util.find_spec(name)  # by finders that strata has put in front


class _JaxWaiter(object):
    """Adds to two JAX modules what a timeline needs to know of them, once they are loaded. Reads
    one file of the package, not the package."""

    names = ("jax._src.array", "jax._src.compiler")

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        from importlib.machinery import PathFinder
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            try:
                _jax_side().WATCHED[name](module)
            except Exception:
                pass
        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _jax_side():
    from importlib.util import module_from_spec, spec_from_file_location
    name = "strata._timeline.jax_side"
    if name not in sys.modules:
        path = os.path.join(os.path.dirname(_HERE), "_timeline", "jax_side.py")
        spec = spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


def _flush():
    """What the GPU has done by now goes to the files, if the library of a timeline is loaded."""
    try:
        import ctypes
        ctypes.CDLL(os.environ["STRATA_INJECT"], mode=os.RTLD_NOLOAD | os.RTLD_NOW).strata_inject_flush()
    except Exception:
        pass


def _flush_before_the_end():
    """Before libraries take their devices down: JAX does so in an exit handler, and what CUPTI has
    not handed over by then is lost. os._exit runs no handlers at all."""
    if not os.environ.get("STRATA_INJECT"):
        return
    import threading
    threading._register_atexit(_flush)  # type: ignore[attr-defined]  # before all of atexit's
    leave = os._exit

    def _exit(status):
        _flush()
        leave(status)
    os._exit = _exit


def _leave_path():
    """By all names of the folder: one of them may lead through a link."""
    here = os.path.realpath(_HERE)
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or os.curdir) != here]


def _is_first():
    """Whether no other copy of us was here before: a program started by one strata may start another."""
    first = not hasattr(sys, "strata_injected")
    sys.strata_injected = True  # type: ignore[attr-defined]
    return first


def _begin():
    if sys.version_info < (3, 10) or not _is_first():
        return
    sys.meta_path.append(_Package())  # the last: one that is installed is found before
    sys.meta_path.insert(0, _Waiter())
    if os.environ.get("STRATA_INJECT"):
        sys.meta_path.insert(0, _JaxWaiter())
    _flush_before_the_end()
    if os.environ.get("STRATA_TRY"):  # a trial of `strata try`
        from strata._try.inside import start
        start.begin(os.environ["STRATA_TRY"])


def _hand_on():
    """Loads the sitecustomize that would have been loaded without Strata."""
    try:
        from importlib.machinery import PathFinder
        from importlib.util import module_from_spec
    except ImportError:  # Python 2
        return _hand_on_old()
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _hand_on_old():
    import imp
    try:
        found = imp.find_module("sitecustomize", sys.path)
    except ImportError:
        return
    try:
        imp.load_module("sitecustomize", *found)  # type: ignore[arg-type]
    finally:
        if found[0]:
            found[0].close()


try:
    _leave_path()
    _begin()
except Exception:
    pass
_hand_on()

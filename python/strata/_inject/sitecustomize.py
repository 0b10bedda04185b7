"""What a Python started by `strata run` loads first (this folder is in front of its path).

It makes the strata package importable, waits for diffusers to be imported, and gets out of the way:
its folder leaves sys.path, and the sitecustomize the program would have loaded without us is loaded
now. Whatever goes wrong on our side is dropped."""
import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGES = os.path.dirname(os.path.dirname(_HERE))


class _Package:
    """Finds strata and nothing else: what lies beside it may be another Python's."""

    def find_spec(self, name, path=None, target=None):
        if name != "strata":
            return None
        return importlib.machinery.PathFinder.find_spec(name, [_PACKAGES])


class _Waiter:
    """Imports strata just before diffusers, or before torch where a timeline is wanted, so that
    programs without either pay nothing."""

    def __init__(self):
        self.name = "torch" if os.environ.get("STRATA_LEVEL") == "timeline" else "diffusers"

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        try:
            import strata
            del strata
        except Exception:
            pass
        return importlib.util.find_spec(name)  # by finders that strata has put in front


def _begin():
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or os.curdir) != _HERE]
    sys.meta_path.append(_Package())  # the last: one that is installed is found before
    sys.meta_path.insert(0, _Waiter())


def _hand_on():
    """Loads the sitecustomize that would have been loaded without us."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _begin()
except Exception:
    pass
_hand_on()

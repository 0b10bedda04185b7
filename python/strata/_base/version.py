"""The version of the package, and of the interface between it and its extension."""
__version__ = "0.1.0"

INTERFACE = 1

"""What every other folder uses: the extension, settings, files of a run, the device. Knows none of
them."""
import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # libraries are kept here

"""Stages and other marks as the program makes them, and what is noted about each call: times,
device memory, arguments and results."""

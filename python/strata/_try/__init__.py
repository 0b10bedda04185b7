"""`strata try`: fixes applied to an unmodified program from outside, measured against the unchanged
program, alternately.

`driver` starts the program again and again in fresh processes; `inside` is what runs in them: it
applies the fixes of `fixes`, finds the unit that is timed, and writes times and outputs to the
folder of the trial. The two meet in these files only. docs/try.md explains the numbers."""

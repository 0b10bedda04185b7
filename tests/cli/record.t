# What can be recorded is a process or the folder of a run. tests/python/test_attach.py and
# test_standby.py record some.
$ strata record 999999999
! strata: there is no process 999999999
? 2
$ strata record abc
! strata: abc is neither the number of a process nor the folder of a run
? 2
$ mkdir empty; strata record empty
! strata: empty: no process there waits to be recorded. Start the program with strata run --level standby -- COMMAND; strata record lists those that were
? 2
$ strata record 1 2
! strata: unexpected argument '2'; strata record --help has an example
? 2

# Mistakes.
$ strata record empty --at 3s
! strata: unknown option '--at'; see strata record --help
? 2

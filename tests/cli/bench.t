# The front of strata bench: what can be told without Python is told without it.
$ strata bench
! strata: give a timing_io_signature.json and --stage, or only --entry for a whole call; strata bench --help has examples
? 2
$ strata bench a.json b.json
! strata: unexpected argument 'b.json'; strata bench --help has an example
? 2
$ strata bench --entry my_pipe:call --metric speed
! strata: --metric takes one of wall|gpu|cpu, not 'speed'; see strata bench --help
? 2
$ strata bench --entry my_pipe:call --comprae other
! strata: unknown option '--comprae'. Did you mean '--compare'?
? 2
$ strata bench --entry my_pipe:call --python /no/such/python
! strata: cannot run /no/such/python: No such file or directory: use --python to name a Python that has torch
? 2

# Everything else is Python's: the words arrive as they were given, an operand after them.
$ printf '#!/bin/sh\nprintf "%%s\\n" "$@" "STRATA=$STRATA"\n' >fake && chmod +x fake
$ strata bench RUN -s unet_forward --entry=my_pipe:load -n 3 --json --python ./fake
| -m
| strata.bench
| --stage=unet_forward
| --entry=my_pipe:load
| --iterations=3
| --json
| --
| RUN
| STRATA=off
$ printf '#!/bin/sh\nexit 3\n' >fake
$ strata bench RUN --list --python ./fake
? 3

# The front of strata try: what is wrong with the options is said before anything is run.
$ strata try
! strata: give the program to try: strata try -- python pipe.py; strata try --help has examples
? 2
$ strata try --time never -- python pipe.py
! strata: --time takes a time such as 4s, 250ms or 2m, not 'never'
? 2
$ strata try --blocks 0 -- python pipe.py
! strata: --blocks takes a whole number from 1 to 100, not '0'
? 2
$ strata try --units 2 -- python pipe.py
! strata: --units takes a whole number from 3 to 1000000, not '2'
? 2
$ strata try --fxi tf32 -- python pipe.py
! strata: unknown option '--fxi'. Did you mean '--fix'?
? 2
$ strata try --python /no/such/python -- python pipe.py
! strata: cannot run /no/such/python: No such file or directory: use --python to name a Python 3.10 or later
? 2

# Everything else is Python's: the words arrive as they were given, the program after two dashes.
$ printf '#!/bin/sh\nprintf "%%s\\n" "$@" "STRATA=$STRATA"\n' >fake && chmod +x fake
$ strata try -f compile:unet --fix=tf32 -t 60 --json --python ./fake RUN -- python pipe.py --fast -- x
| -m
| strata._try
| --fix=compile:unet
| --fix=tf32
| --time=60
| --json
| --
| RUN
| --
| python
| pipe.py
| --fast
| --
| x
| STRATA=off
$ printf '#!/bin/sh\nexit 3\n' >fake
$ strata try --python ./fake -- python pipe.py
? 3

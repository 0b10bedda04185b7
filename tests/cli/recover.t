# Nothing to recover.
$ mkdir empty && strata recover empty
! strata: empty: this folder has no recordings; expected a trace file or a run folder
? 2
$ strata recover nowhere
! strata: nowhere: cannot open: No such file or directory
? 3

# A program without stages leaves no folder.
$ strata run -o out -- true 2>&1 | sed 's/took .* of memory/took TIME/'
| strata: the program took TIME
| strata: no stages were recorded because the program marks none. To mark stages, use
| strata:     with strata.stage("name"):     in Python (diffusers pipelines are marked already)
| strata:     STRATA_SCOPE("name");          in C and C++
| strata: to record functions, kernels, copies and waits without any, use strata run --level timeline
$ ls out/true

# Its exit status is ours.
$ strata run -o out -- sh -c 'exit 9' 2>/dev/null
? 9
$ strata run -- no-such-program
! strata: cannot run no-such-program: No such file or directory
? 2
$ strata run
! strata: run needs -- COMMAND [ARGUMENT...]; strata run --help has an example
? 2

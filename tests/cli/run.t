# A program without stages leaves no folder.
$ strata run -o out -- true 2>&1 | sed 's/took .* of memory/took TIME/'
| strata: the program took TIME
| strata: no stages were recorded because the program marks none. To mark stages, use
| strata:     with strata.stage("name"):     in Python (diffusers pipelines are marked already)
| strata:     STRATA_SCOPE("name");          in C and C++
| strata: strata run --level timeline records kernels, copies and waits without any, and Python functions where torch is imported
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

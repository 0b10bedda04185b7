# A spelling mistake gets a suggestion, anything else the way to the list.
$ strata hepl
! strata: unknown command 'hepl'. Did you mean 'help'?
? 2
$ strata xyzzy
! strata: unknown command 'xyzzy'. strata help lists them.
? 2

$ strata --version
| strata 0.1.0

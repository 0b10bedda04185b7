# The scripts are accepted by their shells (where installed).
$ for shell in bash zsh fish; do
>   strata help --completion $shell > script
>   command -v $shell > /dev/null || continue
>   $shell -n script || echo "$shell does not like it"
> done

# What bash offers.
$ strata help --completion bash > script
$ . ./script; COMP_WORDS=(strata hel); COMP_CWORD=1; _strata; echo "${COMPREPLY[@]}"
| help
$ . ./script; COMP_WORDS=(strata help --c); COMP_CWORD=2; _strata; echo "${COMPREPLY[@]}"
| --completion --color
$ . ./script; COMP_WORDS=(strata help --completion z); COMP_CWORD=3; _strata; echo "${COMPREPLY[@]}"
| zsh
$ . ./script; COMP_WORDS=(strata help glo); COMP_CWORD=2; _strata; echo "${COMPREPLY[@]}"
| glossary
$ touch trace.json; . ./script; COMP_WORDS=(strata table tr); COMP_CWORD=2; _strata; echo "${COMPREPLY[@]}"
| trace.json

# What fish offers.
$ strata help --completion fish > script
$ command -v fish > /dev/null || { echo help; exit; }; fish -c 'source script; complete -C "strata hel"' | cut -f1
| help

# Manual pages pass their checkers (where installed).
$ for c in "" $(strata help --json | python3 -c 'import json, sys
> for c in json.load(sys.stdin)["commands"]: print(c["name"])'); do
>   strata help $c --man > page
>   if command -v mandoc > /dev/null; then mandoc -T lint -W error page; fi
>   if command -v groff > /dev/null; then groff -man -ww -z page; fi
> done

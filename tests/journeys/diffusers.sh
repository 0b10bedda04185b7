# shellcheck shell=bash disable=SC2016,SC2154
# A diffusers pipeline: which part takes the time, why, and one part alone.
# score 9: stages around a selected one pay for writing its trace; annotate_pipeline alone gives other paths than strata run
show 'strata run -- python sd.py'
for part in encode_prompt unet_forward scheduler vae_decode; do expect "$part"; done
answer
run=$(newest sd)
show "strata stages $run"
expect 'unet_forward +24'
show 'strata run --level timeline -- python sd.py'
reject '[1-9][0-9]{2,}(\.[0-9]+)? ?% of wall'
expect 'shown: 3 calls of pipeline_call'
reject 'import_utils|<module>'
show "strata report $(newest sd) --html page.html"
exists page.html
show 'strata run --only unet_forward --steps 2 -- python sd.py'
expect 'unet_forward'
show "strata report $(newest sd)"
expect 'unet_forward'
expect 'strata report .*unet_forward_trace.json.gz +one call of unet_forward'
show "strata bench $run --list"
expect 'unet_forward'
show "strata bench $run --stage unet_forward --entry sd:load --time 5"
ends_with 0
expect 'unet_forward'
finish

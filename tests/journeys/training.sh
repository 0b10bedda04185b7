# shellcheck shell=bash disable=SC2016,SC2154
# A plain loop and Lightning that wait for their data.
# score 9: the prediction is for four workers, however many are tried
show 'strata run -- python train.py'
expect 'DataLoader'
show 'strata run --level timeline -- python train.py'
expect 'DataLoader'
expect 'strata try --fix loader'
reject 'takes 0\.[0-9]+ ?%'
answer
show 'strata try --fix loader:2 --time 120 -- python train.py'
expect 'loader:2 .* -[1-9][0-9]'
expect 'num_workers=2'
say 'Lightning.'
show 'strata run --level timeline -- python lit.py'
expect 'strata try --fix loader'
finish

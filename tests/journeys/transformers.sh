# shellcheck shell=bash disable=SC2016,SC2154
# generate() and a Trainer, both unchanged.
# score 9: no tokens per second
show 'strata run -- python gen.py'
expect 'generate +4'
expect 'LlamaForCausalLM'
answer
show 'strata run --level timeline -- python gen.py'
reject '[1-9][0-9]{2,}(\.[0-9]+)? ?% of wall'
expect 'LlamaForCausalLM .* [0-9]+ MB'
expect '^strata: gen +[0-9.]+ s wall'
say 'A Trainer whose data is slow.'
show 'strata run -- python trainer.py'
expect 'training_step'
show 'strata run --level timeline -- python trainer.py'
expect 'optimizer.step'
expect 'DataLoader.__next__ +6'
expect 'DataLoader'
expect 'strata try --fix loader'
expect 'The loop waits for data'
finish

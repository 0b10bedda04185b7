"""The words by which a finding names a fix: one regular expression per fix, matched against the rule,
title, subject, function and fix of a finding (judge.py). Whatever the report calls a rule, an engineer
who reads these words knows what to do."""


def both(*words):
    """All of these, in any order."""
    return "(?is)" + "".join(f"(?=.*(?:{w}))" for w in words)


FLASH = r"(?i)scaled_dot_product_attention|\bsdpa\b|\bflash|fused (attention|backend)"
IS_CAUSAL = r"(?i)is_causal|\bmask\b|scaled_dot_product_attention|\bflash"
TF32 = r"(?i)\btf32\b|float32_matmul_precision"
BF16 = r"(?i)\bbf16\b|\bbfloat16\b|half[ -]precision"
BF16_WEIGHTS = both(r"weight|parameter|cast", r"bf16|bfloat16|half|once|dtype")
COMPILE = r"(?i)torch\.compile(?!\(mode=.reduce)|\bfuse\b|\bfused kernel|one kernel"
GRAPH = r"(?i)cuda[ _-]?graph|reduce-overhead"
CHANNELS_LAST = r"(?i)channels_last|\bNHWC\b"
PAD = r"(?i)\bpad|multiple of|\balign|misalign"
BATCH = r"(?i)\bbmm\b|\bbatched\b|\bbaddbmm\b|grouped|larger batch|one (larger )?(product|gemm)"
HOIST = both(r"cast|contiguous|transpos|copy|copies|conversion", r"once|hoist|keep|before the loop|cache")
NO_FILL = r"(?i)torch\.empty|overwritten"
NO_CAT = r"(?i)torch\.cat|preallocat|static cache"
FOREACH = r"(?i)\bforeach\b|_foreach"
FUSED = r"(?i)fused=True|\bfused (optimi[sz]er|adam)"
WORKERS = r"(?i)num_workers|dataloader"
PINNED = r"(?i)\bpin(ned|_memory)?\b|pageable"
NO_SYNC = r"(?i)sync_in_loop|waits for the GPU|\.item\(\)|nonzero"
ON_DEVICE = r"(?i)sync_in_loop|pageable_copy|torch\.tensor|waits for the GPU"
NO_EMPTY_CACHE = r"(?i)empty_cache|allocation_in_loop|allocated (or|and) freed"
GC = r"(?i)garbage|\bgc\b"
GRAPH_BREAK = r"(?i)graph[ -]break|eager_island|cut into pieces|fullgraph"
RECOMPILE = r"(?i)recompil|compiles again|dynamic=True|mark_dynamic"
LOCK = r"(?i)\block\b|\bGIL\b"
PACK = r"(?i)exposed_copy|pageable_copy|small copies|one copy|pin_memory|pinned"

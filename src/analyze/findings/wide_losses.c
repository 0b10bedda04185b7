/* wide_losses.c: the loss over a vocabulary, step by step on tensors as large as all logits:
 *
 *     forward    product   copy to float32   log_softmax   nll_loss
 *     backward   fill, nll_loss_backward   log_softmax_backward   copy to half   product
 *
 * A fused loss reads the logits of the product and writes their gradients, nothing between. Known
 * by the names of kernels, so with and without operators. */
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "base/human.h"

static struct str wide_losses_name(const struct context *cx, uint32_t i)
{
    return trace_name(cx->t, sequence_of(cx)->items[i].work);
}

static bool wide_losses_is_copy(const struct context *cx, uint32_t i)
{
    return str_has(wide_losses_name(cx, i), "copy_kernel");
}

static bool wide_losses_near(const struct context *cx, uint32_t i, const char *word)
{
    const struct sequence *s = sequence_of(cx);
    for (uint32_t k = i + 1; k < s->n && k - i <= (uint32_t)wide_losses_near_kernels; k++)
        if (str_has(wide_losses_name(cx, k), word)) return true;
    return false;
}

/* Item `i` is the softmax of a loss, of numbers that a copy has converted. */
static bool wide_losses_is_forward(const struct context *cx, uint32_t i)
{
    return i > 0 && str_has(wide_losses_name(cx, i), "SoftMaxForward") &&
           wide_losses_is_copy(cx, i - 1) && wide_losses_near(cx, i, "nll_loss");
}

static int wide_losses_take(struct spare_search *x, uint32_t i, struct err *e)
{
    row_t work = sequence_of(x->cx)->items[i].work;
    return kernel_fix_add(&x->spare.fix, x->cx, work,
                          wide_losses_keep_share * (double)x->cx->t->dur_ns[work], e);
}

/* The softmax of the backward pass, the fill before it and the copy after it. */
static int wide_losses_take_backward(struct spare_search *x, uint32_t i, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    TRY(wide_losses_take(x, i, e));
    for (uint32_t k = i; k > 0 && i - k < (uint32_t)wide_losses_near_kernels; k--)
        if (str_has(wide_losses_name(x->cx, k - 1), "FillFunctor")) {
            TRY(wide_losses_take(x, k - 1, e));
            break;
        }
    bool copies = i + 1 < s->n && wide_losses_is_copy(x->cx, i + 1);
    return copies ? wide_losses_take(x, i + 1, e) : 0;
}

int wide_losses_find(struct spare_search *x, struct err *e)
{
    const struct sequence *s = sequence_of(x->cx);
    uint32_t n = 0;
    if (!s->trains) return 0;
    for (uint32_t i = 0; i < s->n; i++) {
        if (wide_losses_is_forward(x->cx, i)) {
            TRY(wide_losses_take(x, i - 1, e));
            TRY(wide_losses_take(x, i, e));
            n++;
        } else if (n && str_has(wide_losses_name(x->cx, i), "SoftMaxBackward")) {
            TRY(wide_losses_take_backward(x, i, e));
        }
    }
    x->why = rule_text(x->cx,
                       "%s times a loss is computed step by step on tensors as large as all "
                       "logits: converted to float32, log_softmax, its gradient, converted back "
                       "(%s of GPU time).",
                       human_count(n).s, human_time(x->spare.fix.before_ns).s);
    return 0;
}

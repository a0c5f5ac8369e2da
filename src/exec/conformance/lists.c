/* conformance/lists.c: the tables beside those of ops.def, and the family of each op. */
#include "exec/conformance/lists.h"

/* A file of further tables, or of further rows, is a line in one of these. */
uint32_t ebb_case_lists(ebb_case_list out[EBB_MOST_CASE_LISTS]) {
    out[0] = (ebb_case_list){ebb_nan_cases, ebb_n_nan_cases};
    out[1] = (ebb_case_list){ebb_large_cases, ebb_n_large_cases};
    return 2;
}

ebb_op_cases ebb_team_table(const ebb_team_case *row) {
    ebb_op_cases one = *row->cases;
    one.rows = &row->row;
    one.n_rows = 1;
    return one;
}

uint32_t ebb_row_lists(ebb_row_list out[EBB_MOST_CASE_LISTS]) {
    out[0] = (ebb_row_list){ebb_team_cases, ebb_n_team_cases};
    out[1] = (ebb_row_list){ebb_block_cases, ebb_n_block_cases};
    return 2;
}

static const struct {
    const char *name;
    const char *ops; /* with spaces around each */
} families[] = {
    {"convolution", " conv2d conv2d_dgrad conv2d_wgrad "},
    {"matrix product", " linear linear_dgrad linear_wgrad matmul bias bias_grad "},
    {"batch norm",
     " bn_stats bn_apply bn_track bn_grad_sums bn_grad bn_act bn_add bn_act_grad_sums bn_act_grad "
     "bn_add_grad_sums bn_add_bits bn_add_bits_grad_sums "},
    {"layer norm", " ln_stats ln_apply ln_grad_sums ln_grad "},
    {"activation", " relu relu_grad relu_mask relu_mask_grad clip clip_grad gelu gelu_grad "},
    {"elementwise", " add sub mul div rescale exp scale fill "},
    {"softmax, loss", " softmax softmax_grad softmax_xent softmax_xent_grad "},
    {"attention, embedding", " attention attention_grad embedding embedding_grad "},
    {"reduction", " reduce_sum expand upsample upsample_grad sum_squares "},
    {"pooling",
     " max_pool max_pool_grad max_pool_at max_pool_at_grad avg_pool avg_pool_grad global_avg_pool "
     "global_avg_pool_grad "},
    {"shape", " to_planes from_planes concat slice slice_grad "},
    {"random", " dropout dropout_grad "},
    {"optimizer", " sgd sgd_momentum adamw count_step clip_factor "},
};

const char *ebb_op_family(const char *op) {
    const size_t n = strlen(op);
    for (size_t k = 0; k < EBB_COUNT(families); k++) {
        for (const char *at = strstr(families[k].ops, op); at; at = strstr(at + 1, op)) {
            if (at[-1] == ' ' && at[n] == ' ') return families[k].name;
        }
    }
    return op;
}

bool ebb_op_is_product(const ebb_op_info *op) {
    static const ebb_op_info *const products[] = {
        &ebb_op_conv2d,       &ebb_op_conv2d_dgrad, &ebb_op_conv2d_wgrad, &ebb_op_linear,
        &ebb_op_linear_dgrad, &ebb_op_linear_wgrad, &ebb_op_matmul};
    for (size_t k = 0; k < EBB_COUNT(products); k++) {
        if (products[k] == op) return true;
    }
    return false;
}

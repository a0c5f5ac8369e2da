/* Networks made by calls instead of text, planned at several depths: cc calls.c $(pkg-config --cflags
 * --libs ebb) */
#include <ebb/ebb.h>
#include <stdio.h>

/* A perceptron of n_layers hidden layers. The build keeps the first error: calls need no checks of their
 * own. */
static ebb_status network(ebb_env *env, int n_layers, ebb_model **out) {
    ebb_build *b;
    ebb_status status = ebb_build_create(env, "perceptron", &b);
    if (status) return status;
    ebb_build_dim(b, "N", 256);
    uint32_t x = ebb_build_input(b, "x", "f32[N,64]"), labels = ebb_build_input(b, "labels", "i32[N]");
    for (int i = 0; i < n_layers; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        const uint32_t w = ebb_build_param(b, name, "f32[64,64]", "uniform");
        x = ebb_build_op(b, NULL, "linear", (uint32_t[]){x, w}, 2, NULL);
        x = ebb_build_op(b, NULL, "relu", &x, 1, NULL);
    }
    ebb_build_loss(b, ebb_build_op(b, "loss", "softmax_xent", (uint32_t[]){x, labels}, 2, NULL));
    return ebb_build_model(b, out);
}

int main(void) {
    ebb_env *env = NULL;
    ebb_options options;
    ebb_options_init(&options);
    ebb_status status = ebb_env_create(NULL, &env);
    for (int n_layers = 2; n_layers <= 32 && !status; n_layers *= 2) {
        ebb_model *model = NULL;
        ebb_plan *plan = NULL;
        status = network(env, n_layers, &model);
        if (!status) status = ebb_plan_model(env, model, NULL, 0, &options, &plan);
        if (!status) {
            ebb_plan_summary summary;
            ebb_plan_summarize(plan, &summary);
            printf("%2d layers: %lld bytes\n", n_layers, (long long)summary.total_bytes);
        }
        ebb_plan_destroy(plan);
        ebb_model_destroy(model);
    }
    if (status) fprintf(stderr, "%s\n", ebb_env_error(env));
    ebb_env_destroy(env);
    return ebb_status_exit_code(status);
}

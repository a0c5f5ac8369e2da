/* Trains a small network within a budget of bytes: cc minimal.c $(pkg-config --cflags --libs ebb) */
#include <ebb/ebb.h>
#include <stdio.h>

static const char model_text[] = "ebb 1\n"
                                 "graph small\n"
                                 "dim N = 64\n"
                                 "%x = input f32[N,8]\n"
                                 "%labels = input i32[N]\n"
                                 "%w1 = param f32[32,8] init=uniform\n"
                                 "%w2 = param f32[2,32] init=uniform\n"
                                 "%a = linear %x, %w1\n"
                                 "%b = relu %a\n"
                                 "%logits = linear %b, %w2\n"
                                 "%loss = softmax_xent %logits, %labels\n"
                                 "loss %loss\n";

int main(void) {
    float x[64][8], lr = 0.1F, loss = 0;
    int32_t labels[64];
    for (int i = 0; i < 64; i++) labels[i] = i % 3 == 0;
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < 8; k++) x[i][k] = (float)(i % 3 == 0 ? k : 7 - k) / 8;

    ebb_env *env = NULL;
    ebb_model *model = NULL;
    ebb_engine *engine = NULL;
    ebb_program *program = NULL;
    ebb_options options;
    ebb_options_init(&options);
    options.memory = EBB_MEMORY_BUDGET;
    options.budget_bytes = 48 << 10;
    ebb_status status = ebb_env_create(NULL, &env);
    if (!status) status = ebb_model_parse(env, "small", model_text, sizeof model_text - 1, &model);
    if (!status) status = ebb_engine_create(env, model, &options, &engine);
    if (!status) status = ebb_compile(engine, NULL, 0, &program);
    for (int step = 0; step < 100 && !status; step++) {
        status = ebb_feed(program, "x", x, sizeof x);
        if (!status) status = ebb_feed(program, "labels", labels, sizeof labels);
        if (!status) status = ebb_feed(program, "lr", &lr, sizeof lr); /* of SGD, the default */
        if (!status) status = ebb_step(program);
        if (!status) status = ebb_fetch(program, "loss", &loss, sizeof loss);
    }
    if (status) fprintf(stderr, "%s\n", ebb_env_error(env));
    if (!status) printf("loss %.4f in %lld bytes\n", loss, (long long)ebb_engine_block_bytes(engine));
    ebb_engine_destroy(engine);
    ebb_model_destroy(model);
    ebb_env_destroy(env);
    return ebb_status_exit_code(status);
}

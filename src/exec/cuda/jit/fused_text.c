/* cuda/jit/fused_text.c: a body as text, and the arguments of its kernel. */
#include "exec/cuda/arguments.h"
#include "exec/cuda/cuda.h"

_Static_assert((int)CUDA_FUSED_OPERANDS == (int)EBB_FUSED_OPERANDS, "operands");
_Static_assert((int)CUDA_FUSED_RESULTS == (int)EBB_FUSED_RESULTS, "results");
_Static_assert((int)CUDA_FUSED_STEPS == (int)EBB_FUSED_STEPS, "steps");

/* As kernels/strides.h calls elements in memory, and their values. */
static const char *stored_name(ebb_dtype dtype) {
    return dtype == EBB_F16    ? "f16"
           : dtype == EBB_BF16 ? "bf16"
           : dtype == EBB_I32  ? "int32_t"
           : dtype == EBB_BOOL ? "uint8_t"
                               : "float";
}
static const char *value_name(ebb_dtype dtype) {
    return ebb_dtype_low(dtype) ? "float" : stored_name(dtype);
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static void arg_write(ebb_text *text, ebb_fused_arg arg) {
    if (arg.is_step)
        ebb_text_add(text, "t%u", arg.at);
    else
        ebb_text_add(text, "i%u[k]", arg.at);
}

/* NAME(a), or NAME(a, b) */
static void call_write(ebb_text *text, const ebb_fused_step *s) {
    for (uint32_t i = 0; i < s->n_arg; i++) {
        ebb_text_add(text, i ? ", " : "(");
        arg_write(text, s->arg[i]);
    }
    ebb_text_add(text, ")");
}

/* Of a, b and two numbers; b is a where there is one operand. */
static void numbered_write(ebb_text *text, const ebb_fused_step *s, uint32_t k) {
    ebb_text_add(text, "cuda_%s_of(", s->op->name);
    arg_write(text, s->arg[0]);
    ebb_text_add(text, ", ");
    arg_write(text, s->arg[s->n_arg - 1]);
    ebb_text_add(text, ", args->number[%u], args->number[%u])", 2 * k, 2 * k + 1);
}

static void value_write(ebb_text *text, const ebb_call *step, const ebb_fused_step *s, uint32_t k) {
    float number[2];
    if (s->op == &ebb_op_fill) {
        ebb_text_add(text, "args->number[%u]", 2 * k);
    } else if (s->op == &ebb_op_where) {
        arg_write(text, s->arg[0]);
        ebb_text_add(text, " ? ");
        arg_write(text, s->arg[1]);
        ebb_text_add(text, " : ");
        arg_write(text, s->arg[2]);
    } else if (s->op == &ebb_op_scale) {
        ebb_text_add(text, "cuda_scale_of(");
        arg_write(text, s->arg[0]);
        ebb_text_add(text, ", 0, ");
        arg_write(text, s->arg[1]);
        ebb_text_add(text, ", 0)");
    } else if (cuda_pointwise_numbers(step, number)) {
        numbered_write(text, s, k);
    } else if (s->op == &ebb_op_cast) {
        ebb_text_add(text, "cuda_cast_%s_%s_of", ebb_dtype_name(step->in[0].dtype),
                     ebb_dtype_name(s->type.dtype));
        call_write(text, s);
    } else { /* the kernel of bias adds f32 to what x is of */
        ebb_text_add(text, "cuda_%s_%s_of", s->op == &ebb_op_bias ? "add" : s->op->name,
                     ebb_dtype_name(step->in[s->op == &ebb_op_bias ? 0 : s->n_arg - 1].dtype));
        call_write(text, s);
    }
}

static void step_write(ebb_text *text, const ebb_call *call, const ebb_fused_body *body, uint32_t k) {
    const ebb_fused_step *s = &body->step[k];
    ebb_type in[EBB_FUSED_ARGS];
    const ebb_call step = ebb_fused_call(call, body, k, in);
    ebb_text_add(text, "        const %s t%u = ", value_name(s->type.dtype), k);
    if (ebb_dtype_low(s->type.dtype))
        ebb_text_add(text, "cuda_rounded(%s, ", s->type.dtype == EBB_F16 ? "CUDA_F16" : "CUDA_BF16");
    value_write(text, &step, s, k);
    ebb_text_add(text, ebb_dtype_low(s->type.dtype) ? ");\n" : ";\n");
}

/* ---- a body ------------------------------------------------------------------------------------------ */

static void operand_write(ebb_text *text, const ebb_call *call, const ebb_fused_body *body, uint32_t i) {
    const ebb_dtype dtype = call->in[i].dtype;
    const char *type = stored_name(dtype);
    ebb_text_add(text, "    %s i%u[4];\n", value_name(dtype), i);
    switch (ebb_fused_load_of(call, body, i)) {
    case EBB_FUSED_FULL:
        ebb_text_add(text, "    cuda_fused_get_%s(args->in[%u], begin, left, i%u);\n", type, i, i);
        break;
    case EBB_FUSED_ONE:
        ebb_text_add(text, "    cuda_fused_one_%s(args->in[%u], i%u);\n", type, i, i);
        break;
    default:
        ebb_text_add(text, "    cuda_fused_find_%s(args, %u, begin, left, i%u);\n", type, i, i);
    }
}

void cuda_fused_write(const cuda_compiler *compiler, ebb_text *text, const ebb_call *call,
                      const ebb_fused_body *body) {
    (void)compiler;
    if (ebb_type_count(&body->step[body->out[0]].type) > UINT32_MAX)
        ebb_text_add(text, "#define CUDA_FUSED_WIDE\n");
    ebb_text_put(text, cuda_fused_prelude, cuda_fused_prelude_bytes);
    ebb_text_add(
        text,
        "CUDA_BODY void cuda_fused_body(const cuda_fused_args *args, int64_t block, int32_t thread) {\n"
        "    const int64_t begin = cuda_fused_begin(block, thread), left = args->n - begin;\n"
        "    if (left <= 0) return;\n");
    for (uint32_t i = 0; i < call->n_in; i++) operand_write(text, call, body, i);
    for (uint32_t o = 0; o < body->n_out; o++)
        ebb_text_add(text, "    %s o%u[4];\n", value_name(body->step[body->out[o]].type.dtype), o);
    ebb_text_add(text, "    CUDA_UNROLL for (int32_t k = 0; k < 4; k++) {\n");
    for (uint32_t k = 0; k < body->n_steps; k++) step_write(text, call, body, k);
    for (uint32_t o = 0; o < body->n_out; o++)
        ebb_text_add(text, "        o%u[k] = t%u;\n", o, body->out[o]);
    ebb_text_add(text, "    }\n");
    for (uint32_t o = 0; o < body->n_out; o++)
        ebb_text_add(text, "    cuda_fused_put_%s(args->out[%u], begin, left, o%u);\n",
                     stored_name(body->step[body->out[o]].type.dtype), o, o);
    ebb_text_add(text, "}\nCUDA_FUSED_KERNEL\n");
}

void cuda_fused_arguments(const ebb_call *call, const ebb_fused_body *body, cuda_fused_args *out) {
    *out = (cuda_fused_args){.n = ebb_type_count(&body->step[body->out[0]].type)};
    for (uint32_t i = 0; i < call->n_in; i++) {
        ebb_walk walk;
        if (ebb_fused_load_of(call, body, i) != EBB_FUSED_SPREAD) continue;
        ebb_fused_walk(call, body, i, &walk);
        cuda_strides_of(&walk, &out->walk[i]);
        if (walk.size[walk.n_dims - 1] % CUDA_FUSED_SIDE == 0) out->quads |= 1 << i;
    }
    for (uint32_t k = 0; k < body->n_steps; k++) {
        ebb_type in[EBB_FUSED_ARGS];
        const ebb_call step = ebb_fused_call(call, body, k, in);
        if (!cuda_pointwise_numbers(&step, &out->number[2 * k]) && step.op == &ebb_op_fill)
            out->number[2 * k] = (float)step.attr[EBB_FILL_VALUE].f;
    }
}

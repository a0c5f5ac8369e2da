/* cpu/cpu.c: the cpu backend's table of functions: creation, facts, kernel objects, host memory. */
#include "exec/cpu/fused.h"
#include "exec/cpu/low.h"
#include "exec/cpu/product.h"

#include <stdio.h>
#include <sys/mman.h>

/* NULL for composites and views: they have no kernel. */
static const ebb_kernel_info *const kernels[EBB_N_OPS] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) [EBB_OP_##name] = &ebb_cpu_##name,
#include "graph/ops.def"
};

/* ---- creation ------------------------------------------------------------------------------------- */

static void cpu_destroy(ebb_backend *backend) {
    if (!backend) return;
    cpu_backend *cpu = cpu_of(backend);
    cpu_jit_destroy(cpu->jit);
    if (cpu->attr) (void)dnnl_primitive_attr_destroy(cpu->attr);
    if (cpu->stream) (void)dnnl_stream_destroy(cpu->stream);
    if (cpu->engine) (void)dnnl_engine_destroy(cpu->engine);
    cpu_memo_deinit(&cpu->memo, backend->env);
    ebb_cfree(backend->env, cpu, 1, sizeof *cpu);
}

static ebb_status onednn_open(cpu_backend *cpu) {
    const char *what = "engine_create";
    dnnl_status_t failed = dnnl_engine_create(&cpu->engine, dnnl_cpu, 0);
    if (!failed) {
        what = "stream_create";
        failed = dnnl_stream_create(&cpu->stream, cpu->engine, dnnl_stream_default_flags);
    }
    if (!failed) {
        what = "primitive_attr_create";
        failed = dnnl_primitive_attr_create(&cpu->attr);
    }
    if (!failed) {
        what = "primitive_attr_set_scratchpad_mode";
        failed = dnnl_primitive_attr_set_scratchpad_mode(cpu->attr, dnnl_scratchpad_mode_user);
    }
    cpu->wide = (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core;
    return cpu_onednn(cpu->base.env, NULL, what, failed);
}

static ebb_status native_open(cpu_backend *cpu) {
    const unsigned isa = (unsigned)dnnl_get_effective_cpu_isa(),
                   needs = (unsigned)dnnl_cpu_isa_avx512_core_bf16;
    cpu->native = (isa & needs) == needs;
    if (cpu->native) return EBB_OK;
    return ebb_fail(
        cpu->base.env, EBB_UNAVAILABLE,
        "native-bf16: this processor, or oneDNN's limit (ONEDNN_MAX_CPU_ISA), has no AVX512-BF16: "
        "leave it out");
}

/* Smaller work is done before a team is awake (decision 104). */
enum { TEAM_BYTES = 1 << 20, TEAM_FLOPS = 8000000 };

static ebb_status cpu_create(ebb_env *env, const ebb_backend_options *options, ebb_backend **out) {
    enum { MOST = 4096 }; /* threads: beyond any host, so that a slip of the keyboard is told */
    *out = NULL;
    if (options->n_threads < 1 || options->n_threads > MOST) {
        return ebb_fail(env, EBB_USAGE, "backend cpu: n_threads is %u: give 1 to %d", options->n_threads,
                        MOST);
    }
    cpu_backend *cpu = ebb_calloc(env, 1, sizeof *cpu);
    if (!cpu) return EBB_NO_MEMORY;
    cpu->base = (ebb_backend){&ebb_backend_cpu, env, options->n_threads};
    cpu->n_run = (int)options->n_threads;
    cpu->team_bytes = TEAM_BYTES;
    cpu->team_flops = TEAM_FLOPS;
    cpu->winograd = !options->direct_conv;
    ebb_status status = onednn_open(cpu);
    if (status == EBB_OK && options->native_bf16) status = native_open(cpu);
    if (status == EBB_OK) status = cpu_jit_create(env, options->jit, &cpu->jit);
    if (status != EBB_OK) {
        cpu_destroy(&cpu->base);
        return status;
    }
    *out = &cpu->base;
    return EBB_OK;
}

/* ---- facts and kernels ---------------------------------------------------------------------------- */

ebb_status cpu_scratch_check(ebb_backend *backend, const ebb_call *call, int64_t count, int64_t each) {
    int64_t bytes;
    if (ebb_mul_i64(count, each, &bytes) && ebb_add_i64(bytes, INT64_C(4) * CPU_ALIGNMENT, &bytes))
        return EBB_OK;
    char text[EBB_TYPE_TEXT];
    return ebb_fail(backend->env, EBB_BAD_INPUT,
                    "backend cpu: %s of %s: the bytes of its scratch do not fit in 63 bits", call->op->name,
                    ebb_type_text(&call->in[0], text));
}

/* Arithmetic grows with the threads, traffic with the first eight: then memory is busy. */
enum { BUSY_THREADS = 8 };

static const char *const kinds[EBB_N_OPS][CPU_N_REALS] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) [EBB_OP_##name] = CPU_KINDS(#name),
#include "graph/ops.def"
};

/* Of native products, and how many times as many flops they make as those of f32. */
enum { NATIVE_FLOPS = 2 };
static const char *const native_kinds[EBB_N_OPS] = {
#define EBB_COMPOSITE(name, family)
#define EBB_VIEW(name, family)
#define EBB_CHOICE(name, family)
#define EBB_OP(name, family) [EBB_OP_##name] = #name " native bf16",
#include "graph/ops.def"
};

static void set_cost(ebb_backend *backend, const ebb_kernel_info *info, const ebb_call *call,
                     ebb_op_facts *out) {
    const int64_t n = backend->n_threads, busy = ebb_min_i64(n, BUSY_THREADS);
    ebb_kernel_rate rate = ebb_kernel_rate_of(backend, info, call, &out->kind);
    if (out->kind == call->op->name) out->kind = kinds[call->op->code][cpu_real_of(call)];
    if (cpu_is_native(cpu_of(backend), call)) {
        rate.flops *= NATIVE_FLOPS;
        out->kind = native_kinds[call->op->code];
    }
    out->line = (ebb_roofline){
        .flops_per_us = rate.flops * n, .bytes_per_us = rate.bytes * busy, .start_ns = rate.start_ns};
    out->time_ns = ebb_roofline_call_ns(&out->line, call);
}

/* Does a kernel take the call's dtypes by itself? */
static bool is_taken(const ebb_kernel_info *info, const ebb_call *call) {
    uint32_t dtypes = 0;
    for (uint32_t i = 0; i < call->n_in; i++) dtypes |= UINT32_C(1) << call->in[i].dtype;
    for (uint32_t o = 0; o < call->n_out; o++) dtypes |= UINT32_C(1) << call->out[o].dtype;
    return info && (dtypes & ~info->takes) == 0;
}

const ebb_kernel_info *cpu_kernel_of(ebb_opcode code) {
    return kernels[code];
}

ebb_status cpu_kernel_find(ebb_backend *backend, const ebb_call *call, const ebb_kernel_info **out) {
    const ebb_kernel_info *info = kernels[call->op->code];
    const bool convolution = info && call->op->family == EBB_FAMILY_CONVOLUTION;
    if (cpu_is_native(cpu_of(backend), call) ||
        (convolution && cpu_is_low(call) && cpu_conv_takes_low(cpu_of(backend), call))) {
        *out = info;
        return info->supports(backend, call);
    }
    if (!info || !cpu_is_low(call) || is_taken(info, call))
        return ebb_kernel_find(backend, kernels, call, out);
    *out = cpu_has_strips(call) ? &cpu_strip_kernel : &cpu_low_kernel;
    return EBB_OK;
}

static ebb_status cpu_facts(ebb_backend *backend, const ebb_call *call, ebb_op_facts *out) {
    *out = (ebb_op_facts){.n_choices = 1};
    const ebb_kernel_info *info, *rated;
    ebb_status status = cpu_kernel_find(backend, call, &info);
    rated = info;
    if (status == EBB_OK && (info == &cpu_low_kernel || info == &cpu_strip_kernel))
        status = cpu_low_of(backend, call, &rated);
    if (status == EBB_OK && info->scratch) status = info->scratch(backend, call, &out->scratch_bytes);
    if (status != EBB_OK) return status;
    set_cost(backend, rated, call, out);
    if (cpu_is_native(cpu_of(backend), call))
        (void)snprintf(out->choice, sizeof out->choice, "native-bf16");
    else if (call->op->family == EBB_FAMILY_CONVOLUTION && cpu_conv_is_winograd(backend, call)) {
        (void)snprintf(out->choice, sizeof out->choice, "winograd");
        out->tile_tolerance = CPU_TILE_TOLERANCE;
    }
    return EBB_OK;
}

static ebb_status cpu_prepare(ebb_backend *backend, const ebb_call *call, uint64_t seed_key,
                              ebb_kernel **out) {
    *out = NULL;
    const ebb_kernel_info *info;
    const ebb_status status = cpu_kernel_find(backend, call, &info);
    return status == EBB_OK ? ebb_kernel_make(backend, info, call, seed_key, out) : status;
}

/* ---- memory --------------------------------------------------------------------------------------- */

enum { HUGE_PAGE = EBB_BLOCK_ALIGNMENT, LARGE_BLOCK = 2 * HUGE_PAGE };

/* Large blocks begin on a large page, so that the system may use such pages for them. */
static size_t block_alignment(int64_t bytes) {
    return bytes >= LARGE_BLOCK ? HUGE_PAGE : CPU_ALIGNMENT;
}

static ebb_status cpu_block_alloc(ebb_backend *backend, int64_t bytes, void **out) {
    *out = ebb_alloc_aligned(backend->env, (size_t)bytes, block_alignment(bytes));
    if (!*out) return EBB_NO_MEMORY;
    /* A wish: whole large pages inside the block; where the system has none, nothing changes. */
    if (bytes >= LARGE_BLOCK) (void)madvise(*out, (size_t)(bytes / HUGE_PAGE * HUGE_PAGE), MADV_HUGEPAGE);
    return EBB_OK;
}

static void cpu_block_free(ebb_backend *backend, void *block, int64_t bytes) {
    if (block) ebb_free_aligned(backend->env, block, (size_t)bytes, block_alignment(bytes));
}

static ebb_status cpu_copy(ebb_backend *backend, void *to, const void *from, int64_t bytes) {
    (void)backend;
    if (bytes) memcpy(to, from, (size_t)bytes);
    return EBB_OK;
}

static ebb_status cpu_fill_bytes(ebb_backend *backend, void *to, int byte, int64_t bytes) {
    (void)backend;
    if (bytes) memset(to, byte, (size_t)bytes);
    return EBB_OK;
}

static void cpu_limits(const ebb_backend *backend, char text[EBB_MACHINE_TEXT]) {
    const dnnl_version_t *version = dnnl_version();
    (void)snprintf(text, EBB_MACHINE_TEXT, "oneDNN %d.%d.%d, isa %x%s", version->major, version->minor,
                   version->patch, (unsigned)dnnl_get_effective_cpu_isa(),
                   ((const cpu_backend *)backend)->winograd ? ", Winograd by own transforms" : "");
}

const ebb_backend_api ebb_backend_cpu = {
    .name = "cpu",
    .host_memory = true,
    .computes = true,
    .fuses = ebb_fuses_always,
    .alignment = CPU_ALIGNMENT,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .facts = cpu_facts,
    .prepare = cpu_prepare,
    .release = ebb_kernel_release,
    .launch = ebb_kernel_launch,
    .limits = cpu_limits,
    .block_alloc = cpu_block_alloc,
    .block_free = cpu_block_free,
    .copy_in = cpu_copy,
    .copy_out = cpu_copy,
    .fill = cpu_fill_bytes,
    .begin = cpu_begin,
    .end = cpu_end,
    .emitter = cpu_emitter_at,
};

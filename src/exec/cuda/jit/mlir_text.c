/* cuda/jit/mlir_text.c: a body in MLIR's dialects func, scf, vector, arith, math, llvm (memory, a few
 * instructions) and nvvm (the kernel): what kernels/fused.h and fused_text.c say in C. A thread whose 4
 * results are all there computes them as vectors of 4, any other one by one. */
#include "exec/cuda/cuda.h"
#include "exec/cuda/jit/mlir_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { SIDE = CUDA_FUSED_SIDE };

/* ---- operands and results ---------------------------------------------------------------------------- */

/* Of device memory: %<name><i>, from the arguments. */
static void pointer_read(ebb_text *text, const char *name, uint32_t i, size_t offset) {
    ebb_text_add(text, "  %%%s%u.at = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 name, i, offset + i * sizeof(void *));
    ebb_text_add(text, "  %%%s%u.any = llvm.load %%%s%u.at : !llvm.ptr -> !llvm.ptr\n", name, i, name, i);
    ebb_text_add(text, "  %%%s%u = llvm.addrspacecast %%%s%u.any : !llvm.ptr to !llvm.ptr<1>\n", name, i,
                 name, i);
}

/* "%<into> = the element at %<at> behind %<pointer>" */
static void element_load(ebb_text *text, const char *into, const char *at, uint32_t i, const char *scalar) {
    ebb_text_add(text,
                 "  %%%s.e = llvm.getelementptr %%in%u[%%%s] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, %s\n",
                 into, i, at, scalar);
    ebb_text_add(text, "  %%%s = llvm.load %%%s.e : !llvm.ptr<1> -> %s\n", into, into, scalar);
}

/* %<name> = the place of element `of`. */
static void place_find(ebb_text *text, const char *name, uint32_t i, const char *of) {
    ebb_text_add(text, "  %%%s.walk = arith.constant %zu : i64\n", name,
                 offsetof(cuda_fused_args, walk) + i * sizeof(cuda_strides));
    ebb_text_add(text,
                 "  %%%s = func.call @cuda_at(%%args, %%%s.walk, %%%s) : (!llvm.ptr, i64, i64) -> i64\n",
                 name, name, of);
}

/* A vector of %<name>0 to 3, which is what a branch of scf.if gives. */
static void lanes_yield(ebb_text *text, const char *name, const char *scalar) {
    ebb_text_add(text, "  %%%s.none = arith.constant dense<0%s> : vector<4x%s>\n", name,
                 scalar[0] == 'f' ? ".0" : "", scalar);
    for (int k = 0; k < SIDE; k++) {
        ebb_text_add(text, "  %%%s.w%d = vector.insert %%%s%d, %%%s.", name, k, name, k, name);
        if (k == 0)
            ebb_text_add(text, "none");
        else
            ebb_text_add(text, "w%d", k - 1);
        ebb_text_add(text, " [%d] : %s into vector<4x%s>\n", k, scalar, scalar);
    }
    ebb_text_add(text, "  scf.yield %%%s.w%d : vector<4x%s>\n", name, SIDE - 1, scalar);
}

/* As cuda_fused_find, of 4 that are all there: by one place where they are equally far apart. */
static void four_find(ebb_text *text, uint32_t i, uint32_t number, const char *scalar) {
    char name[32], at[32];
    ebb_text_add(text,
                 "  %%q%u.bit = arith.constant %" PRIu32
                 " : i32\n  %%q%u.is = arith.andi %%quads, %%q%u.bit : "
                 "i32\n  %%q%u = arith.cmpi ne, %%q%u.is, %%zero32 : i32\n",
                 i, UINT32_C(1) << i, i, i, i, i);
    ebb_text_add(text, "  %%v%u = scf.if %%q%u -> (vector<4x%s>) {\n", number, i, scalar);
    (void)snprintf(name, sizeof name, "a%u.0", i);
    place_find(text, name, i, "begin");
    const size_t walk = offsetof(cuda_fused_args, walk) + i * sizeof(cuda_strides);
    ebb_text_add(text, "  %%d%u.at = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n", i,
                 walk + offsetof(cuda_strides, n_dims));
    ebb_text_add(text, "  %%d%u.n = llvm.load %%d%u.at : !llvm.ptr -> i32\n", i, i);
    ebb_text_add(text, "  %%d%u.last = arith.subi %%d%u.n, %%one32 : i32\n", i, i);
    ebb_text_add(text, "  %%d%u.s = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n", i,
                 walk + offsetof(cuda_strides, stride));
    ebb_text_add(
        text, "  %%d%u.e = llvm.getelementptr %%d%u.s[%%d%u.last] : (!llvm.ptr, i32) -> !llvm.ptr, i64\n",
        i, i, i);
    ebb_text_add(text, "  %%d%u = llvm.load %%d%u.e : !llvm.ptr -> i64\n", i, i);
    for (int k = 0; k < SIDE; k++) {
        if (k > 0) ebb_text_add(text, "  %%a%u.%d = arith.addi %%a%u.%d, %%d%u : i64\n", i, k, i, k - 1, i);
        (void)snprintf(name, sizeof name, "x%u.%d", i, k);
        (void)snprintf(at, sizeof at, "a%u.%d", i, k);
        element_load(text, name, at, i, scalar);
    }
    (void)snprintf(name, sizeof name, "x%u.", i);
    lanes_yield(text, name, scalar);
    ebb_text_add(text, "  } else {\n");
    for (int k = 0; k < SIDE; k++) {
        (void)snprintf(at, sizeof at, "b%u.%d", i, k);
        (void)snprintf(name, sizeof name, "begin.%d", k);
        place_find(text, at, i, name);
        (void)snprintf(name, sizeof name, "y%u.%d", i, k);
        element_load(text, name, at, i, scalar);
    }
    (void)snprintf(name, sizeof name, "y%u.", i);
    lanes_yield(text, name, scalar);
    ebb_text_add(text, "  }\n");
}

/* Where the elements begin that are computed: of 4 and of one. */
static const char *first_name(const emit *e) {
    return e->lanes > 1 ? "begin" : "one";
}

static emit_reg operand_load(emit *e, const ebb_call *call, const ebb_fused_body *body, uint32_t i) {
    const ebb_dtype dtype = call->in[i].dtype;
    const emit_reg to = emit_new(e, emit_stored(dtype));
    const char *scalar = emit_mlir_scalars[to.type];
    const ebb_fused_load how = ebb_fused_load_of(call, body, i);
    const char *first = first_name(e);
    char name[32], at[32], type[EMIT_MLIR_TYPE];
    if (how == EBB_FUSED_SPREAD && e->lanes > 1) {
        four_find(e->text, i, to.number, scalar);
        return to;
    }
    (void)snprintf(at, sizeof at, "%s", how == EBB_FUSED_ONE ? "zero" : first);
    if (how == EBB_FUSED_SPREAD) {
        (void)snprintf(at, sizeof at, "a%u", i);
        place_find(e->text, at, i, first);
    }
    if (how == EBB_FUSED_ONE && e->lanes > 1) {
        (void)snprintf(name, sizeof name, "s%u", to.number);
        element_load(e->text, name, at, i, scalar);
        ebb_text_add(e->text, "  %%v%u = vector.broadcast %%%s : %s to %s\n", to.number, name, scalar,
                     emit_mlir_type(e, to.type, type));
        return to;
    }
    ebb_text_add(e->text,
                 "  %%e%u = llvm.getelementptr %%in%u[%%%s] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, %s\n",
                 to.number, i, at, scalar);
    ebb_text_add(e->text, "  %%v%u = llvm.load %%e%u {alignment = %d : i64} : !llvm.ptr<1> -> %s\n",
                 to.number, to.number, (int)(e->lanes * (uint32_t)ebb_dtype_bytes(dtype)),
                 emit_mlir_type(e, to.type, type));
    return to;
}

static void result_store(emit *e, const ebb_fused_body *body, uint32_t o, emit_reg from) {
    const uint32_t n = emit_new(e, from.type).number;
    const ebb_dtype dtype = body->step[body->out[o]].type.dtype;
    char type[EMIT_MLIR_TYPE];
    ebb_text_add(e->text,
                 "  %%e%u = llvm.getelementptr %%out%u[%%%s] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, %s\n",
                 n, o, first_name(e), emit_mlir_scalars[from.type]);
    ebb_text_add(e->text, "  llvm.store %%v%u, %%e%u {alignment = %d : i64} : %s, !llvm.ptr<1>\n",
                 from.number, n, (int)(e->lanes * (uint32_t)ebb_dtype_bytes(dtype)),
                 emit_mlir_type(e, from.type, type));
}

/* ---- a body ------------------------------------------------------------------------------------------ */

static void steps_write(emit *e, const ebb_call *call, const ebb_fused_body *body, uint32_t lanes) {
    emit_reg operand[EBB_FUSED_OPERANDS], stored[EBB_FUSED_RESULTS];
    ebb_dtype dtype[EBB_FUSED_OPERANDS];
    e->lanes = lanes;
    for (uint32_t i = 0; i < call->n_in; i++) {
        dtype[i] = call->in[i].dtype;
        operand[i] = operand_load(e, call, body, i);
    }
    emit_body(e, body, call->n_in, dtype, operand, stored);
    for (uint32_t o = 0; o < body->n_out; o++) result_store(e, body, o, stored[o]);
}

static void function_write(emit *e, const ebb_call *call, const ebb_fused_body *body, const char *name) {
    ebb_text *text = e->text;
    ebb_text_add(text, "func.func %s(%%args: !llvm.ptr, %%block: i64, %%thread: i32) {\n", name);
    for (int k = 1; k <= SIDE; k++) ebb_text_add(text, "  %%n%d = arith.constant %d : i64\n", k, k);
    ebb_text_add(text,
                 "  %%zero = arith.constant 0 : i64\n  %%zero32 = arith.constant 0 : i32\n"
                 "  %%one32 = arith.constant 1 : i32\n  %%threads = arith.constant %d : i64\n",
                 CUDA_FUSED_THREADS);
    ebb_text_add(text, "  %%thread64 = arith.extui %%thread : i32 to i64\n"
                       "  %%before = arith.muli %%block, %%threads : i64\n"
                       "  %%all = arith.addi %%before, %%thread64 : i64\n"
                       "  %%begin = arith.muli %%all, %%n4 : i64\n");
    ebb_text_add(text, "  %%count.at = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 offsetof(cuda_fused_args, n));
    ebb_text_add(text, "  %%quads.at = llvm.getelementptr %%args[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 offsetof(cuda_fused_args, quads));
    ebb_text_add(text, "  %%count = llvm.load %%count.at : !llvm.ptr -> i64\n"
                       "  %%quads = llvm.load %%quads.at : !llvm.ptr -> i32\n"
                       "  %%left = arith.subi %%count, %%begin : i64\n"
                       "  %%whole = arith.cmpi sge, %%left, %%n4 : i64\n");
    for (uint32_t i = 0; i < call->n_in; i++) pointer_read(text, "in", i, offsetof(cuda_fused_args, in));
    for (uint32_t o = 0; o < body->n_out; o++) pointer_read(text, "out", o, offsetof(cuda_fused_args, out));
    ebb_text_add(text, "  %%begin.0 = arith.addi %%begin, %%zero : i64\n");
    for (int k = 1; k < SIDE; k++)
        ebb_text_add(text, "  %%begin.%d = arith.addi %%begin, %%n%d : i64\n", k, k);
    ebb_text_add(text, "  scf.if %%whole {\n");
    steps_write(e, call, body, SIDE);
    ebb_text_add(text, "  } else {\n  scf.for %%one = %%begin to %%count step %%n1 : i64 {\n");
    steps_write(e, call, body, 1);
    ebb_text_add(text, "  }\n  }\n  return\n}\n");
}

void cuda_mlir_write(ebb_text *text, int32_t compute, const ebb_call *call, const ebb_fused_body *body) {
    emit e = {.text = text,
              .language = &cuda_mlir_language.base,
              .kernels = &cuda_mlir_kernels,
              .compute = compute};
    cuda_mlir_called(text, compute, ebb_type_count(&body->step[body->out[0]].type) > UINT32_MAX);
    function_write(&e, call, body, compute ? "private @cuda_fused_body" : "@cuda_fused");
    if (compute == 0) return;
    ebb_text_add(
        text,
        "llvm.func @cuda_fused(%%args: !llvm.ptr {llvm.byval = !llvm.array<%zu x i8>, llvm.align = 8 : "
        "i64}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: %d>} {\n",
        sizeof(cuda_fused_args), CUDA_FUSED_THREADS);
    ebb_text_add(text,
                 "  %%b = nvvm.read.ptx.sreg.ctaid.x : i32\n"
                 "  %%thread = nvvm.read.ptx.sreg.tid.x : i32\n"
                 "  %%block = arith.extui %%b : i32 to i64\n"
                 "  func.call @cuda_fused_body(%%args, %%block, %%thread) : (!llvm.ptr, i64, i32) -> ()\n"
                 "  llvm.return\n}\n");
}

/* cuda/jit/mlir_called.c: what bodies call (mlir_text.c), in MLIR: CUDA's functions by name, conversions by
 * the device's instructions, whole numbers' divisions, and the walk over a broadcast operand. */
#include "exec/cuda/fused.h"
#include "exec/cuda/jit/mlir_text.h"

/* As cuda_floor_div_whole and mod_i32 (kernels/pointwise.h, broadcast.def): of 0 and -1 nothing is divided.
 */
static const char whole[] =
    "func.func private @cuda_floor_div_whole(%a: i32, %b: i32) -> i32 {\n"
    "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n  %less = arith.constant -1 : i32\n"
    "  %none = arith.cmpi eq, %b, %zero : i32\n  %turns = arith.cmpi eq, %b, %less : i32\n"
    "  %plain = arith.ori %none, %turns : i1\n  %by = arith.select %plain, %one, %b : i32\n"
    "  %q = arith.divsi %a, %by : i32\n  %r = arith.remsi %a, %by : i32\n"
    "  %left = arith.cmpi ne, %r, %zero : i32\n  %x = arith.cmpi slt, %a, %zero : i32\n"
    "  %y = arith.cmpi slt, %by, %zero : i32\n  %apart = arith.xori %x, %y : i1\n"
    "  %lower = arith.andi %left, %apart : i1\n  %down = arith.extui %lower : i1 to i32\n"
    "  %floor = arith.subi %q, %down : i32\n  %minus = arith.subi %zero, %a : i32\n"
    "  %other = arith.select %none, %zero, %minus : i32\n"
    "  %y.all = arith.select %plain, %other, %floor : i32\n  return %y.all : i32\n}\n"
    "func.func private @cuda_mod_whole(%a: i32, %b: i32) -> i32 {\n"
    "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n  %less = arith.constant -1 : i32\n"
    "  %none = arith.cmpi eq, %b, %zero : i32\n  %turns = arith.cmpi eq, %b, %less : i32\n"
    "  %plain = arith.ori %none, %turns : i1\n  %by = arith.select %plain, %one, %b : i32\n"
    "  %r = arith.remsi %a, %by : i32\n  %left = arith.cmpi ne, %r, %zero : i32\n"
    "  %x = arith.cmpi slt, %r, %zero : i32\n  %y = arith.cmpi slt, %b, %zero : i32\n"
    "  %apart = arith.xori %x, %y : i1\n  %lower = arith.andi %left, %apart : i1\n"
    "  %more = arith.addi %r, %b : i32\n  %mod = arith.select %lower, %more, %r : i32\n"
    "  %y.all = arith.select %plain, %zero, %mod : i32\n  return %y.all : i32\n}\n";

static const char functions[] = "func.func private @__nv_expf(f32) -> f32\n"
                                "func.func private @__nv_expm1f(f32) -> f32\n"
                                "func.func private @__nv_logf(f32) -> f32\n"
                                "func.func private @__nv_log1pf(f32) -> f32\n"
                                "func.func private @__nv_sinf(f32) -> f32\n"
                                "func.func private @__nv_cosf(f32) -> f32\n"
                                "func.func private @__nv_tanhf(f32) -> f32\n"
                                "func.func private @__nv_erff(f32) -> f32\n"
                                "func.func private @__nv_erfcf(f32) -> f32\n"
                                "func.func private @__nv_powf(f32, f32) -> f32\n"
                                "func.func private @__nv_fmodf(f32, f32) -> f32\n";

/* The device's own instructions (kernels/elements.h), or a host's functions. */
static void halves_write(ebb_text *text, int32_t compute) {
    static const struct {
        const char *name, *from, *to, *instruction, *registers;
        int32_t since;
    } rows[] = {{"cuda_of_f16", "i16", "f32", "cvt.f32.f16", "=f,h", 0},
                {"cuda_f16_of", "f32", "i16", "cvt.rn.f16.f32", "=h,f", 0},
                {"cuda_bf16_of", "f32", "i16", "cvt.rn.bf16.f32", "=h,f", CUDA_MLIR_BF16}};
    for (size_t k = 0; k < EBB_COUNT(rows); k++) {
        ebb_text_add(text, "func.func private @%s(", rows[k].name);
        if (compute == 0 || compute < rows[k].since) {
            ebb_text_add(text, "%s) -> %s\n", rows[k].from, rows[k].to);
            continue;
        }
        ebb_text_add(
            text, "%%x: %s) -> %s {\n  %%y = llvm.inline_asm \"%s $0, $1;\", \"%s\" %%x : (%s) -> %s\n",
            rows[k].from, rows[k].to, rows[k].instruction, rows[k].registers, rows[k].from, rows[k].to);
        ebb_text_add(text, "  return %%y : %s\n}\n", rows[k].to);
    }
}

/* As cuda_fused_at: where an operand's element of a place is, by the walk that is %walk bytes into the
 * arguments. A place, a size and what is left of a place fit in 32 bits, unless there are 2^32 places. */
static void at_write(ebb_text *text, bool wide) {
    const char *word = wide ? "i64" : "i32";
    ebb_text_add(text, "func.func private @cuda_at(%%args: !llvm.ptr, %%walk: i64, %%place: i64) -> i64 {\n"
                       "  %%w = llvm.getelementptr %%args[%%walk] : (!llvm.ptr, i64) -> !llvm.ptr, i8\n");
    ebb_text_add(text, "  %%n.at = llvm.getelementptr %%w[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 offsetof(cuda_strides, n_dims));
    ebb_text_add(text, "  %%s.at = llvm.getelementptr %%w[%zu] : (!llvm.ptr) -> !llvm.ptr, i8\n",
                 offsetof(cuda_strides, stride));
    ebb_text_add(text,
                 "  %%n32 = llvm.load %%n.at : !llvm.ptr -> i32\n  %%n = arith.extsi %%n32 : i32 to i64\n"
                 "  %%zero = arith.constant 0 : i64\n  %%one = arith.constant 1 : i64\n");
    ebb_text_add(text, wide ? "  %%p = arith.addi %%place, %%zero : i64\n"
                            : "  %%p = arith.trunci %%place : i64 to i32\n");
    ebb_text_add(
        text,
        "  %%at, %%left = scf.for %%k = %%one to %%n step %%one iter_args(%%a = %%zero, %%l = %%p) -> "
        "(i64, %s) : i64 {\n  %%d = arith.subi %%n, %%k : i64\n",
        word);
    ebb_text_add(text, "  %%size.at = llvm.getelementptr %%w[%%d] : (!llvm.ptr, i64) -> !llvm.ptr, i64\n"
                       "  %%size64 = llvm.load %%size.at : !llvm.ptr -> i64\n");
    ebb_text_add(text, wide ? "  %%size = arith.addi %%size64, %%zero : i64\n"
                            : "  %%size = arith.trunci %%size64 : i64 to i32\n");
    ebb_text_add(text,
                 "  %%next = arith.divui %%l, %%size : %s\n  %%whole = arith.muli %%next, %%size : %s\n"
                 "  %%r = arith.subi %%l, %%whole : %s\n",
                 word, word, word);
    ebb_text_add(text, wide ? "  %%r64 = arith.addi %%r, %%zero : i64\n"
                            : "  %%r64 = arith.extui %%r : i32 to i64\n");
    ebb_text_add(text,
                 "  %%by.at = llvm.getelementptr %%s.at[%%d] : (!llvm.ptr, i64) -> !llvm.ptr, i64\n"
                 "  %%by = llvm.load %%by.at : !llvm.ptr -> i64\n  %%m = arith.muli %%r64, %%by : i64\n"
                 "  %%b = arith.addi %%a, %%m : i64\n  scf.yield %%b, %%next : i64, %s\n  }\n",
                 word);
    ebb_text_add(text, wide ? "  %%l64 = arith.addi %%left, %%zero : i64\n"
                            : "  %%l64 = arith.extui %%left : i32 to i64\n");
    ebb_text_add(text, "  %%first = llvm.load %%s.at : !llvm.ptr -> i64\n"
                       "  %%m = arith.muli %%l64, %%first : i64\n  %%y = arith.addi %%at, %%m : i64\n"
                       "  return %%y : i64\n}\n");
}

void cuda_mlir_called(ebb_text *text, int32_t compute, bool wide) {
    ebb_text_put(text, functions, sizeof functions - 1);
    ebb_text_put(text, whole, sizeof whole - 1);
    halves_write(text, compute);
    at_write(text, wide);
}

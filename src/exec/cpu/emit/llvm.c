/* cpu/emit/llvm.c: bodies in LLVM's IR, written (in_llvm.c) or made by a module (exec/code_module.h),
 * compiled in this process. What comes of it are object files, which a shelf can keep and any later process
 * can load; a module may make them itself. Nothing is optimized but by the code generator: vectors are
 * written out, and none of the flags is set that would let products and sums be contracted or reordered. */
#include "exec/cpu/emit/llvm.h"

static ebb_status module_compile(cpu_llvm *l, llvm_ref module, llvm_ref *object) {
    enum { OBJECT_FILE = 1 };
    char *message = NULL;
    l->LLVMSetTarget(module, l->triple);
    return l->LLVMTargetMachineEmitToMemoryBuffer(l->machine, module, OBJECT_FILE, &message, object)
               ? cpu_llvm_told(l, EBB_DEVICE, "no code", message)
               : EBB_OK;
}

static ebb_status ir_compile(cpu_llvm *l, const char *ir, size_t n, llvm_ref *object) {
    char *message = NULL;
    llvm_ref module = NULL;
    const llvm_ref context = l->LLVMContextCreate();
    const llvm_ref buffer = l->LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, n, "body");
    ebb_status status;
    if (l->LLVMParseIRInContext(context, buffer, &module, &message)) { /* takes the buffer */
        status = cpu_llvm_told(l, EBB_INTERNAL, "it does not read our code", message);
    } else {
        status = module_compile(l, module, object);
        l->LLVMDisposeModule(module);
    }
    l->LLVMContextDispose(context);
    return status;
}

static ebb_status text_compile(cpu_llvm *l, const ebb_text *text, llvm_ref *object) {
    char why[EBB_CODE_WHY];
    size_t n = 0;
    ebb_status status = EBB_OK;
    if (!l->module) return ir_compile(l, text->at, text->n, object);
    char *made = l->module->make(text->at, text->n, &n, why);
    if (!made)
        return ebb_fail(l->base.env, EBB_INTERNAL, "%s makes no code of ours: %s", l->module->library, why);
    if (l->module->object)
        *object = l->LLVMCreateMemoryBufferWithMemoryRangeCopy(made, n, "body");
    else
        status = ir_compile(l, made, n, object);
    l->module->release(made);
    return status;
}

static ebb_hash key_of(const cpu_llvm *l, const ebb_text *text) {
    const char *const parts[] = {l->base.api->name,
                                 l->module ? l->module->library : "",
                                 l->module ? l->module->made_of : "",
                                 l->triple,
                                 l->cpu,
                                 l->features};
    ebb_hash key;
    ebb_hash_init(&key);
    ebb_hash_add(&key, &l->version, sizeof l->version);
    for (size_t k = 0; k < EBB_COUNT(parts); k++) ebb_hash_add(&key, parts[k], strlen(parts[k]) + 1);
    ebb_hash_add(&key, text->at, text->n);
    return key;
}

/* From the shelf, or compiled and put there. */
static ebb_status object_of(cpu_llvm *l, const ebb_text *text, llvm_ref *object) {
    const ebb_hash key = key_of(l, text);
    char *bytes;
    size_t n;
    if (ebb_shelf_find(&l->base.shelf, &key, &bytes, &n)) {
        *object = l->LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes, n, "body");
        ebb_file_free(l->base.env, bytes, n);
        l->base.n_found++;
        return EBB_OK;
    }
    const uint64_t before = ebb_clock_ns(l->base.env);
    const ebb_status status = text_compile(l, text, object);
    if (status) return status;
    l->base.n_compiled++;
    l->base.compile_ns += ebb_clock_ns(l->base.env) - before;
    ebb_shelf_keep(&l->base.shelf, &key, l->LLVMGetBufferStart(*object), l->LLVMGetBufferSize(*object));
    return EBB_OK;
}

ebb_status cpu_llvm_compile(cpu_emitter *emitter, const emit_unit *unit, cpu_fused_code **out) {
    cpu_llvm *l = (cpu_llvm *)emitter;
    ebb_text text;
    llvm_ref object = NULL;
    uint64_t address = 0;
    ebb_text_init(&text, emitter->env);
    emitter->api->write(&text, unit, l->version);
    ebb_status status = ebb_text_status(&text);
    if (!status) status = object_of(l, &text, &object);
    ebb_text_deinit(&text);
    if (status) return status;
    llvm_ref error = l->LLVMOrcLLJITAddObjectFile(l->jit, l->LLVMOrcLLJITGetMainJITDylib(l->jit), object);
    if (!error) error = l->LLVMOrcLLJITLookup(l->jit, &address, unit->name);
    if (error) return cpu_llvm_refused(l, "no code", error);
    memcpy(out, &address, sizeof *out);
    return EBB_OK;
}

static ebb_status llvm_open(ebb_env *env, const cpu_emitter_api *api, cpu_emitter **out,
                            char version[EBB_EMITTER_TEXT]) {
    return cpu_llvm_open(env, api, NULL, out, version);
}

const cpu_emitter_api cpu_emitter_llvm = {.name = "LLVM",
                                          .open = llvm_open,
                                          .close = cpu_llvm_close,
                                          .compile = cpu_llvm_compile,
                                          .write = emit_in_llvm};

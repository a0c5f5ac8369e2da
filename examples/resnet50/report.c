/* report: what was planned, what was taken, what was learnt, and a digest of the result. */
#include "resnet50.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Fetches each param and state and adds its bytes. */
static ebb_status digest_params(training *t, EVP_MD_CTX *digest) {
    uint32_t n = ebb_program_n_params(t->program);
    ebb_status status = EBB_OK;
    for (uint32_t i = 0; i < n && status == EBB_OK; i++) {
        ebb_tensor_info info;
        status = ebb_program_param(t->program, i, &info);
        if (status != EBB_OK) return status;
        void *bytes = malloc((size_t)info.bytes);
        if (!bytes) return training_fail(t, EBB_NO_MEMORY, "no memory for a copy of %s", info.name);
        status = ebb_fetch(t->program, info.name, bytes, (size_t)info.bytes);
        if (status == EBB_OK && EVP_DigestUpdate(digest, bytes, (size_t)info.bytes) != 1)
            status = training_fail(t, EBB_INTERNAL, "libcrypto cannot add %s to the digest", info.name);
        free(bytes);
    }
    return status;
}

ebb_status report_digest(training *t, char out[65]) {
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    if (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(digest);
        return training_fail(t, EBB_INTERNAL, "libcrypto offers no SHA-256");
    }
    ebb_status status = digest_params(t, digest);
    if (status == EBB_OK && (EVP_DigestFinal_ex(digest, hash, &n) != 1 || n != 32))
        status = training_fail(t, EBB_INTERNAL, "libcrypto cannot end the digest");
    EVP_MD_CTX_free(digest);
    for (unsigned i = 0; i < n && status == EBB_OK; i++) snprintf(out + (size_t)2 * i, 3, "%02x", hash[i]);
    return status;
}

int64_t report_process_peak_bytes(void) {
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1) break;
    }
    if (file) fclose(file);
    if (kib > 0) return kib * 1024;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : -1;
}

typedef struct figures {
    ebb_plan_summary plan;
    int64_t planned_bytes; /* of the largest program */
    int64_t block_bytes;
    double images_per_s;
    char sha256[65];
} figures;

static void print_json(const training *t, const figures *f) {
    const config *c = t->config;
    printf("{\n  \"schema\": \"ebb.resnet50/1\",\n  \"memory\": \"%s\",\n  \"batch\": %lld,\n  \"image\": "
           "%lld,\n",
           c->memory, (long long)c->batch, (long long)c->image);
    printf(
        "  \"steps\": %lld,\n  \"images_per_s\": %.2f,\n  \"first_loss\": %.9g,\n  \"last_loss\": %.9g,\n",
        (long long)t->n_steps, f->images_per_s, t->first_loss, t->last_loss);
    if (t->accuracy >= 0)
        printf("  \"held_out_accuracy\": %.6f,\n", t->accuracy);
    else
        printf("  \"held_out_accuracy\": null,\n");
    printf("  \"in_place_arena_bytes\": %lld,\n  \"arena_bytes\": %lld,\n  \"persistent_bytes\": %lld,\n",
           (long long)f->plan.baseline_arena_bytes, (long long)f->plan.arena_bytes,
           (long long)f->plan.persistent_bytes);
    printf("  \"planned_block_bytes\": %lld,\n  \"allocated_block_bytes\": %lld,\n  "
           "\"process_peak_bytes\": %lld,\n",
           (long long)f->planned_bytes, (long long)f->block_bytes, (long long)t->peak_bytes);
    printf("  \"n_steps_of_plan\": %u,\n  \"n_recomputed\": %u,\n  \"n_threads\": %u,\n", f->plan.n_steps,
           f->plan.n_recomputed, f->plan.n_threads);
    printf("  \"sha256\": \"%s\"\n}\n", f->sha256);
}

static void print_text(const training *t, const figures *f) {
    const double mib = 0x1p20;
    const ebb_plan_summary *p = &f->plan;
    double base = (double)(p->baseline_arena_bytes > 0 ? p->baseline_arena_bytes : 1);
    printf("memory            %s, batch %lld, %lld x %lld pixels\n", t->config->memory,
           (long long)t->config->batch, (long long)t->config->image, (long long)t->config->image);
    printf("arena             %.1f MiB: %.1f %% of the in-place arena (%.1f MiB)\n",
           (double)p->arena_bytes / mib, 100 * (double)p->arena_bytes / base, base / mib);
    printf("block planned     %lld bytes\nblock allocated   %lld bytes\n", (long long)f->planned_bytes,
           (long long)f->block_bytes);
    printf("process peak      %.1f MiB\n", (double)t->peak_bytes / mib);
    printf("run again         %u of %u ops of a step\n", p->n_recomputed, p->n_steps);
    printf("steps             %lld at %.1f images/s\n", (long long)t->n_steps, f->images_per_s);
    printf("loss              %.6f -> %.6f\n", t->first_loss, t->last_loss);
    if (t->accuracy >= 0) printf("held-out accuracy %.2f %%\n", 100 * t->accuracy);
    printf("sha256            %s\n", f->sha256);
}

ebb_status report_print(training *t) {
    figures f = {.block_bytes = ebb_engine_block_bytes(t->engine)};
    ebb_status status = report_digest(t, f.sha256);
    if (status != EBB_OK) return status;
    ebb_plan_summarize(ebb_program_plan(t->program), &f.plan);
    f.planned_bytes = f.plan.arena_bytes + f.plan.persistent_bytes;
    ebb_program *const others[] = {t->rest, t->evaluation[0], t->evaluation[1]};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ebb_plan_summary other;
        if (!others[i]) continue;
        ebb_plan_summarize(ebb_program_plan(others[i]), &other);
        if (other.arena_bytes + other.persistent_bytes > f.planned_bytes)
            f.planned_bytes = other.arena_bytes + other.persistent_bytes;
    }
    if (t->train_ns > 0) f.images_per_s = 1e9 * (double)t->n_images / (double)t->train_ns;
    if (t->config->json)
        print_json(t, &f);
    else
        print_text(t, &f);
    return EBB_OK;
}

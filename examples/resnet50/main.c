/* resnet50: trains, reports, and turns a failure into one line and an exit code. */
#include "resnet50.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile sig_atomic_t stop_flag;

static void raise_flag(int signal_number) {
    (void)signal_number;
    stop_flag = 1;
}

static ebb_status train_and_report(training *t, FILE *csv) {
    ebb_status status = training_open(t);
    if (status != EBB_OK) return status;
    status = training_run(t, csv);
    if (status != EBB_OK && status != EBB_INTERRUPTED) return status;
    ebb_status reported = report_print(t);
    return reported != EBB_OK ? reported : status;
}

static ebb_status with_csv(training *t) {
    FILE *csv = NULL;
    if (t->config->csv) {
        csv = fopen(t->config->csv, "w");
        if (!csv) return training_fail(t, EBB_IO, "cannot write %.400s", t->config->csv);
    }
    ebb_status status = train_and_report(t, csv);
    bool lost = csv && ferror(csv) != 0;
    if (csv && fclose(csv) != 0) lost = true;
    if (fflush(stdout) != 0 && status == EBB_OK)
        status = training_fail(t, EBB_IO, "cannot write standard output");
    if (lost && status == EBB_OK) status = training_fail(t, EBB_IO, "cannot write %.400s", t->config->csv);
    return status;
}

int main(int argc, char **argv) {
    config c;
    training t = {.config = &c, .stop = &stop_flag};
    digits *data = NULL;
    ebb_env_options env_options = {.stop = &stop_flag};
    ebb_status status = EBB_OK;
    if (!config_parse(&c, argc, argv, t.error, sizeof t.error)) status = EBB_USAGE;
    if (status == EBB_OK && c.help) {
        config_help();
        return 0;
    }
    signal(SIGINT, raise_flag);
    if (status == EBB_OK && !c.synthetic && !c.pictures) {
        data = malloc(sizeof *data);
        if (!data)
            status = training_fail(&t, EBB_NO_MEMORY, "no memory for the digits");
        else if (!digits_read(data, c.data, t.error, sizeof t.error))
            status = EBB_BAD_INPUT;
        t.data = data;
    }
    if (status == EBB_OK) status = ebb_env_create(&env_options, &t.env);
    if (status == EBB_OK) status = with_csv(&t);
    if (status != EBB_OK) {
        const char *text = t.error[0] != '\0' ? t.error : t.env ? ebb_env_error(t.env) : "";
        fprintf(stderr, "resnet50: %s\n", text[0] != '\0' ? text : ebb_status_name(status));
    }
    training_close(&t);
    ebb_env_destroy(t.env);
    free(data);
    return ebb_status_exit_code(status);
}

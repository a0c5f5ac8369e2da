/* completions: what each shell reads to complete commands, flags, words and paths. Nothing here runs the
 * tool. */
#include "tool/line/line.h"

#include <string.h>

/* Its value is a path. */
static bool wants_file(const tool_flag *flag) {
    const char *metavar = flag->metavar ? flag->metavar : "";
    return flag->kind == TOOL_TEXT && (strcmp(metavar, "FILE") == 0 || strcmp(metavar, "DIR") == 0);
}

/* text within single quotes of a POSIX shell or zsh; also[]: characters that get a backslash besides. */
static void put_quoted(const char *text, const char *also, const char *quote) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs(quote, stdout);
        else if (strchr(also, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void put_commands(void) {
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (tool_command_shown(&tool_commands[i])) printf("%s ", tool_commands[i].name);
    }
}

/* ---- bash ---- */

static void bash_values(void) {
    printf("    case $previous in\n");
    for (size_t i = 0; i < tool_n_flags; i++) {
        const tool_flag *flag = &tool_flags[i];
        if (flag->kind == TOOL_SWITCH) continue;
        printf("    --%s%s%c)", flag->name, flag->letter != 0 ? " | -" : "",
               flag->letter != 0 ? flag->letter : ' ');
        if (flag->choices)
            printf(" words='%s' ;;\n", flag->choices);
        else
            printf(" %s ;;\n", wants_file(flag) ? "return" : "words=' '");
    }
    printf("    esac\n");
}

/* "--progress=none --progress=lines " */
static void bash_words(const tool_flag *flag) {
    for (const char *word = flag->choices; *word != '\0'; word += strspn(word, " ")) {
        size_t n = strcspn(word, " ");
        printf("--%s=%.*s ", flag->name, (int)n, word);
        word += n;
    }
}

static void bash_flags(void) {
    printf("    case $command in\n");
    for (size_t c = 0; c < TOOL_N_COMMANDS; c++) {
        const tool_command *command = &tool_commands[c];
        if (!tool_command_shown(command)) continue;
        printf("    %s) flags='", command->name);
        for (size_t i = 0; i < tool_n_flags; i++) {
            const tool_flag *flag = &tool_flags[i];
            if (!tool_command_takes(command, flag)) continue;
            printf("--%s ", flag->name);
            if (flag->kind == TOOL_MAYBE) bash_words(flag);
            if (flag->letter != 0) printf("-%c ", flag->letter);
        }
        printf("' ;;\n");
    }
    printf("    esac\n");
}

/* Bash takes "--name=value" apart at the =; a flag whose value may be left out has it there only. Where
 * COMPREPLY stays empty, -o default completes paths; a single blank in words means no words, and no
 * paths either. */
void tool_complete_bash(void) {
    printf("# bash completion of ebb: made from the command's own tables\n"
           "_ebb() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local command= flags= words= joined= i\n"
           "    COMPREPLY=()\n"
           "    if [[ $current == = ]]; then\n"
           "        current= joined=1\n"
           "    elif [[ $previous == = ]]; then\n"
           "        previous=${COMP_WORDS[COMP_CWORD - 2]} joined=1\n"
           "    fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
           "            command=${COMP_WORDS[i]}\n"
           "            break\n"
           "        fi\n"
           "    done\n"
           "    if [[ -z $command ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    put_commands();
    printf("--help --version' -- \"$current\")\n"
           "        return\n"
           "    fi\n");
    for (size_t i = 0; i < tool_n_flags; i++) {
        if (tool_flags[i].kind == TOOL_MAYBE)
            printf("    [[ $previous == --%s && -z $joined ]] && previous=\n", tool_flags[i].name);
    }
    bash_values();
    printf("    if [[ -n $words ]]; then\n"
           "        compopt +o default\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "        return\n"
           "    fi\n"
           "    if [[ $command == help ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    put_commands();
    printf("' -- \"$current\")\n"
           "        return\n"
           "    fi\n");
    bash_flags();
    printf("    if [[ $current == -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$current\")\n"
           "    fi\n"
           "}\n"
           "complete -o default -F _ebb ebb\n");
}

/* ---- zsh ---- */

#define ZSH_QUOTE "'\\''"

static void zsh_flag(const tool_flag *flag) {
    bool many = flag->kind == TOOL_DIM || flag->kind == TOOL_LIST;
    const char *equals = flag->kind == TOOL_SWITCH ? "" : flag->kind == TOOL_MAYBE ? "=-" : "=";
    printf(" \\\n        ");
    if (flag->letter != 0)
        printf("'(-%c --%s)'{-%c%s,--%s%s}'", flag->letter, flag->name, flag->letter,
               flag->kind == TOOL_SWITCH ? "" : "+", flag->name, equals);
    else
        printf("'%s--%s%s", many ? "*" : "", flag->name, equals);
    printf("[");
    put_quoted(flag->help, "[]:\\", ZSH_QUOTE);
    printf("]");
    if (flag->kind != TOOL_SWITCH) {
        printf("%s%s:", flag->kind == TOOL_MAYBE ? "::" : ":", flag->metavar);
        if (flag->choices)
            printf("(%s)", flag->choices);
        else if (wants_file(flag))
            printf(strcmp(flag->metavar, "DIR") == 0 ? "_files -/" : "_files");
    }
    printf("'");
}

static void zsh_command(const tool_command *command) {
    const char *operands[] = {command->operand, command->second};
    printf("    %s)\n        _arguments -s", command->name);
    for (size_t i = 0; i < tool_n_flags; i++) {
        if (tool_command_takes(command, &tool_flags[i])) zsh_flag(&tool_flags[i]);
    }
    for (size_t i = 0; i < TOOL_COUNT(operands); i++) {
        if (!operands[i]) continue;
        if (command == &tool_commands[TOOL_HELP]) {
            printf(" \\\n        '%zu:%s:(", i + 1, operands[i]);
            put_commands();
            printf(")'");
        } else {
            printf(" \\\n        '%zu:%s:_files'", i + 1, operands[i]);
        }
    }
    printf("\n        ;;\n");
}

void tool_complete_zsh(void) {
    printf("#compdef ebb\n"
           "# zsh completion of ebb: made from the command's own tables\n"
           "_ebb() {\n"
           "    local -a commands\n"
           "    commands=(\n");
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (!tool_command_shown(&tool_commands[i])) continue;
        printf("        '%s:", tool_commands[i].name);
        put_quoted(tool_commands[i].summary, ":\\", ZSH_QUOTE);
        printf("'\n");
    }
    printf("    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $command in\n");
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (tool_command_shown(&tool_commands[i])) zsh_command(&tool_commands[i]);
    }
    printf("    esac\n"
           "}\n"
           "_ebb \"$@\"\n");
}

/* ---- fish ---- */

static void fish_flag(const tool_flag *flag) {
    printf("complete -c ebb -n '__fish_seen_subcommand_from");
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (tool_command_shown(&tool_commands[i]) && tool_command_takes(&tool_commands[i], flag))
            printf(" %s", tool_commands[i].name);
    }
    printf("' -l %s", flag->name);
    if (flag->letter != 0) printf(" -s %c", flag->letter);
    if (wants_file(flag))
        printf(" -r -F");
    else if (flag->kind == TOOL_MAYBE)
        printf(" -f -a '%s'", flag->choices);
    else if (flag->kind != TOOL_SWITCH)
        printf(" -x%s%s%s", flag->choices ? " -a '" : "", flag->choices ? flag->choices : "",
               flag->choices ? "'" : "");
    printf(" -d '");
    put_quoted(flag->help, "\\", "\\'");
    printf("'\n");
}

void tool_complete_fish(void) {
    printf("# fish completion of ebb: made from the command's own tables\n");
    for (size_t i = 0; i < TOOL_N_COMMANDS; i++) {
        if (!tool_command_shown(&tool_commands[i])) continue;
        printf("complete -c ebb -n __fish_use_subcommand -f -a %s -d '", tool_commands[i].name);
        put_quoted(tool_commands[i].summary, "\\", "\\'");
        printf("'\n");
    }
    printf("complete -c ebb -n '__fish_seen_subcommand_from help' -f -a '");
    put_commands();
    printf("'\n");
    for (size_t i = 0; i < tool_n_flags; i++) fish_flag(&tool_flags[i]);
}

/* What the functions in place of the libraries' share. */
#ifndef EBB_TESTS_CUDA_GO_ON_H
#define EBB_TESTS_CUDA_GO_ON_H

/* The library's own function of that name. */
void *test_next_of(const char *name);

/* dlsym gives an object's address where a function's is meant. */
#define GO_ON(result, name, types, arguments) \
    do {                                      \
        union {                               \
            void *object;                     \
            result(*function) types;          \
        } next = {test_next_of(name)};        \
        return next.function arguments;       \
    } while (0)

/* Every handle that is made up points here. */
extern char test_handle_place;

#endif

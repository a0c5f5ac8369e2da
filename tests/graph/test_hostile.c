/* Texts that are no graphs: each is refused where it is wrong, in one line that says why. */
#include "passes.h"

#include <stdio.h>

#define H "ebb 1\ngraph g\n" /* rows begin on line 3, after it */
#define X H "%x = input f32[3,7]\n"

typedef struct row {
    const char *text;
    size_t n;
    const char *place, *reason;
} row;
#define R(text, place, reason) \
    { (text), sizeof(text) - 1, (place), (reason) }

static const row rows[] = {
    /* header */
    R("", "1:1", "expected the header `ebb 1`, found the end of the text"),
    R("\n\n  # nothing\n", "4:1", "expected the header `ebb 1`"),
    R("graph g\n", "1:1", "expected the header `ebb 1`, found graph"),
    R("ebb\n", "1:4", "expected a version"),
    R("ebb 2\n", "1:5", "version 2 is not known"),
    R("ebb 1 1\ngraph g\n", "1:7", "expected the end of the line, found 1"),
    R("ebb 1", "1:6", "expected `graph NAME`"),
    R("ebb 1\n%x = input f32[]\n", "2:1", "expected `graph NAME` after the header, found %x"),
    R("ebb 1\ngraph\n", "2:6", "expected the graph's name, found the end of the line"),
    R("ebb 1\ngraph a b\n", "2:9", "expected the end of the line, found b"),
    R("ebb 1\ngraph \"g\"\n", "2:7", "expected the graph's name, found g"),
    R("ebb 1\ngraph 'g'\n", "2:7", "a character with no meaning here"),
    R("ebb 1\ngraph \"g\n", "2:7", "a text without its second \""),
    /* bytes */
    R(H "%x = input f32[3]\0\n", "3:18", "a NUL byte"),
    R(H "# caf\xc3\xa9 \xff\n", "3:9", "invalid UTF-8 in a comment"),
    R(H "# \xed\xa0\x80 is a surrogate\n", "3:3", "invalid UTF-8"),
    R(H "# \xc0\xaf is overlong\n", "3:3", "invalid UTF-8"),
    R(H "# \xf4\x90\x80\x80 is above the last\n", "3:3", "invalid UTF-8"),
    R(H "# cut \xe2\x82", "3:7", "invalid UTF-8"),
    R(H "# nul \0", "3:7", "a NUL byte in a comment"),
    R(H "%\xc3\xa4 = input f32[]\n", "3:1", "% needs a name"),
    R(H "%x = input f32[3]\x01\n", "3:18", "a control byte"),
    R(H "\xef\xbb\xbf%x = input f32[]\n", "3:1", "a byte outside ASCII"),
    R(H "%x = relu(%y)\n", "3:10", "a character with no meaning here"),
    /* lines */
    R(H "x = input f32[3]\n", "3:1", "expected %name, dim, output or loss, found x"),
    R(H "input f32[3]\n", "3:1", "expected %name, dim, output or loss, found input"),
    R(H "= 3\n", "3:1", "expected %name"),
    R(H "3\n", "3:1", "expected %name"),
    R(H "%x\n", "3:3", "expected =, found the end of the line"),
    R(H "%x input f32[3]\n", "3:4", "expected =, found input"),
    R(H "%x = \n", "3:6", "expected an op, input, param, state or constant"),
    R(H "%x = input f32[3] %x\n", "3:19", "expected the end of the line, found %x"),
    R(H "%x, = input f32[3]\n", "3:5", "expected another result"),
    R(H "%x, %y = input f32[3]\n", "3:10", "input defines one value, not 2"),
    R(H "%a, %b, %c, %d, %e = relu %x\n", "3:17", "more than 4 results"),
    /* types */
    R(H "%x = input\n", "3:11", "expected a type like f32[3,7]"),
    R(H "%x = input f17[3]\n", "3:12", "expected f32, f64, i32, u8, bool, f16, bf16, i8 or i16, found f17"),
    R(H "%x = input f32\n", "3:15", "expected [, found the end of the line"),
    R(H "%x = input f32[\n", "3:16", "expected an integer or a dim"),
    R(H "%x = input f32[3\n", "3:17", "expected ,, found the end of the line"),
    R(H "%x = input f32[3,]\n", "3:18", "expected an integer or a dim, found ]"),
    R(H "%x = input f32[0]\n", "3:16", "size 0: sizes are at least 1"),
    R(H "%x = input f32[3,-7]\n", "3:18", "size -7: sizes are at least 1"),
    R(H "%x = input f32[1,1,1,1,1,1,1,1,1]\n", "3:32", "more than 8 sizes"),
    R(H "%x = input f32[9223372036854775808]\n", "3:16", "9223372036854775808 is too large"),
    R(H "%x = input f32[9223372036854775807]\n", "3:12", "the type has more than 2^63 - 1 bytes"),
    R(H "%x = input f32[4294967296,2147483648]\n", "3:12", "the type has more than 2^63 - 1 bytes"),
    R(H "%x = input f32[0x10]\n", "3:16", "0x10 is no decimal integer"),
    R(H "%x = input f32[3.0]\n", "3:16", "3.0 is no decimal integer"),
    R(H "%x = input f32[1e3]\n", "3:16", "1e3 is no decimal integer"),
    R(H "%x = input f32[7N]\n", "3:16", "7N is no decimal integer"),
    R(H "%x = input f32[N]\n", "3:16", "dim N is not declared above"),
    R(H "%x = input f32[3 7]\n", "3:18", "expected ,, found 7"),
    /* lists and dtypes of attributes */
    R(H "%x = input f32[3]\n%y = reduce_sum %x axis=-1\n", "4:25", "axis -1: it is counted from 0"),
    R(H "%x = input f32[3,7]\n%y = reduce_sum %x axis=[0,-1]\n", "4:25", "axis -1: it is counted from 0"),
    R(H "%x = input f32[3]\n%y = reduce_sum %x axis=1\n", "4:6", "reduce_sum: f32[3] has no axis 1"),
    R(H "%x = input f32[3]\n%y = permute %x order=[-1]\n", "4:23", "order -1: it is counted from 0"),
    R(H "%x = input f32[3]\n%y = cast %x to=f17\n", "4:17",
      "expected f32, f64, i32, u8, bool, f16, bf16, i8 or i16, found f17"),
    R(H "%x = input f32[3]\n%y = cast %x\n", "4:6", "cast needs to="),
    /* dims */
    R(H "dim\n", "3:4", "expected a dim's name"),
    R(H "dim N\n", "3:6", "expected ="),
    R(H "dim N = 0\n", "3:9", "dim N is below 1"),
    R(H "dim N = -1\n", "3:9", "dim N is below 1"),
    R(H "dim N = 3\ndim N = 3\n", "4:5", "dim N is already declared on line 3"),
    R(H "dim N = M\ndim M = 3\n", "3:9", "dim M is not declared above"),
    R(H "dim N = N\n", "3:9", "dim N is not declared above"),
    R(H "dim N = 33\n%x = input f32[N/2]\n", "4:17", "33/2 is not whole"),
    R(H "dim N = 3\n%x = input f32[N/0]\n", "4:17", "3/0: division by zero"),
    R(H "dim N = 3000000000\ndim M = N*N*N\n", "4:12", "9000000000000000000*3000000000 is too large"),
    R(H "dim N = 3*-1\n", "3:10", "factors must not be negative"),
    R(H "dim N = 3*\n", "3:11", "expected an integer or a dim"),
    R(H "dim N = 3 + 1\n", "3:11", "a character with no meaning here"),
    /* given values */
    R(H "%w = param f32[3] fill=0\n", "3:19", "expected init=, found fill"),
    R(H "%w = param f32[3] init=xavier\n", "3:24",
      "expected zero, one, kaiming, uniform or a number, found xavier"),
    R(H "%w = param f32[3] init=one init=one\n", "3:28", "expected the end of the line"),
    R(H "%w = param f32[3] init=kaiming\n", "3:1",
      "kaiming init needs f32, f64, f16 or bf16 of rank 2 or more, not f32[3]"),
    R(H "%w = param i32[3] init=uniform\n", "3:1",
      "uniform init needs f32, f64, f16 or bf16 of rank 1 or more, not i32[3]"),
    R(H "%x = input f32[3] init=zero\n", "3:19", "an input has no attributes"),
    R(H "%k = constant f32[] init=one\n", "3:21", "expected fill=, found init"),
    R(H "%k = constant f32[] fill=\n", "3:26", "expected a number"),
    R(H "%k = constant f32[] fill=nan\n", "3:26", "expected a number, found nan"),
    R(H "%k = constant f32[] fill=1e999\n", "3:26", "1e999 is no finite decimal number"),
    R(H "%k = constant f32[] fill=1e39\n", "3:1", "fill must be finite as f32"),
    R(H "%k = constant f32[] fill=1,5\n", "3:27", "expected the end of the line, found ,"),
    R(H "%k = constant i32[] fill=0.5\n", "3:1", "fill of an i32 must be a whole number of 32 bits"),
    R(H "%k = constant i32[] fill=2147483648\n", "3:1", "fill of an i32 must be a whole number of 32 bits"),
    /* ops */
    R(X "%y = conv2 %x\n", "4:6", "op conv2 is not known: did you mean conv2d?"),
    R(X "%y = sliu %x\n", "4:6", "op sliu is not known: did you mean silu?"),
    R(X "%y = Relu %x\n", "4:6", "op Relu is not known: did you mean relu?"),
    R(X "%y = transformer %x\n", "4:6", "op transformer is not known"),
    R(X "%y = relu\n", "4:6", "relu takes 1 operands, not 0"),
    R(X "%y = relu x\n", "4:11", "x: a value is written with a %: %x"),
    R(X "%y = cross_entropy %x\n", "4:6", "op cross_entropy is not known: did you mean softmax_xent?"),
    R(X "%y = relu %x, %x\n", "4:15", "relu takes at most 1 operands"),
    R(X "%y = concat\n", "4:6", "concat takes at least 1 operands, not 0"),
    R(X "%y = relu %x,\n", "4:14", "expected another operand"),
    R(X "%y = relu %z\n", "4:11", "%z is not defined"),
    R(X "%y = relu %y\n", "4:11", "%y is made by this very line"),
    R(X "%y = relu %z\n\n%z = relu %x\n", "4:11", "%z is defined later, on line 6"),
    R(X "%y = add %x, %z\n%a, %z = bn_stats %x\n", "4:14", "%z is defined later, on line 5"),
    R(X "%x = relu %x\n", "4:1", "%x is already defined"),
    R(X "%a, %a = bn_stats %x\n", "4:10", "%a names two results"),
    R(X "%a, %b = relu %x\n", "4:10", "relu gives 1 results, not 2"),
    R(X "%a = bn_stats %x\n", "4:6", "bn_stats gives 2 results, not 1"),
    R(X "%w = param f32[3,3]\n%y = linear %x, %w\n", "5:6",
      "linear: x f32[3,7] has 7 for i but w f32[3,3] has 3"),
    R(X "%y = relu %x : f32[7,3]\n", "4:16", "the text says f32[7,3], the op gives f32[3,7]"),
    R(X "%y = relu %x : f64[3,7]\n", "4:16", "the text says f64[3,7]"),
    R(X "%a, %b = bn_stats %x : f32[7]\n", "4:30", "expected ,"),
    R(X "%a, %b = bn_stats %x : f32[7], f32[3]\n", "4:32", "the op gives f32[7]"),
    /* attributes */
    R(X "%y = dropout %x q=1\n", "4:17", "dropout has no attribute q: it has p, seed, phase"),
    R(X "%y = relu %x seed=1\n", "4:14", "relu has no attribute seed: it has phase"),
    R(X "%y = dropout %x p=0.5 p=0.5\n", "4:23", "p is given twice"),
    R(X "%y = dropout %x p\n", "4:18", "expected ="),
    R(X "%y = dropout %x p=half\n", "4:19", "expected a number, found half"),
    R(X "%y = dropout %x p=0.5.5\n", "4:19", "0.5.5 is no finite decimal number"),
    R(X "%y = dropout %x p=.5\n", "4:19", "a character with no meaning here"),
    R(X "%y = dropout %x p=1.5\n", "4:19", "dropout: p=1.5 must be in [0, 1]"),
    R(X "%y = dropout p=0.5 %x\n", "4:6", "dropout takes 1 operands, not 0"),
    R(X "%y = relu %x phase=later\n", "4:20", "expected forward, backward or update, found later"),
    R(X "%y = dropout %x seed=18446744073709551616\n", "4:22", "18446744073709551616 is too large"),
    R(X "%y = dropout %x seed=-1\n", "4:22", "-1 is no decimal integer"),
    R(X "%y = slice %x\n", "4:6", "slice needs size="),
    R(X "%y = slice %x size=0\n", "4:20", "slice: size=0 must be in [1, "),
    R(X "%y = slice %x size=[1,2]\n", "4:23", "more than 1 sizes in the list"),
    R(X "%y = reshape %x shape=21\n", "4:23", "expected [, found 21"),
    R(X "%y = reshape %x shape=[3,0,7]\n", "4:26", "size 0: sizes are at least 1"),
    R(X "%y = reshape %x shape=[3,-2]\n", "4:26", "size -2: sizes are at least 1"),
    R(X "%y = reshape %x shape=[3,8]\n", "4:6", "%y: reshape: x f32[3,7] has 21 elements"),
    R(X "%v = reshape %x shape=[3,7,1,1]\n%y = max_pool %v kernel=[1,1,1]\n", "5:30", "more than 2 sizes"),
    R(X "%v = reshape %x shape=[3,7,1,1]\n%y = max_pool %v kernel=[1]\n", "5:25", "a list of 2, not of 1"),
    R(X "%v = reshape %x shape=[3,7,1,1]\n%y = avg_pool %v kernel=1 count_pad=1\n", "5:37",
      "true or false"),
    R(X "%y = relu %x phase=backward\n%z = relu %y\n", "5:6",
      "relu of the forward phase reads %y of the backward"),
    /* effects */
    R(X "%l = input f32[]\n%y = sgd %x, %x, %l\n", "5:6",
      "sgd updates %x, which is not a given param or state"),
    R(H "%w = param f32[3]\n%l = input f32[]\n%y = sgd %w, %w, %l\n", "5:6",
      "reads its bytes as operand 1 too"),
    R(H "%w = param f32[3]\n%l = input f32[]\n%g = relu %w\n%a = sgd %w, %g, %l\n%b = sgd %w, %g, %l\n",
      "7:6", "after sgd has updated it"),
    R(H "%w = param f32[3]\n%l = input f32[]\n%v = reshape %w shape=[3,1]\n%g = relu %w\n%a = sgd %w, %g, "
        "%l\n"
        "output %v\n",
      "9:1", "output %v is a view of %w, which sgd updates"),
    /* ends */
    R(X "output\n", "4:7", "expected a value like %x"),
    R(X "output %y\n", "4:8", "%y is not defined"),
    R(X "output %x\n", "4:8", "%x cannot be an output: it is an input, which can be read as it is"),
    R(X "output %z\n%z = relu %x\n", "4:8", "%z is defined later, on line 5"),
    R(X "%y = relu %x\noutput %y,\n", "5:11", "expected a value like %x"),
    R(X "%y = relu %x\noutput %y %y\n", "5:11", "expected the end of the line, found %y"),
    R(X "%y = relu %x\nloss %y\n", "5:6",
      "loss %y must be a computed f32[] or f64[], not a computed f32[3,7]"),
    R(H "%y = input f32[]\nloss %y\n", "4:6", "must be a computed f32[] or f64[], not a given f32[]"),
    R(H "%y = fill value=1\n%z = fill value=2\nloss %y\nloss %z\n", "6:6", "a second loss, %z"),
    R(H "%y = fill value=1\nloss %y, %y\n", "4:8", "expected the end of the line"),
};

Test(hostile, texts_are_refused_at_their_place_for_their_reason) {
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(rows); i++) {
        const row *r = &rows[i];
        ebb_graph *graph = NULL;
        char place[40];
        ebb_status status = ebb_graph_parse(env, "f", r->text, r->n, NULL, &graph);
        const char *error = ebb_env_error(env);
        cr_expect_eq(status, EBB_BAD_INPUT, "row %zu (%s): %s", i, r->text, ebb_status_name(status));
        cr_expect_null(graph);
        snprintf(place, sizeof place, "f:%s: ", r->place);
        cr_expect_eq(strncmp(error, place, strlen(place)), 0, "row %zu: not at %s: %s", i, r->place, error);
        cr_expect_not_null(strstr(error, r->reason), "row %zu: not %s: %s", i, r->reason, error);
        cr_expect_null(strchr(error, '\n'), "row %zu: more than one line: %s", i, error);
    }
    cr_expect_geq(EBB_COUNT(rows), 100u);
    graph_env_end(env);
}

Test(hostile, dims_of_the_caller_are_checked) {
    static const struct {
        ebb_dim dim;
        const char *text, *reason;
    } cases[] = {
        {{"M", 3}, H "dim N = 1\ndim C = 3\n", "f declares no dim M: it declares N, C"},
        {{"M", 3}, H, "f declares no dim M: it declares none"},
        {{"n", 3}, H "dim N = 1\n", "f declares no dim n"},
        {{"", 3}, H "dim N = 1\n", "f declares no dim "},
        {{"N", 0}, H "dim N = 1\n", "f: dim N=0 must be at least 1"},
        {{"N", INT64_MIN}, H "dim N = 1\n", "f: dim N=-9223372036854775808 must be at least 1"},
    };
    ebb_env *env = graph_env();
    for (size_t i = 0; i < EBB_COUNT(cases); i++) {
        ebb_parse_options options = {.dims = &cases[i].dim, .n_dims = 1};
        ebb_graph *graph = NULL;
        ebb_status status =
            ebb_graph_parse(env, "f", cases[i].text, strlen(cases[i].text), &options, &graph);
        cr_expect_eq(status, EBB_USAGE, "row %zu", i);
        cr_expect_null(graph);
        cr_expect_not_null(strstr(ebb_env_error(env), cases[i].reason), "row %zu: %s", i,
                           ebb_env_error(env));
    }
    graph_env_end(env);
}

/* A size of the caller may be too large for a shape. */
Test(hostile, a_dim_of_the_caller_that_is_too_large_is_refused_where_it_is_used) {
    ebb_env *env = graph_env();
    ebb_dim dim = {"N", INT64_MAX};
    ebb_parse_options options = {.dims = &dim, .n_dims = 1};
    ebb_graph *graph = NULL;
    const char *text = H "dim N = 1\n%x = input f32[N,3]\n";
    cr_expect_eq(ebb_graph_parse(env, "f", text, strlen(text), &options, &graph), EBB_BAD_INPUT);
    cr_expect_not_null(strstr(ebb_env_error(env), "f:4:12: the type has more"), "%s", ebb_env_error(env));
    graph_env_end(env);
}

/* Every prefix of a text, and every text with one byte changed, is a graph or is refused with its place. */
Test(hostile, cut_and_damaged_texts_are_graphs_or_are_refused) {
    static const char good[] =
        X "dim N = 2*3 # é\n%w = param f32[N/2,7] init=uniform\n%k = constant f32[] fill=-1e-05\n"
          "%y = linear %x, %w : f32[3,3]\n%d, %e = bn_stats %y\n"
          "%z = dropout %y p=0.25 phase=backward seed=7\noutput %z\n";
    ebb_env *env = graph_env();
    size_t n_good = 0, n_bad = 0;
    for (size_t cut = 0; cut < sizeof good; cut++) {
        for (uint32_t change = 0; change < 256; change += cut == sizeof good - 1 ? 256 : 23) {
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[cut] = (char)change;
            ebb_graph *graph = NULL;
            ebb_status status =
                ebb_graph_parse(env, "f", text, change ? sizeof good - 1 : cut, NULL, &graph);
            cr_expect(status == EBB_OK ||
                          (status == EBB_BAD_INPUT && strncmp(ebb_env_error(env), "f:", 2) == 0),
                      "%s", ebb_env_error(env));
            n_good += status == EBB_OK;
            n_bad += status != EBB_OK;
            if (!status) cr_expect_eq(ebb_graph_verify(env, graph), EBB_OK, "%s", ebb_env_error(env));
            ebb_graph_destroy(graph);
        }
    }
    cr_expect(n_good > 50 && n_bad > 1000, "%zu graphs, %zu refused", n_good, n_bad);
    graph_env_end(env);
}

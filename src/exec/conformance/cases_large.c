/* Calls of more than one block of a device's kernels: several chunks of rows, what is left behind the last,
 * channels that are no multiple of 4 and channels that are, few, many, one; and windows of four channels at
 * a time. Fills and tolerances are those of the ops' tables; "n" is for NaNs. */
#include "exec/conformance/cases.h"

/* Channels: 1, 3 and 17 stand several times in a row of lanes, 65 too but over three tiles; 64 and 8 stand
 * there whole, 132 begins a second tile. Rows: one, several chunks, and a rest. */
static const ebb_op_case stats[] = {{"[1,1,150,115]", ""}, {"[43,3,11,11]", ""}, {"[9,17,31,33]", ""},
                                    {"[2,65,31,18]", ""},  {"[3,64,17,9]", ""},  {"[150,132]", ""},
                                    {"[2100,8]", ""},      {"[1,132,1,1]", ""},  {"[7,64,1,1]", ""}};
static const ebb_op_case bias[] = {{"[43,3,11,11]", ""}, {"[2,65,31,18]", ""}, {"[150,132]", ""},
                                   {"[2100,8]", ""},     {"[5,132,1,1]", ""},  {"[5,64,3,3]", ""}};
#define ROWS_OF(c, x, more) "[" x "] [" c "] [" c "] " more
static const ebb_op_case apply[] = {{ROWS_OF("3", "21,3,11,11", "[3] [3]"), ""},
                                    {ROWS_OF("17", "5,17,31,17", "[17] [17]"), ""},
                                    {ROWS_OF("65", "2,65,31,9", "[65] [65]"), "batch=1"},
                                    {ROWS_OF("132", "75,132", "[132] [132]"), ""},
                                    {ROWS_OF("8", "700,8", "[8] [8]"), ""}};
static const ebb_op_case act[] = {{ROWS_OF("3", "21,3,11,11", "[3] [3]"), "relu=1"},
                                  {ROWS_OF("65", "2,65,31,9", "[65] [65]"), "clip=1 min=-0.5 max=0.25"},
                                  {ROWS_OF("132", "75,132", "[132] [132]"), "relu=1"},
                                  {ROWS_OF("8", "700,8", "[8] [8]"), "relu=1"}};
static const ebb_op_case plus[] = {
    {ROWS_OF("3", "21,3,11,11", "[3] [3] [21,3,11,11]"), "relu=1"},
    {ROWS_OF("65", "2,65,31,9", "[65] [65] [2,65,31,9]"), "clip=1 min=-0.5 max=0.25"},
    {ROWS_OF("132", "75,132", "[132] [132] [75,132]"), ""},
    {ROWS_OF("8", "700,8", "[8] [8] [700,8]"), "relu=1"}};
static const ebb_op_case sums[] = {
    {ROWS_OF("1", "1,1,150,115", "[1,1,150,115]"), ""}, {ROWS_OF("3", "43,3,11,11", "[43,3,11,11]"), ""},
    {ROWS_OF("17", "9,17,31,33", "[9,17,31,33]"), ""},  {ROWS_OF("65", "2,65,31,18", "[2,65,31,18]"), ""},
    {ROWS_OF("132", "150,132", "[150,132]"), ""},       {ROWS_OF("8", "2100,8", "[2100,8]"), ""}};
static const ebb_op_case act_sums[] = {
    {ROWS_OF("3", "43,3,11,11", "[3] [3] [43,3,11,11]"), "relu=1"},
    {ROWS_OF("65", "2,65,31,18", "[65] [65] [2,65,31,18]"), "clip=1 min=-0.5 max=0.25"},
    {ROWS_OF("132", "150,132", "[132] [132] [150,132]"), "relu=1"},
    {ROWS_OF("8", "2100,8", "[8] [8] [2100,8]"), "relu=1"}};
static const ebb_op_case plus_sums[] = {
    {ROWS_OF("3", "43,3,11,11", "[43,3,11,11] [43,3,11,11]"), "relu=1"},
    {ROWS_OF("65", "2,65,31,18", "[2,65,31,18] [2,65,31,18] [2,65,31,18]"), "clip=1 min=-0.5 max=0.25"},
    {ROWS_OF("132", "150,132", "[150,132] [150,132]"), "relu=1"},
    {ROWS_OF("132", "75,132", "[75,132] [75,132] [75,132]"), "relu=1"},
    {ROWS_OF("8", "2100,8", "[2100,8] [2100,8] [2100,8]"), "relu=1"}};
static const ebb_op_case grad[] = {{ROWS_OF("3", "21,3,11,11", "[3] [3] [3] [21,3,11,11]"), ""},
                                   {ROWS_OF("65", "2,65,31,9", "[65] [65] [65] [2,65,31,9]"), ""},
                                   {ROWS_OF("132", "75,132", "[132] [132] [132] [75,132]"), ""},
                                   {ROWS_OF("8", "700,8", "[8] [8] [8] [700,8]"), ""}};
static const ebb_op_case act_grad[] = {
    {ROWS_OF("3", "21,3,11,11", "[3] [3] [3] [3] [21,3,11,11]"), "relu=1"},
    {ROWS_OF("65", "2,65,31,9", "[65] [65] [65] [65] [2,65,31,9]"), "clip=1 min=-0.5 max=0.25"},
    {ROWS_OF("132", "75,132", "[132] [132] [132] [132] [75,132]"), "relu=1"},
    {ROWS_OF("8", "700,8", "[8] [8] [8] [8] [700,8]"), "relu=1"}};
static const ebb_op_case track[] = {{"[131] [131] [131] [131]", "count=50"}};

/* Rows of x: by a warp and by a block, four numbers at a time and one. */
static const ebb_op_case ln_stats[] = {{"[3,2052]", ""}, {"[2,2051]", ""}, {"[17,260]", ""},
                                       {"[9,2048]", ""}, {"[9,36]", ""},   {"[1,4]", ""}};
static const ebb_op_case ln_apply[] = {{"[3,2052] [3] [3] [2052] [2052]", ""},
                                       {"[2,2051] [2] [2] [2051] [2051]", ""},
                                       {"[700,8] [700] [700] [8] [8]", ""},
                                       {"[1500,3] [1500] [1500] [3] [3]", ""},
                                       {"[75,132] [75] [75] [132] [132]", ""}};
static const ebb_op_case ln_sums[] = {{"[3,2052] [3] [3] [3,2052]", ""},
                                      {"[300,65] [300] [300] [300,65]", ""},
                                      {"[2100,8] [2100] [2100] [2100,8]", ""},
                                      {"[2600,3] [2600] [2600] [2600,3]", ""},
                                      {"[150,132] [150] [150] [150,132]", ""}};
static const ebb_op_case ln_grad[] = {{"[3,2052] [3] [3] [2052] [3,2052]", ""},
                                      {"[2,2051] [2] [2] [2051] [2,2051]", ""},
                                      {"[17,260] [17] [17] [260] [17,260]", ""},
                                      {"[9,2048] [9] [9] [2048] [9,2048]", ""}};

/* Axes: short and innermost, long and innermost, short and long before others; tensors behind one another
 * whose sizes are no multiple of 4. */
static const ebb_op_case along[] = {
    {"[9,2048]", "axis=1 keep=0"},   {"[3,2049]", "axis=1 keep=0"},   {"[1,20011]", "axis=1 keep=0"},
    {"[3,70,3]", "axis=1 keep=0"},   {"[2,2701,3]", "axis=1 keep=0"}, {"[2,70,65]", "axis=1 keep=0"},
    {"[2,70,132]", "axis=1 keep=0"}, {"[2,68,5]", "axis=1 keep=0"},   {"[150,132]", "axis=0 keep=0"},
    {"[2,9,260]", "axis=1 keep=0"},  {"[2,9,261]", "axis=1 keep=0"},  {"[2,8,65,9]", "axis=2"}};
static const ebb_op_case squares[] = {{"[7,33,13,11]", ""}, {"[20011]", ""}, {"[8192]", ""}, {"[127]", ""}};
static const ebb_op_case planes[] = {
    {"[2,3,61,53]", ""}, {"[2,132,9,9]", ""}, {"[3,65,9,7]", ""}, {"[2,260,7,7]", ""}, {"[2,1,70,70]", ""}};
static const ebb_op_case planes_grad[] = {{"[2,132]", "size=9"}, {"[2,65]", "size=9"}};

/* Four channels at a time, over several blocks. */
static const ebb_op_case max[] = {{"[2,12,25,23]", "kernel=3 stride=2 pad=1"},
                                  {"[2,4,9,5]", "kernel=2"},
                                  {"[3,8,8,11]", "kernel=3,2 stride=2,3 pad=1,0"},
                                  {"[2,33,13,11]", "kernel=3 stride=1 pad=1"}};
static const ebb_op_case max_grad[] = {{"[2,12,25,23] [2,12,13,12]", "kernel=3 stride=2 pad=1"},
                                       {"[2,4,9,5] [2,4,4,2]", "kernel=2"},
                                       {"[3,8,8,11] [3,8,4,4]", "kernel=3,2 stride=2,3 pad=1,0"}};
static const ebb_op_case at_grad[] = {{"[2,12,13,12] [2,12,13,12]", "kernel=3 stride=2 pad=1 size=25,23"},
                                      {"[2,4,4,2] [2,4,4,2]", "kernel=2 size=9,5"},
                                      {"[3,8,4,4] [3,8,4,4]", "kernel=3,2 stride=2,3 pad=1,0 size=8,11"}};
static const ebb_op_case avg[] = {{"[2,12,25,23]", "kernel=3 stride=2 pad=1"},
                                  {"[2,8,25,23]", "kernel=3 stride=2 pad=1 count_pad=0"},
                                  {"[1,4,40,40]", "kernel=39 stride=1"}};
static const ebb_op_case avg_grad[] = {{"[2,12,13,12]", "kernel=3 stride=2 pad=1 size=25,23"},
                                       {"[2,8,13,12]", "kernel=3 stride=2 pad=1 count_pad=0 size=25,23"}};
static const ebb_op_case up[] = {{"[2,12,7,5]", "factor=2"}, {"[2,33,7,5]", "factor=3,2"}};
static const ebb_op_case up_grad[] = {{"[2,12,14,10]", "factor=2"}, {"[2,33,21,10]", "factor=3,2"}};

#define TABLE(name, fills, tolerance, rows) \
    { &ebb_op_##name, fills, tolerance, rows, EBB_COUNT(rows) }

const ebb_op_cases ebb_large_cases[] = {
    TABLE(bn_stats, "u", 2e-6, stats),
    TABLE(bias_grad, "u", 2e-6, bias),
    TABLE(bn_apply, "umvpu", 2e-6, apply),
    TABLE(bn_act, "dmvpu", 2e-6, act),
    TABLE(bn_add, "dmvpud", 2e-6, plus),
    TABLE(bn_grad_sums, "umvu", 5e-6, sums),
    TABLE(bn_act_grad_sums, "dmvpuu", 5e-6, act_sums),
    TABLE(bn_add_grad_sums, "umvduu", 5e-6, plus_sums),
    TABLE(bn_grad, "umvpuuu", 5e-6, grad),
    TABLE(bn_act_grad, "dmvpuuuu", 5e-6, act_grad),
    TABLE(bn_track, "upup", 1e-6, track),
    TABLE(ln_stats, "u", 1e-6, ln_stats),
    TABLE(ln_apply, "urspu", 2e-6, ln_apply),
    TABLE(ln_grad_sums, "ursu", 2e-6, ln_sums),
    TABLE(ln_grad, "urspu", 5e-6, ln_grad),
    TABLE(reduce_sum, "u", 2e-7, along),
    TABLE(sum_squares, "u", 2e-7, squares),
    TABLE(global_avg_pool, "u", 1e-6, planes),
    TABLE(global_avg_pool_grad, "u", 1e-6, planes_grad),
    TABLE(max_pool, "d", 0, max),
    TABLE(max_pool, "n", 0, max),
    TABLE(max_pool_at, "d", 0, max),
    TABLE(max_pool_at, "n", 0, max),
    TABLE(max_pool_grad, "tu", 5e-7, max_grad),
    TABLE(max_pool_grad, "nu", 5e-7, max_grad),
    TABLE(max_pool_at_grad, "uw", 5e-7, at_grad),
    TABLE(avg_pool, "u", 1e-6, avg),
    TABLE(avg_pool_grad, "u", 1e-6, avg_grad),
    TABLE(upsample, "u", 0, up),
    TABLE(upsample_grad, "u", 2e-7, up_grad),
};
const uint32_t ebb_n_large_cases = EBB_COUNT(ebb_large_cases);

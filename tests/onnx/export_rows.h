/* One op, or a few, of a model: what test_export takes out and back in. Operands: x f32[N,4,6,6], m
 * f32[N,8], v f32[N,3,8], i i32[N,3] in [0, 4); params of rank 1 are made by the rows. */
#ifndef EBB_TESTS_ONNX_EXPORT_ROWS_H
#define EBB_TESTS_ONNX_EXPORT_ROWS_H

/* Differences that are allowed, over the largest number: 0: the same bits. */
static const struct {
    const char *text; /* the last value is %y */
    double most;
} op_rows[] = {
    {"%y = relu %x\n", 0},
    {"%y = clip %x min=-0.25 max=0.5\n", 0},
    {"%y = gelu %m\n", 0},
    {"%y = gelu_erf %m\n", 0},
    {"%y = silu %m\n", 1e-6},
    {"%a = exp %m\n%b = sqrt %a\n%c = log %b\n%y = neg %c\n", 0},
    {"%a = sin %m\n%b = cos %m\n%c = tanh %a\n%d = erf %b\n%e = sigmoid %c\n%y = mul %d, %e\n", 0},
    {"%a = abs %m\n%b = sign %m\n%c = floor %m\n%d = ceil %m\n%e = round %m\n%f = add %a, %b\n%g = sub %c, "
     "%d\n"
     "%h = div %f, %a\n%k = add %h, %g\n%y = add %k, %e\n",
     0},
    {"%a = abs %m\n%b = log1p %a\n%c = expm1 %m\n%y = add %b, %c\n", 1e-6},
    {"%a = abs %m\n%b = rescale %a plus=0.5\n%y = pow %b, %m\n", 0},
    {"%a = rescale %m times=3 plus=0.25\n%y = rescale %a times=0.5\n", 1e-6},
    {"%a = floor_div %m, %m\n%b = maximum %m, %a\n%y = minimum %b, %m\n", 0},
    {"%a = less %m, %m\n%b = less_equal %m, %m\n%c = equal %m, %m\n%d = logical_and %b, %c\n%e = "
     "logical_or %d, "
     "%a\n%f = logical_xor %e, %a\n%g = logical_not %f\n%h = neg %m\n%y = where %g, %m, %h\n",
     0},
    {"%a = cast %m to=i32\n%b = add %a, %a\n%y = cast %b to=f32\n", 0},
    {"%d = dropout %m p=0.5\n%y = stop_gradient %d\n", 0},
    {"%w = param f32[6,2,3,3] init=kaiming\n%y = conv2d %x, %w stride=[2,1] pad=[1,0] dilation=[1,2] "
     "groups=2\n",
     0},
    {"%w = param f32[6,4,1,1] init=kaiming\n%b = param f32[6]\n%c = conv2d %x, %w\n%y = bias %c, %b\n", 0},
    {"%w = param f32[4,3,3,3] init=kaiming\n%b = param f32[6]\n%c = conv2d_transpose %x, %w stride=2 pad=1 "
     "out_pad=1 groups=2\n%y = bias %c, %b\n",
     0},
    {"%w = param f32[5,8] init=uniform\n%b = param f32[5]\n%c = linear %m, %w\n%d = bias %c, %b\n%e = relu "
     "%c\n"
     "%y = add %d, %e\n",
     0},
    {"%b = param f32[4]\n%y = bias %x, %b\n", 0},
    {"%y = matmul %v, %v transpose_b=true\n", 0},
    {"%y = matmul %v, %v transpose_a=true\n", 0},
    {"%y = softmax %m\n", 0},
    {"%a = matmul %v, %v transpose_b=true\n%y = softmax %a causal=true\n", 1e-6},
    {"%w = param f32[24,8] init=uniform\n%r = reshape %v shape=[N*3,8]\n%l = linear %r, %w\n%q = reshape "
     "%l "
     "shape=[N,3,24]\n%y, %e = attention %q heads=2 causal=true\n",
     1e-5},
    {"%y = max_pool %x kernel=3 stride=2 pad=1\n", 0},
    {"%a = avg_pool %x kernel=2\n%b = avg_pool %x kernel=[3,2] pad=[1,0] stride=[2,2] count_pad=false\n%y "
     "= add %a, "
     "%b\n",
     0},
    {"%y = global_avg_pool %x\n", 0},
    {"%y = upsample %x factor=[2,3]\n", 0},
    {"%g = param f32[4]\n%b = param f32[4]\n%u = state f32[4]\n%w = state f32[4]\n%y = batch_norm %x, %g, "
     "%b, %u, "
     "%w eps=0.001\n",
     0},
    {"%g = param f32[8]\n%b = param f32[8]\n%u = state f32[8]\n%w = state f32[8]\n%y = bn_apply %m, %u, "
     "%w, %g, "
     "%b\n",
     0},
    {"%g = param f32[8]\n%b = param f32[8]\n%y = layer_norm %m, %g, %b\n", 0},
    {"%g = param f32[4]\n%b = param f32[4]\n%y = group_norm %x, %g, %b groups=2\n", 0},
    {"%g = param f32[8]\n%b = param f32[8]\n%u, %w = ln_stats %m\n%y = ln_apply %m, %u, %w, %g, %b\n", 0},
    {"%g = param f32[4]\n%b = param f32[4]\n%u, %w = gn_stats %x groups=2\n%y = gn_apply %x, %u, %w, %g, "
     "%b "
     "groups=2\n",
     0},
    {"%g = param f32[8]\n%b = param f32[8]\n%y = group_norm %m, %g, %b groups=2\n", 0},
    {"%g = param f32[8]\n%b = param f32[8]\n%u, %w = ln_stats %m\n%c = ln_apply %m, %u, %w, %g, %b "
     "eps=0.5\n%d = ln_apply %m, %u, %w, %b, %g\n%e = add %c, %d\n%p, %q = gn_stats %e groups=4\n%y = "
     "gn_apply %e, %p, %q, %g, %b groups=4 eps=0.25\n",
     0},
    {"%w = param f32[4,3,3,3] init=kaiming\n%b = param f32[6]\n%c = conv2d_dgrad %x, %w stride=[3,2] "
     "pad=[2,1] dilation=[1,2] groups=2 size=[16,14]\n%y = bias %c, %b\n",
     0},
    {"%a = slice_grad %x axis=1 begin=2 total=7\n%y = strided_slice_grad %a begin=[0,1,0,3] "
     "size=[N,8,6,9] step=[1,1,1,1]\n",
     0},
    {"%y = strided_slice_grad %x begin=[0,2,0,1] size=[N,12,6,12] step=[1,3,1,2]\n", 0},
    {"%r = reshape %m shape=[N,1,8]\n%y = strided_slice_grad %r begin=[0,2,1] size=[N,4,16] "
     "step=[1,-3,2]\n",
     0},
    {"%f = flatten %x\n%g = slice %f axis=1 begin=2 size=8\n%c = concat %g, %m axis=1\n%y = permute %c "
     "order=[1,0]\n",
     0},
    {"%p = permute %x order=[0,2,3,1]\n%y = strided_slice %p begin=[0,1,0,0] size=[N,3,2,4] "
     "step=[1,2,3,1]\n",
     0},
    {"%y = strided_slice %m begin=[0,7] size=[N,8] step=[1,-1]\n", 0},
    {"%y = strided_slice %m begin=[0,7] size=[N,4] step=[1,-2]\n", 0},
    {"%y = strided_slice %m begin=[0,7] size=[N,3] step=[1,-3]\n", 0},
    {"%y = strided_slice %m begin=[0,4] size=[N,5] step=[1,-1]\n", 0}, /* 0 is the last place */
    {"%y = strided_slice %m begin=[0,5] size=[N,2] step=[1,-2]\n", 0},
    {"%y = strided_slice %m begin=[0,6] size=[N,3] step=[1,-3]\n", 0},
    {"%p = permute %x order=[0,2,3,1]\n%y = strided_slice %p begin=[0,5,1,3] size=[N,6,2,2] "
     "step=[1,-1,3,-3]\n",
     0},
    {"%r = reshape %m shape=[N,1,8]\n%y = strided_slice %r begin=[0,0,2] size=[N,1,1] step=[1,-1,-2]\n", 0},
    {"%t = to_planes %x\n%y = from_planes %t size=[6,4,6]\n", 0},
    {"%a = reduce_sum %x axis=[1,3] keep=false\n%b = reduce_max %x axis=[1,3] keep=false\n%c = reduce_min "
     "%x "
     "axis=[1,3] keep=false\n%d = reduce_mean %x axis=[1,3] keep=false\n%e = reduce_prod %x axis=[1,3] "
     "keep=false\n"
     "%f = add %a, %b\n%g = add %c, %d\n%h = add %f, %g\n%y = add %h, %e\n",
     0},
    {"%a = reduce_sum %m\n%y = add %a, %m\n", 0},
    {"%a = sum_squares %m\n%y = scale %m, %a\n", 1e-6},
    {"%a = cumsum %m axis=1\n%b = cumsum %m axis=1 reverse=true\n%y = sub %a, %b\n", 0},
    {"%a = argmax %v axis=2\n%b = argmin %v axis=2\n%c = add %a, %b\n%y = cast %c to=f32\n", 0},
    {"%s, %p = sort %v axis=2 descending=true\n%c = cast %p to=f32\n%y = sub %s, %c\n", 0},
    {"%s, %p = sort %x axis=1\n%c = cast %p to=f32\n%y = sub %s, %c\n", 0},
    {"%s, %p = sort %m axis=0\n%y = neg %s\n", 0},
    {"%u, %w = bn_stats %x\n%g = param f32[4]\n%b = param f32[4]\n%y = bn_apply %x, %u, %w, %g, %b "
     "batch=true\n",
     1e-5},
    {"%u, %w = bn_stats %m\n%r = sub %u, %w\n%y = mul %m, %r\n", 1e-5},
    {"%t = reshape %v shape=[N*3,8]\n%k = reshape %i shape=[N*3]\n%l = softmax_xent %t, %k\n%y = mul %m, "
     "%l\n",
     1e-6},
    {"%t = reshape %v shape=[N*3,8]\n%k = reshape %i shape=[N*3]\n%l = softmax_xent %t, %k smooth=0.25\n"
     "%y = mul %m, %l\n",
     1e-6},
    {"%k = reshape %i shape=[N,1,3]\n%c = concat %k, %k axis=2\n%j = broadcast_to %c shape=[N,6,6]\n"
     "%l = softmax_xent %x, %j\n%y = mul %m, %l\n",
     1e-6},
    {"%a = reduce_mean %m axis=[1]\n%b = broadcast_to %a shape=[N,8]\n%c = reduce_mean %v axis=[1]\n%d = "
     "expand %c "
     "axis=1 size=3\n%e = reduce_sum %d axis=[1] keep=false\n%y = add %b, %e\n",
     0},
    {"%a = reduce_mean %m axis=[0] keep=false\n%y = broadcast_to %a shape=[N,2,8] axis=[0,1]\n", 0},
    {"%t = param f32[4,5] init=uniform\n%r = reshape %i shape=[N*3]\n%e = embedding %t, %r\n%f = take %t, "
     "%i axis=0\n"
     "%g = reshape %f shape=[N*3,5]\n%y = add %e, %g\n",
     0},
    {"%a = iota shape=[2,1,1,2,1,1,8] axis=3\n%b = cast %a to=f32\n%y = add %b, %m\n", 0},
    {"%a = iota shape=[2,1,1,3,1,2,1,8] axis=0\n%b = cast %a to=f32\n%c = iota shape=[2,1,1,3,1,2,1,8] "
     "axis=7\n%d = cast %c to=f32\n%e = sub %d, %b\n%y = add %e, %m\n",
     0},
    {"%a = iota shape=[N,8] axis=1\n%b = cast %a to=f32\n%c = fill shape=[8] value=0.5\n%d = mul %b, %c\n"
     "%k = constant f32[N,8] fill=2\n%e = mul %d, %k\n%y = add %e, %m\n",
     0},
};

#endif

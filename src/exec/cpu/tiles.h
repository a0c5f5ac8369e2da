/* cpu/tiles.h: transforms of Winograd's F(4x4, 3x3), of channels side by side (Lavin and Gray, "Fast
 * Algorithms for Convolutional Neural Networks", 2015), with the points 0, 5/8, -5/8, 3/2, -3/2 and
 * infinity: with 1 and 2 in place of 5/8 and 3/2 results are rounded several times as much.
 *
 *     result = A^T [ (G weights G^T) * (B^T image B) ] A
 *
 * and the gradient of the weights, whose every step is that step's transpose,
 *
 *     gradient = G^T [ (A dy A^T) * (B^T image B) ] G
 *
 * The products in brackets are of 36 places, one for each pixel that a tile of 4x4 results sees.
 */
#ifndef EBB_EXEC_CPU_TILES_H
#define EBB_EXEC_CPU_TILES_H

#include "exec/cpu/cpu.h"

enum {
    CPU_TILE_OUT = 4, /* results along an axis */
    CPU_TILE_IN = 6,  /* what they see; and how many products there are */
    CPU_TILE_KERNEL = 3,
    CPU_TILE_PLACES = CPU_TILE_IN * CPU_TILE_IN,
    CPU_TILE_TAPS = CPU_TILE_KERNEL * CPU_TILE_KERNEL,
    CPU_TILE_WIDTH = 16 /* channels in a block */
};

/* Weights, or pixels, on one side, and on the other the 36 places, each a matrix of as many rows as there
 * are output channels or tiles; from one place to the next are `apart` floats. */
typedef struct cpu_tile_run {
    const void *from;
    void *to;
    ebb_dtype dtype; /* of pixels and weights: f32, bf16 or f16. Places are f32 */
    int64_t apart;
    int64_t c;    /* channels: of a row of the places */
    int64_t c_of; /* of a pixel or a tap, of which these are a slice */
    bool turn;    /* weights by half a turn */

    /* Of tiles: images; the tiles of one, in rows of so many; its pixels; how far the first tile begins in
     * front of them; and the first tile of these. */
    int64_t n, each, columns, h, w, before[2], first;
} cpu_tile_run;

/* Spans of output channels (weights), or of tiles. One behind the last image is zeros, and none of its
 * results is stored. */
cpu_span cpu_tiles_of_weights;         /* [o, 3, 3, c] into places */
cpu_span cpu_tiles_to_weight_gradient; /* places into [o, 3, 3, c] */
cpu_span cpu_tiles_of_images;          /* 6x6 pixels into places */
cpu_span cpu_tiles_of_gradients;       /* 4x4 pixels into places */
cpu_span cpu_tiles_to_results;         /* places into 4x4 pixels */

#endif

/* In place of the tests of cuDNN and cuBLASLt, where the toolkit was not there to build with. */
#include "support/skip.h"

Test(products, every_convolution_of_every_model_has_a_plan) {
    TEST_SKIP("built without cuDNN and cuBLASLt: no plan can be asked for");
}

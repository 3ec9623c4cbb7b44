/* The library for C is linked with this in the place of a function of Swift's standard library, which keeps half a
 * megabyte of names of Unicode's characters. Nothing here asks for them: Unicode.Scalar.Properties.name is nil then. */
#include <stdint.h>

const char *satchel_no_scalar_name(uint32_t scalar) {
    (void)scalar;
    return 0;
}

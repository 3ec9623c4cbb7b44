/* Lets a library that is built with glibc 2.36 run with 2.34: replaces two functions whose newest versions are of 2.35,
 * by the linker's --wrap. Bindings/Packaging/glibc.py finds what else is too new. */

/* hypotf of 2.35 differs only in that it leaves errno alone, which is not read here. */
#if defined(__x86_64__)
__asm__(".symver satchel_older_hypotf, hypotf@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver satchel_older_hypotf, hypotf@GLIBC_2.17");
#endif
float satchel_older_hypotf(float x, float y);
float __wrap_hypotf(float x, float y);
int __wrap__dl_find_object(void *address, void *found);

float __wrap_hypotf(float x, float y) { return satchel_older_hypotf(x, y); }

/* _dl_find_object is the way to the tables for unwinding of the libgcc that is linked in. The library throws no C++
 * exceptions, and a host's crash report uses the system's libgcc: none is found. */
int __wrap__dl_find_object(void *address, void *found) {
    (void)address;
    (void)found;
    return -1;
}

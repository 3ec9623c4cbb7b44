#if !__has_include(<nettle/sha2.h>)
#error "nettle/sha2.h is missing: install nettle-dev (Debian, Ubuntu), nettle-devel (Fedora, RHEL) or nettle (Homebrew)"
#endif
#include <nettle/gcm.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

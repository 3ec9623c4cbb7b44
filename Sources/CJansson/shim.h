#if !__has_include(<jansson.h>)
#error "jansson.h is missing: install libjansson-dev (Debian, Ubuntu), jansson-devel (Fedora, RHEL) or jansson (Homebrew)"
#endif
#include <jansson.h>

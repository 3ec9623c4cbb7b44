#if !__has_include(<utf8proc.h>)
#error "utf8proc.h is missing: install libutf8proc-dev (Debian, Ubuntu), utf8proc-devel (Fedora, RHEL) or utf8proc (Homebrew)"
#endif
#include <utf8proc.h>

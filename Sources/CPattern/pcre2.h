/* The part of PCRE2's interface that is used, for 8-bit units; it has been stable since 10.33. */
#ifndef SATCHEL_CPATTERN_PCRE2_H
#define SATCHEL_CPATTERN_PCRE2_H

#include <stddef.h>
#include <stdint.h>

enum {
  PCRE2_ALLOW_EMPTY_CLASS = 0x00000001,
  PCRE2_ALT_BSUX = 0x00000002,
  PCRE2_DOLLAR_ENDONLY = 0x00000010,
  PCRE2_MATCH_UNSET_BACKREF = 0x00000200,
  PCRE2_UTF = 0x00080000,
  PCRE2_NEVER_BACKSLASH_C = 0x00100000,
  PCRE2_EXTRA_ALT_BSUX = 0x00000020,
  PCRE2_NEWLINE_ANYCRLF = 5,
  PCRE2_ERROR_NOMATCH = -1,
  PCRE2_ERROR_MATCHLIMIT = -47,
  PCRE2_ERROR_NOMEMORY = -48,
  PCRE2_ERROR_DEPTHLIMIT = -53,
  PCRE2_ERROR_HEAPLIMIT = -63,
};

typedef struct pcre2_code pcre2_code;
typedef struct pcre2_compile_context pcre2_compile_context;
typedef struct pcre2_match_context pcre2_match_context;
typedef struct pcre2_match_data pcre2_match_data;

#define PCRE2_FUNCTIONS(each)                                                                                \
  each(pcre2_compile_context *, compile_context_create, (void *))                                           \
  each(void, compile_context_free, (pcre2_compile_context *))                                               \
  each(int, set_compile_extra_options, (pcre2_compile_context *, uint32_t))                                 \
  each(int, set_newline, (pcre2_compile_context *, uint32_t))                                               \
  each(int, set_parens_nest_limit, (pcre2_compile_context *, uint32_t))                                     \
  each(pcre2_code *, compile,                                                                               \
       (const uint8_t *, size_t, uint32_t, int *, size_t *, pcre2_compile_context *))                       \
  each(void, code_free, (pcre2_code *))                                                                     \
  each(int, get_error_message, (int, uint8_t *, size_t))                                                    \
  each(pcre2_match_context *, match_context_create, (void *))                                               \
  each(void, match_context_free, (pcre2_match_context *))                                                   \
  each(int, set_match_limit, (pcre2_match_context *, uint32_t))                                             \
  each(int, set_depth_limit, (pcre2_match_context *, uint32_t))                                             \
  each(int, set_heap_limit, (pcre2_match_context *, uint32_t))                                              \
  each(pcre2_match_data *, match_data_create, (uint32_t, void *))                                           \
  each(void, match_data_free, (pcre2_match_data *))                                                         \
  each(int, match,                                                                                          \
       (const pcre2_code *, const uint8_t *, size_t, size_t, uint32_t, pcre2_match_data *,                  \
        pcre2_match_context *))

typedef struct {
#define PCRE2_FIELD(result, name, parameters) result(*name) parameters;
  PCRE2_FUNCTIONS(PCRE2_FIELD)
#undef PCRE2_FIELD
} pcre2_functions;

#endif

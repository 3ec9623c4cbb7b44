/* The functions of libcurl that are used, found when it is opened. */
#ifndef SATCHEL_CCURL_CURL_H
#define SATCHEL_CCURL_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/* Calls go to found functions; the macros of the header check types for the linked ones. */
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

#define CURL_FUNCTIONS(each)                                                                                 \
  each(curl_global_init) each(curl_getdate) each(curl_slist_append) each(curl_slist_free_all)                \
      each(curl_easy_init) each(curl_easy_cleanup) each(curl_easy_reset) each(curl_easy_setopt)              \
          each(curl_easy_getinfo) each(curl_easy_strerror) each(curl_multi_init) each(curl_multi_cleanup)    \
              each(curl_multi_setopt) each(curl_multi_add_handle) each(curl_multi_remove_handle)             \
                  each(curl_multi_perform) each(curl_multi_poll) each(curl_multi_info_read)

typedef struct {
#define CURL_FIELD(name) __typeof__(&name) name;
  CURL_FUNCTIONS(CURL_FIELD)
#undef CURL_FIELD
} curl_functions;

extern curl_functions satchel_curl;

#endif

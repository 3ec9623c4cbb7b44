/* The header alone, as C99 and as C++17, with every warning: it needs nothing before it, and its macros fit. */
#include "satchel.h"

int main(void) {
    satchel_open_options open = SATCHEL_OPEN_OPTIONS_INIT;
    satchel_persist_options persist = SATCHEL_PERSIST_OPTIONS_INIT;
    satchel_read_options read = SATCHEL_READ_OPTIONS_INIT;
    satchel_session_options session = SATCHEL_SESSION_OPTIONS_INIT;
    satchel_search_options search = SATCHEL_SEARCH_OPTIONS_INIT;
    satchel_prune_options prune = SATCHEL_PRUNE_OPTIONS_INIT;
    satchel_story_check_options check = SATCHEL_STORY_CHECK_OPTIONS_INIT;
    satchel_remote_operations operations = SATCHEL_REMOTE_OPERATIONS_INIT;
    satchel_scan_options scan = SATCHEL_SCAN_OPTIONS_INIT;
    satchel_sync_options sync = SATCHEL_SYNC_OPTIONS_INIT;
    satchel_interrupt_options interrupt = SATCHEL_INTERRUPT_OPTIONS_INIT;
    satchel_buffer buffer = SATCHEL_BUFFER_INIT;
    satchel_buffer_free(&buffer);
    return open.size == sizeof open && persist.size == sizeof persist && read.size == sizeof read
                   && session.size == sizeof session && search.size == sizeof search && prune.size == sizeof prune && check.size == sizeof check
                   && operations.size == sizeof operations && scan.size == sizeof scan
                   && sync.size == sizeof sync && interrupt.size == sizeof interrupt && satchel_version() != NULL
               ? 0
               : 1;
}

/*
 * Preloaded: makes the stalling VFS SQLite's default one before a library puts its own in
 * front of it, and gives wal_reset_library.py its calls.
 */
#include "stalling_vfs.h"

__attribute__((constructor)) static void install(void) { stall_install(); }

void stalling_arm(int point) { stall_arm((enum stall_point)point); }
int stalling_wait(int point, int seconds) { return stall_wait((enum stall_point)point, seconds); }
void stalling_release(int point) { stall_release((enum stall_point)point); }

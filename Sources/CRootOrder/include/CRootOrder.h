/* CRootOrder.h: the table of Unicode's root order. It is C, because a Swift array of its size is slow to compile and is
 * built when the library is loaded. */
#ifndef CROOTORDER_H
#define CROOTORDER_H

#include <stddef.h>
#include <stdint.h>

/** Returns the bytes of the table, in the form that RootOrderTable.swift reads. */
const uint8_t *satchel_root_order(size_t *count);

/** Returns the version of Unicode that the table is of. */
const char *satchel_root_order_version(void);

#endif

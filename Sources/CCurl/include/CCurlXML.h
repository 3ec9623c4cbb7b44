#ifndef SATCHEL_CCURL_XML_H
#define SATCHEL_CCURL_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  void *context;
  /* False stops reading. Names are as they are written, with their prefix. The attributes are names and values in
   * turn, and end with NULL. */
  bool (*on_start)(void *context, const char *name, const char **attributes);
  bool (*on_end)(void *context, const char *name);
  bool (*on_text)(void *context, const char *bytes, size_t length);
} ccurl_xml_events;

typedef enum {
  CCURL_XML_DONE,
  CCURL_XML_NOT_XML,
  CCURL_XML_REFUSED, /* a document type, with which entities could be defined, or elements nested too deep */
  CCURL_XML_STOPPED, /* by an event */
  CCURL_XML_NO_MEMORY,
} ccurl_xml_outcome;

/* Loads expat once per process. False: `message` says what is missing. */
bool ccurl_xml_load(char *message, size_t size);

/* Reads a whole document that is in memory. */
ccurl_xml_outcome ccurl_xml_read(const uint8_t *bytes, size_t length, const ccurl_xml_events *events);

#endif

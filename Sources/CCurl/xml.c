#include "CCurlXML.h"
#include "library.h"

#include <expat.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

enum { MAXIMUM_DEPTH = 32 };

#define EXPAT_FUNCTIONS(each)                                                                                \
  each(XML_ParserCreate) each(XML_ParserFree) each(XML_SetUserData) each(XML_SetElementHandler)              \
      each(XML_SetCharacterDataHandler) each(XML_SetStartDoctypeDeclHandler) each(XML_StopParser)            \
          each(XML_Parse) each(XML_GetErrorCode)

static struct {
#define EXPAT_FIELD(name) __typeof__(&name) name;
  EXPAT_FUNCTIONS(EXPAT_FIELD)
#undef EXPAT_FIELD
} expat;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char failure[256];

static void load(void) {
  const char *const names[] = {
#ifdef __APPLE__
      "libexpat.1.dylib", "/usr/lib/libexpat.1.dylib",
#else
      "libexpat.so.1",
#endif
      NULL};
#define EXPAT_SYMBOL(name) {#name, (void **)&expat.name},
  const library_symbol symbols[] = {EXPAT_FUNCTIONS(EXPAT_SYMBOL){NULL, NULL}};
#undef EXPAT_SYMBOL
  is_loaded = library_open(names, "libexpat1", symbols, failure, sizeof failure);
}

bool ccurl_xml_load(char *message, size_t size) {
  pthread_once(&once, load);
  if (!is_loaded && size) snprintf(message, size, "%s", failure);
  return is_loaded;
}

typedef struct {
  XML_Parser parser;
  const ccurl_xml_events *events;
  int depth;
  ccurl_xml_outcome outcome;
} reading;

static void stop(reading *reading, ccurl_xml_outcome outcome) {
  if (reading->outcome == CCURL_XML_DONE) reading->outcome = outcome;
  expat.XML_StopParser(reading->parser, XML_FALSE);
}

/* expat may still report pending events after it was stopped. */
static bool is_stopped(const reading *reading) { return reading->outcome != CCURL_XML_DONE; }

static void XMLCALL start(void *context, const XML_Char *name, const XML_Char **attributes) {
  reading *reading = context;
  if (is_stopped(reading)) return;
  if (++reading->depth > MAXIMUM_DEPTH)
    stop(reading, CCURL_XML_REFUSED);
  else if (!reading->events->on_start(reading->events->context, name, attributes))
    stop(reading, CCURL_XML_STOPPED);
}

static void XMLCALL end(void *context, const XML_Char *name) {
  reading *reading = context;
  if (is_stopped(reading)) return;
  reading->depth--;
  if (!reading->events->on_end(reading->events->context, name)) stop(reading, CCURL_XML_STOPPED);
}

static void XMLCALL text(void *context, const XML_Char *bytes, int length) {
  reading *reading = context;
  if (is_stopped(reading) || length <= 0) return;
  if (!reading->events->on_text(reading->events->context, bytes, (size_t)length))
    stop(reading, CCURL_XML_STOPPED);
}

static void XMLCALL document_type(void *context, const XML_Char *name, const XML_Char *system,
                                  const XML_Char *identity, int has_internal) {
  (void)name, (void)system, (void)identity, (void)has_internal;
  stop(context, CCURL_XML_REFUSED);
}

ccurl_xml_outcome ccurl_xml_read(const uint8_t *bytes, size_t length, const ccurl_xml_events *events) {
  if (!ccurl_xml_load(NULL, 0)) return CCURL_XML_NO_MEMORY;
  if (length > INT_MAX) return CCURL_XML_REFUSED;
  reading reading = {.events = events};
  reading.parser = expat.XML_ParserCreate(NULL);
  if (!reading.parser) return CCURL_XML_NO_MEMORY;
  expat.XML_SetUserData(reading.parser, &reading);
  expat.XML_SetElementHandler(reading.parser, start, end);
  expat.XML_SetCharacterDataHandler(reading.parser, text);
  expat.XML_SetStartDoctypeDeclHandler(reading.parser, document_type);
  if (expat.XML_Parse(reading.parser, (const char *)bytes, (int)length, XML_TRUE) == XML_STATUS_ERROR &&
      reading.outcome == CCURL_XML_DONE)
    reading.outcome = expat.XML_GetErrorCode(reading.parser) == XML_ERROR_NO_MEMORY ? CCURL_XML_NO_MEMORY
                                                                                    : CCURL_XML_NOT_XML;
  expat.XML_ParserFree(reading.parser);
  return reading.outcome;
}

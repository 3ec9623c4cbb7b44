#include "loading.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of the TurboJPEG API that is used; it has been stable since libjpeg-turbo 2.1. */
enum {
  TJPF_RGB = 0,
  TJPF_GRAY = 6,
  TJPF_CMYK = 11,
  TJSAMP_420 = 2,
  TJSAMP_GRAY = 3,
  TJERR_WARNING = 0,
  /* A progressive file of some kilobytes may have thousands of scans, each of which costs as much as a picture. */
  TJFLAG_LIMITSCANS = 32768,
};

typedef void *tjhandle;

#define TURBOJPEG_FUNCTIONS(each)                                                                            \
  each(tjhandle, InitDecompress, (void))                                                                     \
  each(tjhandle, InitCompress, (void))                                                                       \
  each(int, Destroy, (tjhandle))                                                                             \
  each(void, Free, (unsigned char *))                                                                        \
  each(char *, GetErrorStr2, (tjhandle))                                                                     \
  each(int, GetErrorCode, (tjhandle))                                                                        \
  each(int, DecompressHeader3, (tjhandle, const unsigned char *, unsigned long, int *, int *, int *, int *)) \
  each(int, Decompress2,                                                                                     \
       (tjhandle, const unsigned char *, unsigned long, unsigned char *, int, int, int, int, int))           \
  each(int, Compress2,                                                                                       \
       (tjhandle, const unsigned char *, int, int, int, int, unsigned char **, unsigned long *, int, int, int))

typedef struct {
#define TURBOJPEG_FIELD(result, name, parameters) result(*name) parameters;
  TURBOJPEG_FUNCTIONS(TURBOJPEG_FIELD)
#undef TURBOJPEG_FIELD
} turbojpeg_functions;

static turbojpeg_functions turbojpeg;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char failure[CIMAGES_MESSAGE];

static bool find(const char *const *names, turbojpeg_functions *functions, char *message) {
#define TURBOJPEG_SYMBOL(result, name, parameters) {"tj" #name, (void **)&functions->name},
  const cimages_symbol symbols[] = {TURBOJPEG_FUNCTIONS(TURBOJPEG_SYMBOL){NULL, NULL}};
#undef TURBOJPEG_SYMBOL
  return cimages_open(names, "libturbojpeg0", symbols, message);
}

static void load(void) {
  const char *const names[] = {
#ifdef __APPLE__
      "libturbojpeg.0.dylib", "/opt/homebrew/opt/jpeg-turbo/lib/libturbojpeg.0.dylib",
#else
      "libturbojpeg.so.0",
#endif
      NULL};
  is_loaded = find(names, &turbojpeg, failure);
}

static bool is_there(char *message) {
  pthread_once(&once, load);
  if (!is_loaded) snprintf(message, CIMAGES_MESSAGE, "%s", failure);
  return is_loaded;
}

bool cimages_can_load_jpeg(const char *name, char message[CIMAGES_MESSAGE]) {
  const char *const names[] = {name, NULL};
  turbojpeg_functions functions;
  return find(names, &functions, message);
}

static cimages_outcome damaged(tjhandle handle, char *message) {
  snprintf(message, CIMAGES_MESSAGE, "%s", turbojpeg.GetErrorStr2(handle));
  return CIMAGES_DAMAGED;
}

/* Sets the colours to those of four inks. */
static void replace_inks(cimages_picture *picture, const uint8_t *inks, bool is_inverted) {
  size_t pixels = (size_t)picture->width * picture->height;
  for (size_t pixel = 0; pixel < pixels; pixel++) {
    unsigned black = is_inverted ? inks[4 * pixel + 3] : 255u - inks[4 * pixel + 3];
    for (size_t channel = 0; channel < 3; channel++) {
      unsigned ink = is_inverted ? inks[4 * pixel + channel] : 255u - inks[4 * pixel + channel];
      picture->pixels[3 * pixel + channel] = (uint8_t)((ink * black + 127) / 255);
    }
  }
}

static cimages_outcome decompress(tjhandle handle, const uint8_t *bytes, size_t length, cimages_jpeg_kind kind,
                                  cimages_picture *picture, char *message) {
  bool has_inks = kind == CIMAGES_JPEG_CMYK || kind == CIMAGES_JPEG_INVERTED_CMYK;
  int format = has_inks ? TJPF_CMYK : kind == CIMAGES_JPEG_GRAY ? TJPF_GRAY : TJPF_RGB;
  int width = (int)picture->width, height = (int)picture->height;
  uint8_t *inks = has_inks ? malloc((size_t)picture->width * picture->height * 4) : NULL;
  if (has_inks && !inks) return CIMAGES_NO_MEMORY;
  int code = turbojpeg.Decompress2(handle, bytes, length, inks ? inks : picture->pixels, width, 0, height, format,
                                   TJFLAG_LIMITSCANS);
  cimages_outcome outcome = CIMAGES_OK;
  if (code) {
    /* Data that ends early is only a warning, and leaves the rest of the picture grey. */
    const char *text = turbojpeg.GetErrorStr2(handle);
    bool is_warning = turbojpeg.GetErrorCode(handle) == TJERR_WARNING;
    if (!is_warning || strstr(text, "remature end")) outcome = damaged(handle, message);
  }
  if (outcome == CIMAGES_OK && inks) replace_inks(picture, inks, kind == CIMAGES_JPEG_INVERTED_CMYK);
  free(inks);
  return outcome;
}

cimages_outcome cimages_read_jpeg(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height,
                                  uint32_t divisor, cimages_jpeg_kind kind, cimages_picture *picture,
                                  char message[CIMAGES_MESSAGE]) {
  *picture = (cimages_picture){0};
  if (!is_there(message)) return CIMAGES_MISSING;
  tjhandle handle = turbojpeg.InitDecompress();
  if (!handle) return CIMAGES_NO_MEMORY;
  cimages_outcome outcome = CIMAGES_OK;
  int columns = 0, rows = 0, sampling = 0, colors = 0;
  /* It also fails for a subsampling that it has no name for, which it can read nevertheless. */
  int code = turbojpeg.DecompressHeader3(handle, bytes, length, &columns, &rows, &sampling, &colors);
  if (code && (columns < 1 || rows < 1)) {
    outcome = damaged(handle, message);
  } else if ((uint32_t)columns != width || (uint32_t)rows != height) {
    snprintf(message, CIMAGES_MESSAGE, "it has several sizes");
    outcome = CIMAGES_DAMAGED;
  } else {
    cimages_format format = kind == CIMAGES_JPEG_GRAY ? CIMAGES_GRAY : CIMAGES_RGB;
    if (!cimages_allocate(picture, (width + divisor - 1) / divisor, (height + divisor - 1) / divisor, format))
      outcome = CIMAGES_NO_MEMORY;
    else
      outcome = decompress(handle, bytes, length, kind, picture, message);
  }
  turbojpeg.Destroy(handle);
  if (outcome != CIMAGES_OK) {
    free(picture->pixels);
    picture->pixels = NULL;
  }
  return outcome;
}

cimages_outcome cimages_write_jpeg(const cimages_picture *picture, int quality, uint8_t **bytes, size_t *length,
                                   char message[CIMAGES_MESSAGE]) {
  *bytes = NULL;
  *length = 0;
  if (!is_there(message)) return CIMAGES_MISSING;
  tjhandle handle = turbojpeg.InitCompress();
  if (!handle) return CIMAGES_NO_MEMORY;
  bool is_gray = picture->format == CIMAGES_GRAY;
  unsigned char *written = NULL;
  unsigned long size = 0;
  int code = turbojpeg.Compress2(handle, picture->pixels, (int)picture->width, 0, (int)picture->height,
                                 is_gray ? TJPF_GRAY : TJPF_RGB, &written, &size, is_gray ? TJSAMP_GRAY : TJSAMP_420,
                                 quality, 0);
  cimages_outcome outcome = code ? damaged(handle, message) : CIMAGES_OK;
  /* Copied: the library's memory may be of another allocator than free() knows. */
  if (outcome == CIMAGES_OK) {
    *bytes = malloc(size ? size : 1);
    if (*bytes) {
      memcpy(*bytes, written, size);
      *length = size;
    } else {
      outcome = CIMAGES_NO_MEMORY;
    }
  }
  turbojpeg.Free(written);
  turbojpeg.Destroy(handle);
  return outcome;
}

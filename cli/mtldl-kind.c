/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Recognizes files of other kinds by their first bytes, once the library has refused them: the
 * first bytes of a file of tensors may look like those of any other file. */

#include "mtldl-tool.h"

#include <string.h>

#define HEAD_SIZE 1024 /* enough bytes to recognize any kind */

#define SAFETENSORS_PREFIX_SIZE 8
#define SAFETENSORS_MAX_HEADER_SIZE 100000000
#define ZIP_LOCAL_HEADER_SIZE 30

#define SAVE_ARRAYS \
  N_("read it with a library for such files, and save its arrays in a .safetensors file")
#define SAVE_TRUSTED_ARRAYS \
  N_("if you trust it, read it with a library for such files, and save its arrays in a" \
     " .safetensors file")
#define TORCH N_("a PyTorch checkpoint")
#define CONVERT_TORCH N_("convert it to safetensors with PyTorch")
#define PICTURE N_("load it with GdkPixbuf, and share it with MtlPixbuf")
#define OLD_GGML N_("an old GGML file")
#define READ_GGML N_("convert it to GGUF with a program of llama.cpp")
#define FETCH_AGAIN N_("its download or its writing was interrupted, so get it again")
#define CHOOSE N_("choose another file")

/* The name is NULL if the kind is unknown. */
typedef struct
{
  const char *name;
  const char *advice;
} Kind;

/* Most formats begin with a few bytes of their own, at this offset. */
typedef struct
{
  guint offset;
  guint size;
  const char *bytes;
  Kind kind;
} Mark;

#define MARK(offset, bytes, name, advice) { offset, sizeof (bytes) - 1, bytes, { name, advice } }

static const Mark marks[] = {
  MARK (0, "\x80\x02\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19", TORCH, CONVERT_TORCH),
  MARK (0, "GGUF", N_("a GGUF file"), SAVE_ARRAYS),
  MARK (0, "ggml", OLD_GGML, READ_GGML),
  MARK (0, "lmgg", OLD_GGML, READ_GGML),
  MARK (0, "tjgg", OLD_GGML, READ_GGML),
  MARK (0, "fmgg", OLD_GGML, READ_GGML),
  MARK (0, "\x89HDF\r\n\x1a\n", N_("an HDF5 file"), SAVE_ARRAYS),
  MARK (0, "MATLAB 7.3 MAT-file", N_("a MATLAB file of version 7.3, which is HDF5"), SAVE_ARRAYS),
  MARK (0, "MATLAB 5.0 MAT-file", N_("a MATLAB file"), SAVE_ARRAYS),
  MARK (4, "TFL3", N_("a TensorFlow Lite model"), SAVE_ARRAYS),
  MARK (4, "ET12", N_("an ExecuTorch program"),
        N_("save the tensors of the model that it was made from")),
  MARK (0, "PAR1", N_("a Parquet table"), SAVE_ARRAYS),
  MARK (0, "ARROW1", N_("an Arrow (Feather) table"), SAVE_ARRAYS),
  MARK (0, "FEA1", N_("a Feather table"), SAVE_ARRAYS),
  MARK (0, "\xff\xff\xff\xff\x10", N_("an Arrow stream"), SAVE_ARRAYS),
  MARK (0, "CDF\x01", N_("a netCDF file"), SAVE_ARRAYS),
  MARK (0, "CDF\x02", N_("a netCDF file"), SAVE_ARRAYS),
  MARK (0, "CDF\x05", N_("a netCDF file"), SAVE_ARRAYS),
  MARK (0, "SIMPLE  =", N_("a FITS file"), SAVE_ARRAYS),
  MARK (0, "SQLite format 3", N_("an SQLite database"), SAVE_ARRAYS),
  MARK (0, "\x89PNG\r\n\x1a\n", N_("a PNG picture"), PICTURE),
  MARK (0, "\xff\xd8\xff", N_("a JPEG picture"), PICTURE),
  MARK (0, "GIF8", N_("a GIF picture"), PICTURE),
  MARK (8, "WEBP", N_("a WebP picture"), PICTURE),
  MARK (0, "II*\0", N_("a TIFF picture"), PICTURE),
  MARK (0, "MM\0*", N_("a TIFF picture"), PICTURE),
  MARK (0, "v/1\x01", N_("an OpenEXR picture"), SAVE_ARRAYS),
  MARK (8, "WAVE", N_("a WAVE sound"), SAVE_ARRAYS),
  MARK (4, "ftyp", N_("a video or a picture"), N_("decode it first")),
  MARK (0, "%PDF-", N_("a PDF document"), CHOOSE),
  MARK (0, "\x7f" "ELF", N_("a program or a library"), CHOOSE),
  MARK (0, "\x1f\x8b\x08", N_("compressed with gzip"), N_("unpack it first: gunzip, or tar xzf")),
  MARK (0, "BZh", N_("compressed with bzip2"), N_("unpack it first: bunzip2, or tar xjf")),
  MARK (0, "\xfd" "7zXZ\0", N_("compressed with xz"), N_("unpack it first: unxz, or tar xJf")),
  MARK (0, "\x28\xb5\x2f\xfd", N_("compressed with zstd"),
        N_("unpack it first: unzstd, or tar xf")),
  MARK (0, "\x04\x22\x4d\x18", N_("compressed with lz4"), N_("unpack it first: unlz4")),
  MARK (0, "7z\xbc\xaf\x27\x1c", N_("a 7-Zip archive"), N_("unpack it first: 7z x")),
  MARK (0, "Rar!\x1a\x07", N_("a RAR archive"), N_("unpack it first: unrar x")),
  MARK (257, "ustar", N_("a tar archive"), N_("unpack it first: tar xf")),
  MARK (0, "version https://git-lfs.github.com/spec/",
        N_("a Git LFS pointer, in place of the file"), N_("get the file with “git lfs pull”")),
};

static Kind
find_marked (const guint8 *head,
             gsize         size)
{
  for (gsize i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      const Mark *mark = &marks[i];

      if (size >= mark->offset + mark->size
          && memcmp (head + mark->offset, mark->bytes, mark->size) == 0)
        return mark->kind;
    }

  return (Kind) { NULL };
}

/* Protocol 4 begins with a frame; before that, an instruction follows that makes an
 * object, or names a class. */
static gboolean
is_pickle (const guint8 *head,
           gsize         size)
{
  static const char first[] = "}](cX\x8aKGJMN)Uq\x85\x86\x87\x88\x89";

  if (size < 4 || head[0] != 0x80)
    return FALSE;

  return head[1] == 4 || head[1] == 5 ? head[2] == 0x95
         : head[1] == 2 || head[1] == 3 ? memchr (first, head[2], sizeof first - 1) != NULL
                                        : FALSE;
}

/* Reads a number of Protocol Buffers. */
static gboolean
read_varint (const guint8 **at,
             const guint8  *end,
             guint64       *value)
{
  *value = 0;
  for (guint shift = 0; *at < end && shift < 64; shift += 7)
    {
      guint8 byte = *(*at)++;

      *value |= (guint64) (byte & 0x7f) << shift;
      if (byte < 0x80)
        return TRUE;
    }

  return FALSE;
}

/* ONNX and TensorFlow have no mark, only the fields of Protocol Buffers, in order. Field
 * 1 is a small version; the model, which is large, is in one of the next fields. */
static const char *
find_protocol_buffer (const guint8 *head,
                      gsize         size,
                      guint64       file_size)
{
  const guint8 *at = head, *end = head + size;
  guint64 version, tag, length;
  guint field = 1;

  if (size < 2 || *at++ != 0x08 || !read_varint (&at, end, &version) || version > 100)
    return NULL;

  while (read_varint (&at, end, &tag))
    {
      if (tag >> 3 <= field || tag >> 3 > 25 || ((tag & 7) != 2 && tag != (5 << 3))
          || !read_varint (&at, end, &length))
        return NULL;

      field = tag >> 3;
      if (version == 1 && field == 2 && length > 64)
        return N_("a TensorFlow model");
      if (field == 7) /* the graph */
        return length <= file_size ? N_("an ONNX model") : NULL;
      if ((tag & 7) == 2 && length > (gsize) (end - at))
        return NULL;
      at += (tag & 7) == 2 ? length : 0;
    }

  return NULL;
}

/* A bitmap names its own size, in bytes. */
static gboolean
is_bitmap (const guint8 *head,
           gsize         size,
           guint64       file_size)
{
  guint32 told;

  if (size < 6 || memcmp (head, "BM", 2) != 0)
    return FALSE;

  memcpy (&told, head + 2, sizeof told);
  return GUINT32_FROM_LE (told) == file_size;
}

static gboolean
is_zero (const guint8 *head,
         gsize         size)
{
  for (gsize i = 0; i < size; i++)
    if (head[i] != 0)
      return FALSE;

  return size >= 16;
}

/* The last character may be cut. */
static gboolean
is_text (const guint8 *head,
         gsize         size,
         guint64       file_size)
{
  const char *end;

  for (gsize i = 0; i < size; i++)
    if ((head[i] < 0x20 && !g_ascii_isspace (head[i]) && head[i] != 0x1b) || head[i] == 0x7f)
      return FALSE;

  return g_utf8_validate_len ((const char *) head, size, &end)
         || (file_size > size && end - (const char *) head > (gssize) size - 6);
}

static gboolean
is_wide_text (const guint8 *head,
              gsize         size)
{
  if (size < 4)
    return FALSE;

  return (memcmp (head, "\xff\xfe", 2) == 0 && head[2] != 0 && head[3] == 0)
         || (memcmp (head, "\xfe\xff", 2) == 0 && head[2] == 0 && head[3] != 0);
}

static gboolean
begins_with (const char *text,
             gsize       size,
             const char *word)
{
  return size >= strlen (word) && g_ascii_strncasecmp (text, word, strlen (word)) == 0;
}

static Kind
find_text (const char *text,
           gsize       size)
{
  static const char *const pages[] = { "<!doctype html", "<html", "<head", "<body" };

  if (begins_with (text, size, "\xef\xbb\xbf"))
    {
      text += 3;
      size -= 3;
    }
  for (; size > 0 && g_ascii_isspace (*text); size--)
    text++;

  for (gsize i = 0; i < G_N_ELEMENTS (pages); i++)
    if (begins_with (text, size, pages[i]))
      return (Kind) { N_("a web page in place of the file"),
                      N_("the download went wrong, so look at the page and download the file"
                         " again") };

  if (begins_with (text, size, "<?xml"))
    return (Kind) { N_("an XML document"),
                    N_("it may be the answer of a server in place of the file") };
  if (begins_with (text, size, "{") || begins_with (text, size, "["))
    return (Kind) { N_("JSON or other text, but not the index of a model"),
                    N_("open a .safetensors file, or its .safetensors.index.json") };

  return (Kind) { N_("text, not a file of tensors"),
                  N_("if it is a table of numbers, read it with a program for tables, and save it"
                     " as a .npy file") };
}

/* Other files that begin like this are damaged safetensors files, or indices. */
static gboolean
is_safetensors (const guint8 *head,
                gsize         size)
{
  guint64 length;

  if (size <= SAFETENSORS_PREFIX_SIZE)
    return FALSE;

  memcpy (&length, head, sizeof length);
  return GUINT64_FROM_LE (length) <= SAFETENSORS_MAX_HEADER_SIZE
         && head[SAFETENSORS_PREFIX_SIZE] == '{';
}

static gboolean
is_index (const guint8 *head,
          gsize         size)
{
  return g_strstr_len ((const char *) head, size, "\"weight_map\"") != NULL
         || g_strstr_len ((const char *) head, size, "\"metadata\"") != NULL;
}

static gboolean
ends_in (const char *text,
         gsize       size,
         const char *ending)
{
  gsize length = strlen (ending);

  return size >= length && memcmp (text + size - length, ending, length) == 0;
}

/* The first member is the most that is known of an incomplete archive. */
static Kind
find_zip (const guint8 *head,
          gsize         size)
{
  const char *name = (const char *) head + ZIP_LOCAL_HEADER_SIZE;
  guint16 length;

  if (size < ZIP_LOCAL_HEADER_SIZE)
    return (Kind) { NULL };

  memcpy (&length, head + 26, sizeof length);
  length = GUINT16_FROM_LE (length);
  if ((gsize) ZIP_LOCAL_HEADER_SIZE + length > size || ends_in (name, length, ".npy"))
    return (Kind) { NULL };
  if (ends_in (name, length, "/data.pkl"))
    return (Kind) { TORCH, CONVERT_TORCH };

  return (Kind) { N_("a zip archive that does not begin with an array of NumPy"),
                  N_("unpack it first: unzip") };
}

static Kind
find_kind (const guint8 *head,
           gsize         size,
           guint64       file_size)
{
  const char *model;
  Kind kind;

  if (file_size == 0)
    return (Kind) { N_("an empty file"), FETCH_AGAIN };
  if (size >= 4 && memcmp (head, "PK\3\4", 4) == 0)
    return find_zip (head, size);
  if ((size >= 4 && memcmp (head, "\x93NUM", 4) == 0) || is_safetensors (head, size))
    return (Kind) { NULL };
  if (is_zero (head, size))
    return (Kind) { N_("a file that begins with zeros"), FETCH_AGAIN };

  kind = find_marked (head, size);
  if (kind.name != NULL)
    return kind;
  if (is_pickle (head, size))
    return (Kind) { N_("a Python pickle, which may run any code when it is loaded"),
                    SAVE_TRUSTED_ARRAYS };
  model = find_protocol_buffer (head, size, file_size);
  if (model != NULL)
    return (Kind) { model, SAVE_ARRAYS };
  if (is_bitmap (head, size, file_size))
    return (Kind) { N_("a BMP picture"), PICTURE };
  if (is_wide_text (head, size))
    return find_text ("", 0);
  if (is_text (head, size, file_size) && !is_index (head, size))
    return find_text ((const char *) head, size);

  return (Kind) { NULL };
}

static Kind
read_kind (GFile *file)
{
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, NULL);
  g_autoptr (GFileInfo) info = NULL;
  guint8 head[HEAD_SIZE];
  gsize size;

  if (stream != NULL)
    info = g_file_input_stream_query_info (stream, G_FILE_ATTRIBUTE_STANDARD_SIZE, NULL, NULL);
  if (info == NULL
      || !g_input_stream_read_all (G_INPUT_STREAM (stream), head, sizeof head, &size, NULL, NULL))
    return (Kind) { NULL };

  return find_kind (head, size, g_file_info_get_size (info));
}

void
tool_add_kind (GFile   *file,
               GError **error)
{
  g_autofree char *message = NULL;
  Kind kind;

  if ((*error)->domain != MTL_ERROR || (*error)->code == MTL_ERROR_NO_MEMORY)
    return;

  kind = read_kind (file);
  if (kind.name == NULL)
    return;

  message = g_steal_pointer (&(*error)->message);
  (*error)->message = g_strdup_printf (_("%s. This is %s: %s"), message, _(kind.name),
                                       _(kind.advice));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* Recognizes files of other kinds by their first bytes. */

#include "mtl-file-kind-private.h"

#include <string.h>

#include "mtl-safetensors-header-private.h"

#define SAVE_ARRAYS "read it with a library for such files, and save its arrays in a .safetensors file"
#define TORCH "a PyTorch checkpoint"
#define CONVERT_TORCH "convert it to safetensors with PyTorch"
#define UNPACK "unpack it first"
#define PICTURE "it is a picture, not an array: load it with GdkPixbuf, and share it with MtlPixbuf"
#define READ_GGML "convert it to GGUF with a program of llama.cpp"
#define FETCH_AGAIN "its download or its writing was interrupted, so get it again"

/* Most formats begin with a few bytes of their own, at this offset. */
typedef struct
{
  guint offset;
  guint size;
  const char *bytes;
  const char *what;
  const char *advice;
} Mark;

#define MARK(offset, bytes, what, advice) { offset, sizeof (bytes) - 1, bytes, what, advice }

static const Mark marks[] = {
  MARK (0, "\x80\x02\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19", TORCH, CONVERT_TORCH),
  MARK (0, "GGUF", "a GGUF file", SAVE_ARRAYS),
  MARK (0, "ggml", "an old GGML file", READ_GGML),
  MARK (0, "lmgg", "an old GGML file", READ_GGML),
  MARK (0, "tjgg", "an old GGML file", READ_GGML),
  MARK (0, "fmgg", "an old GGML file", READ_GGML),
  MARK (0, "\x89HDF\r\n\x1a\n", "an HDF5 file", SAVE_ARRAYS),
  MARK (0, "MATLAB 7.3 MAT-file", "a MATLAB file of version 7.3, which is HDF5", SAVE_ARRAYS),
  MARK (0, "MATLAB 5.0 MAT-file", "a MATLAB file", SAVE_ARRAYS),
  MARK (4, "TFL3", "a TensorFlow Lite model", SAVE_ARRAYS),
  MARK (4, "ET12", "an ExecuTorch program", "save the tensors of the model that it was made from"),
  MARK (0, "PAR1", "a Parquet table", SAVE_ARRAYS),
  MARK (0, "ARROW1", "an Arrow (Feather) table", SAVE_ARRAYS),
  MARK (0, "FEA1", "a Feather table", SAVE_ARRAYS),
  MARK (0, "\xff\xff\xff\xff\x10", "an Arrow stream", SAVE_ARRAYS),
  MARK (0, "CDF\x01", "a netCDF file", SAVE_ARRAYS),
  MARK (0, "CDF\x02", "a netCDF file", SAVE_ARRAYS),
  MARK (0, "CDF\x05", "a netCDF file", SAVE_ARRAYS),
  MARK (0, "SIMPLE  =", "a FITS file", SAVE_ARRAYS),
  MARK (0, "SQLite format 3", "an SQLite database", SAVE_ARRAYS),
  MARK (0, "\x89PNG\r\n\x1a\n", "a PNG picture", PICTURE),
  MARK (0, "\xff\xd8\xff", "a JPEG picture", PICTURE),
  MARK (0, "GIF8", "a GIF picture", PICTURE),
  MARK (8, "WEBP", "a WebP picture", PICTURE),
  MARK (0, "II*\0", "a TIFF picture", PICTURE),
  MARK (0, "MM\0*", "a TIFF picture", PICTURE),
  MARK (0, "v/1\x01", "an OpenEXR picture", SAVE_ARRAYS),
  MARK (8, "WAVE", "a WAVE sound", SAVE_ARRAYS),
  MARK (4, "ftyp", "a video or a picture", "decode it first"),
  MARK (0, "%PDF-", "a PDF document", "choose another file"),
  MARK (0, "\x7f" "ELF", "a program or a library", "choose another file"),
  MARK (0, "\x1f\x8b\x08", "compressed with gzip", UNPACK ": gunzip, or tar xzf"),
  MARK (0, "BZh", "compressed with bzip2", UNPACK ": bunzip2, or tar xjf"),
  MARK (0, "\xfd" "7zXZ\0", "compressed with xz", UNPACK ": unxz, or tar xJf"),
  MARK (0, "\x28\xb5\x2f\xfd", "compressed with zstd", UNPACK ": unzstd, or tar xf"),
  MARK (0, "\x04\x22\x4d\x18", "compressed with lz4", UNPACK ": unlz4"),
  MARK (0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK ": 7z x"),
  MARK (0, "Rar!\x1a\x07", "a RAR archive", UNPACK ": unrar x"),
  MARK (257, "ustar", "a tar archive", UNPACK ": tar xf"),
  MARK (0, "version https://git-lfs.github.com/spec/", "a Git LFS pointer, in place of the file",
        "get the file with “git lfs pull”"),
};

static char *
say (const char *what,
     const char *advice)
{
  return g_strconcat ("This is ", what, ": ", advice, NULL);
}

static const Mark *
find_mark (const guint8 *head,
           gsize         size)
{
  for (gsize i = 0; i < G_N_ELEMENTS (marks); i++)
    {
      const Mark *mark = &marks[i];

      if (size >= mark->offset + mark->size
          && memcmp (head + mark->offset, mark->bytes, mark->size) == 0)
        return mark;
    }

  return NULL;
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
        return "a TensorFlow model";
      if (field == 7) /* the graph */
        return length <= file_size ? "an ONNX model" : NULL;
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

static char *
explain_text (const char *text,
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
      return say ("a web page in place of the file",
                  "the download went wrong, so look at the page and download the file again");

  if (begins_with (text, size, "<?xml"))
    return say ("an XML document", "it may be the answer of a server in place of the file");
  if (begins_with (text, size, "{") || begins_with (text, size, "["))
    return say ("JSON or other text, but not the index of a model",
                "open a .safetensors file, or its .safetensors.index.json");

  return say ("text, not a file of tensors",
              "if it is a table of numbers, read it with a program for tables, and save it as a"
              " .npy file");
}

/* Other files that begin like this are damaged safetensors files, or indices. */
static gboolean
is_safetensors (const guint8 *head,
                gsize         size)
{
  guint64 length;

  if (size <= MTL_SAFETENSORS_PREFIX_SIZE)
    return FALSE;

  memcpy (&length, head, sizeof length);
  return GUINT64_FROM_LE (length) <= MTL_SAFETENSORS_MAX_HEADER_SIZE
         && head[MTL_SAFETENSORS_PREFIX_SIZE] == '{';
}

static gboolean
is_index (const guint8 *head,
          gsize         size)
{
  return g_strstr_len ((const char *) head, size, "\"weight_map\"") != NULL
         || g_strstr_len ((const char *) head, size, "\"metadata\"") != NULL;
}

/* The first member is the most that is known of an incomplete archive. */
static gboolean
is_torch_zip (const guint8 *head,
              gsize         size)
{
  static const char member[] = "/data.pkl";
  guint16 length;

  if (size < MTL_ZIP_LOCAL_HEADER_SIZE || memcmp (head, "PK\3\4", 4) != 0)
    return FALSE;

  memcpy (&length, head + 26, sizeof length);
  length = GUINT16_FROM_LE (length);
  return length >= strlen (member) && (gsize) MTL_ZIP_LOCAL_HEADER_SIZE + length <= size
         && memcmp (head + MTL_ZIP_LOCAL_HEADER_SIZE + length - strlen (member), member,
                    strlen (member)) == 0;
}

char *
mtl_file_kind_explain (const guint8 *head,
                       gsize         size,
                       guint64       file_size)
{
  const Mark *mark;
  const char *model;

  if (file_size == 0)
    return say ("an empty file", FETCH_AGAIN);
  if (is_torch_zip (head, size))
    return say (TORCH, CONVERT_TORCH);
  if (size >= 4 && (memcmp (head, "PK\3\4", 4) == 0 || memcmp (head, "\x93NUM", 4) == 0))
    return NULL;
  if (is_safetensors (head, size))
    return NULL;
  if (is_zero (head, size))
    return say ("a file that begins with zeros", FETCH_AGAIN);

  mark = find_mark (head, size);
  if (mark != NULL)
    return say (mark->what, mark->advice);
  if (is_pickle (head, size))
    return say ("a Python pickle, which may run any code when it is loaded",
                "if you trust it, " SAVE_ARRAYS);
  model = find_protocol_buffer (head, size, file_size);
  if (model != NULL)
    return say (model, SAVE_ARRAYS);
  if (is_bitmap (head, size, file_size))
    return say ("a BMP picture", PICTURE);
  if (is_wide_text (head, size))
    return explain_text ("", 0);

  return is_text (head, size, file_size) && !is_index (head, size)
           ? explain_text ((const char *) head, size)
           : NULL;
}

static gboolean
ends_in (const MtlZipMember *member,
         const char         *ending)
{
  return member->name_size >= strlen (ending)
         && memcmp (member->name + member->name_size - strlen (ending), ending,
                    strlen (ending)) == 0;
}

char *
mtl_file_kind_explain_zip (const MtlZipDirectory *directory)
{
  for (gsize i = 0; i < directory->n_members; i++)
    if (ends_in (&directory->members[i], "/data.pkl"))
      return say (TORCH, CONVERT_TORCH);

  for (gsize i = 0; i < directory->n_members; i++)
    if (ends_in (&directory->members[i], ".npy"))
      return NULL;

  return say ("a zip archive without arrays of NumPy", UNPACK ": unzip");
}

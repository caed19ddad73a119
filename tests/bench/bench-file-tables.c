/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The functions that bench_files.py times. */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mtldl/mtldl.h>

#include "mtl-safetensors-header-private.h"
#include "mtl-safetensors-index-private.h"

#define EXPORTED __attribute__ ((visibility ("default")))

gsize EXPORTED   count_in_text  (const char *header,
                                 gsize       header_size,
                                 guint64     file_size);
gsize EXPORTED   count_in_index (const char *text,
                                 gsize       size);
gsize EXPORTED   list_tensors   (const char *path);
guint64 EXPORTED touch_tensors  (const char *path);
guint64 EXPORTED touch_plain    (const char *path,
                                 gsize       begin);

gsize
count_in_text (const char *header,
               gsize       header_size,
               guint64     file_size)
{
  g_autoptr (MtlTensorTable) table = mtl_safetensors_header_parse (header, header_size, file_size,
                                                                   NULL);

  return table->n_entries;
}

gsize
count_in_index (const char *text,
                gsize       size)
{
  g_autoptr (MtlTensorTable) table = mtl_safetensors_index_parse (text, size, NULL);

  return table->n_entries;
}

static MtlTensorFile *
open_mapped (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return mtl_tensor_file_open (file, NULL, MTL_TENSOR_FILE_MODE_MAP, NULL, NULL);
}

gsize
list_tensors (const char *path)
{
  g_autoptr (MtlTensorFile) tensors = open_mapped (path);
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);

  return g_strv_length ((char **) names);
}

/* Adds up, so that nothing is left out. */
static guint64
touch (gconstpointer bytes,
       gsize         size)
{
  guint64 sum = 0, word;

  for (gsize i = 0; i + sizeof word <= size; i += sizeof word)
    {
      memcpy (&word, (const guint8 *) bytes + i, sizeof word);
      sum += word;
    }

  return sum;
}

static gsize
get_n_bytes (MtlStridedView *view)
{
  return mtl_strided_view_get_volume (view)
         * mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view)) / 8;
}

/* All bytes of all tensors, in the order of the file. */
guint64
touch_tensors (const char *path)
{
  g_autoptr (MtlTensorFile) tensors = open_mapped (path);
  g_autofree const char **names = mtl_tensor_file_list_names (tensors);
  guint64 sum = 0;

  for (gsize i = 0; names[i] != NULL; i++)
    {
      g_autoptr (MtlStridedView) view = mtl_tensor_file_load_view (tensors, names[i], NULL, NULL);

      sum += touch (GSIZE_TO_POINTER (mtl_strided_view_get_address (view)), get_n_bytes (view));
    }

  return sum;
}

/* Touches the same bytes without the library. */
guint64
touch_plain (const char *path,
             gsize       begin)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  guint8 *bytes;
  guint64 sum;

  fstat (fd, &info);
  bytes = mmap (NULL, info.st_size, PROT_READ, MAP_SHARED, fd, 0);
  close (fd);
  sum = touch (bytes + begin, info.st_size - begin);
  munmap (bytes, info.st_size);
  return sum;
}

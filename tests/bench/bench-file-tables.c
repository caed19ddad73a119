/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What bench_files.py times: from a safetensors file's name to the table of its
 * tensors, and back to nothing. */

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mtldl/mtldl.h>

#include "mtl-safetensors-header-private.h"
#include "mtl-safetensors-index-private.h"

#define EXPORTED __attribute__ ((visibility ("default")))

gsize EXPORTED count_tensors     (const char *path);
gsize EXPORTED count_in_text     (const char *header,
                                  gsize       header_size,
                                  guint64     file_size);
gsize EXPORTED count_in_index    (const char *text,
                                  gsize       size);

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

gsize
count_tensors (const char *path)
{
  int file = open (path, O_RDONLY | O_CLOEXEC);
  guint8 prefix[MTL_SAFETENSORS_PREFIX_SIZE];
  g_autofree char *header = NULL;
  gsize size = 0, n = 0;
  struct stat status;

  if (fstat (file, &status) == 0 && pread (file, prefix, sizeof prefix, 0) == sizeof prefix
      && mtl_safetensors_header_get_size (prefix, sizeof prefix, status.st_size, &size, NULL))
    {
      header = g_malloc (size);
      if (pread (file, header, size, sizeof prefix) == (gssize) size)
        n = count_in_text (header, size, status.st_size);
    }
  close (file);

  return n;
}

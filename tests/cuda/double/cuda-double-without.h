/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Drivers that lack functions, as old ones do. */

#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline char *
cuda_double_read_library (const char *path,
                          size_t     *size)
{
  FILE *file = fopen (path, "rb");
  char *bytes;

  if (file == NULL || fseek (file, 0, SEEK_END) != 0)
    return NULL;
  *size = (size_t) ftell (file);
  rewind (file);
  bytes = malloc (*size);
  if (bytes != NULL && fread (bytes, 1, *size, file) != *size)
    {
      free (bytes);
      bytes = NULL;
    }
  fclose (file);

  return bytes;
}

/* A symbol is looked up by the hash of its name, so it cannot be found by another. */
static inline bool
cuda_double_rename (char       *bytes,
                    size_t      size,
                    const char *name)
{
  size_t length = strlen (name);
  bool found = false;

  for (size_t i = 1; i + length < size; i++)
    if (bytes[i - 1] == 0 && memcmp (bytes + i, name, length + 1) == 0)
      {
        bytes[i] = '-';
        found = true;
      }

  return found;
}

/* Writes a copy of a library without these functions to a new file. @names ends with NULL, and
 * @copy with XXXXXX. False: it has no such function, or cannot be copied. */
static inline bool
cuda_double_copy_without (const char        *path,
                          const char *const *names,
                          char              *copy)
{
  size_t size = 0;
  char *bytes = cuda_double_read_library (path, &size);
  bool done = bytes != NULL;
  int fd;

  for (; done && *names != NULL; names++)
    done = cuda_double_rename (bytes, size, *names);
  fd = done ? mkstemp (copy) : -1;
  done = fd >= 0 && write (fd, bytes, size) == (ssize_t) size;
  if (fd >= 0)
    close (fd);
  free (bytes);

  return done;
}

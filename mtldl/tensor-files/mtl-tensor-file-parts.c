/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The time for which the parts of a file stay open, and questions about all of its tensors. */

#include "mtl-tensor-file-private.h"

#include <string.h>

#include "mtl-quoted-text-private.h"

void
mtl_tensor_file_part_clear (MtlTensorFilePart *self)
{
  g_clear_pointer (&self->memory, mtl_memory_unref);
  g_clear_pointer (&self->table, mtl_tensor_table_free);
  g_clear_pointer (&self->source, mtl_file_source_free);
  g_clear_object (&self->file);
}

/* Always returns FALSE. */
gboolean
mtl_tensor_file_refuse_closed (MtlTensorFile  *self,
                               GError        **error)
{
  g_autofree char *name = self->file != NULL ? mtl_quote_file_name (self->file)
                                             : g_strdup ("“”");

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_CLOSED, "%s was closed", name);
  return FALSE;
}

gboolean
mtl_tensor_file_check_open (MtlTensorFile  *self,
                            GError        **error)
{
  gboolean closed;

  mtl_fork_lock (&self->lock);
  closed = self->closed;
  mtl_fork_unlock (&self->lock);
  return !closed || mtl_tensor_file_refuse_closed (self, error);
}

/* Called with the lock held. */
void
mtl_tensor_file_close_unless_needed (MtlTensorFile     *self,
                                     MtlTensorFilePart *part)
{
  if (part->source != NULL && part->n_readers == 0
      && (self->closed || (part->memory != NULL && !part->is_read_too)))
    mtl_file_source_close (part->source);
}

/* The descriptor of a single file stays open from the beginning, because another file
 * may have taken its place since. */
gboolean
mtl_part_reader_init (MtlPartReader      *self,
                      MtlTensorFile      *file,
                      MtlTensorFilePart  *part,
                      GError            **error)
{
  gboolean closed;

  mtl_fork_lock (&file->lock);
  closed = file->closed;
  if (!closed && part->source->fd >= 0)
    {
      part->n_readers++;
      *self = (MtlPartReader) { file, part, NULL, part->source };
    }
  mtl_fork_unlock (&file->lock);

  if (closed)
    return mtl_tensor_file_refuse_closed (file, error);
  if (self->source == NULL)
    self->source = self->opened = mtl_file_source_open_again (part->source, error);
  return self->source != NULL;
}

void
mtl_part_reader_clear (MtlPartReader *self)
{
  g_clear_pointer (&self->opened, mtl_file_source_free);
  if (self->file == NULL)
    return;

  mtl_fork_lock (&self->file->lock);
  self->part->n_readers--;
  mtl_tensor_file_close_unless_needed (self->file, self->part);
  mtl_fork_unlock (&self->file->lock);
}

GPatternSpec *
mtl_name_pattern_new (const char *pattern)
{
  if (pattern == NULL)
    return g_pattern_spec_new ("*");

  return g_utf8_validate (pattern, -1, NULL) ? g_pattern_spec_new (pattern) : NULL;
}

gboolean
mtl_name_pattern_matches (GPatternSpec *self,
                          const char   *name)
{
  return self != NULL && g_pattern_spec_match_string (self, name);
}

gboolean
mtl_tensor_file_part_refuse (const MtlTensorFilePart  *self,
                             const MtlTensorEntry     *entry,
                             GError                  **error)
{
  GError *why = g_error_copy (&entry->refusal->error);

  mtl_prefix_tensor_name (&why, entry->name);
  if (self->source != NULL && strstr (why->message, self->source->name) == NULL)
    g_prefix_error (&why, "%s: ", self->source->name);
  g_propagate_error (error, why);
  return FALSE;
}

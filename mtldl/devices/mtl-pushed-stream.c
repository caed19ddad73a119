/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

/* The streams that a thread uses instead of the devices' own. */

#include "mtl-device-private.h"

typedef struct _PushedStream PushedStream;

struct _PushedStream
{
  MtlDeviceType device_type;
  int ordinal;
  guint64 stream;
  PushedStream *before;
};

static void
free_all (gpointer last)
{
  PushedStream *pushed = last;

  while (pushed != NULL)
    {
      PushedStream *before = pushed->before;

      g_free (pushed);
      pushed = before;
    }
}

static GPrivate last_pushed = G_PRIVATE_INIT (free_all);

void
mtl_pushed_stream_push (MtlDeviceType device_type,
                        int           ordinal,
                        guint64       stream)
{
  PushedStream *pushed = g_new (PushedStream, 1);

  *pushed = (PushedStream) { device_type, ordinal, stream, g_private_get (&last_pushed) };
  g_private_set (&last_pushed, pushed);
}

gboolean
mtl_pushed_stream_pop (MtlDeviceType device_type,
                       int           ordinal,
                       guint64       stream)
{
  PushedStream *pushed = g_private_get (&last_pushed);

  if (pushed == NULL || pushed->device_type != device_type || pushed->ordinal != ordinal
      || pushed->stream != stream)
    return FALSE;

  g_private_set (&last_pushed, pushed->before);
  g_free (pushed);
  return TRUE;
}

gboolean
mtl_pushed_stream_find (MtlDeviceType  device_type,
                        int            ordinal,
                        guint64       *stream)
{
  const PushedStream *pushed = g_private_get (&last_pushed);

  while (pushed != NULL
         && (pushed->device_type != device_type
             || (pushed->ordinal != ordinal && pushed->ordinal != MTL_PUSHED_ANY_ORDINAL)))
    pushed = pushed->before;
  if (pushed == NULL)
    return FALSE;

  *stream = pushed->stream;
  return TRUE;
}

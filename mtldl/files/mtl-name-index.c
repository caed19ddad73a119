/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-name-index-private.h"

#include <string.h>

#include "mtl-arena-private.h"

struct _MtlNameSlot
{
  const char *name; /* NULL where it is free */
  guint32 hash;
  guint32 position;
};

static guint64 hash_key[2];

static void
ensure_hash_key (void)
{
  static gsize is_set;

  if (!g_once_init_enter (&is_set))
    return;

  for (gsize i = 0; i < G_N_ELEMENTS (hash_key); i++)
    hash_key[i] = (guint64) g_random_int () << 32 | g_random_int ();
  g_once_init_leave (&is_set, 1);
}

static inline guint64
rotate (guint64 word,
        guint   bits)
{
  return word << bits | word >> (64 - bits);
}

static inline void
mix (guint64 state[4])
{
  state[0] += state[1];
  state[2] += state[3];
  state[1] = rotate (state[1], 13) ^ state[0];
  state[3] = rotate (state[3], 16) ^ state[2];
  state[0] = rotate (state[0], 32);
  state[2] += state[1];
  state[0] += state[3];
  state[1] = rotate (state[1], 17) ^ state[2];
  state[3] = rotate (state[3], 21) ^ state[0];
  state[2] = rotate (state[2], 32);
}

static inline void
mix_word (guint64 state[4],
          guint64 word)
{
  state[3] ^= word;
  mix (state);
  state[0] ^= word;
}

/* SipHash-1-3, of Aumasson and Bernstein: who does not know the key cannot find names
 * of one hash. */
static guint32
hash_name (const char *name)
{
  gsize size = strlen (name), at = 0;
  guint64 state[4] = {
    hash_key[0] ^ G_GUINT64_CONSTANT (0x736f6d6570736575),
    hash_key[1] ^ G_GUINT64_CONSTANT (0x646f72616e646f6d),
    hash_key[0] ^ G_GUINT64_CONSTANT (0x6c7967656e657261),
    hash_key[1] ^ G_GUINT64_CONSTANT (0x7465646279746573),
  };
  guint64 word;

  for (; size - at >= sizeof word; at += sizeof word)
    {
      memcpy (&word, name + at, sizeof word);
      mix_word (state, word);
    }
  word = 0;
  memcpy (&word, name + at, size - at);
  mix_word (state, GUINT64_TO_LE (word) | (guint64) size << 56);

  state[2] ^= 0xff;
  for (int i = 0; i < 3; i++)
    mix (state);

  return state[0] ^ state[1] ^ state[2] ^ state[3];
}

/* For so many names: no more are ever added. */
gboolean
mtl_name_index_init (MtlNameIndex  *self,
                     gsize          n_names,
                     GError       **error)
{
  gsize n_slots = 4;

  ensure_hash_key ();
  while (n_slots / 2 < n_names)
    n_slots *= 2;

  self->slots = g_try_new0 (MtlNameSlot, n_slots);
  self->mask = n_slots - 1;
  return self->slots != NULL || mtl_set_no_memory (n_slots * sizeof (MtlNameSlot), error);
}

void
mtl_name_index_clear (MtlNameIndex *self)
{
  g_clear_pointer (&self->slots, g_free);
}

/* The slot of that name, or the free one where it would be. */
static MtlNameSlot *
find_slot (const MtlNameIndex *self,
           const char         *name,
           guint32             hash)
{
  for (gsize i = hash;; i++)
    {
      MtlNameSlot *slot = &self->slots[i & self->mask];

      if (slot->name == NULL || (slot->hash == hash && strcmp (slot->name, name) == 0))
        return slot;
    }
}

/* FALSE where the name is there already. */
gboolean
mtl_name_index_add (MtlNameIndex *self,
                    const char   *name,
                    guint32       position,
                    guint32      *present)
{
  guint32 hash = hash_name (name);
  MtlNameSlot *slot = find_slot (self, name, hash);

  if (slot->name != NULL)
    {
      *present = slot->position;
      return FALSE;
    }

  *slot = (MtlNameSlot) { name, hash, position };
  return TRUE;
}

gboolean
mtl_name_index_lookup (const MtlNameIndex *self,
                       const char         *name,
                       guint32            *position)
{
  const MtlNameSlot *slot = find_slot (self, name, hash_name (name));

  if (slot->name == NULL)
    return FALSE;

  *position = slot->position;
  return TRUE;
}

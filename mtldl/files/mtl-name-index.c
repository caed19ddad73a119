/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "config.h"

#include "mtl-name-index-private.h"

#include <string.h>

#include "mtl-error-private.h"
#include "mtl-fork-private.h"

struct _MtlNameSlot
{
  guint32 hash;
  guint32 number; /* the position plus 1; 0 if free */
};

static guint64 hash_key[2];

static void
ensure_hash_key (void)
{
  static MtlForkOnce once;
  GRand *random;

  if (!mtl_fork_once_enter (&once))
    return;

  random = g_rand_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (hash_key); i++)
    hash_key[i] = (guint64) g_rand_int (random) << 32 | g_rand_int (random);
  g_rand_free (random);
  mtl_fork_once_leave (&once);
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

/* SipHash-1-3, by Aumasson and Bernstein. Names with the same hash cannot be found
 * without the key. */
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

/* Makes room for all items, but does not add them. */
gboolean
mtl_name_index_init (MtlNameIndex   *self,
                     gconstpointer   items,
                     gsize           n_items,
                     gsize           item_size,
                     GError        **error)
{
  gsize n_slots = 4;

  ensure_hash_key ();
  while (n_slots / 2 < n_items)
    n_slots *= 2;

  *self = (MtlNameIndex) {
    .items = items,
    .item_size = item_size,
    .slots = g_try_new0 (MtlNameSlot, n_slots),
    .mask = n_slots - 1,
  };
  return self->slots != NULL || mtl_set_no_memory (n_slots * sizeof (MtlNameSlot), error);
}

void
mtl_name_index_clear (MtlNameIndex *self)
{
  g_clear_pointer (&self->slots, g_free);
}

static const char *
get_name (const MtlNameIndex *self,
          guint32             position)
{
  const char *name;

  memcpy (&name, self->items + position * self->item_size, sizeof name);
  return name;
}

/* The slot of the name, or the free slot for it. */
static MtlNameSlot *
find_slot (const MtlNameIndex *self,
           const char         *name,
           guint32             hash)
{
  for (gsize i = hash;; i++)
    {
      MtlNameSlot *slot = &self->slots[i & self->mask];

      if (slot->number == 0
          || (slot->hash == hash && strcmp (get_name (self, slot->number - 1), name) == 0))
        return slot;
    }
}

/* Returns the position of the first item with that name, which may be another one. */
guint32
mtl_name_index_add (MtlNameIndex *self,
                    guint32       position)
{
  const char *name = get_name (self, position);
  guint32 hash = hash_name (name);
  MtlNameSlot *slot = find_slot (self, name, hash);

  if (slot->number == 0)
    *slot = (MtlNameSlot) { hash, position + 1 };

  return slot->number - 1;
}

gboolean
mtl_name_index_lookup (const MtlNameIndex *self,
                       const char         *name,
                       guint32            *position)
{
  const MtlNameSlot *slot;

  if (self->slots == NULL) /* not initialized */
    return FALSE;

  slot = find_slot (self, name, hash_name (name));
  if (slot->number == 0)
    return FALSE;

  *position = slot->number - 1;
  return TRUE;
}

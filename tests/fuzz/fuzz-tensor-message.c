/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Descriptions of tensors and messages with descriptors that may say anything: as a GVariant with a
 * list of descriptors, and through a socket. Elements of a view lie where the description says, and
 * within the memory; nothing else is a view, and no descriptor stays open. */

#include "fuzz.h"

#include <fcntl.h>
#include <gio/gunixfdlist.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_SIZE 10000
#define SPARSE_SIZE ((guint64) 1 << 60)
#define HEADER_SIZE 16
#define MAX_BODY 4096
#define MAX_MESSAGES 4
#define MAX_FDS 4
#define MAX_DIMS 66 /* more than a layout has */
#define MAX_COPIED 4096

/* The descriptors that messages have, each opened once. */
enum
{
  SEALED,
  SEALED_AGAINST_WRITES,
  SPARSE,
  EMPTY,
  UNSEALED,
  PIPE_END,
  OTHER_PIPE_END,
  HUGE_PAGES,
  NO_FILE,
  N_KINDS,
};

static int kinds[N_KINDS];

/* A message, or a description alone. */
typedef struct
{
  guint8 header[HEADER_SIZE];
  guint8 body[MAX_BODY];
  gsize size;
  guint fds[MAX_FDS]; /* kinds */
  guint n_fds;

  /* A description whose numbers are known: body holds it. */
  gboolean is_known;
  gboolean is_inline;
  guint handle;
  guint64 offset;
  guint64 item_bits;
  gint64 shape[MAX_DIMS];
  gint64 strides[MAX_DIMS];
  gsize n_dims;
} Message;

static guint8
get_byte (guint64 at)
{
  return at * 7 + 3;
}

static int
make_memfd (guint64 size,
            int     seals)
{
  int fd = memfd_create ("peer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  guint8 bytes[FILE_SIZE];

  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = get_byte (i);
  g_assert_cmpint (ftruncate (fd, size), ==, 0);
  if (size == sizeof bytes)
    g_assert_cmpint (write (fd, bytes, sizeof bytes), ==, sizeof bytes);
  g_assert_cmpint (fcntl (fd, F_ADD_SEALS, seals), ==, 0);
  return fd;
}

/* Finds the lowest descriptor that is not open. The sanitizers have some of their own. */
static int
find_first_free (void)
{
  int fd = dup (0);

  close (fd);
  return fd;
}

int
LLVMFuzzerInitialize (int    *argc,
                      char ***argv)
{
  int ends[2];

  g_type_ensure (MTL_TYPE_STRIDED_VIEW);
  g_type_ensure (MTL_TYPE_BUFFER);
  g_type_ensure (MTL_TYPE_TENSOR_CONNECTION);
  mtl_device_get_default ();

  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  kinds[SEALED] = make_memfd (FILE_SIZE, F_SEAL_SHRINK | F_SEAL_GROW);
  kinds[SEALED_AGAINST_WRITES] = make_memfd (FILE_SIZE, F_SEAL_SHRINK | F_SEAL_WRITE);
  kinds[SPARSE] = make_memfd (SPARSE_SIZE, F_SEAL_SHRINK);
  kinds[EMPTY] = make_memfd (0, F_SEAL_SHRINK);
  kinds[UNSEALED] = make_memfd (FILE_SIZE, 0);
  kinds[PIPE_END] = ends[1];
  kinds[OTHER_PIPE_END] = ends[0];
  kinds[HUGE_PAGES] = memfd_create ("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
  if (kinds[HUGE_PAGES] >= 0)
    {
      g_assert_cmpint (ftruncate (kinds[HUGE_PAGES], 2 << 20), ==, 0);
      g_assert_cmpint (fcntl (kinds[HUGE_PAGES], F_ADD_SEALS, F_SEAL_SHRINK), ==, 0);
    }
  kinds[NO_FILE] = open ("/dev/null", O_RDWR | O_CLOEXEC);
  return 0;
}

/* Pages that were read in the holes of the file would stay. */
static void
forget_pages (void)
{
  g_assert_cmpint (fallocate (kinds[SPARSE], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                              G_MAXINT64 >> 3), ==, 0);
}

static guint64
get_memory_size (const Message *self)
{
  static const guint64 sizes[N_KINDS] = {
    [SEALED] = FILE_SIZE, [SEALED_AGAINST_WRITES] = FILE_SIZE, [SPARSE] = SPARSE_SIZE,
  };

  if (self->is_inline)
    return FILE_SIZE / 10;
  return self->handle < self->n_fds ? sizes[self->fds[self->handle]] : 0;
}

/* The first and the last bit of the elements, relative to the first element; far outside is far
 * enough. FALSE if there is no element. */
static gboolean
get_bounds (const Message *self,
            __int128      *low,
            __int128      *high)
{
  *low = *high = 0;
  for (gsize i = 0; i < self->n_dims; i++)
    if (self->shape[i] <= 0)
      return FALSE;

  for (gsize i = 0; i < self->n_dims; i++)
    {
      __int128 end = (__int128) self->strides[i] * (self->shape[i] - 1);

      *(end < 0 ? low : high) += CLAMP (end, -((__int128) 1 << 80), (__int128) 1 << 80);
    }
  *low *= self->item_bits;
  *high = (*high + 1) * self->item_bits;
  return TRUE;
}

static gboolean
lies_within (const Message *self)
{
  __int128 low, high, begin = (__int128) self->offset * 8;

  return !get_bounds (self, &low, &high)
         || (begin + low >= 0 && begin + high <= (__int128) get_memory_size (self) * 8);
}

/* --- What is sent */

static GVariant *
read_value (Input *input)
{
  switch (input_byte (input) % 8)
    {
    case 0:
      return g_variant_new_boolean (input_byte (input) % 2);
    case 1:
      return g_variant_new_byte (input_byte (input));
    case 2:
      return g_variant_new_handle ((gint8) input_byte (input));
    case 3:
      return g_variant_new ("(ii)", input_byte (input) % 4, input_byte (input) % 4);
    case 4:
      return g_variant_new_parsed ("['name', 'padded']");
    case 5:
      return g_variant_new_parsed ("['fence']");
    case 6:
      return g_variant_new_int64 (input_int64 (input));
    default:
      return g_variant_new_string ("text");
    }
}

static GVariant *
read_extras (Input *input)
{
  static const char *const keys[] = {
    "version", "needs", "padded", "byte-order", "device", "release", "name", "other",
  };
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (int n = input_byte (input) % 4; n > 0; n--)
    g_variant_builder_add (&builder, "{sv}", keys[input_byte (input) % G_N_ELEMENTS (keys)],
                           read_value (input));
  if (input_byte (input) % 2)
    g_variant_builder_add (&builder, "{sv}", "release", g_variant_new_handle (1));
  return g_variant_builder_end (&builder);
}

static gint64
read_extent (Input *input)
{
  return input_byte (input) % 8 ? input_byte (input) % 12 : input_extent (input);
}

/* Describes a tensor by numbers of the input. */
static void
build_description (Message *self,
                   Input   *input)
{
  static const struct { guint8 code, bits; } types[] = {
    { 1, 8 }, { 1, 16 }, { 2, 32 }, { 0, 64 }, { 5, 128 }, { 1, 4 }, { 15, 6 }, { 6, 8 }, { 1, 1 },
    { 1, 2 }, { 4, 16 },
  };
  guint type = input_byte (input);
  guint8 code = types[type % G_N_ELEMENTS (types)].code;
  guint8 bits = types[type % G_N_ELEMENTS (types)].bits;
  guint16 lanes = input_byte (input) % 8 ? 1 : input_byte (input);
  guint8 bytes[FILE_SIZE / 10];
  g_autoptr (GVariant) variant = NULL;
  GVariant *memory, *extras;

  if (type >= 250)
    {
      code = input_byte (input);
      bits = input_byte (input);
    }
  for (gsize i = 0; i < sizeof bytes; i++)
    bytes[i] = get_byte (i);
  self->is_inline = input_byte (input) % 4 == 0;
  self->handle = input_byte (input) % 8 ? 0 : input_byte (input) % 4;
  self->offset = input_byte (input) % 4 ? input_byte (input) * 40 : (guint64) input_int64 (input);
  self->item_bits = bits * lanes;
  self->n_dims = input_byte (input) % 5;
  if (self->n_dims == 4)
    self->n_dims = input_byte (input) % MAX_DIMS;
  for (gsize i = 0; i < self->n_dims; i++)
    {
      self->shape[i] = read_extent (input);
      self->strides[i] = input_int64 (input);
    }

  memory = self->is_inline
             ? g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, bytes, sizeof bytes, 1)
             : g_variant_new_handle (self->handle);
  extras = read_extras (input);
  /* Those that are not whole bytes may be padded. */
  self->is_known = bits % 8 == 0;
  variant = g_variant_ref_sink (
      g_variant_new ("(vtyyq@ax@ax@a{sv})", memory, self->offset, code, bits, lanes,
                     g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, self->shape, self->n_dims, 8),
                     g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, self->strides, self->n_dims,
                                                8),
                     extras));
  self->size = g_variant_get_size (variant);
  g_assert_cmpuint (self->size, <=, sizeof self->body);
  g_variant_store (variant, self->body);
}

static void
read_message (Message *self,
              Input   *input)
{
  guint8 form = input_byte (input);

  self->n_fds = form % 4;
  for (guint i = 0; i < self->n_fds; i++)
    {
      guint8 kind = input_byte (input);

      /* Most are those that a tensor has. */
      self->fds[i] = kind < 160 ? (i == 0 ? kind % EMPTY : PIPE_END) : kind % N_KINDS;
    }

  if (form & 4)
    build_description (self, input);
  else
    {
      self->size = input_byte (input) % 16 << 8;
      self->size += input_byte (input);
      for (gsize i = 0; i < self->size; i++)
        self->body[i] = input_byte (input);
    }

  memcpy (self->header, (guint8[]) { 'm', 't', 'l', 1, self->n_fds, 0, 0, 0 }, 8);
  self->header[8] = self->size & 0xff;
  self->header[9] = self->size >> 8;
  if (form >= 240)
    for (int i = 0; i < 2; i++)
      self->header[input_byte (input) % HEADER_SIZE] = input_byte (input);
}

/* --- What comes out */

static void
check_error (const GError *error)
{
  g_assert_nonnull (error);
  g_assert_true (error->domain == MTL_ERROR || error->domain == G_IO_ERROR);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  if (error->domain == MTL_ERROR)
    g_assert_true (error->code != MTL_ERROR_OUT_OF_BOUNDS && error->code != MTL_ERROR_OVERFLOW
                   && error->code != MTL_ERROR_NEEDS_COPY
                   && error->code != MTL_ERROR_INVALID_ARGUMENT);
}

/* Reads the first and the last byte of the elements. The element at the indices 0 begins at a
 * byte. */
static guint
touch (MtlStridedView *view)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  const gint64 *strides = mtl_strided_view_get_strides (view, NULL);
  const guint8 *data = mtl_strided_view_get_data (view);
  guint item_bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));
  __int128 low = 0, high = 0;

  for (gsize i = 0; i < n_dims; i++)
    *(strides[i] < 0 ? &low : &high) += (__int128) strides[i] * (shape[i] - 1);

  return data[(gint64) (low * item_bits >> 3)]
         + data[(gint64) (((high + 1) * item_bits - 1) >> 3)];
}

static void
check_place (MtlStridedView *view,
             const Message  *message)
{
  gsize n_dims;
  const gint64 *shape = mtl_strided_view_get_shape (view, &n_dims);
  const guint8 *data = mtl_strided_view_get_data (view);
  __int128 low, high;

  g_assert_true (lies_within (message));
  g_assert_cmpmem (shape, n_dims * sizeof (gint64), message->shape,
                   message->n_dims * sizeof (gint64));
  if (get_bounds (message, &low, &high)
      && (message->is_inline || message->fds[message->handle] != SPARSE))
    {
      g_assert_cmpint (data[(gint64) low / 8], ==, get_byte (message->offset + (gint64) low / 8));
      g_assert_cmpint (data[(gint64) high / 8 - 1], ==,
                       get_byte (message->offset + (gint64) high / 8 - 1));
    }
}

/* A view that is described again has the same elements. */
static void
pass_on (MtlStridedView *view,
         GBytes         *bytes)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) variant = mtl_strided_view_to_variant (view, fds, NULL, &error);
  g_autoptr (MtlStridedView) again = NULL;
  g_autoptr (GBytes) bytes_again = NULL;

  if (variant == NULL)
    {
      g_assert_error (error, MTL_ERROR, MTL_ERROR_NEEDS_COPY);
      return;
    }

  /* There may be no room for a second mapping. */
  again = mtl_strided_view_new_from_variant_fds (variant, fds, &error);
  if (g_error_matches (error, MTL_ERROR, MTL_ERROR_NO_MEMORY))
    return;

  g_assert_no_error (error);
  bytes_again = mtl_strided_view_dup_bytes (again, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, bytes_again));
}

static void
use (MtlStridedView *view,
     const Message  *message)
{
  gint64 volume = mtl_strided_view_get_volume (view);
  gint64 n_bits = mtl_strided_layout_get_item_bits (mtl_strided_view_get_layout (view));

  g_assert_true (mtl_strided_view_is_read_only (view));
  if (message != NULL && message->is_known)
    check_place (view, message);
  if (volume > 0)
    touch (view);
  if (volume <= MAX_COPIED / n_bits)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = mtl_strided_view_dup_bytes (view, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, (volume * n_bits + 7) / 8);
      pass_on (view, bytes);
    }
}

/* --- The ways in */

static void
open_variant (const Message *message)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  guint8 *body = g_malloc (MAX (message->size, 1));
  g_autoptr (GVariant) variant = g_variant_ref_sink (
      g_variant_new_from_data (G_VARIANT_TYPE (MTL_TENSOR_VARIANT_TYPE_STRING),
                               memcpy (body, message->body, message->size), message->size, FALSE,
                               g_free, body));
  g_autoptr (MtlStridedView) view = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < message->n_fds; i++)
    if (kinds[message->fds[i]] >= 0)
      g_unix_fd_list_append (fds, kinds[message->fds[i]], NULL);
  view = mtl_strided_view_new_from_variant_fds (variant, fds, &error);
  g_clear_object (&fds);
  if (view != NULL)
    use (view, message);
  else
    check_error (error);
}

static MtlTensorConnection *
connect_fd (int fd)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_new_from_fd (fd, &error);

  g_assert_no_error (error);
  return mtl_tensor_connection_new (socket, MTL_TENSOR_PEER_FLAGS_ALLOW_OTHER_USERS);
}

static void
send_message (const Message *self,
              int            fd)
{
  union { struct cmsghdr header; char bytes[CMSG_SPACE (MAX_FDS * sizeof (int))]; } control = { 0 };
  struct iovec parts[] = { { (void *) self->header, HEADER_SIZE },
                           { (void *) self->body, self->size } };
  struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
  int fds[MAX_FDS];
  guint n = 0;

  for (guint i = 0; i < self->n_fds; i++)
    if (kinds[self->fds[i]] >= 0)
      fds[n++] = kinds[self->fds[i]];
  if (n > 0)
    {
      message.msg_control = &control;
      message.msg_controllen = CMSG_SPACE (n * sizeof (int));
      control.header = (struct cmsghdr) { .cmsg_len = CMSG_LEN (n * sizeof (int)),
                                          .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
      memcpy (CMSG_DATA (&control.header), fds, n * sizeof (int));
    }
  g_assert_cmpint (sendmsg (fd, &message, MSG_NOSIGNAL), ==, HEADER_SIZE + self->size);
}

/* Receives all that was sent, and goes on after what is refused. Keeps views if there is an array
 * for them, and returns how many. */
static guint
receive_all (MtlTensorConnection  *connection,
             const Message        *messages,
             guint                 n_messages,
             MtlStridedView      **views)
{
  guint n_views = 0;
  gboolean is_framed = TRUE;

  for (guint i = 0; TRUE; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) extras = NULL;
      g_autoptr (MtlStridedView) view = mtl_tensor_connection_receive (connection, &extras, NULL,
                                                                       &error);

      if (view == NULL)
        {
          check_error (error);
          if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED))
            break;
        }

      /* After a header that was changed, messages may begin elsewhere. */
      is_framed = is_framed && i < n_messages
                  && memcmp (messages[i].header, "mtl\1", 4) == 0
                  && messages[i].header[8] == (messages[i].size & 0xff)
                  && messages[i].header[9] == messages[i].size >> 8
                  && messages[i].header[10] == 0 && messages[i].header[11] == 0;
      if (view != NULL)
        {
          g_assert_true (g_variant_is_of_type (extras, G_VARIANT_TYPE_VARDICT));
          use (view, is_framed ? &messages[i] : NULL);
        }
      if (view != NULL && views != NULL && n_views < MAX_MESSAGES)
        views[n_views++] = g_steal_pointer (&view);
    }

  return n_views;
}

static void
run_connection (const Message *messages,
                guint          n_messages,
                guint8         flags)
{
  g_autoptr (MtlTensorConnection) connection = NULL;
  MtlStridedView *views[MAX_MESSAGES];
  guint n_views;
  int fds[2];

  g_assert_cmpint (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
  connection = connect_fd (fds[0]);
  if (flags & 4)
    mtl_tensor_connection_set_max_views (connection, 2);
  if (flags & 8)
    mtl_tensor_connection_set_max_bytes (connection, 100);
  for (guint i = 0; i < n_messages; i++)
    send_message (&messages[i], fds[1]);
  close (fds[1]);
  n_views = receive_all (connection, messages, n_messages, flags & 2 ? views : NULL);

  /* Views may outlive the connection. */
  g_clear_object (&connection);
  for (guint i = 0; i < n_views; i++)
    {
      use (views[i], NULL);
      g_object_unref (views[i]);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  static Message messages[MAX_MESSAGES];
  Input input = { data, size };
  guint8 flags = input_byte (&input);
  guint n_messages = 1 + flags / 16 % MAX_MESSAGES;
  gboolean is_sparse = FALSE;
  int first_free = find_first_free ();

  memset (messages, 0, sizeof messages);
  for (guint i = 0; i < n_messages; i++)
    {
      read_message (&messages[i], &input);
      for (guint k = 0; k < messages[i].n_fds; k++)
        is_sparse |= messages[i].fds[k] == SPARSE;
    }

  if (flags & 1)
    run_connection (messages, n_messages, flags);
  else
    open_variant (&messages[0]);
  if (is_sparse)
    forget_pages ();
  g_assert_cmpint (find_first_free (), ==, first_free);
  return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl serve: shows the tensors of files to other programs, on the session bus. */

#include "mtldl-tool.h"

#include <glib-unix.h>
#include <stdio.h>
#include <string.h>

#include "mtldl-bus.h"

#define DEFAULT_NAME "org.mtldl.Serve"

typedef struct
{
  char *name;
  char **select;
  gboolean is_quiet;
} Options;

static void
options_clear (Options *self)
{
  g_free (self->name);
  g_strfreev (self->select);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

typedef struct
{
  const Options *options;
  GDBusConnection *bus;
  GMainLoop *loop;
  gsize n_tensors;
  guint64 n_bytes;
  int status;
} Server;

/* Words between dots are parts of the path: “layers.0.weight” is “/FILE/layers/0/weight”. */
static char *
make_path (const char *path,
           const char *name)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *whole = NULL;
  g_auto (GStrv) words = NULL;
  GString *result = g_string_new (NULL);
  char *dot = strchr (base, '.');

  if (dot != NULL && dot > base)
    *dot = '\0';
  whole = strcmp (base, name) != 0 ? g_strconcat (base, ".", name, NULL) : g_strdup (base);
  words = g_strsplit (whole, ".", -1);
  for (gsize i = 0; words[i] != NULL; i++)
    {
      g_autofree char *escaped = g_dbus_escape_object_path (words[i]);

      g_string_append_printf (result, "/%s", escaped);
    }
  return g_string_free (result, FALSE);
}

/* The connection holds what it exports. */
static gboolean
serve_entry (Server             *self,
             const char         *path,
             MtlTensorFile      *file,
             MtlTensorFileEntry *entry)
{
  g_autofree char *name = tool_dup_name (file, entry);
  g_autofree char *object_path = make_path (path, name);
  g_autoptr (GError) error = NULL;
  g_autoptr (MtlStridedView) view = mtl_tensor_file_entry_load_view (entry, NULL, &error);
  g_autoptr (MtlExportedTensor) tensor = NULL;

  if (view == NULL)
    {
      tool_complain_of_entry (path, name, error);
      return FALSE;
    }

  tensor = mtl_exported_tensor_new (view, MTL_TENSOR_PEER_FLAGS_NONE);
  if (!mtl_exported_tensor_export (tensor, self->bus, object_path, &error))
    {
      tool_complain_of (path, error);
      return FALSE;
    }

  self->n_tensors++;
  self->n_bytes += mtl_tensor_file_entry_get_n_bytes (entry);
  return TRUE;
}

static gboolean
serve_file (Server     *self,
            const char *path)
{
  g_autoptr (MtlTensorFile) file = tool_open (path);
  g_autoptr (GPtrArray) entries = NULL;

  entries = file != NULL ? tool_select_entries (file, self->options->select) : NULL;
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    if (!serve_entry (self, path, file, entries->pdata[i]))
      return FALSE;
  return entries != NULL;
}

static gboolean
serve_path (Server     *self,
            const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) paths = tool_find_files (path, &error);

  if (paths == NULL)
    {
      tool_complain ("%s", error->message);
      return FALSE;
    }

  for (guint i = 0; i < paths->len; i++)
    if (!serve_file (self, paths->pdata[i]))
      return FALSE;
  return TRUE;
}

static void
on_name_acquired (GDBusConnection *bus,
                  const char      *name,
                  gpointer         data)
{
  Server *self = data;
  g_autofree char *size = tool_format_bytes (self->n_bytes);

  if (self->options->is_quiet)
    return;

  tool_print ("%s: %" G_GSIZE_FORMAT " tensor%s, %s\n", name, self->n_tensors,
              self->n_tensors == 1 ? "" : "s", size);
  fflush (stdout);
}

static void
on_name_lost (GDBusConnection *bus,
              const char      *name,
              gpointer         data)
{
  Server *self = data;

  if (g_dbus_connection_is_closed (self->bus))
    tool_complain (_("the session bus has ended"));
  else
    tool_complain (_("another program has the name “%s”; give one with --name"), name);
  self->status = TOOL_FAILED;
  g_main_loop_quit (self->loop);
}

static gboolean
on_signal (gpointer data)
{
  Server *self = data;

  g_main_loop_quit (self->loop);
  return G_SOURCE_CONTINUE;
}

static void
run (Server *self)
{
  const char *name = self->options->name != NULL ? self->options->name : DEFAULT_NAME;
  const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  guint sources[G_N_ELEMENTS (signals)], owner;

  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sources[i] = g_unix_signal_add (signals[i], on_signal, self);
  owner = g_bus_own_name_on_connection (self->bus, name, G_BUS_NAME_OWNER_FLAGS_DO_NOT_QUEUE,
                                        on_name_acquired, on_name_lost, self, NULL);
  g_main_loop_run (self->loop);
  g_bus_unown_name (owner);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    g_source_remove (sources[i]);
}

static int
serve (const Options *options,
       char         **paths)
{
  g_autoptr (GDBusConnection) bus = tool_connect_to_bus ();
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  Server server = { .options = options, .bus = bus, .loop = loop };

  if (bus == NULL)
    return TOOL_FAILED;

  for (gsize i = 0; paths[i] != NULL; i++)
    if (!serve_path (&server, paths[i]))
      return TOOL_FAILED;

  run (&server);
  return server.status;
}

int
tool_serve (const ToolCommand *command,
            int                argc,
            char              *argv[])
{
  g_auto (Options) options = { NULL };
  const GOptionEntry entries[] = {
    { "name", 'n', 0, G_OPTION_ARG_STRING, &options.name,
      N_("The name on the bus, org.mtldl.Serve by default"), N_("NAME") },
    { "select", 's', 0, G_OPTION_ARG_FILENAME_ARRAY, &options.select,
      N_("Serve only the tensors that match; can be repeated"), N_("PATTERN") },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.is_quiet,
      N_("Do not report that the tensors can be fetched"), NULL },
    { NULL },
  };
  int status;
  g_auto (GStrv) arguments = tool_parse (command, entries, argc, argv, &status);

  if (arguments == NULL)
    return status;
  if (options.name != NULL && (!g_dbus_is_name (options.name) || options.name[0] == ':'))
    return tool_wrong_usage (command, _("--name=%s is not a name on a bus, such as org.example.Me"),
                             options.name);

  return serve (&options, arguments);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* mtldl ls dbus:NAME: lists the tensors that a program exports on the session bus. */

#include "mtldl-bus.h"

#include "mtldl-table.h"

#define INTERFACE "org.mtldl.Tensor1"

/* The other program is not trusted: its objects may be endless. */
#define MAX_OBJECTS 100000
#define MAX_DEPTH 64

enum
{
  COLUMN_DTYPE,
  COLUMN_SHAPE,
  COLUMN_ACCESS,
  N_COLUMNS
};

static const ToolColumn columns[N_COLUMNS] = {
  { "DTYPE", FALSE, 4 }, { "SHAPE", FALSE, 5 }, { "ACCESS", FALSE, 1 },
};

typedef struct
{
  GDBusConnection *bus;
  const char *name;
  GPtrArray *paths; /* those of tensors */
  gsize n_objects;
} Search;

GDBusConnection *
tool_connect_to_bus (void)
{
  g_autoptr (GError) error = NULL;
  GDBusConnection *bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, &error);

  if (bus == NULL)
    tool_complain (_("there is no session bus: %s"), error->message);
  else
    g_dbus_connection_set_exit_on_close (bus, FALSE);
  return bus;
}

/* The message may be the other program's. */
static void
complain_of_bus (const char   *what,
                 const GError *error)
{
  g_autofree char *escaped = tool_escape (error->message);

  tool_complain ("%s: %s", what, escaped);
}

static GVariant *
call (const Search        *self,
      const char          *path,
      const char          *interface,
      const char          *method,
      GVariant            *arguments,
      const char          *type,
      GError             **error)
{
  GVariant *reply = g_dbus_connection_call_sync (self->bus, self->name, path, interface, method,
                                                 arguments, G_VARIANT_TYPE (type),
                                                 G_DBUS_CALL_FLAGS_NONE, -1, NULL, error);

  if (reply == NULL && error != NULL)
    g_dbus_error_strip_remote_error (*error);
  return reply;
}

static gboolean find_in (Search      *self,
                         const char  *path,
                         guint        depth,
                         GError     **error);

static gboolean
find_in_nodes (Search               *self,
               const char           *path,
               const GDBusNodeInfo  *info,
               guint                 depth,
               GError              **error)
{
  for (gsize i = 0; info->nodes != NULL && info->nodes[i] != NULL; i++)
    {
      const char *name = info->nodes[i]->path;
      g_autofree char *child = NULL;

      if (name == NULL || name[0] == '\0') /* it would be the same object again */
        continue;

      child = g_strconcat (path, path[1] != '\0' ? "/" : "", name, NULL);
      if (g_variant_is_object_path (child) && !find_in (self, child, depth + 1, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
find_in (Search      *self,
         const char  *path,
         guint        depth,
         GError     **error)
{
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GDBusNodeInfo) info = NULL;
  const char *xml;

  if (depth > MAX_DEPTH || ++self->n_objects > MAX_OBJECTS)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   _("there are more than %d objects, or deeper ones than %d"), MAX_OBJECTS,
                   MAX_DEPTH);
      return FALSE;
    }

  reply = call (self, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, "(s)",
                error);
  if (reply == NULL)
    return FALSE;

  g_variant_get (reply, "(&s)", &xml);
  info = g_dbus_node_info_new_for_xml (xml, error);
  if (info == NULL)
    return FALSE;

  if (g_dbus_node_info_lookup_interface (info, INTERFACE) != NULL)
    g_ptr_array_add (self->paths, g_strdup (path));
  return find_in_nodes (self, path, info, depth, error);
}

/* Values of other types are left out. */
static void
fill_row (ToolTableRow *row,
          GVariant     *properties)
{
  g_autoptr (GVariant) shape = g_variant_lookup_value (properties, "Shape", G_VARIANT_TYPE ("ax"));
  const char *dtype = "-";
  gboolean is_read_only = TRUE;
  gsize n_dims = 0;
  const gint64 *dims = shape != NULL
                       ? g_variant_get_fixed_array (shape, &n_dims, sizeof (gint64)) : NULL;

  g_variant_lookup (properties, "Dtype", "&s", &dtype);
  g_variant_lookup (properties, "ReadOnly", "b", &is_read_only);
  row->cells[COLUMN_DTYPE] = tool_escape (dtype);
  row->cells[COLUMN_SHAPE] = shape != NULL ? mtl_dims_to_json (dims, n_dims) : g_strdup ("-");
  row->cells[COLUMN_ACCESS] = g_strdup (is_read_only ? "read" : "write");
}

static gboolean
print_tensor (const Search *self,
              ToolTable    *table,
              const char   *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = call (self, path, "org.freedesktop.DBus.Properties", "GetAll",
                                     g_variant_new ("(s)", INTERFACE), "(a{sv})", &error);
  g_autoptr (GVariant) properties = NULL;

  if (reply == NULL)
    {
      complain_of_bus (path, error);
      return FALSE;
    }

  properties = g_variant_get_child_value (reply, 0);
  fill_row (tool_table_add (table, path), properties);
  return TRUE;
}

static int
print (const Search *self,
       char        **patterns,
       gboolean      only_names)
{
  char **paths = (char **) self->paths->pdata;
  g_autofree gboolean *used = g_new0 (gboolean, g_strv_length (patterns) + 1);
  g_autofree gboolean *matches = tool_match_names (paths, patterns, used);
  g_auto (ToolTable) table = { NULL };
  int status = TOOL_DONE;

  if (!tool_check_patterns (patterns, used, (const char *const *) paths))
    return TOOL_FAILED;

  tool_table_init (&table, columns, N_COLUMNS);
  for (gsize i = 0; paths[i] != NULL; i++)
    if (matches[i] && only_names)
      tool_print ("%s\n", paths[i]);
    else if (matches[i] && !print_tensor (self, &table, paths[i]))
      status = TOOL_FAILED;
  if (!only_names)
    tool_table_print (&table);
  return status;
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return tool_compare_names (*(char *const *) a, *(char *const *) b);
}

int
tool_ls_bus (const char  *name,
             char       **patterns,
             gboolean     only_names)
{
  g_autoptr (GDBusConnection) bus = NULL;
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  Search search = { .name = name, .paths = paths };

  if (!g_dbus_is_name (name))
    {
      g_autofree char *escaped = tool_escape_typed (name);

      tool_complain (_("“%s” is not a name on a bus, such as “%sorg.mtldl.Serve”"), escaped,
                     TOOL_BUS_PREFIX);
      return TOOL_FAILED;
    }

  bus = search.bus = tool_connect_to_bus ();
  if (bus == NULL)
    return TOOL_FAILED;

  if (!find_in (&search, "/", 0, &error))
    {
      complain_of_bus (name, error);
      return TOOL_FAILED;
    }

  g_ptr_array_sort (paths, compare_paths);
  g_ptr_array_add (paths, NULL);
  return print (&search, patterns, only_names);
}

/* mcp_folder.h: the folders a server was given, and the only way from a name to a path in them.
 * Links are followed and have to stay inside. */
#ifndef STRATA_CLI_MCP_FOLDER_H
#define STRATA_CLI_MCP_FOLDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { MCP_MOST_FOLDERS = 32, MCP_MOST_PATHS = 2 };

struct mcp_folders {
    const char *real[MCP_MOST_FOLDERS]; /* without links, dots or a slash at the end */
    uint32_t n;
};

struct mcp_path {
    const char *real;
    const char *shown;  /* as it stands below its folder */
    uint64_t signature; /* changes when the file changes, or what lies in the folder */
};

/* Memory from `mem`. ERR_USAGE where one is not a folder. */
int mcp_folders_init(struct mcp_folders *f, char *const *paths, int n, struct arena *mem,
                     struct err *e) MUST_USE;

/* `name` is a path below one of the folders, or the whole path of something in one. Fails with what
 * to do instead: ERR_USAGE. */
int mcp_folder_find(const struct mcp_folders *f, const char *name, struct arena *mem,
                    struct mcp_path *ret, struct err *e) MUST_USE;

/* Every trace in the folders and two levels below as a JSON document: "traces": name, bytes. */
int mcp_folder_list(const struct mcp_folders *f, struct arena *mem, struct buf *out,
                    struct err *e) MUST_USE;

#endif

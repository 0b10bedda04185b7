/* look.c: see look.h. */
#include "cli/look.h"

#include "base/folder.h"
#include "import/snapshot_read.h"

int cli_look(struct cli *cli, const char *path, struct snapshot **ret, struct err *e)
{
    struct file_map f;
    *ret = NULL;
    if (folder_is(path)) return 0;
    TRY(file_map(&f, path, e));
    if (!snapshot_is_in(&f)) {
        cli->given = f;
        return 0;
    }
    int rc = snapshot_read(&f, ret, e);
    file_unmap(&f);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

void cli_look_end(struct cli *cli, struct snapshot *p)
{
    file_unmap(&cli->given);
    snapshot_free(p);
}

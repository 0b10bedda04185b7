/* mcp_jail.h: a process that reads some folders and nothing else, writes no file and starts no
 * program. The kernel sees to it (Landlock, Linux 5.13), where it can. */
#ifndef STRATA_CLI_MCP_JAIL_H
#define STRATA_CLI_MCP_JAIL_H

#include <stdbool.h>
#include <stdint.h>

/* For good. Whether the kernel does it all; files cannot be written in any case. */
bool mcp_jail_enter(const char *const *folders, uint32_t n);

#endif

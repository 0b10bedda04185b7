/* In place of the package's own: the function after the end of sqlite3.c that starts its extensions
 * is never called here, and they are not built. */
#define sqlite3_sqlean_init 0

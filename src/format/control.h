/* control.h: how a process is asked to record, from outside.
 *
 * A process that waits to be recorded listens on RUN/control/PID, a Unix socket (stream) that only
 * its owner may use. A request is one line, and so is the answer: "ok ..." or "error REASON".
 *
 *     status          ok state=idle|recording|keeping parts=N
 *     begin MS        ok part=N, when recording is on; after MS milliseconds (0: no limit), at
 * `end` or when the connection is closed it ends: "ended part=N" end             only after begin
 *     snapshot WHY    ok folder=PATH: what was kept is written out (of a process that keeps the
 *                     last seconds only)
 *
 * A second `begin` while there is one is refused. */
#ifndef STRATA_FORMAT_CONTROL_H
#define STRATA_FORMAT_CONTROL_H

#define CONTROL_FOLDER   "control"
#define CONTROL_WAITS_IN ".waits_in" /* in a folder made for a process that waits in another */
#define CONTROL_LINE     4096        /* bytes, the end of the line included */

#endif

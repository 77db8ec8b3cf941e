// Package process is the medic.Restarter for one machine without containers: a node is a child process with a pid file.
//
//	DIR/joiner-1          its pid, for people and scripts: kill -9 $(cat DIR/joiner-1)
//	DIR/.joiner-1.birth   its pid and its start time: what the package itself believes
//	LOGS/.*.reserve       both files of a node without a process: the next start finds them, so that it needs no room on the disk
//	LOGS/joiner-1.log     what it writes to standard output and standard error, appended
//	LOGS/joiner-1.log.1   the log before, when that was full; the process renames it itself (Stderr)
//
// A pid alone names a process badly: after its death, or a reboot, the same number is another process's. So the file also holds when
// the process was started, in the system's own words. A process that was started at another time is not ours: it is neither
// waited for nor killed. That is checked again before each signal.
//
// Children are detached: in a session of their own, deaf to the terminal's Ctrl-C, and alive when the process that started them is gone. A
// later Restarter over the same directory finds them by their files. Or they are tied (Config.DieWithParent): then the kernel kills them
// when their parent dies, however it dies (Linux; elsewhere nobody does).
//
// Deaths are seen by asking the system every few milliseconds. The turned-down way, a goroutine blocked in wait(2) for each child,
// could not be ended while the child lives, and does not work for children that a process before us has left.
//
// A crash between the fork and the writing of the file leaves a child that no file knows. It holds its data directory (N4), so a
// second one of the same node names its holder and ends.
package process

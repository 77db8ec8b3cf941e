// Package process is the medic.Restarter for one machine without containers: a node is a child process with a pid file.
//
//	DIR/joiner-1          its pid, for people and scripts: kill -9 $(cat DIR/joiner-1)
//	DIR/.joiner-1.birth   its pid and its start time; the package itself reads only this file
//	LOGS/.*.reserve       both files while the node has no process: the next start reuses them, so it needs no room on the disk
//	LOGS/joiner-1.log     what it writes to standard output and standard error, appended
//	LOGS/joiner-1.log.1   the previous log: the process renames a full log itself (Stderr)
//
// A pid alone does not identify a process: after its death, or a reboot, another process gets the same number. So the file also holds when
// the process was started, as the system reports it. A process with another start time is not the node's, so it is neither waited for nor
// killed. That is checked again before each signal.
//
// Children are detached: each has its own session, gets no Ctrl-C from the terminal, and survives the process that started it. A
// later Restarter over the same directory finds them by their files. Or they are tied (Config.DieWithParent): then the kernel kills them
// when their parent ends in any way. That works on Linux only.
//
// Ends of processes are reported by pidfds (Linux 5.3); on other systems the package asks every few milliseconds. A goroutine that is
// blocked in wait(2) for each child was rejected: it could not be ended while the child is alive, and it does not work for processes that
// an earlier Restarter has started.
//
// A parent that is killed between the fork and the write of the files would leave a child that nobody finds. So a child waits at a pipe,
// its gate, until its files are there, and ends if its parent ends before (AwaitRecord).
package process

// Package wallclock gives a process a wall clock that jumps, for tests of M10: nobody's clock is trusted.
//
// The Go runtime asks the kernel for the time through a function pointer, which Follow replaces. From then on time.Now in this process adds
// what Set has written into a file that both map. So the program under test is unchanged and has no hook, and another process decides when
// its clock jumps. The monotonic clock, timers and the times of files are the kernel's as before: a real clock that is set behaves the
// same.
//
// Other ways do not serve: a time namespace does not move CLOCK_REALTIME, LD_PRELOAD has no hold on a static program, and clock_settime
// would move the clock of the whole machine. A clock that is handed through all packages would test the hook and miss a time.Now that
// forgot it.
package wallclock

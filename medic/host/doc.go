// Package host is what a machine remembers for all medics that act on it, and the lock by which they take turns: the fence of design §9,
// M4.
//
//	DIR/HOST.lock      which medic acts; one at a time over all processes
//	DIR/HOST           the newest term that was seen here, and whether the host is being taken down; durable
//	DIR/HOST.NAME      when NAME was last started, on the machine's monotonic clock (M10), and which order started it
//
// The files are overwritten in place, so that an order needs no room on the disk (medic.WriteSlots).
//
// The whole execution of an order happens under the lock:
//
//  1. lock; 2. raise the fence to the order's generation, durably; 3. check the order (core.Fence.Decide);
//  4. kill; 5. note the start; 6. start.
//
// A crash before 4 changes nothing. After 4 the target is dead, and the leader's next order, to any medic, starts it. After 5 a repeated
// order counts as done, but no process is found, and the next order starts it. After 6 only the report is lost, and a repeated order is
// found to be done. So one order starts at most one process, whichever medic carries it out.
//
// A medic that is stopped while it holds the lock would block all others for ever. But it is also silent, so it is restarted itself: the
// holder of the lock may be killed without the lock, and the kernel then releases the lock.
package host

// Package host is what a machine remembers for all medics that act on it, and how they take turns: the fence of design §9, M4.
//
//	DIR/HOST.lock      which medic acts; one at a time, across processes
//	DIR/HOST           the newest term that was seen here, and whether the host is being taken down; durable
//	DIR/HOST.NAME      when NAME was last started, on the machine's monotonic clock (M10), and by which order
//
// The files are overwritten in place, so that an order needs no room on the disk (medic.WriteSlots).
//
// An order is carried out under the lock, from the look at the fence to the start of the process:
//
//  1. the lock; 2. the fence is raised to the order's generation, durably; 3. the order is checked (core.Fence.Decide);
//  4. kill; 5. the note of the start; 6. start.
//
// A crash before 4 changes nothing. After 4 the target is dead, and the leader's next order, to whomever, starts it. After 5 the same order
// is taken for done, no process is found, and the next one starts it. After 6 the report is lost, and the order, when it comes again, is found
// to be done. So one order starts one process at most, whichever medic carries it out.
//
// A medic that is stopped while it holds the lock would hold up all others for ever. It is silent as well, so it is itself to be restarted: the
// holder of the lock may be killed without the lock, and the kernel takes the lock back.
package host

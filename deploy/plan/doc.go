// Package plan decides what `posta deploy` does. It is pure: in go the desired state (Desired, from a topology) and what the hosts have
// (Observed), out come steps in order, or reasons why not.
//
// The words:
//
//	unit        a node or a medic
//	spec        all that a unit's container is made of; its digest is a label of the container, so equal specs need no step
//	shape       what all nodes have to agree on while a session runs (topology.Shape), likewise a label
//	revision    a container that is never started and keeps a topology that was good; two of them are kept, for a rollback
//	drain mark  a container that is never started and says that no session of a shape is unfinished
//	keys note   a container that is never started and says which keys are in a volume; the keys themselves are nowhere in a plan
//	fence       a volume that the medics of a host share (M4)
//	stage       steps of one stage may be done at the same time on different engines, and one after the other on each
//
// The main loop is in Make: check the engines, compare, and then run the passes. Each pass is a function from the comparison and the steps so
// far to the next stages, in a file of its name:
//
//	prepare    helpers of an interrupted run go; image, free space, networks, free ports
//	keys       new keys are brought to units whose containers stay
//	roll       or reshape (sessions, reshape): see below
//	volumes    data of units that left goes
//	start      what is missing is made and started
//	revision   all are heard, and the topology is kept as the last good one
//
// There are two ways from what is there to what is wanted.
//
// A roll, when the shape stays: new limits, memory, image. One unit after the other: its new container is made, its old one drained and
// stopped, the new one started, its heartbeat awaited, the old one removed. Sessions run on: what a node committed is in its log, and its
// peers send again what it missed (R4, R7). Medics run on meanwhile. One that starts the unit between stop and start takes the newest
// container, which is the right one.
//
// A reshape, when it changes: replicas, hosts, edges, addresses. Nodes know from the topology how many ends they wait for (R12), and by how
// many partitions keys are divided, so no session may run under two shapes. Turned down: an epoch for each session, with links of both
// shapes side by side; every rule of the links would get another dimension, for something that happens once a month. So:
//
//  1. New sessions are held back (clients are told "busy" and wait), and running ones come to their end.
//  2. Medics stop, until none is left that would start another one. Then inputs stop, if no session has begun meanwhile, then the others.
//  3. Data of moved nodes is copied. New containers are made and started, inputs last, then medics.
//
// An interruption in the middle leaves inputs stopped, so no session can begin in a half-made cluster, and the next run goes on.
//
// A node that leaves loses its data, and one that comes back is a new one: links count from 1 on both ends, and an end that remembered
// what the other forgot would drop frames for duplicates (R2, R4). At that moment no session needs what is thrown away, except results at
// outputs: a plan that leaves no output with its data is refused.
//
// Only the hosts remember what happened, so a plan can be made anew at any time: after every single step the plan for the rest leads to the
// same end. TestInterruptedAnywhere cuts it everywhere.
package plan

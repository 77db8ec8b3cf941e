// Package plan decides what `posta deploy` does. It is pure: from the desired state (Desired, from a topology) and the observed one
// (Observed) it computes steps in order, or an error that says why there are none.
//
// The words:
//
//	unit        a node or a medic
//	spec        everything that determines a unit's container; its digest is a label of the container, so equal specs need no step
//	shape       everything on which all nodes have to agree while a session runs (topology.Shape); its digest is a label, too
//	revision    a container that is never started and keeps a topology that worked; two of them are kept, for a rollback
//	drain mark  a container that is never started and says that no session of a shape is unfinished
//	keys note   a container that is never started and says which keys are in a volume; the keys themselves are nowhere in a plan
//	fence       a volume that the medics of a host share (M4)
//	stage       steps that may be done at the same time on different engines; on each engine they are done one after the other
//
// The main loop is in Make: check the engines, compare, and then run the passes. Each pass computes the next stages from the comparison and
// the steps so far, in a file of its name:
//
//	prepare    remove helpers of an interrupted run; check image, free space, networks and ports
//	keys       bring new keys to units whose containers stay
//	roll       or reshape (sessions, reshape): see below
//	volumes    delete the data of removed units
//	start      create and start missing units
//	revision   wait for all heartbeats, and save the topology as the last good one
//
// There are two ways from the observed to the desired state.
//
// A roll, when the shape stays the same: new limits, memory or image. For one unit after the other it creates the new container, drains and
// stops the old one, starts the new one, waits for its heartbeat, and removes the old one. Sessions continue: what a node committed is in
// its log, and its peers send again what it missed (R4, R7). Medics continue, too. A medic that starts the unit between stop and start
// takes the newest container, which is the right one.
//
// A reshape, when the shape changes: replicas, hosts, edges, addresses. Nodes know from the topology how many ends they wait for (R12), and
// into how many partitions keys are divided, so no session may run under two shapes. An epoch for each session, with links of both shapes
// at once, was rejected: every rule of the links would get another dimension, for something that happens once a month. So:
//
//  1. New sessions are held back (clients are told "busy" and wait), and running ones finish.
//  2. Medics stop, until none is left that could start another one. Then, if no session has begun meanwhile, inputs stop, and then the
//     other nodes.
//  3. Data of moved nodes is copied. New containers are created and started: inputs after the other nodes, medics last.
//
// An interruption in between leaves inputs stopped, so no session can begin in an incomplete cluster. The next run continues.
//
// A removed node loses its data; if it is added again later, it is a new node. Links count from 1 on both ends: if one end remembered what
// the other end forgot, it would drop frames as duplicates (R2, R4). At that moment no session needs the deleted data, except for results
// at outputs: a plan that leaves no output with its data is refused.
//
// All state is on the hosts, so a new plan can be made at any time: after every single step the plan for the rest leads to the same state.
// TestInterruptedAnywhere interrupts a plan after each step.
package plan

//go:build linux

// Pace runs tests again and again on a machine that it makes slow, and keeps a table of how often each test has passed in a row. A test
// that needs the machine to be quick fails here sooner or later: it does not belong into .ci/run.
//
//	make pace                                    every test of the packages that start processes or wait for clocks, 50 times
//	make pace PACE='-times 5 -run Kill ./cmd'    less
//
// The load comes from the tests themselves: twenty run side by side. Meanwhile a freezer stops processes that descend from this one, each
// for 0.1 to 1.5 s. It freezes them in control groups of their own, since a signal would be mixed up with those that tests send: a test
// that has stopped a node relies on it to stand still, and SIGCONT would wake it.
//
// It needs root and Linux's control groups, version 2.
package main

// Package medics holds the tests of medics as real processes: nodes and medics of a cluster that `posta up` has started are killed and
// stopped while analyses run, and what the journal tells is compared with what was done. The package itself is empty.
package medics

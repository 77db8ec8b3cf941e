// Package member has the commands that are processes of a cluster: posta node, posta medic, and posta probe, which posta deploy runs in
// containers. keys.go loads and reloads the keys of a process; companion.go is the console that a medic has beside it.
package member

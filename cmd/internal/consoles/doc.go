// Package consoles has posta console, in its three forms: the console that a person starts, the one that a medic has beside it, and the
// link to a medic's. The pages and their server are in package console.
package consoles

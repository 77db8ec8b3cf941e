// Package pty makes terminals without a screen, in which tests and measurements run programs that talk to people.
package pty

// Package submit has posta submit, which runs an analysis on a running cluster. resume.go continues sessions whose client is gone.
package submit

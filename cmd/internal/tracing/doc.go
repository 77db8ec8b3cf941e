// Package tracing shows where the time of a session went, from what its nodes have recorded (package nodes/trace).
//
//	View    the answers of all nodes on one time line: a bar for each node, a row for each link
//	Spans   the same as OpenTelemetry's OTLP over HTTP with JSON
//
// It is pure, except Send, which posts spans.
package tracing

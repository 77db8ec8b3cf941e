// Package traces has posta trace, which asks all nodes where the time of a session went, and shows it as bars, tables, JSON or spans.
package traces

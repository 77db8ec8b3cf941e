// Package logs has posta log: it verifies, dumps and repairs the write-ahead log of a node.
package logs

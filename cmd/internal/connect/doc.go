// Package connect has posta connect, which lets programs that speak plain ZeroMQ reach a cluster with keys.
package connect

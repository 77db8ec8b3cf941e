// Package sessions has the commands about sessions that are on a cluster: posta sessions, posta results and posta cancel.
package sessions

//go:build !race

package cmd

const raced = false

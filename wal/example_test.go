package wal_test

import (
	"errors"
	"fmt"
	"os"

	"posta.dev/posta/wal"
)

// A node's life in small: what was durable when it died is there when it comes back.
func Example() {
	dir, err := os.MkdirTemp("", "wal-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for range 2 {
		if err := life(dir); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// life 1: state "" at 0
	// life 2: state "a+b" at 2
	//   then 3: c
}

func life(dir string) (err error) {
	log, err := wal.Open(dir, wal.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	at, state, _, err := log.LoadSnapshot()
	if err != nil {
		return err
	}
	fmt.Printf("life %d: state %q at %d\n", log.Identity().Incarnation, state, at)
	err = log.Replay(at+1, func(i wal.Index, typ byte, data []byte) error {
		fmt.Printf("  then %d: %s\n", i, data)
		return nil
	})
	if err != nil || log.Last() > 0 {
		return err
	}
	last, err := log.Append(wal.Record{Type: 1, Parts: [][]byte{[]byte("a")}}, wal.Record{Type: 1, Parts: [][]byte{[]byte("b")}})
	if err != nil {
		return err
	}
	if err := log.SaveSnapshot(last, []byte("a+"), []byte("b")); err != nil {
		return err
	}
	if _, err := log.Append(wal.Record{Type: 1, Parts: [][]byte{[]byte("c")}}); err != nil {
		return err
	}
	return log.Cut(last)
}

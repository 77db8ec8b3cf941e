package wal_test

import (
	"fmt"
	"os"
	"path/filepath"

	"posta.dev/posta/wal"
)

// What Append stored before a crash is still there after it. A snapshot replaces the records before it.
func Example() {
	tmp, err := os.MkdirTemp("", "wal-example-")
	check(err)
	defer func() { check(os.RemoveAll(tmp)) }()

	before, err := wal.Open(filepath.Join(tmp, "log"), wal.Options{})
	check(err)
	defer func() { check(before.Close()) }()
	_, err = before.Append(record("a"), record("b")) // two records, one fsync
	check(err)
	last, err := before.Append(record("c"))
	check(err)
	fmt.Println("appended up to", last)

	// A crash: the log is not closed, and only the content of the disk remains.
	disk := filepath.Join(tmp, "disk")
	check(os.CopyFS(disk, os.DirFS(filepath.Join(tmp, "log"))))

	log, err := wal.Open(disk, wal.Options{})
	check(err)
	state := ""
	check(log.Replay(0, func(i wal.Index, typ byte, data []byte) error {
		fmt.Printf("replay %d: %s\n", i, data)
		state += string(data)
		return nil
	}))
	fmt.Println("incarnation", log.Identity().Incarnation)

	check(log.SaveSnapshot(log.Last(), []byte(state)))
	_, err = log.Append(record("d"))
	check(err)
	check(log.Cut(last)) // Cut drops whole segments only. Here the snapshot is what makes reading shorter.
	check(log.Close())

	log, err = wal.Open(disk, wal.Options{})
	check(err)
	at, snapshot, ok, err := log.LoadSnapshot()
	check(err)
	fmt.Printf("snapshot after %d: %s %v\n", at, snapshot, ok)
	check(log.Replay(at+1, func(i wal.Index, typ byte, data []byte) error {
		fmt.Printf("replay %d: %s\n", i, data)
		return nil
	}))
	check(log.Close())
	// Output:
	// appended up to 3
	// replay 1: a
	// replay 2: b
	// replay 3: c
	// incarnation 2
	// snapshot after 3: abc true
	// replay 4: d
}

func record(text string) wal.Record {
	return wal.Record{Type: 1, Parts: [][]byte{[]byte(text)}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

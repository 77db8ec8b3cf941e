package role_test

import (
	"errors"
	"testing"

	"posta.dev/posta/nodes/role"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/test/roletest"
)

func TestTask_StandsStillWhereATablePauses(t *testing.T) {
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	at, failed := 0, errors.New("told to fail")
	task := role.NewTask(tables, func(put func([]byte)) error {
		for at = 1; at <= 10; at++ {
			tables[1].Pause()
		}
		put([]byte("half"))
		return failed
	})
	if at != 0 {
		t.Fatal("it has begun before it was asked to")
	}
	slices, last := 0, 0
	for {
		result, done, err := task.Slice()
		slices++
		if result != nil {
			if string(result) != "half" || done || err != nil || at != 11 {
				t.Fatal(string(result), done, err, at)
			}
			break
		}
		if done || err != nil || at == last {
			t.Fatal(done, err, at)
		}
		last = at
	}
	if slices < 2 {
		t.Fatal("ten pauses are one slice")
	}
	if result, done, err := task.Slice(); result != nil || !done || !errors.Is(err, failed) {
		t.Fatal(result, done, err)
	}
	tables[1].Pause() // the task has been stopped
	task.Stop()
	(*role.Task)(nil).Stop()
}

func TestTask_StopLeavesTheComputation(t *testing.T) {
	tables := role.NewTables(roletest.Analysis(), fold.NewTable)
	left := false
	task := role.NewTask(tables, func(func([]byte)) error {
		defer func() { left = true }()
		for {
			tables[0].Pause()
		}
	})
	if _, done, err := task.Slice(); done || err != nil {
		t.Fatal(done, err)
	}
	if task.Stop(); !left {
		t.Fatal("it still stands there")
	}
	never := role.NewTask(tables, func(func([]byte)) error { panic("it begins") })
	never.Stop()
	if _, done, err := never.Slice(); !done || err != nil {
		t.Fatal(done, err)
	}
}

func TestN6_APanicInATaskIsAnError(t *testing.T) {
	task := role.NewTask(nil, func(func([]byte)) error { panic("no idea") })
	if _, done, err := task.Slice(); !done || err == nil || err.Error() != "panic: no idea" {
		t.Fatal(done, err)
	}
}

package tail

import (
	"errors"
	"math"
	"testing"
)

func TestIntIndexNumbersKeysInTheirOrder(t *testing.T) {
	x := &Executor{limit: 1 << 20}
	ix, err := x.newIntIndex()
	if err != nil {
		t.Fatal(err)
	}
	keys := []int64{0, -1, math.MaxInt64, math.MinInt64}
	for i := range int64(5000) {
		keys = append(keys, 7+i<<32)
	}
	for pass := range 2 {
		for i, k := range keys {
			if id, fresh, err := ix.id(k); err != nil || id != int32(i) || fresh != (pass == 0) {
				t.Fatalf("key %d: %d, %v, %v", k, id, fresh, err)
			}
		}
	}
	if ix.find(1) != -1 || ix.find(math.MinInt64) != 3 {
		t.Error("what is not there was found, or what is there not")
	}
	if ix.release(); x.held != 0 {
		t.Errorf("%d bytes are held", x.held)
	}
	x.limit = 2000
	if ix, err = x.newIntIndex(); err != nil {
		t.Fatal(err)
	}
	for i := int64(0); err == nil && i < 100; i++ {
		_, _, err = ix.id(i)
	}
	if !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

package local

import (
	"errors"
	"slices"

	"posta.dev/posta/analyses"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/rows/scratch"
)

// frameBytes returns the approximate size of a partial. It is small with a seed, so that a table is sent in many partials.
func (r *runner) frameBytes() int {
	if r.rand == nil {
		return 256 << 10
	}
	return 1 + r.rand.IntN(8<<10)
}

// flush sends what a joiner counted, and the rows rejected so far, to the aggregators.
func (r *runner) flush(i int) error {
	if err := r.joiners[i].Flush(r.sent[:len(r.a.Tables)]); err != nil {
		return err
	}
	for n, t := range slices.Concat(r.sent, r.folded) {
		n %= len(r.sent)
		if err := t.Err(); err != nil {
			return err
		}
		for to, rows := range t.Partition(len(r.parts)) {
			for _, chunk := range t.Chunks(rows, r.frameBytes()) {
				r.waiting = append(r.waiting, partial{n, to, t.AppendRows(nil, chunk)})
			}
		}
		t.Reset()
	}
	if r.rand == nil || r.chance(3) {
		return r.deliver()
	}
	return nil
}

// deliver merges the waiting partials. Bags bypass the aggregators, except those from which tables are made.
func (r *runner) deliver() error {
	for _, n := range r.order(len(r.waiting)) {
		p := &r.waiting[n]
		to := r.parts[p.to][p.table]
		var err error
		switch {
		case to.Spec().Merge != fold.Never:
			err = to.Merge(p.payload)
		case r.a.Stays(p.table):
			err = r.bags[p.to][p.table].Merge(p.payload)
		default:
			err = r.all[p.table].Merge(p.payload)
		}
		if err != nil {
			return err
		}
	}
	r.waiting = r.waiting[:0]
	return nil
}

// reduce merges the partitions of all aggregators.
func (r *runner) reduce() ([]*fold.Table, error) {
	if err := r.deliver(); err != nil {
		return nil, err
	}
	for _, part := range r.order(len(r.parts)) {
		if err := r.prune(part); err != nil {
			return nil, err
		}
		for n, t := range r.parts[part] {
			if r.a.Stays(n) {
				continue
			}
			if err := r.send(n, t); err != nil {
				return nil, err
			}
		}
		if err := r.make(part); err != nil {
			return nil, err
		}
	}
	for i, t := range r.all[:len(r.a.Tables)] {
		if r.a.Moves != nil && r.a.Moves(i) && r.a.RowsQuery(i) < 0 && r.chance(2) {
			r.all[i] = moved(t)
		}
	}
	return r.all, nil
}

// moved returns a table whose rows are in files, or as good as that.
func moved(t *fold.Table) *fold.Table {
	var files [fold.Buckets][][]byte
	for bucket, rows := range t.Bucketed(0) {
		for _, chunk := range t.Chunks(rows, 1<<10) {
			files[bucket] = append(files[bucket], t.AppendRows(nil, chunk))
		}
	}
	of := fold.NewUnion(t.Spec())
	of.SetScratch(&scratch.Memory{})
	of.SetMoved(func(bucket int, each func(partial []byte) error) error {
		for _, p := range files[bucket] {
			if err := each(p); err != nil {
				return err
			}
		}
		return nil
	})
	return of
}

// send merges a table of an aggregator into that of the reducer.
func (r *runner) send(n int, t *fold.Table) error {
	for _, chunk := range t.Chunks(t.Rows(), r.frameBytes()) {
		if err := r.all[n].Merge(t.AppendRows(nil, chunk)); err != nil {
			return err
		}
	}
	return nil
}

// make makes the tables that an aggregator makes from others.
func (r *runner) make(part int) error {
	for n := range r.a.Tables {
		if len(r.a.MadeOf(n)) == 0 {
			continue
		}
		m := analyses.NewMaking(r.a, r.args, n, func(table int) fold.Parted {
			if r.a.Tables[table].Merge == fold.Never {
				return r.bags[part][table].Parted()
			}
			return r.parts[part][table].Parted()
		})
		_, made := m.Tables()
		var failed error
		err := m.Run(func() { failed = errors.Join(failed, r.send(n, made)) })
		if err = errors.Join(err, failed, r.send(n, made)); err != nil {
			return err
		}
	}
	return nil
}

// prune lets the analysis drop rows. With a seed it is sometimes omitted, because the answer must be the same without it.
func (r *runner) prune(part int) error {
	for stream := range r.a.Streams {
		if r.a.Prune == nil || r.chance(3) {
			continue
		}
		if err := r.a.Prune(r.args, stream, r.parts[part][:len(r.a.Tables)]); err != nil {
			return err
		}
	}
	return nil
}

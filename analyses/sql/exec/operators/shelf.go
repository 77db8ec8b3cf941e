package operators

import "posta.dev/posta/analyses/sql/plan"

// shelf keeps rows in their order, to be read any number of times: in memory, or in a file once there are too many.
type shelf struct {
	x      *Executor
	fields []plan.Field
	rows   *store
	file   *file // nil as long as the rows are in memory
	w      *writer
}

func (x *Executor) newShelf(fields []plan.Field) *shelf {
	return &shelf{x: x, fields: fields, rows: x.newSpilling(fields)}
}

func (s *shelf) add(b *Batch) error {
	if s.w != nil {
		return s.w.add(b)
	}
	if err := s.rows.add(b); err != nil || !s.rows.full() {
		return err
	}
	return s.move()
}

// move moves the rows to a file.
func (s *shelf) move() (err error) {
	if s.file, err = s.x.newFile(kindsOf(s.fields)); err != nil {
		return err
	}
	s.w = s.file.newWriter(s.fields)
	if err := s.rows.stream(s.w.add); err != nil {
		return err
	}
	s.rows.reset()
	return nil
}

// end must be called after the last row.
func (s *shelf) end() error {
	if s.w == nil {
		return nil
	}
	return s.w.flush()
}

// stream passes on the rows.
func (s *shelf) stream(to sink) error {
	if s.w == nil {
		return s.rows.stream(to)
	}
	return s.file.stream(&s.w.run, to)
}

func (s *shelf) release() {
	s.rows.release()
	s.file.remove()
}

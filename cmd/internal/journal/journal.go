package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/vmihailenco/msgpack/v5"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

var (
	// ErrInUse is wrapped by errors of Create and Open when another process has the journal.
	ErrInUse = errors.New("another process uses it")

	// ErrUse is wrapped by errors of Create and Open about a file that cannot be this journal.
	ErrUse = errors.New("no journal to use")
)

// file is what a journal needs of its file.
type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Journal is one open journal. Its methods may be called by several goroutines.
type Journal struct {
	name string

	mu       sync.Mutex // guards what follows
	f        file
	header   *Header
	sessions []*Session
	end      int64  // of the last good record
	sum      uint32 // of the last good record
	cut      int64  // bytes behind it; they are dropped before anything is appended
	broken   error  // a write failed: nothing is appended any more
}

// Session is one session of the command.
type Session struct {
	ID    session.ID
	Plan  [32]byte         // SHA-256 of its plan
	Heads map[string]int64 // how many bytes of a stream it reads, for streams of which it reads a part

	warnings []client.Warning
	rows     []extent
	outcome  *outcome
	failure  *Failure
}

// Answered reports whether the session's answer is in the journal.
func (s *Session) Answered() bool { return s.outcome != nil }

// Failed returns how the session failed; nil if it did not, or has not ended.
func (s *Session) Failed() *Failure { return s.failure }

// Warnings returns what the session has warned of so far.
func (s *Session) Warnings() []client.Warning { return s.warnings }

// Failure is the error of a session.
type Failure struct {
	Text  string
	Kinds []string // what the error is, in the words of the caller
}

// extent is where a record with rows is, and the sum before it.
type extent struct {
	at, size int64
	sum      uint32
}

// outcome is an answer without its rows.
type outcome struct {
	Analysis string
	Session  session.ID
	Tables   []tableHead
	Rejected []protocol.Rejected
	Warnings []client.Warning
	Streams  []client.StreamProgress
	Partial  bool
}

type tableHead struct {
	Name    string
	Columns []string
	Rows    int
}

// Create makes a journal. A file that exists is not touched.
func Create(name string) (*Journal, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: %s exists already; continue the command that it is of with --resume %s, or delete it", ErrUse, name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("make the journal: %w", err)
	}
	if err := lock(f, name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := syncDirectory(filepath.Dir(name)); err != nil {
		return nil, errors.Join(fmt.Errorf("make the journal %s: %w", name, err), os.Remove(name), f.Close())
	}
	return &Journal{name: name, f: f}, nil
}

// Open opens a journal and reads what it says. It changes nothing.
func Open(name string) (*Journal, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: there is no file %s; --journal %s begins one, and it is removed when the command has printed its answers",
			ErrUse, name, name)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file; give the file of --journal", ErrUse, name)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &Journal{name: name, f: f}
	if err := lock(f, name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mine, err := f.Stat()
	if there, gone := os.Stat(name); err == nil && (gone != nil || !os.SameFile(mine, there)) {
		err = fmt.Errorf("%w: %s was removed just now, because its command has printed its answers", ErrUse, name)
	}
	if err == nil {
		err = j.load(mine.Size())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// lock takes the file for this process.
func lock(f *os.File, name string) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("journal %s: %w; wait until that command has ended, or end it", name, ErrInUse)
		default:
			return fmt.Errorf("lock the journal %s: %w; give a file on another disk", name, err)
		}
	}
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// load reads all records up to the first one that is torn or damaged.
func (j *Journal) load(size int64) error {
	first := make([]byte, min(size, int64(len(magic))))
	if _, err := j.f.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the journal %s: %w", j.name, err)
	}
	if string(first) != magic[:len(first)] {
		return fmt.Errorf("%w: %s is not a journal, or is one of another version of posta; give the file of --journal", ErrUse, j.name)
	}
	if len(first) < len(magic) {
		j.cut = size
		return nil
	}
	j.end, j.sum = int64(len(magic)), crc32.Checksum(first, castagnoli)
	in := bufio.NewReaderSize(io.NewSectionReader(j.f, j.end, size-j.end), 64<<10)
	var memory bytes.Buffer
	for j.end < size {
		k, b, sum, err := unframe(in, size-j.end, j.sum, &memory)
		if err == nil {
			err = j.apply(k, b, extent{j.end, frameHead + int64(len(b)) + frameTail, j.sum})
		}
		if errors.Is(err, errTorn) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the journal %s: %w", j.name, err)
		}
		j.end += frameHead + int64(len(b)) + frameTail
		j.sum = sum
	}
	if j.cut = size - j.end; j.header == nil {
		j.end, j.cut = 0, size // it is begun again
	}
	return nil
}

// apply adds a record. It returns errTorn for a record that cannot follow those before it.
func (j *Journal) apply(k kind, b []byte, at extent) error {
	var runs *Session // begun and not ended
	if n := len(j.sessions); n > 0 && !j.sessions[n-1].ended() {
		runs = j.sessions[n-1]
	}
	var err error
	switch {
	case (k == headRecord) != (j.header == nil), k != headRecord && k != beginRecord && runs == nil:
		return errTorn
	case k == headRecord:
		h := &Header{}
		if err = msgpack.Unmarshal(b, h); err == nil {
			h.Began = h.Began.UTC() // the library makes it local
			j.header = h
		}
	case k == beginRecord:
		s := &Session{}
		if err = msgpack.Unmarshal(b, s); err != nil {
			break
		}
		if runs != nil { // it was given up, and this one takes its place
			j.sessions = j.sessions[:len(j.sessions)-1]
		}
		j.sessions = append(j.sessions, s)
	case k == warnRecord:
		var w client.Warning
		if err = msgpack.Unmarshal(b, &w); err == nil {
			runs.warnings = append(runs.warnings, w)
		}
	case k == rowsRecord:
		runs.rows = append(runs.rows, at)
	case k == answerRecord:
		o := &outcome{}
		if err = msgpack.Unmarshal(b, o); err == nil {
			runs.outcome = o
		}
	case k == failRecord:
		f := &Failure{}
		if err = msgpack.Unmarshal(b, f); err == nil {
			runs.failure = f
		}
	default:
		return errTorn
	}
	if err != nil {
		return errTorn
	}
	return nil
}

func (s *Session) ended() bool { return s.outcome != nil || s.failure != nil }

// Name returns the file's name.
func (j *Journal) Name() string { return j.name }

// Header returns what the journal is of; nil if nothing in it can be used.
func (j *Journal) Header() *Header { return j.header }

// Sessions returns the sessions that the command has begun, in their order. Only the last one may have neither an answer nor a failure.
func (j *Journal) Sessions() []*Session { return j.sessions }

// Lost returns how many bytes at the file's end are torn or damaged, and from where on.
func (j *Journal) Lost() (from, bytes int64) { return j.end, j.cut }

// Head begins the journal.
func (j *Journal) Head(h Header) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.header != nil {
		return errors.New("journal: it has a header")
	}
	if err := j.appendLocked(headRecord, encoded(h)); err != nil {
		return err
	}
	j.header = &h
	return j.syncLocked()
}

// Begin notes that a session begins. It takes the place of one that has not ended.
func (j *Journal) Begin(s Session) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.appendLocked(beginRecord, encoded(s)); err != nil {
		return err
	}
	return j.syncLocked()
}

// Warn notes a warning of the session that runs. It is not synced: a process that is killed loses nothing that it has written.
func (j *Journal) Warn(w client.Warning) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.appendLocked(warnRecord, encoded(w))
}

// Answer notes the answer of the session that runs.
func (j *Journal) Answer(a *client.Answer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	o := outcome{Analysis: a.Analysis, Session: a.Session, Rejected: a.Rejected, Warnings: a.Warnings, Streams: a.Streams, Partial: a.Partial}
	for i := range a.Queries {
		t := &a.Queries[i]
		o.Tables = append(o.Tables, tableHead{t.Name, t.Columns, t.Len()})
		for rows := range t.Parts() {
			var head [rowsHead]byte
			binary.BigEndian.PutUint32(head[:], uint32(i))
			binary.BigEndian.PutUint32(head[4:], uint32(rows.Width()))
			binary.BigEndian.PutUint32(head[8:], uint32(rows.Len()))
			if err := j.appendLocked(rowsRecord, head[:], rows.Encoded()); err != nil {
				return err
			}
		}
		if err := t.Err(); err != nil {
			return j.breakLocked(err)
		}
	}
	if err := j.appendLocked(answerRecord, encoded(o)); err != nil {
		return err
	}
	return j.syncLocked()
}

// Fail notes that the session that runs has failed.
func (j *Journal) Fail(f Failure) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.appendLocked(failRecord, encoded(f)); err != nil {
		return err
	}
	return j.syncLocked()
}

func (j *Journal) appendLocked(k kind, parts ...[]byte) error {
	if j.broken != nil {
		return j.broken
	}
	if j.cut > 0 {
		if err := j.f.Truncate(j.end); err != nil {
			return j.breakLocked(err)
		}
		j.cut = 0
	}
	var b []byte
	sum := j.sum
	if j.end == 0 {
		b, sum = append(b, magic...), crc32.Checksum([]byte(magic), castagnoli)
	}
	b, sum = frame(b, k, sum, parts...)
	if _, err := j.f.WriteAt(b, j.end); err != nil {
		return j.breakLocked(err)
	}
	j.end, j.sum = j.end+int64(len(b)), sum
	return nil
}

func (j *Journal) syncLocked() error {
	if j.broken != nil {
		return j.broken
	}
	if err := j.f.Sync(); err != nil {
		return j.breakLocked(err)
	}
	return nil
}

// breakLocked ends all writing, so that nothing is behind a torn record.
func (j *Journal) breakLocked(err error) error {
	j.broken = fmt.Errorf("write the journal %s: %w", j.name, err)
	return j.broken
}

// Read returns the answer of a session. Its rows come from the file, and are checked again.
func (j *Journal) Read(s *Session) (*client.Answer, error) {
	o := s.outcome
	a := &client.Answer{Analysis: o.Analysis, Session: o.Session, Rejected: o.Rejected, Warnings: o.Warnings, Streams: o.Streams,
		Partial: o.Partial}
	for _, t := range o.Tables {
		a.Queries = append(a.Queries, client.Table{Name: t.Name, Columns: t.Columns})
	}
	var keep client.Keeper
	for _, at := range s.rows {
		if err := j.readRows(at, a, &keep); err != nil {
			return nil, fmt.Errorf("read the journal %s at byte %d: %w; delete it, and run the command without --resume", j.name, at.at, err)
		}
	}
	for i, t := range o.Tables {
		if n := a.Queries[i].Len(); n != t.Rows {
			return nil, fmt.Errorf("the journal %s has %d of the %d rows of %s; delete it, and run the command without --resume", j.name, n, t.Rows,
				t.Name)
		}
	}
	return a, nil
}

func (j *Journal) readRows(at extent, a *client.Answer, keep *client.Keeper) error {
	var memory bytes.Buffer // its bytes belong to the rows
	_, b, _, err := unframe(bufio.NewReader(io.NewSectionReader(j.f, at.at, at.size)), at.size, at.sum, &memory)
	if err != nil {
		return err
	}
	if len(b) < rowsHead {
		return errTorn
	}
	query, width, n := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	if int64(query) >= int64(len(a.Queries)) {
		return errTorn
	}
	rows, err := protocol.RowsFrom(int(width), int(n), b[rowsHead:])
	if err != nil {
		return err
	}
	return keep.Add(&a.Queries[query], rows)
}

// Remove deletes the journal, whose answers are printed.
func (j *Journal) Remove() error {
	if err := os.Remove(j.name); err != nil {
		return fmt.Errorf("remove the journal: %w", err)
	}
	return nil
}

// Close gives the journal to other processes.
func (j *Journal) Close() error { return j.f.Close() }

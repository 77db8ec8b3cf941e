package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// machines are the processors that Go makes programs for, by their numbers in ELF (e_machine), as GOARCH.
var machines = map[uint16]string{3: "386", 21: "ppc64le", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64"}

// Numbers of the ELF format, version 1 (System V Application Binary Interface, chapter 4).
const (
	class32, class64         = 1, 2 // e_ident[EI_CLASS]
	bigEndian                = 2    // e_ident[EI_DATA]
	executable, sharedObject = 2, 3 // e_type; a position-independent program is a shared object
	interpreter              = 3    // p_type of the segment that names a program's dynamic linker
)

// inspect returns for which machine a program is, if the program needs no other files.
//
// It reads the two tables of an ELF file that show this. Package debug/elf reads them, too, but it also links the code that reads debugging
// information, which is a hundredth of Posta's program.
func inspect(file string) (arch string, err error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return "", fmt.Errorf("%w: %s is not a regular file; name one with --program, or an image with --image", ErrNoProgram, file)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("%w: %w; name one with --program, or an image with --image", ErrNoProgram, err)
	}
	defer func() { _ = f.Close() }()
	h, err := readHeader(f)
	if err != nil {
		return "", fmt.Errorf("%w: %w; name one with --program, or an image with --image", ErrNoProgram, err)
	}
	arch, ok := machines[h.machine]
	if !ok || h.kind != executable && h.kind != sharedObject {
		return "", fmt.Errorf("%w: it is an ELF file of type %d for machine %d; name another one with --program", ErrNoProgram, h.kind, h.machine)
	}
	if h.linked {
		return "", fmt.Errorf("%w: build it with `make build`, or name an image with --image", ErrNotStatic)
	}
	return arch, nil
}

// header is the part of an ELF file's header that inspect needs.
type header struct {
	kind, machine uint16
	linked        bool // it needs a dynamic linker
}

var errNotELF = errors.New("it is not an ELF file")

func readHeader(r io.ReaderAt) (h header, err error) {
	head := make([]byte, 64) // the header of a 32-bit program has 52 bytes, and every program is longer than both headers
	if _, err := r.ReadAt(head, 0); err != nil {
		return h, fmt.Errorf("%w: its header cannot be read: %w", errNotELF, err)
	}
	if string(head[:4]) != "\x7fELF" {
		return h, errNotELF
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[5] == bigEndian {
		order = binary.BigEndian
	}
	h.kind, h.machine = order.Uint16(head[16:]), order.Uint16(head[18:])
	var at int64 // offset of the first segment's header
	var size, n uint16
	switch head[4] {
	case class32:
		at, size, n = int64(order.Uint32(head[28:])), order.Uint16(head[42:]), order.Uint16(head[44:])
	case class64:
		at, size, n = int64(order.Uint64(head[32:])), order.Uint16(head[54:]), order.Uint16(head[56:])
	default:
		return h, fmt.Errorf("%w: its class is %d", errNotELF, head[4])
	}
	for i := range int64(n) {
		segment := make([]byte, 4)
		if _, err := r.ReadAt(segment, at+i*int64(size)); err != nil {
			return h, fmt.Errorf("%w: the header of segment %d cannot be read: %w", errNotELF, i, err)
		}
		if order.Uint32(segment) == interpreter {
			h.linked = true
		}
	}
	return h, nil
}

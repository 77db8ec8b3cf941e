package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
)

// file32 and file64 are ELF files with two segments' headers and nothing else.
func file32(t *testing.T, order binary.ByteOrder, data elf.Data, machine elf.Machine, kind elf.Type, second elf.ProgType) []byte {
	return encode(t, order,
		elf.Header32{Ident: ident(elf.ELFCLASS32, data), Type: uint16(kind), Machine: uint16(machine), Version: 1, Ehsize: 52, Phoff: 52,
			Phentsize: 32, Phnum: 2},
		elf.Prog32{Type: uint32(elf.PT_LOAD)}, elf.Prog32{Type: uint32(second)})
}

func file64(t *testing.T, order binary.ByteOrder, data elf.Data, machine elf.Machine, kind elf.Type, second elf.ProgType) []byte {
	return encode(t, order,
		elf.Header64{Ident: ident(elf.ELFCLASS64, data), Type: uint16(kind), Machine: uint16(machine), Version: 1, Ehsize: 64, Phoff: 64,
			Phentsize: 56, Phnum: 2},
		elf.Prog64{Type: uint32(elf.PT_LOAD)}, elf.Prog64{Type: uint32(second)})
}

func ident(class elf.Class, data elf.Data) (id [elf.EI_NIDENT]byte) {
	copy(id[:], elf.ELFMAG)
	id[elf.EI_CLASS], id[elf.EI_DATA], id[elf.EI_VERSION] = byte(class), byte(data), 1
	return id
}

func encode(t *testing.T, order binary.ByteOrder, parts ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range parts {
		if err := binary.Write(&b, order, p); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestReadHeader compares with package debug/elf, which reads much more.
func TestReadHeader(t *testing.T) {
	static, err := os.ReadFile(program(t, "one", runtime.GOARCH))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{
		"static":          static,
		"s390x, linked":   file64(t, binary.BigEndian, elf.ELFDATA2MSB, elf.EM_S390, elf.ET_EXEC, elf.PT_INTERP),
		"s390x":           file64(t, binary.BigEndian, elf.ELFDATA2MSB, elf.EM_S390, elf.ET_DYN, elf.PT_LOAD),
		"arm64":           file64(t, binary.LittleEndian, elf.ELFDATA2LSB, elf.EM_AARCH64, elf.ET_EXEC, elf.PT_NOTE),
		"arm, linked":     file32(t, binary.LittleEndian, elf.ELFDATA2LSB, elf.EM_ARM, elf.ET_DYN, elf.PT_INTERP),
		"386":             file32(t, binary.LittleEndian, elf.ELFDATA2LSB, elf.EM_386, elf.ET_EXEC, elf.PT_LOAD),
		"386, a library":  file32(t, binary.LittleEndian, elf.ELFDATA2LSB, elf.EM_386, elf.ET_REL, elf.PT_LOAD),
		"mips, 32 bits":   file32(t, binary.BigEndian, elf.ELFDATA2MSB, elf.EM_MIPS, elf.ET_EXEC, elf.PT_LOAD),
		"riscv64, linked": file64(t, binary.LittleEndian, elf.ELFDATA2LSB, elf.EM_RISCV, elf.ET_EXEC, elf.PT_INTERP),
	}
	for name, b := range all {
		want, err := elf.NewFile(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		linked := slices.ContainsFunc(want.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
		got, err := readHeader(bytes.NewReader(b))
		if err != nil || elf.Type(got.kind) != want.Type || elf.Machine(got.machine) != want.Machine || got.linked != linked {
			t.Errorf("%s: %+v, %v; want %s for %s, linked %t", name, got, err, want.Type, want.Machine, linked)
		}
	}
}

// TestReadHeader_Damage: a file that ends too early is refused, and whatever a header says ends in an answer or an error.
func TestReadHeader_Damage(t *testing.T) {
	whole := file64(t, binary.LittleEndian, elf.ELFDATA2LSB, elf.EM_X86_64, elf.ET_EXEC, elf.PT_INTERP)
	for n := range len(whole) - 52 { // of the last segment's header only the type is read
		if _, err := readHeader(bytes.NewReader(whole[:n])); !errors.Is(err, errNotELF) {
			t.Fatalf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
	for at := range 64 {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := bytes.Clone(whole)
			b[at] = v
			if _, err := readHeader(bytes.NewReader(b)); err != nil && !errors.Is(err, errNotELF) {
				t.Errorf("byte %d is %d: %v", at, v, err)
			}
		}
	}
}

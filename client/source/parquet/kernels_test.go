package parquet

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"posta.dev/posta/rows/columnar"
)

// bitByBit is the plain twin of unpack.
func bitByBit(p []byte, first, n int, width uint) (out []int64) {
	for i := range n {
		v := int64(0)
		for k := range int(width) {
			bit := (first+i)*int(width) + k
			v |= int64(p[bit/8]>>(bit%8)&1) << k
		}
		out = append(out, v)
	}
	return out
}

func checkUnpack(t *testing.T, p []byte, first, n int, width uint) {
	t.Helper()
	want := bitByBit(p, first, n, width)
	long := make([]int64, n)
	if unpack(long, p, first, width); !slices.Equal(long, want) {
		t.Fatalf("%d numbers of %d bits from the %d. on: %x and not %x", n, width, first, long, want)
	}
	if width > 32 {
		return
	}
	short := make([]uint32, n)
	unpack(short, p, first, width)
	for i, v := range short {
		if v != uint32(want[i]) {
			t.Fatalf("%d numbers of %d bits from the %d. on: number %d is %x and not %x", n, width, first, i, v, want[i])
		}
	}
}

func TestUnpackIsItsPlainTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for width := range uint(65) {
		for range 200 {
			first, n := r.IntN(30), r.IntN(100)
			p := make([]byte, ((first+n)*int(width)+7)/8+r.IntN(2)*r.IntN(40)) // not one byte more, or some
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			checkUnpack(t, p, first, n, width)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("some bytes, which are numbers of a few bits"), 3, uint(5))
	f.Fuzz(func(t *testing.T, p []byte, first int, width uint) {
		if width %= 65; width == 0 || first < 0 || len(p) > 1<<16 {
			return
		}
		if n := 8*len(p)/int(width) - first%1000; n >= 0 {
			checkUnpack(t, p, first%1000, n, width)
		}
	})
}

// plainHybrid reads all numbers of a hybrid, one by one; short says that the last run is cut short.
func plainHybrid(p []byte, width uint, most int) (all []uint32, short bool) {
	for len(p) > 0 && len(all) < most {
		head, n := binary.Uvarint(p)
		if n <= 0 || head>>1 > 1<<31 {
			return all, true
		}
		p = p[n:]
		if head&1 == 0 {
			size := int(width+7) / 8
			if size > len(p) {
				return all, true
			}
			v := uint32(0)
			for i, b := range p[:size] {
				v |= uint32(b) << (8 * i)
			}
			for k := uint64(0); k < head>>1 && len(all) < most; k++ {
				all = append(all, v)
			}
			p = p[size:]
			continue
		}
		there := min(int(head>>1)*int(width), len(p))
		count := int(head>>1) * 8
		if width > 0 {
			count = min(count, 8*there/int(width))
		}
		count = min(count, most-len(all))
		for _, v := range bitByBit(p, 0, count, width) {
			all = append(all, uint32(v))
		}
		if there < int(head>>1)*int(width) {
			return all, true
		}
		p = p[there:]
	}
	return all, false
}

// checkHybrid reads a hybrid in blocks, and skips some of them.
func checkHybrid(t *testing.T, p []byte, width uint, seed uint64) {
	t.Helper()
	const most = 5000
	want, _ := plainHybrid(p, width, most)
	r := rand.New(rand.NewPCG(seed, 2))
	h := hybrid{p: p, width: width}
	for at := 0; at < most; {
		n := 1 + r.IntN(200)
		left := want[at:]
		var err error
		switch r.IntN(3) {
		case 0:
			err = h.skip(n)
		case 1:
			out := make([]uint32, n)
			if err = h.fill(out); err == nil && n <= len(left) && !slices.Equal(out, left[:n]) {
				t.Fatalf("from the %d. on: %v and not %v", at, out, left[:n])
			}
		case 2:
			wanted := uint32(1)
			if width > 1 {
				wanted = 1<<min(width, 31) - 1
			}
			valid := make([]uint64, (n+63)/64)
			count, failed := h.equal(valid, n, wanted)
			bad := false
			for i, v := range left[:min(n, len(left))] {
				if is := valid[i/64]>>(i%64)&1 != 0; failed == nil && is != (v == wanted) {
					t.Fatalf("the %d. is %d, and %v", at+i, v, is)
				}
				bad = bad || v > wanted
				if v == wanted {
					count--
				}
			}
			if n <= len(left) && (bad != (failed != nil) || failed == nil && count != 0) {
				t.Fatalf("%v, and %d too many", failed, count)
			}
			if bad {
				return
			}
			err = failed
		}
		if at+n <= most && (err == nil) != (n <= len(left)) {
			t.Fatalf("%d numbers of %d: %v", n, len(left), err)
		}
		if err != nil {
			return
		}
		at += n
	}
}

func TestHybridIsItsPlainTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for width := range uint(33) {
		for range 50 {
			var all []uint32
			for len(all) < 1000 {
				v := r.Uint32() & uint32(1<<width-1)
				for range 1 + r.IntN(2)*r.IntN(2)*r.IntN(100) {
					all = append(all, v)
				}
			}
			p := appendHybrid(nil, all, int(width))
			checkHybrid(t, p[:len(p)-r.IntN(2)*r.IntN(len(p))], width, r.Uint64())
		}
	}
}

func FuzzHybrid(f *testing.F) {
	f.Add(appendHybrid(nil, []uint32{1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5}, 3), uint(3), uint64(1))
	f.Fuzz(func(t *testing.T, p []byte, width uint, seed uint64) { checkHybrid(t, p, width%33, seed) })
}

// plainDelta reads all numbers of a delta, one by one; nil if its head is wrong.
func plainDelta(p []byte, most int) (all []int64) {
	d, err := newDelta(p)
	if err != nil {
		return nil
	}
	at, value, count := d.i, d.value, d.left
	if count == 0 || most == 0 {
		return []int64{}
	}
	all = append(all, value)
	for len(all) < count {
		least, n := binary.Uvarint(p[at:])
		if at += n; n <= 0 || d.blocks > len(p)-at {
			return all
		}
		widths := p[at : at+d.blocks]
		at += d.blocks
		for _, width := range widths {
			if len(all) == count {
				return all
			}
			if width > 64 {
				return all
			}
			for i := range d.per {
				if len(all) == count || len(all) >= most || (i+1)*int(width) > 8*len(p[at:]) {
					return all[:len(all):len(all)]
				}
				value += int64(least>>1) ^ -int64(least&1)
				value += bitByBit(p[at:], i, 1, uint(width))[0]
				all = append(all, value)
			}
			at = min(len(p), at+d.per/8*int(width))
		}
	}
	return all
}

func checkDelta(t *testing.T, p []byte, seed uint64) {
	t.Helper()
	const most = 3000
	want := plainDelta(p, most)
	d, err := newDelta(p)
	if err != nil {
		return
	}
	r := rand.New(rand.NewPCG(seed, 4))
	for at := 0; at < most; {
		n := 1 + r.IntN(300)
		out := make([]int64, n)
		err := d.ints(out)
		if at+n <= most && (err == nil) != (at+n <= len(want)) {
			t.Fatalf("%d numbers of %d: %v", at+n, len(want), err)
		}
		if err != nil {
			return
		}
		if at+n <= len(want) && !slices.Equal(out, want[at:at+n]) {
			t.Fatalf("from the %d. on: %v and not %v", at, out, want[at:at+n])
		}
		at += n
	}
}

// appendDelta encodes numbers in blocks of 64 with two small ones, and cuts the last one short.
func appendDelta(p []byte, all []int64) []byte {
	p = binary.AppendUvarint(p, 64)
	p = binary.AppendUvarint(p, 2)
	p = binary.AppendUvarint(p, uint64(len(all)))
	p = binary.AppendUvarint(p, zigzag(all[0]))
	for from := 1; from < len(all); from += 64 {
		var differences [64]uint64
		n := min(64, len(all)-from)
		least := int64(math.MaxInt64)
		for i := range n {
			least = min(least, all[from+i]-all[from+i-1])
		}
		for i := range n {
			differences[i] = uint64(all[from+i]-all[from+i-1]) - uint64(least)
		}
		p = binary.AppendUvarint(p, zigzag(least))
		widths := len(p)
		p = append(p, 0, 0)
		for k := range 2 {
			small := differences[32*k : 32*k+32]
			width := new(big.Int).SetUint64(slices.Max(small)).BitLen()
			if 32*k >= n {
				continue
			}
			p[widths+k] = byte(width)
			word := make([]byte, 4*width)
			for i, v := range small {
				for b := range width {
					word[(i*width+b)/8] |= byte(v>>b&1) << ((i*width + b) % 8)
				}
			}
			p = append(p, word...)
		}
	}
	return p
}

func TestDeltaIsItsPlainTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 500 {
		all := make([]int64, 1+r.IntN(400))
		shift := r.IntN(64)
		for i := range all {
			all[i] = r.Int64() >> shift
			if i > 0 && r.IntN(3) > 0 {
				all[i] = all[i-1] + all[i]>>10
			}
		}
		p := appendDelta(nil, all)
		if got := plainDelta(p, len(all)); !slices.Equal(got, all) {
			t.Fatalf("the plain twin reads %v, and %v was written", got, all)
		}
		checkDelta(t, p, r.Uint64())
		checkDelta(t, p[:r.IntN(len(p))], r.Uint64())
	}
}

func FuzzDelta(f *testing.F) {
	f.Add(appendDelta(nil, []int64{1, 5, -7, 9, 1 << 40}), uint64(1))
	f.Fuzz(func(t *testing.T, p []byte, seed uint64) {
		if d, err := newDelta(p); err == nil && d.left < 1<<16 {
			checkDelta(t, p, seed)
		}
	})
}

// TestFloatsOfFourBytesKeepTheirText: they are sent as floats of eight bytes.
func TestFloatsOfFourBytesKeepTheirText(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	check := func(f float32) {
		t.Helper()
		var got [1]int64
		text := string(columnar.AppendFloat(nil, float64(f), 32))
		if !floats(got[:], []int64{int64(int32(math.Float32bits(f)))}) {
			if f != 1e-6 && f != -1e-6 && f != 1e21 && f != -1e21 {
				t.Errorf("%s is a text", text)
			}
			return
		}
		if as := string(columnar.AppendFloat(nil, math.Float64frombits(uint64(got[0])), 64)); as != text {
			t.Errorf("%s and not %s", as, text)
		}
	}
	for _, f := range []float32{0, 1, 0.1, 1e-6, -1e-6, 1e21, 1e22, 0.001, 999.999, 999.9995, 1000, 16777216, math.MaxFloat32,
		math.SmallestNonzeroFloat32, float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1))} {
		check(f)
		check(-f)
	}
	for range 300_000 {
		check(math.Float32frombits(r.Uint32()))
		check(float32(r.IntN(2_000_000)-1_000_000) / float32([]int{1, 10, 100, 1000, 10000}[r.IntN(5)]))
	}
}

// TestDecimalsInBytesKeepTheirText: so do times of 96 bits.
func TestDecimalsInBytesKeepTheirText(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	numbers := 0
	for range 20_000 {
		p := make([]byte, r.IntN(20))
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		if sign := byte(0); len(p) > 0 { // most have only few bytes that are no sign
			if r.IntN(2) == 0 {
				sign = 0xff
			}
			for i := range r.IntN(len(p)) {
				p[i] = sign
			}
		}
		var got [1]int64
		one := columnar.Texts{Bytes: p, From: []uint32{0}, To: []uint32{uint32(len(p))}}
		want := string(appendBig(nil, p, 3))
		if decimals(got[:], &one) {
			numbers++
			if as := string(columnar.AppendDecimal(nil, got[0], 3)); as != want {
				t.Fatalf("%x is %s and not %s", p, as, want)
			}
		} else if n, _ := new(big.Int).SetString(string(appendBig(nil, p, 0)), 10); n.IsInt64() {
			t.Fatalf("%x is a text, and it is %s", p, want)
		}
		p = binary.LittleEndian.AppendUint64(nil, r.Uint64()>>r.IntN(64))
		p = binary.LittleEndian.AppendUint32(p, 2440588+uint32(r.IntN(200_000)-100_000)*uint32(r.IntN(2)+r.IntN(2)*r.IntN(2)*100))
		one = columnar.Texts{Bytes: p, From: []uint32{0}, To: []uint32{12}}
		if moments(got[:], &one) {
			if as, want := string(columnar.AppendTime(nil, got[0], 3)), string(appendInt96(nil, p)); as != want {
				t.Fatalf("%x is %s and not %s", p, as, want)
			}
		}
	}
	if numbers < 5000 {
		t.Errorf("%d decimals are numbers", numbers)
	}
}

package eval

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// walker matches a regular expression that begins at the beginning of the text, or with a fixed text, as most that take a text apart do.
// Package regexp notes for each byte which instructions were there, so that no text takes long. A walker does not: it walks on, and goes
// back where there was a choice. A repeated character behind which none of the same kind can come, as in [^/]+/, is no choice. It gives up
// after a number of steps, and package regexp matches the text.
type walker struct {
	prog   []walkerStep
	start  uint32
	prefix string // of every match; "": matches begin at the beginning of the text
	behind int    // how many bytes of the prefix are in front of start
	caps   []int
	text   string
	steps  int // left
}

// walkerStep is an instruction.
type walkerStep struct {
	*syntax.Inst
	ascii [utf8.RuneSelf]bool // which of the first 128 characters a character instruction takes
	loop  bool                // an InstAlt that repeats a character, which is its Out, as often as there is one, and then goes on at Arg
	sure  bool                // a loop that ends only where there is no such character
}

const (
	walkerText  = 4 << 10 // of longer texts, a walk could go deep
	walkerSteps = 16      // for each byte
)

// newWalker returns nil for an expression that may begin anywhere with anything, or that looks at words.
func newWalker(text string) *walker {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil || prog.StartCond() == ^syntax.EmptyOp(0) {
		return nil
	}
	w := &walker{start: uint32(prog.Start), caps: make([]int, 2*(re.MaxCap()+1))}
	if prog.StartCond()&syntax.EmptyBeginText == 0 {
		if w.prefix, _ = prog.Prefix(); w.prefix == "" {
			return nil
		}
	}
	for i := range prog.Inst {
		s := walkerStep{Inst: &prog.Inst[i]}
		switch s.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			for c := range utf8.RuneSelf {
				s.ascii[c] = s.MatchRune(rune(c))
			}
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(s.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
				return nil
			}
		}
		w.prog = append(w.prog, s)
	}
	w.passPrefix()
	for i := range w.prog {
		s := &w.prog[i]
		if s.Op != syntax.InstAlt && s.Op != syntax.InstAltMatch {
			continue
		}
		if body := &w.prog[s.Out]; body.takes() && body.Out == uint32(i) {
			s.loop, s.sure = true, w.apart(body, s.Arg)
		}
	}
	return w
}

// passPrefix moves the start behind the prefix, which is compared before a walk, up to where a group begins.
func (w *walker) passPrefix() {
	for _, r := range w.prefix {
		s := &w.prog[w.start]
		for s.Op == syntax.InstNop || s.Op == syntax.InstCapture && s.Arg < 2 {
			w.start = s.Out
			s = &w.prog[w.start]
		}
		if s.Op != syntax.InstRune1 {
			return
		}
		w.start = s.Out
		w.behind += utf8.RuneLen(r)
	}
}

// takes reports whether a step takes a character.
func (s *walkerStep) takes() bool {
	switch s.Op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

// apart reports whether a walk from at on fails wherever there is a character that a step takes.
func (w *walker) apart(of *walkerStep, at uint32) bool {
	for range w.prog {
		switch s := &w.prog[at]; s.Op {
		case syntax.InstCapture, syntax.InstNop:
			at = s.Out
		case syntax.InstEmptyWidth:
			return syntax.EmptyOp(s.Arg)&syntax.EmptyEndText != 0
		case syntax.InstMatch: // the longest is the first that is tried
			return true
		case syntax.InstRune, syntax.InstRune1: // one of them takes only characters of ASCII, so no other can be in both
			for c, takes := range s.ascii {
				if takes && of.ascii[c] {
					return false
				}
			}
			return s.onlyASCII() || of.onlyASCII()
		default:
			return false
		}
	}
	return false
}

// onlyASCII reports whether a step takes no other characters than those of ASCII.
func (s *walkerStep) onlyASCII() bool {
	if s.Op != syntax.InstRune && s.Op != syntax.InstRune1 || syntax.Flags(s.Arg)&syntax.FoldCase != 0 {
		return false
	}
	return len(s.Rune) > 0 && s.Rune[len(s.Rune)-1] < utf8.RuneSelf
}

// first returns the bounds of the match and of its groups, as package regexp does, nil if there is none. They are valid until the next
// call. ok is false if it has given up.
func (w *walker) first(text string) (bounds []int, ok bool) {
	if len(text) > walkerText {
		return nil, false
	}
	w.text, w.steps = text, walkerSteps*(len(text)+8)
	found := w.walkFrom(0)
	if w.text = ""; w.steps < 0 {
		return nil, false
	}
	if !found {
		return nil, true
	}
	return w.caps, true
}

// walkFrom walks from the first place at or behind another one where there is a match, or gives up.
func (w *walker) walkFrom(at int) bool {
	for {
		if w.prefix != "" {
			next := strings.Index(w.text[at:], w.prefix)
			if next < 0 {
				return false
			}
			at += next
		}
		for i := range w.caps {
			w.caps[i] = -1
		}
		w.caps[0] = at
		if w.walk(w.start, at+w.behind) || w.prefix == "" || w.steps < 0 {
			return w.caps[1] >= 0
		}
		at++
	}
}

// walk goes on from an instruction and a place in the text. It sets caps only if it finds a match.
func (w *walker) walk(pc uint32, at int) bool {
	for {
		if w.steps--; w.steps < 0 {
			return false
		}
		s := &w.prog[pc]
		switch s.Op {
		case syntax.InstMatch:
			w.caps[1] = at
			return true
		case syntax.InstFail:
			return false
		case syntax.InstNop:
		case syntax.InstCapture:
			if s.Arg < 2 {
				break
			}
			was := w.caps[s.Arg]
			if w.caps[s.Arg] = at; w.walk(s.Out, at) {
				return true
			}
			w.caps[s.Arg] = was
			return false
		case syntax.InstEmptyWidth:
			if !w.empty(syntax.EmptyOp(s.Arg), at) {
				return false
			}
		case syntax.InstAlt, syntax.InstAltMatch:
			if s.loop {
				var found bool
				if at, found = w.repeat(s, at); found || !s.sure {
					return found
				}
			} else if w.walk(s.Out, at) {
				return true
			}
			pc = s.Arg
			continue
		default:
			n := w.takes(s, at)
			if n == 0 {
				return false
			}
			at += n
		}
		pc = s.Out
	}
}

// repeat takes as many characters as there are. If there may be a match behind fewer of them, it looks for it, first behind the most.
func (w *walker) repeat(s *walkerStep, from int) (at int, found bool) {
	body, text := &w.prog[s.Out], w.text
	at = from
	for at < len(text) && text[at] < utf8.RuneSelf && body.ascii[text[at]] {
		at++
	}
	for n := w.takes(body, at); n > 0; n = w.takes(body, at) {
		at += n
	}
	w.steps -= at - from
	if s.sure {
		return at, false
	}
	for {
		if w.walk(s.Arg, at) {
			return at, true
		}
		if at == from || w.steps < 0 {
			return at, false
		}
		_, n := utf8.DecodeLastRuneInString(w.text[from:at])
		at -= n
	}
}

// takes returns how many bytes the character has that a step takes; 0 if there is no such character.
func (w *walker) takes(s *walkerStep, at int) int {
	if at == len(w.text) {
		return 0
	}
	if c := w.text[at]; c < utf8.RuneSelf {
		if s.ascii[c] {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(w.text[at:])
	if !s.MatchRune(r) {
		return 0
	}
	return n
}

// empty reports whether a place is one of those that an instruction wants.
func (w *walker) empty(op syntax.EmptyOp, at int) bool {
	begin, end := at == 0, at == len(w.text)
	return (op&syntax.EmptyBeginText == 0 || begin) && (op&syntax.EmptyEndText == 0 || end) &&
		(op&syntax.EmptyBeginLine == 0 || begin || w.text[at-1] == '\n') && (op&syntax.EmptyEndLine == 0 || end || w.text[at] == '\n')
}

package types

// What the tests of all functions need.
var KindNames = kindNames[:]

func Refused(name string) bool { return refusedFunctions[name] != "" }

func ParseForm(form string) (params []string, result string) {
	s := parseForm(form)
	return s.params, s.result
}

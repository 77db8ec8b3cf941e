package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/catalog"

	"posta.dev/posta/analyses/sql/syntax"
)

// options handles the settings of WITH, or those of a call such as read_csv. Each of them has an effect, says what holds anyway, or is
// refused.
func (q *Question) options(t *table, options []syntax.Option) error {
	for i := range options {
		o := &options[i]
		if t.aboutCSV == nil && slices.Contains(ofCSV, strings.ToLower(o.Name.Name)) {
			t.aboutCSV = &o.Name
		}
		if err := q.option(t, o); err != nil {
			return err
		}
		if t.sampled != nil {
			t.with = append(t.with, strings.ToLower(o.Name.Name)+" "+syntax.PrintExpr(o.Value))
		}
	}
	if t.Form.Headless && t.sampled == nil {
		for _, c := range t.Columns {
			if c.Star == 0 {
				t.Form.Names = append(t.Form.Names, c.Name)
			}
		}
	}
	return nil
}

// ofCSV are the options that mean nothing in files of other formats.
var ofCSV = []string{"delim", "sep", "comment", "skip", "header", "multiline", "quote", "escape"}

// option handles one setting.
func (q *Question) option(t *table, o *syntax.Option) error {
	value, isText := "", false
	if s, ok := o.Value.(*syntax.String); ok {
		value, isText = s.Value, true
	}
	printed := strings.ToLower(syntax.PrintExpr(o.Value))
	hint := "There are delim 'c', nullstr 'NA', comment '#', skip n, header false, multiline true and missing 'null'; in a call as delim = " +
		"'c'."
	switch name := strings.ToLower(o.Name.Name); name {
	case "delim", "sep":
		if isText && len(value) == 1 {
			t.Comma = value[0]
			return nil
		}
		hint = "A separator is one byte: ',', ';', '|' or a tab."
	case "missing":
		if isText && (value == "null" || value == "error") {
			t.missing = value == "null"
			return nil
		}
	case "nullstr", "null", "nulls":
		if isText && value == "" {
			return nil // this is the default
		}
		if t.Nulls = nulls(o.Value); t.Nulls != nil && len(t.Nulls) <= catalog.MaxNulls {
			return nil
		}
		hint = fmt.Sprintf("Write the text that stands for NULL, as 'NA', or at most %d of them in a list: ['', 'NA'].", catalog.MaxNulls)
	case "comment":
		if isText && (value == "" || len(value) == 1 && !strings.Contains("\" \r\n", value)) {
			t.Form.LeaveOut.Comment = (value + "\x00")[0]
			return nil
		}
		hint = "Comments begin with one byte, as '#'."
	case "skip":
		if n, err := strconv.Atoi(printed); err == nil && n >= 0 {
			t.Form.LeaveOut.First = n
			return nil
		}
		hint = "Write how many lines at the beginning of each file are left out."
	case "header":
		if printed == "true" || printed == "false" {
			t.Form.Headless = printed == "false"
			return nil
		}
	case "multiline":
		if printed == "true" || printed == "false" {
			t.Form.Multiline = printed == "true"
			return nil
		}
	case "filename":
		if printed == "false" {
			return nil
		}
		return q.fail(o.Name.At, "the option filename is not supported", "Every table has the column _file.")
	case "union_by_name":
		if printed == "true" {
			t.missing = true
			return nil
		}
		hint = "Columns are always found by their names. With true, a column that a file lacks is NULL."
	default:
		if slices.Contains(defaults[name], value) || slices.Contains(defaults[name], printed) {
			return nil
		}
	}
	return q.fail(o.Name.At, fmt.Sprintf("the option %s is not supported with this value", o.Name.Name), hint)
}

// defaults are the values of options that say what holds anyway.
var defaults = map[string][]string{
	"auto_detect": {"true"}, "ignore_errors": {"true"}, "quote": {`"`}, "escape": {`"`}, "format": {"auto", "newline_delimited"},
}

// nulls returns the texts of a text or a list of texts; nil for any other value.
func nulls(value syntax.Expr) (texts []string) {
	switch v := value.(type) {
	case *syntax.String:
		return []string{v.Value}
	case *syntax.List:
		for _, item := range v.Items {
			s, ok := item.(*syntax.String)
			if !ok {
				return nil
			}
			texts = append(texts, s.Value)
		}
	}
	return texts
}

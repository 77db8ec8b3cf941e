package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "posta.dev/posta/"

// maxRooms is how many folders the top of the project may have. More would not be read.
const maxRooms = 19

// TestArchitecture_ImportsPointOneWay compares the imports of every file with the row of folders that the page shows.
func TestArchitecture_ImportsPointOneWay(t *testing.T) {
	rooms := rowOfRooms(t)
	at := func(room string) int { return slices.Index(rooms, room) }
	seen := 0
	everyGoFile(t, func(path string, isTest bool) {
		from := roomOf(path)
		if isTest || from == "test" || from == "examples" || from == "docs" {
			return
		}
		if at(from) < 0 {
			t.Errorf("%s: the row of folders in architecture.md lacks %s", path, from)
			return
		}
		for _, to := range importsOf(t, path) {
			seen++
			if at(to) < at(from) {
				t.Errorf("%s: %s imports %s, which stands to its left in architecture.md", path, from, to)
			}
		}
	})
	if seen < 500 {
		t.Errorf("%d imports found; does the module still have the path %s?", seen, module)
	}
}

func TestArchitecture_TheTopIsSmall(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	page := readPage(t, "architecture.md")
	rooms := 0
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || !holdsGo(t, name) && name != "docs" {
			continue
		}
		rooms++
		if !strings.Contains(page, "| `"+name+"/`") && !strings.Contains(page, ", `"+name+"/`") {
			t.Errorf("architecture.md does not say what lives in %s/", name)
		}
	}
	if rooms < 10 || rooms > maxRooms {
		t.Errorf("%d folders at the top; at most %d are wanted", rooms, maxRooms)
	}
}

// rowOfRooms reads the folders from the page: what imports stands to the left of what is imported.
func rowOfRooms(t *testing.T) []string {
	t.Helper()
	row := regexp.MustCompile(`(?m)^main\.go( → [a-z]+)+$`).FindString(readPage(t, "architecture.md"))
	if row == "" {
		t.Fatal("architecture.md has no row of folders that begins with main.go")
	}
	return strings.Split(row, " → ")
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// roomOf returns the first folder of a path below the top, or main.go.
func roomOf(path string) string {
	room, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	return room
}

// importsOf returns the rooms that a file imports, in whatever module below ours it stands.
func importsOf(t *testing.T, path string) (rooms []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if below, ours := strings.CutPrefix(name, module); ours {
			rooms = append(rooms, roomOf(below))
		}
	}
	return rooms
}

// everyGoFile calls visit with the path of each Go file below the top.
func everyGoFile(t *testing.T, visit func(path string, isTest bool)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			visit(path, strings.HasSuffix(path, "_test.go"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func holdsGo(t *testing.T, room string) bool {
	t.Helper()
	found := false
	everyGoFile(t, func(path string, _ bool) { found = found || roomOf(path) == room })
	return found
}

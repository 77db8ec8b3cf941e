package download

import (
	"net/http"
	"path"
	"strings"
)

// maxName bounds the part of a name that comes from the URL, in bytes. File systems take 255 bytes, and the prefix needs some of them.
const maxName = 100

// nameOf returns a file's name for the decoded path of a URL: the path's last element, behind the prefix.
func nameOf(prefix, urlPath string, head []byte) string {
	base := strings.TrimLeft(harmless(path.Base(urlPath)), "._")
	if base == "" {
		base = "file"
	}
	if path.Ext(base) == "" {
		base += extensionOf(head)
	}
	return harmless(prefix) + "-" + base[max(0, len(base)-maxName):] // the end, because it holds the extension
}

// harmless puts an underscore in place of each character that means something to a shell, a terminal or a file system.
func harmless(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// extensionOf recognises pictures; "" for anything else. The mime package was rejected: it asks the machine that it
// runs on, and knows several extensions for a type.
func extensionOf(head []byte) string {
	switch http.DetectContentType(head) {
	case "image/jpeg":
		return ".jpg"
	case "image/png":
		return ".png"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ""
}

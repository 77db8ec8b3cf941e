package download

import (
	"net/http"
	"path"
	"strings"
)

// maxName bounds the part of a name that comes from the URL: file systems take 255 bytes, and the prefix wants some of them.
const maxName = 100

// nameOf makes a file's name of a URL's path, decoded: its last element, behind the prefix.
func nameOf(prefix, urlPath string, head []byte) string {
	base := strings.TrimLeft(harmless(path.Base(urlPath)), "._")
	if base == "" {
		base = "file"
	}
	if path.Ext(base) == "" {
		base += extensionOf(head)
	}
	return harmless(prefix) + "-" + base[max(0, len(base)-maxName):] // the end, for the extension
}

// harmless has an underscore for whatever means something to a shell, a terminal or a file system.
func harmless(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
}

// extensionOf recognises pictures; "" for anything else. The mime package asks the machine it runs on, and has several answers.
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

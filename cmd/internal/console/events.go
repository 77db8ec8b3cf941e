package console

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"
)

// events sends the parts of a page whenever they change, as server-sent events, until the browser leaves. Nothing is queued for a browser.
// If it has not read an event within writeTimeout, the connection ends, and the browser connects again by itself.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	p, err := placeOf(r.URL.Query().Get("page"))
	if err != nil {
		http.Error(w, "there is no such page", http.StatusNotFound)
		return
	}
	watcher, err := s.feed.watch(p)
	if err != nil {
		w.Header().Set("Retry-After", "10")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.feed.leave(watcher)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(text string) bool {
		if err := out.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return false
		}
		if _, err := fmt.Fprint(w, text); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	// The time limit for reading a request no longer applies: the connection stays open.
	if out.SetReadDeadline(time.Time{}) != nil || !send("retry: 2000\n\n") {
		return
	}
	quiet := time.NewTicker(keepAliveEvery)
	defer quiet.Stop()
	sent := map[string]template.HTML{}
	for {
		select {
		case <-watcher.ready:
			if text := event(watcher.take(), sent); text != "" && !send(text) {
				return
			}
		case <-quiet.C:
			if _, in := s.user(r); !in || !send(": still here\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// event returns the parts that differ from those that were sent; "" if there are none.
func event(parts []part, sent map[string]template.HTML) string {
	var changed []part
	for _, p := range parts {
		if was, known := sent[p.Name]; !known || was != p.HTML { // an empty first part counts, too: after it the page is live
			sent[p.Name] = p.HTML
			changed = append(changed, p)
		}
	}
	if len(changed) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("event: parts\ndata: ")
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false)                    // a script decodes the JSON, so HTML escaping is not needed; it would double the length
	if err := text.Encode(changed); err != nil { // one line, with a line feed
		return ""
	}
	return b.String() + "\n"
}

package console

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/protocol/session"
)

// Asker answers SQL over the files that the person who started the console has named, or over the roots of a medic's host.
type Asker struct {
	// Tables returns the names of the tables that the files make.
	Tables func() []string
	// Answer answers statements. It returns at least the first KeptRows rows of each query.
	Answer func(ctx context.Context, text string, show *display.Progress) (*client.Answer, error)
	// Explain returns what would be read for the statements, and where they would be computed.
	Explain func(ctx context.Context, text string) (string, error)
	// Complete returns the typed text with its last word completed as far as that is certain, and the words that it may become.
	Complete func(ctx context.Context, text string) (string, []string)
}

// Bounds of questions.
const (
	maxForm      = 3*syntax.MaxText + 1<<10 // encoding as a form may make a statement three times as long
	maxLink      = 6 << 10                  // of a statement that fits into a link
	maxTables    = 100
	maxCompleted = 12
	completeIn   = 5 * time.Second
)

const moreBySQL = "posta sql prints all, or writes it to files with --out."

// askForm is the box for a statement. It is drawn with its page and does not change afterwards, because the user may be typing in it.
type askForm struct {
	Able   bool
	Why    string // why it is not able; "": the console was started without files
	Text   string
	Link   string // to this statement; empty if it is too long, or if there is no statement
	Tables []string
	More   int
	Wrong  string
}

func (s *Server) askForm(text, wrong string) askForm {
	f := askForm{Able: s.cfg.Ask != nil, Why: s.cfg.NoAsk, Text: text, Wrong: wrong}
	if !f.Able {
		return f
	}
	f.Tables = s.cfg.Ask.Tables()
	if f.More = len(f.Tables) - maxTables; f.More > 0 {
		f.Tables = f.Tables[:maxTables]
	}
	for i := range f.Tables {
		f.Tables[i] = clean(f.Tables[i])
	}
	if text != "" && len(url.QueryEscape(text)) <= maxLink {
		f.Link = "/ask?q=" + url.QueryEscape(text)
	}
	return f
}

// ask begins to answer a question, and redirects to the page that shows the answer.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, user User) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := r.ParseForm()
	text := strings.ReplaceAll(r.PostForm.Get("q"), "\r\n", "\n") // forms end lines with \r\n
	tooLong := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &tooLong) || len(text) > syntax.MaxText:
		s.showAsk(w, user, http.StatusRequestEntityTooLarge, "", fmt.Sprintf("A statement has at most %s; this one is longer, and was not read.",
			size(syntax.MaxText)))
	case err != nil:
		s.showAsk(w, user, http.StatusBadRequest, "", "The form could not be read: ask again.")
	case s.cfg.Ask == nil:
		s.showAsk(w, user, http.StatusForbidden, text, "")
	case strings.TrimSpace(text) == "":
		s.showAsk(w, user, http.StatusBadRequest, "", "Write a statement, like SELECT count(*) FROM trips.")
	default:
		key := newKey()
		if err := s.works.begin(key, text, s.answering(text, r.PostForm.Has("explain"))); err != nil {
			s.showAsk(w, user, http.StatusTooManyRequests, text, err.Error()+".")
			return
		}
		http.Redirect(w, r, place{kind: "asked", id: key}.path(), http.StatusSeeOther)
	}
}

func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

func (s *Server) showAsk(w http.ResponseWriter, user User, code int, text, wrong string) {
	v, err := s.draw(s.look(context.Background()), place{kind: "ask"}, s.askForm(text, wrong), user)
	if err != nil {
		http.Error(w, "this page cannot be drawn: "+err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, code, "page", v)
}

// answering returns the work that answers a question.
func (s *Server) answering(text string, explain bool) func(context.Context, *work) (template.HTML, error) {
	return func(ctx context.Context, w *work) (template.HTML, error) {
		if explain {
			plan, err := s.cfg.Ask.Explain(ctx, text)
			if err != nil {
				return "", err
			}
			return drawPlan(plan)
		}
		answer, err := s.cfg.Ask.Answer(ctx, text, w.show())
		if answer == nil {
			return "", err
		}
		shown, bad := DrawAnswer(answer, pageRoom, moreBySQL) // even if one statement failed, others may have answers
		return shown, errors.Join(err, bad)
	}
}

// answersOf returns the work that fetches the answers of a finished session.
func (s *Server) answersOf(id session.ID) func(context.Context, *work) (template.HTML, error) {
	return func(ctx context.Context, w *work) (template.HTML, error) {
		answer, err := s.cfg.Answers(ctx, id)
		if err != nil {
			return "", err
		}
		return DrawAnswer(answer, pageRoom, "posta results "+id.String()+" fetches all.")
	}
}

// fetch begins to fetch the answers of a session that a page shows. It fetches large answers only if a user asked for them.
func (s *Server) fetch(seen *Seen, p place, wanted bool) {
	if p.kind != "session" || s.cfg.Answers == nil {
		return
	}
	id, err := session.Parse(p.id)
	if err != nil {
		return
	}
	page := seen.session(p.id)
	if !page.Done || page.Large && !wanted {
		return
	}
	key := answersKey(p.id)
	if w := s.works.find(key); w != nil {
		if at := w.seen(time.Now()); at.Problem == nil || at.failedAgo < retryLooks*s.cfg.Every {
			return
		}
		s.works.forget(key)
	}
	_ = s.works.begin(key, "", s.answersOf(id)) // if there is no room now, a later look at the page tries again
}

func answersKey(id string) string { return "session " + id }

// fetchAnswers handles a user's request for large answers.
func (s *Server) fetchAnswers(w http.ResponseWriter, r *http.Request) {
	p, err := placeOf("/session/" + r.PathValue("id"))
	if err != nil {
		s.noPage(w)
		return
	}
	s.fetch(s.look(r.Context()), p, true)
	http.Redirect(w, r, p.path(), http.StatusSeeOther)
}

// cancelWork ends a question.
func (s *Server) cancelWork(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	found := s.works.find(key)
	if found == nil {
		s.noPage(w)
		return
	}
	found.cancel(errCancelled)
	http.Redirect(w, r, place{kind: "asked", id: key}.path(), http.StatusSeeOther)
}

// complete answers a page's requests for completion while somebody types.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if s.cfg.Ask == nil || r.ParseForm() != nil {
		http.Error(w, "there is nothing to complete", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), completeIn)
	defer cancel()
	var answer struct {
		Text  string   `json:"text"`
		Words []string `json:"words"`
	}
	answer.Text, answer.Words = s.cfg.Ask.Complete(ctx, r.PostForm.Get("q"))
	answer.Words = answer.Words[:min(len(answer.Words), maxCompleted)]
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the page may have gone
}

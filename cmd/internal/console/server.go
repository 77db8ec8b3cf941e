package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/chart"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/cmd/internal/tracing"
	"posta.dev/posta/internal/visitors"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/topology"
)

// ErrExposed is returned by Address and Listen for an address that other machines can reach. Browsers have no keys, so anybody who saw the
// link could log in.
var ErrExposed = errors.New("other machines reach it, and a link is the console's only protection")

// Config is what a console needs. Answers, Ask, Break and Every may be left out.
type Config struct {
	Topology *topology.Topology
	Nodes    func() []monitor.Status
	Medics   func() monitor.Medics
	Trouble  func() []string // reasons why this process cannot look at the cluster, one per line
	// Sessions fetches the sessions from the cluster. It is called at most every 2 s, one call at a time, and only while somebody looks at a
	// page.
	Sessions func(context.Context) ([]protocol.SessionInfo, error)
	// Answers fetches the answers of a finished session, at least the first KeptRows rows of each query. If it is nil, pages show no answers.
	Answers func(context.Context, session.ID) (*client.Answer, error)
	// Trace returns where the time of a session went, as the nodes report it. If it is nil, pages do not show it.
	Trace func(context.Context, session.ID) (tracing.View, error)
	// Lines asks a node for the last lines of its log, and returns the newest that it has reported, at the latest when the context ends. If it
	// is nil, pages do not show them.
	Lines func(context.Context, topology.NodeID) monitor.Lines
	Ask   *Asker   // nil: nobody can ask
	NoAsk string   // why nobody can ask, and what to do; "": the console was started without files
	Break *Breaker // nil: nobody can inject faults
	// Announce shows a link to the person who started the console. It is called once before Listen returns, and again whenever a link was
	// used. It is not called if Medic is set.
	Announce func(link string)
	Medic    *Medic // the medic that serves the console; nil: a person has started it
	// ScrapeToken lets a scraper read /metrics, and nothing else; "" lets no scraper in.
	ScrapeToken string
	// Every is the time between two looks at the cluster; default 1 s. A shorter time costs more processor time here and in browsers.
	Every time.Duration
}

// Medic is a medic that serves a console.
type Medic struct {
	Name  string
	Trust Trust
	// the IP address to listen on, if it differs from the console's address: in a container, published ports lead to another address
	Bind  string
	Peers map[string]int  // the other medics that serve consoles, with their ports
	Alive func(time.Time) // called from time to time to report that the console makes progress; it must not block
}

// Limits of what a stranger or a slow browser can cost.
const (
	maxConnections = 256
	maxHeader      = 16 << 10
	readTimeout    = 10 * time.Second
	writeTimeout   = 20 * time.Second // for a page, or for one event with its parts
	idleTimeout    = time.Minute
	endTimeout     = 2 * time.Second
	keepAliveEvery = 15 * time.Second // between comments on an idle event stream, which reveal dead connections
)

// Server serves one cluster's console.
type Server struct {
	cfg      Config
	listener net.Listener
	hosts    []string // host names that a request may use; any other name is DNS rebinding
	cookie   string   // name of the cookie; it contains the port, because browsers do not separate the ports of a host
	gate     gate
	passes   *passes // nil: users log in by links only
	feed     *feed
	asker    *asker
	works    *works
	past     past
	harms    harms
	traces   chan struct{}   // one token for each page that asks for a trace
	life     context.Context // ends when Run does
	end      context.CancelFunc
}

// Listen begins to listen at a loopback address like 127.0.0.1:8080, and announces the link. The caller must then call Run.
func Listen(address string, cfg Config) (*Server, error) {
	address, err := Address(address)
	if err != nil {
		return nil, err
	}
	at := netip.MustParseAddrPort(address) // Address has checked it
	l, err := net.Listen("tcp", cfg.bind(at))
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if cfg.Every == 0 {
		cfg.Every = time.Second
	}
	s := &Server{cfg: cfg, listener: l, asker: &asker{ask: cfg.Sessions}, traces: make(chan struct{}, tracesAtOnce)}
	s.life, s.end = context.WithCancel(context.Background())
	s.works = &works{life: s.life, now: time.Now}
	s.feed = newFeed(s.look, cfg.Every)
	s.feed.show = func(seen *Seen, p place) {
		s.fetch(seen, p, false)
		s.askForLines(s.life, seen, p, 0)
	}
	s.past.every, s.feed.note = momentLooks*cfg.Every-cfg.Every/2, s.remember // the half subtracted allows for ticks that come early
	s.remember(time.Now())
	at = netip.AddrPortFrom(at.Addr(), l.Addr().(*net.TCPAddr).AddrPort().Port())
	s.hosts, s.cookie = hostsOf(at), fmt.Sprintf("posta-console-%d", at.Port())
	if cfg.Medic != nil {
		s.passes = newPasses(cfg.Medic.Trust)
		s.gate = s.passes
		return s, nil
	}
	s.gate = newLogins(func(token string) { cfg.Announce("http://" + at.String() + "/login?token=" + token) })
	return s, nil
}

// bind returns the address to listen on for the console at an address.
func (c *Config) bind(at netip.AddrPort) string {
	if c.Medic != nil && c.Medic.Bind != "" {
		return net.JoinHostPort(c.Medic.Bind, strconv.Itoa(int(at.Port())))
	}
	return at.String()
}

// Address checks an address: it must have a port, and be localhost or an IP address that only this machine reaches. Errors begin with the
// address.
func Address(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q is not an address with a port: give one like 127.0.0.1:8080", address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q has the port %q: give one from 1 to 65535, or 0 for any that is free", address, port)
	} else if host == "localhost" {
		return fmt.Sprintf("127.0.0.1:%d", n), nil
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host != "" && err != nil:
		return "", fmt.Errorf("%q names a host: give an address like 127.0.0.1, or localhost", address)
	case !ip.IsLoopback():
		return "", fmt.Errorf("%s: %w", address, ErrExposed)
	}
	return address, nil
}

// hostsOf returns the names by which a browser on this machine can call the address.
func hostsOf(at netip.AddrPort) (all []string) {
	for _, host := range []string{at.Addr().String(), "localhost", "127.0.0.1", "::1"} {
		all = append(all, net.JoinHostPort(host, strconv.Itoa(int(at.Port()))))
		if at.Port() == 80 {
			all = append(all, host)
		}
	}
	return all
}

// Run serves until ctx ends, and then ends all open connections.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		// a request that was cut off is not worth a log line, and its address may contain a token
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return s.life },
	}
	var running sync.WaitGroup
	running.Go(func() { s.feed.run(s.life) })
	served := make(chan error, 1)
	go func() { served <- visitors.Serve(server, s.listener, maxConnections) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	s.end() // this also ends open pages
	soon, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if server.Shutdown(soon) != nil {
		_ = server.Close()
	}
	if err == nil {
		err = <-served
	}
	running.Wait()
	s.asker.wait()
	s.works.wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("console: %w", err)
}

// remember records the present state of the cluster for the time line.
func (s *Server) remember(now time.Time) {
	if s.cfg.Medic != nil && s.cfg.Medic.Alive != nil {
		s.cfg.Medic.Alive(now)
	}
	s.past.add(now, func(at time.Time) moment { return momentOf(s.cfg.Topology, s.cfg.Nodes(), at) })
}

// look returns what is known of the cluster now.
func (s *Server) look(context.Context) *Seen {
	seen := &Seen{Topology: s.cfg.Topology, Nodes: s.cfg.Nodes(), Medics: s.cfg.Medics(), Trouble: slices.Clone(s.cfg.Trouble()),
		Works: s.works.seen(), Harms: s.harms.list(), Past: s.past.list(), Closed: s.cfg.Answers == nil}
	list, err := s.asker.get(s.life)
	if seen.Sessions = list; err != nil {
		seen.Trouble = append(seen.Trouble, "sessions: "+clean(err.Error()))
	}
	return seen
}

// route is a path of the console. Public routes are open to strangers.
type route struct {
	pattern string
	public  bool
	serve   http.HandlerFunc
}

func (s *Server) routes() []route {
	all := []route{
		{"GET " + healthPath, true, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }},
		{"GET /style.css", true, s.file("style.css", "text/css; charset=utf-8")},
		{"GET /icon.svg", true, s.file("icon.svg", "image/svg+xml")},
		{"GET /login", true, s.login},
		{"POST /login", true, s.login},
		{"POST /logout", false, s.known(plain(s.logout))},
		{"GET /console.js", false, s.known(plain(s.file("console.js", "text/javascript; charset=utf-8")))},
		{"GET /events", false, s.known(plain(s.events))},
		{"POST /ask", false, s.known(s.ask)},
		{"POST /complete", false, s.known(plain(s.complete))},
		{"POST /asked/{key}/cancel", false, s.known(plain(s.cancelWork))},
		{"POST /session/{id}/answers", false, s.known(plain(s.fetchAnswers))},
		{"GET /session/{id}/trace", false, s.known(plain(s.traced))},
		{"POST /break", false, s.known(s.harm)},
		{"GET /metrics", false, s.metrics().ServeHTTP},
		{"GET /", false, s.known(s.page)},
	}
	if s.passes != nil {
		all = append(all, route{"GET " + challengePath, true, s.challenge}, route{"POST " + provePath, true, s.prove},
			route{"POST " + handOverPath, false, s.known(plain(s.handOver))}, route{"POST " + continuePath, true, s.proceed})
	}
	return all
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.HandleFunc(r.pattern, r.serve)
	}
	return guard(s.hosts, s.peers(), mux)
}

// peers returns the ports of the other medics' consoles.
func (s *Server) peers() (ports []int) {
	if s.cfg.Medic != nil {
		ports = slices.Sorted(maps.Values(s.cfg.Medic.Peers))
	}
	return ports
}

// Style returns the style sheet of the pages. It has all that DrawAnswer needs.
func Style() []byte { return append(embedded("style.css"), chart.CSS...) }

func embedded(name string) []byte {
	content, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded, so it exists
	}
	return content
}

func (s *Server) file(name, kind string) http.HandlerFunc {
	content := embedded(name)
	if name == "style.css" {
		content = Style()
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(content)
	}
}

// loginPage is the page for users who are not logged in.
type loginPage struct {
	Wrong string
	Medic bool // users log in with posta console --login
}

func (s *Server) showLogin(w http.ResponseWriter, code int, wrong string) {
	write(w, code, "login", loginPage{wrong, s.passes != nil})
}

// maxToken is far above the length of a token, in bytes. It bounds how much of a form is read.
const maxToken = 1 << 10

// login exchanges a token for a cookie. The token comes with the link or by the form.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxToken)
	token := r.FormValue("token")
	if token == "" {
		s.showLogin(w, http.StatusOK, "")
		return
	}
	value, right := s.gate.exchange(token, time.Now())
	if !right {
		wrong := "This link was used already, or it belongs to another console. Take the last link that posta console printed."
		if s.passes != nil {
			wrong = "This link was used already, is older than a minute, or belongs to another console. Run posta console --login again."
		}
		s.showLogin(w, http.StatusForbidden, wrong)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: value, Path: "/", MaxAge: int(loginLasts.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	to := "/"
	if p, err := placeOf(r.FormValue("page")); err == nil { // a page that continues here
		to = p.path()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxToken)
	for _, c := range r.CookiesNamed(s.cookie) {
		if _, in := s.gate.known(c.Value, time.Now()); in && r.PostFormValue("all") != "" {
			s.gate.endAll(c.Value, time.Now())
		}
		s.gate.end(c.Value, time.Now())
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, user User) {
	p, err := placeOf(r.URL.RequestURI())
	var v *view
	if err == nil {
		seen := s.look(r.Context())
		s.fetch(seen, p, false)
		s.askForLines(r.Context(), seen, p, linesWait)
		form := s.askForm(r.URL.Query().Get("q"), "")
		if asked := s.works.find(p.id); p.kind == "asked" && asked != nil {
			form = s.askForm(asked.text, "")
		}
		v, err = s.draw(seen, p, form, user)
	}
	switch {
	case errors.Is(err, errNoPage):
		s.noPage(w)
	case err != nil:
		http.Error(w, "this page cannot be drawn: "+err.Error(), http.StatusInternalServerError)
	default:
		if in, known := s.user(r); known {
			v.Ends, v.Others = in.ends.UTC().Format(time.RFC3339), in.others > 0
		}
		write(w, http.StatusOK, "page", v)
	}
}

// draw draws a page, including the parts that do not change while it is open.
func (s *Server) draw(seen *Seen, p place, form askForm, user User) (*view, error) {
	v, err := draw(seen, p)
	if err != nil {
		return nil, err
	}
	v.User = user.Name
	if m := s.cfg.Medic; m != nil {
		v.Medic = m.Name
		for _, name := range slices.Sorted(maps.Keys(m.Peers)) {
			v.Peers = append(v.Peers, fmt.Sprintf("%s:%d", name, m.Peers[name]))
		}
	}
	switch p.kind {
	case "ask", "asked":
		err = addTo(&v.Before, "ask", form)
	case "overview", "node":
		if f := s.breakForm(p.id, user); f != nil {
			err = addTo(&v.Before, "break", f)
		}
	}
	return v, err
}

func (s *Server) noPage(w http.ResponseWriter) {
	write(w, http.StatusNotFound, "nopage", s.cfg.Topology.Name)
}

// write draws the whole answer before it sends the first byte.
func write(w http.ResponseWriter, code int, name string, data any) {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "this page cannot be drawn: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes())
}

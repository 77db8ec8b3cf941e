# Go and make are all that is needed: no C compiler, no broker, no container. Those targets that say docker need Docker and compose.
GO       ?= go
ROWS     ?= 1000000
FUZZTIME ?= 10s
TIME     ?= 1m
SOAK     ?= 10000h
BENCH    ?=
# Rows of lineitem and bytes of memory for make tight: scale 10, and 2 GB.
TPCH_ROWS ?= 60000000
MOST  ?= 2000000000
# Tests that need a Docker Engine.
DOCKER_TESTS ?= ./deploy/engine ./test/e2e/deploy ./test/e2e/docker ./medic/docker

# The race detector needs cgo and a C compiler; without them the same tests run without it.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $(firstword $(shell $(GO) env CC)) >/dev/null 2>&1 && echo -race)

# Compose v2 where there is one, else docker-compose 1.29. Give PROJECT another name to have two clusters side by side.
COMPOSE ?= $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose) -p $(PROJECT)
PROJECT ?= posta
YAML    ?= docker-compose.yaml
IMAGE   ?= posta

RELEASE := $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: help build test test-plain test-keys test-commands test-raced test-race demo image up down logs demo-docker chaos test-docker test-hosts bench profile yardstick release test-release soak fuzz lint pace tight nightly cover clean

help:            ## this list
	@sed -n 's/^\([a-z-]*\): .*##/\1:/p' $(MAKEFILE_LIST)

build:           ## bin/posta, one static program
	CGO_ENABLED=0 $(GO) build -tags urfave_cli_no_docs -ldflags '-X main.release=$(RELEASE)' -o bin/posta .

# Packages without a goroutine, in their tests too: the race detector would find nothing there and makes them nine times slower. A test of docs/
# checks that it is so. Those of docs/ take longest, and begin first.
PURE := ./docs ./analyses/... ./rows/... ./protocol/... ./client/core ./client/resume ./client/source ./client/source/jsonl ./client/source/parquet ./client/source/unpack ./cmd/internal/lineedit ./deploy/plan ./deploy/image ./internal/awake ./internal/bootclock ./internal/bounded ./internal/freeports ./internal/gen ./internal/histogram ./internal/lazy ./internal/owned ./internal/units ./internal/wire ./link ./nodes/aggregator ./nodes/chain ./nodes/core ./nodes/gateway ./nodes/heartbeat ./nodes/input/... ./nodes/output ./nodes/postmortem ./nodes/internal/reducer ./nodes/role ./nodes/internal/runs ./nodes/shell ./nodes/trace ./nodes/internal/watch ./bench/compare ./bench/sanitize ./test/await ./test/e2e/soak ./test/e2e/truth ./test/lengths ./test/recording ./test/simulator/clock ./test/simulator/crashdisk ./test/simulator/eventqueue ./test/simulator/violation ./test/wallclock ./test/wording ./topology/rundir
# Packages whose tests start clusters of processes or simulate them, which takes four to ten times the processor time with the race detector. `make test`
# runs these tests without it, and a few of those in RACED_IN with it too: RACED. `make test-race`, which is nightly, runs all with it.
CLUSTERS := ./cmd ./test/e2e ./test/e2e/medics ./test/e2e/security ./bench ./examples/wordcount ./test/sim ./test/medicsim
RACED_IN := ./test/e2e ./cmd
RACED := ^(TestKillTight|TestR15_.*TooLarge|TestR17_TwoClients.*|TestSessions_C.*|TestD1_Run.*|TestCtrlC.*|TestC1_.*Pipe)$$
# Their tests wait for processes, disks and clocks more than they compute, so there may be more of them at a time than processors. Those that take
# longest begin first.
FIRST := ./link/nats ./zmqx
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
# A program with the race detector sleeps for a second before it exits, and the tests start and end some hundred nodes and commands.
GO_TEST_RACE = GORACE="$${GORACE:-atexit_sleep_ms=50}" $(GO_TEST) $(RACE)
# go vet has seen all packages when the tests begin, so they are not vetted again; and nobody debugs these programs, which are linked in half the time
# without what a debugger needs. Traces name lines all the same.
GO_TEST = $(GO) test -vet=off -ldflags=-w -timeout $(LIMIT)
# How long the tests of a package may take.
LIMIT ?= 30m
# Half of the time that ./cmd takes: the tests of keys, medics and resumed runs.
HALF := ^Test(R17|S[0-9]|M|U)

# Clusters without the race detector, which wait more than they compute, run beside all other packages, which compute more than they wait. ./cmd would
# run alone at the end, so it comes in two halves.
test:            ## go vet, and every test, with the race detector where it finds something
	$(GO) vet ./...
	@$(MAKE) --no-print-directory -j4 test-plain test-keys test-commands test-raced
	@echo "test: all packages pass$(if $(RACE),, (without the race detector: no C compiler))"

test-plain:
	$(GO_TEST) -p $(PROCESSORS) $(filter-out ./cmd,$(CLUSTERS))

test-keys:
	$(GO_TEST) -run '$(HALF)' ./cmd

test-commands:
	$(GO_TEST) -skip '$(HALF)' ./cmd

test-raced:
	$(GO_TEST_RACE) -p $(PROCESSORS) $$($(GO) list $(FIRST) ./... | grep -vxF "$$($(GO) list $(PURE) $(CLUSTERS))")
	$(if $(RACE),$(GO_TEST_RACE) -p $(PROCESSORS) -run '$(RACED)' $(RACED_IN))
	$(GO_TEST) -p $(PROCESSORS) $$($(GO) list $(PURE))

test-race:       ## the tests of clusters with the race detector
	$(GO_TEST_RACE) -p $(PROCESSORS) $(CLUSTERS)

demo: build      ## make data, run an analysis over real processes, print the answers; ROWS=10000000 for more
	bin/posta gen bikes --rows $(ROWS) --out demo/bikes
	bin/posta run bikes --data demo/bikes --in-process 0

image: build     ## the docker image: bin/posta and nothing else
	docker build -q -t $(IMAGE) --build-arg VERSION=$(RELEASE) .
	@docker image prune -f --filter label=org.opencontainers.image.title=posta >/dev/null

# A medic that runs would start a container that compose is just replacing. A medic that ends finishes the restart it is at, so they are asked
# until none is left.
end-medics = while ids=$$(docker ps -q -f label=com.docker.compose.project=$(PROJECT) -f label=posta.role=medic) && [ -n "$$ids" ]; do docker stop -t 12 $$ids >/dev/null; done

# Each node and medic of docker-compose.yaml that has keys, as node/joiner-1. The keys go through standard input, because the engine shows everybody who may use
# it what is in an image, a label, an environment or a command line. What runs with keys then reads them.
KEYS ?= keys
bring-keys = units=$$(sed -n -e 's/^    command: \[console, --of, \([a-z0-9-]*\),.* --keys, .*/medic\/\1-console/p' \
	-e 's/^    command: \[\([a-z]*\), "*\([a-z0-9-]*\)"*,.* --keys, .*/\1\/\2/p' $(YAML)); if [ -n "$$units" ]; then \
	$(COMPOSE) -f $(YAML) run --rm own-volumes || exit 1; \
	for unit in $$units; do \
		(cd $(KEYS)/$${unit%-console} && tar -c $$(ls key.pem cert.pem ca.pem revoked 2>/dev/null)) | \
		docker run --rm -i --network none --read-only --user 0:0 --cap-drop ALL --cap-add SETUID --cap-add SETGID -v $(PROJECT)_$${unit\#*/}:/carried $(IMAGE) probe keys /carried/keys || exit 1; \
	done; \
	ids=$$(docker ps -q -f label=com.docker.compose.project=$(PROJECT) -f label=posta.role); \
	if [ -n "$$ids" ]; then ids=$$(docker inspect -f '{{.Id}} {{.Args}}' $$ids | sed -n 's/ .* --keys .*//p'); fi; \
	if [ -n "$$ids" ]; then docker kill -s HUP $$ids >/dev/null; fi; fi

# Over a running cluster too: docker-compose.yaml is written again, and compose replaces what a new image changes. A new topology may give one
# node the port of another, so then all containers go first; data stays. Medics start last.
up: image        ## docker: the cluster of topology.toml in containers; bin/posta submit and status speak to it
	@bin/posta topology compose topology.toml --keys --image $(IMAGE) --out $(YAML)
	@bin/posta topology published topology.toml
	@$(end-medics)
	@new=$$(sed -n 's/.*posta.topology: "\(.*\)"/\1/p' $(YAML) | head -n 1); \
	if docker ps -a -f label=com.docker.compose.project=$(PROJECT) --format '{{.Label "posta.topology"}}' | grep -qv "^$$new$$"; then $(COMPOSE) -f $(YAML) down --remove-orphans; fi
	@set -e; $(bring-keys)
	$(COMPOSE) -f $(YAML) up -d --remove-orphans

# Data stays in the volumes. With -v those go, too, that compose does not know of any more: a node that has left the topology had data and keys in one.
down:            ## docker: end it, keep its data; DOWN=-v deletes the data as well
	@$(end-medics)
	$(COMPOSE) -f $(YAML) down --remove-orphans $(DOWN)
	@$(if $(filter -v --volumes,$(DOWN)),left=$$(docker volume ls -q -f label=com.docker.compose.project=$(PROJECT)); if [ -n "$$left" ]; then docker volume rm $$left; fi)
	@bin/posta topology published --end topology.toml

logs:            ## docker: what nodes and medics say, and continue saying
	$(COMPOSE) -f $(YAML) logs -f --tail=20

demo-docker:     ## docker: a cluster, data, an analysis, the answers; leaves nothing behind
	@dir=$$(mktemp -d); mine="PROJECT=posta-demo YAML=$$dir/docker-compose.yaml"; if [ ! -e $(KEYS) ]; then made=$(KEYS); fi; \
	trap '$(MAKE) -s down DOWN=-v $$mine; docker rmi $(IMAGE) >/dev/null 2>&1; rm -rf "$$dir" $$made' EXIT; set -e; \
	$(MAKE) -s up $$mine; \
	bin/posta gen bikes --rows $(ROWS) --out "$$dir/bikes"; \
	bin/posta submit bikes --data "$$dir/bikes"; \
	bin/posta status

chaos:           ## a cluster of its own, sessions all the time, faults of processes, disks and clocks for a minute; as root; TIME=10m for more
	$(GO) test ./test/e2e/medics -run 'TestChaos' -count=1 -v -chaos $(TIME) -timeout 30m

test-docker:     ## docker: nodes and medics in real containers, killed, stopped, cut off; as root, with nsenter and ip
	$(GO) vet -tags docker ./...
	$(GO) test -tags docker $(DOCKER_TESTS) -count=1 -timeout 20m

test-hosts:      ## docker: clusters over two machines made of namespaces, parted, slowed, killed; as root, with dockerd and systemd
	$(GO) test -tags docker ./test/e2e/hosts -count=1 -timeout 20m

bench:           ## log, CSV, links, keys and analyses beside something plain, and races; BENCH='--rounds 2 race' for less
	$(GO) run . bench $(BENCH)
	$(GO) test ./zmqx -run '^$$' -bench 'TLS|UnixBesideTCP' -benchtime 2s

# go build optimises the program by default.pgo: calls that are hot there are inlined. A profile that is older than the code does no harm, but gains less.
profile:         ## default.pgo from three rounds of the races; on a quiet machine, four minutes and 6 GB of disk
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	$(GO) build -trimpath -pgo=off -o "$$dir/posta" .; \
	for round in 1 2 3; do \
		"$$dir/posta" bench --rounds 1 --cold --contestants posta-run --results '' --dir "$$dir/data" --profile "$$dir/$$round" race-bikes race-flights race-movies race-memes; \
	done; \
	$(GO) tool pprof -proto "$$dir"/[123]/posta-*.prof >"$$dir/merged"; mv "$$dir/merged" default.pgo

# Its requirements follow Posta's: -mod=mod brings them up to date.
yardstick:       ## the module of the rivals, DuckDB and NATS: go vet, and its tests against the oracles; needs g++
	cd bench/rivals && $(GO) vet -mod=mod ./... && $(GO) test -mod=mod -timeout 40m ./...

# A module of its own, like the rivals', with the same flags: only what packs Posta needs its requirements.
release:         ## programs, packages, checksums and an SBOM for all systems in dist/; RELEASE=v0.3.0
	cd deploy/release && $(GO) run -mod=mod . -version '$(if $(filter v%,$(RELEASE)),$(RELEASE))'

test-release:    ## makes a release for linux/amd64, installs its Debian package into an empty root, and works there; as root, with dpkg; RELEASE_TEST=-all for all systems
	cd deploy/release && $(GO) vet -mod=mod ./... && $(GO) test -mod=mod -timeout 30m . $(RELEASE_TEST)

soak:            ## the simulator with one seed after the other, for SOAK or until one fails
	$(GO) test ./test/sim -run TestSoak -soak=$(SOAK) -timeout=0 -v

# One instrumented program for each folder, which runs its tests one after the other; go test -fuzz would link one for each test. Like go test, it keeps
# what it finds in the cache of builds, and an input that fails below testdata/fuzz. On a busy machine it sometimes takes the end of the time for a failure
# of its own, and says nothing else: then it is asked again.
fuzz:            ## each fuzz test for FUZZTIME
	@set -e; cache=$$($(GO) env GOCACHE)/fuzz/$$($(GO) list); program=$(CURDIR)/bin/fuzz.test; mkdir -p bin; trap 'rm -f bin/fuzz.test' EXIT; \
	for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		$(GO) test -c -vet=off -ldflags=-w -fuzz . -o $$program $$dir; \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$dir/*_test.go); do \
			echo "fuzz: $$dir $$name"; \
			for try in 1 2 3 4 5; do \
				said=$$(cd $$dir && $$program -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) -test.fuzzcachedir $$cache/$$dir 2>&1) && status=0 || status=$$?; \
				if [ $$status = 0 ]; then echo "$$said"; break; fi; \
				case "$$said" in *"Failing input"*) ;; *"context deadline exceeded"*) \
					echo "fuzz: the time ended while the machine was busy: try $$try"; [ $$try = 5 ] || continue;; esac; \
				echo "$$said"; exit 1; \
			done; \
		done; \
	done

# What may depend on the machine's pace: packages whose tests start goroutines or processes.
PACED = $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}.{{slice .ImportPath 15}}{{end}}' ./... | grep -vxF "$$($(GO) list -f '.{{slice .ImportPath 15}}' $(PURE))")
PACE  ?= $(PACED)

pace:            ## each test of packages that wait for clocks or processes 50 times, on a machine that stands still at random; as root; PACE='-times 5 ./cmd'
	$(GO) run ./test/pace $(PACE)

tight:           ## TPC-H while all processes of a query together may have MOST bytes of memory; as root; TPCH_ROWS=60000000 is scale 10
	.ci/tight $(TPCH_ROWS) $(MOST)

nightly:         ## what takes hours, measures, or needs a machine that does not stand still; as root, on Debian
	.ci/nightly

# Tests that need more than Go and a C compiler, or hours.
TAGS := docker,interop,brokers,postgres,browser,shells,nightly

# README says for which systems Posta is made, and for which it builds: test-release builds for them. Most tests of processes, disks and networks are for
# Linux alone.
lint:            ## gofmt, lengths of lines and functions, go vet, staticcheck (which go fetches); warns of wording
	@! gofmt -l . | grep . >&2
	@$(GO) run ./test/wording
	@$(GO) run ./test/lengths
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS) ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.6.1 -tags $(TAGS) ./...

cover:           ## how much of the code the tests reach
	$(GO) test -coverprofile cover.prof ./...
	$(GO) tool cover -func cover.prof | tail -1

clean:           ## what make has made
	rm -rf bin dist demo bench-results cover.prof

# Go and make are all that is needed: no C compiler, no broker, no container. Those targets that say docker need Docker and compose.
GO       ?= go
ROWS     ?= 1000000
FUZZTIME ?= 10s
TIME     ?= 1m
SOAK     ?= 10000h
BENCH    ?=
# Tests that need a Docker Engine.
DOCKER_TESTS ?= ./deploy/engine ./test/e2e/deploy ./test/e2e/docker ./medic/docker

# The race detector needs cgo and a C compiler; without them the same tests run without it.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $(firstword $(shell $(GO) env CC)) >/dev/null 2>&1 && echo -race)

# Compose v2 where there is one, else docker-compose 1.29. Give PROJECT another name to have two clusters side by side.
COMPOSE ?= $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose) -p $(PROJECT)
PROJECT ?= posta
IMAGE   ?= posta

RELEASE := $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: help build test demo image up down logs demo-docker chaos test-docker test-hosts bench yardstick soak fuzz lint cover clean

help:            ## this list
	@sed -n 's/^\([a-z-]*\): .*##/\1:/p' $(MAKEFILE_LIST)

build:           ## bin/posta, one static program
	CGO_ENABLED=0 $(GO) build -ldflags '-X main.release=$(RELEASE)' -o bin/posta .

# Packages without a goroutine, in their tests too: the race detector would find nothing there and makes them nine times slower. A test of docs/
# checks that it is so.
PURE := ./analyses/... ./rows/... ./deploy/plan
# These take longest, so they begin first. Their tests wait for processes, disks and clocks more than they compute, so there may be
# more of them at a time than processors.
FIRST := ./test/e2e ./test/e2e/medics ./cmd ./bench ./docs
AT_ONCE := $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))

# go vet has seen all packages when the tests begin, so they are not vetted again. A program with the race detector sleeps for a second before it
# exits, and the tests start and end some thousand nodes and commands.
test:            ## go vet, and every test, with the race detector where there is one
	$(GO) vet ./...
	$(GO) test -vet=off $(PURE)
	GORACE="$${GORACE:-atexit_sleep_ms=50}" $(GO) test -vet=off -timeout 30m -p $(AT_ONCE) $(RACE) $$($(GO) list $(FIRST) ./... | grep -vxF "$$($(GO) list $(PURE))")
	@echo "test: all packages pass$(if $(RACE),, (without the race detector: no C compiler))"

demo: build      ## make data, run an analysis over real processes, print the answers; ROWS=10000000 for more
	bin/posta gen bikes --rows $(ROWS) --out demo/bikes
	bin/posta run bikes --data demo/bikes

image: build     ## the docker image: bin/posta and nothing else
	docker build -q -t $(IMAGE) --build-arg VERSION=$(RELEASE) .
	@docker image prune -f --filter label=org.opencontainers.image.title=posta >/dev/null

# A medic that runs would start a container that compose is just replacing. A medic that ends finishes the restart it is at, so they are asked
# until none is left.
end-medics = while ids=$$(docker ps -q -f label=com.docker.compose.project=$(PROJECT) -f label=posta.role=medic) && [ -n "$$ids" ]; do docker stop -t 12 $$ids >/dev/null; done

# Each node and medic of docker-compose.yaml that has keys, as node/joiner-1. The keys go through standard input, because the engine shows everybody who may use
# it what is in an image, a label, an environment or a command line. What runs then reads them; all of it has keys, for compose has replaced what had none.
KEYS ?= keys
bring-keys = units=$$(sed -n 's/^    command: \[\([a-z]*\), "*\([a-z0-9-]*\)"*,.* --keys, .*/\1\/\2/p' docker-compose.yaml); if [ -n "$$units" ]; then \
	$(COMPOSE) up --no-start --remove-orphans; \
	for unit in $$units; do \
		(cd $(KEYS)/$$unit && tar -c $$(ls key.pem cert.pem ca.pem revoked 2>/dev/null)) | \
		docker run --rm -i --network none --read-only --cap-drop ALL -v $(PROJECT)_$${unit\#*/}:/carried $(IMAGE) probe keys /carried/keys || exit 1; \
	done; \
	ids=$$(docker ps -q -f label=com.docker.compose.project=$(PROJECT) -f label=posta.role); if [ -n "$$ids" ]; then docker kill -s HUP $$ids >/dev/null; fi; fi

# Over a running cluster too: docker-compose.yaml is written again, and compose replaces what a new image changes. A new topology may give one
# node the port of another, so then all containers go first; data stays. Medics start last.
up: image        ## docker: the cluster of topology.toml in containers; bin/posta submit and status speak to it
	@bin/posta topology compose topology.toml --image $(IMAGE) --out docker-compose.yaml
	@bin/posta topology published topology.toml
	@$(end-medics)
	@new=$$(sed -n 's/.*posta.topology: "\(.*\)"/\1/p' docker-compose.yaml | head -n 1); \
	if docker ps -a -f label=com.docker.compose.project=$(PROJECT) --format '{{.Label "posta.topology"}}' | grep -qv "^$$new$$"; then $(COMPOSE) down --remove-orphans; fi
	@set -e; $(bring-keys)
	$(COMPOSE) up -d --remove-orphans

# Data stays in the volumes.
down:            ## docker: end it, keep its data; DOWN=-v deletes the data as well
	@$(end-medics)
	$(COMPOSE) down $(DOWN)
	@bin/posta topology published --end topology.toml

logs:            ## docker: what nodes and medics say, and go on saying
	$(COMPOSE) logs -f --tail=20

demo-docker:     ## docker: a cluster, data, an analysis, the answers; leaves nothing behind
	@mine="PROJECT=posta-demo"; trap '$(MAKE) -s down DOWN=-v $$mine; docker rmi $(IMAGE) >/dev/null 2>&1; rm -rf demo/bikes' EXIT; set -e; \
	$(MAKE) -s up $$mine; \
	bin/posta gen bikes --rows $(ROWS) --out demo/bikes; \
	bin/posta submit bikes --data demo/bikes; \
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

# Its requirements follow Posta's: -mod=mod brings them up to date.
yardstick:       ## the module of the rivals, DuckDB and NATS: go vet, and its tests against the oracles; needs g++
	cd bench/rivals && $(GO) vet -mod=mod ./... && $(GO) test -mod=mod ./...

soak:            ## the simulator with one seed after the other, for SOAK or until one fails
	$(GO) test ./test/sim -run TestSoak -soak=$(SOAK) -timeout=0 -v

fuzz:            ## each fuzz test for FUZZTIME
	@for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$dir/*_test.go); do \
			echo "fuzz: $$dir $$name"; $(GO) test -vet=off -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$dir || exit 1; \
		done; \
	done

# README says for which systems Posta is made, and for which it builds. Most tests of processes, disks and networks are for Linux alone.
lint:            ## gofmt, go vet, staticcheck (which go fetches), builds for other systems
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) vet -tags docker,interop,brokers,postgres ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./...
	GOOS=darwin $(GO) build ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.6.1 -tags docker,interop,brokers,postgres ./...

cover:           ## how much of the code the tests reach
	$(GO) test -coverprofile cover.prof ./...
	$(GO) tool cover -func cover.prof | tail -1

clean:           ## what make has made
	rm -rf bin demo bench-results cover.prof

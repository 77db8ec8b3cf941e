# Go and make are all that is needed: no C compiler, no broker, no container.
GO       ?= go
ROWS     ?= 1000000
FUZZTIME ?= 10s
TIME     ?= 1m
SOAK     ?= 10000h
BENCH    ?=

# The race detector needs cgo and a C compiler; without them the same tests run without it.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $(firstword $(shell $(GO) env CC)) >/dev/null 2>&1 && echo -race)

RELEASE := $(shell git describe --tags --always --dirty 2>/dev/null)

.PHONY: help build test demo chaos bench soak fuzz lint cover clean

help:            ## this list
	@sed -n 's/^\([a-z]*\): .*##/\1:/p' $(MAKEFILE_LIST)

build:           ## bin/posta, one static program
	CGO_ENABLED=0 $(GO) build -ldflags '-X main.release=$(RELEASE)' -o bin/posta .

test:            ## go vet, and every test, with the race detector where there is one
	$(GO) vet ./...
	$(GO) test $(RACE) ./...
	@echo "test: all packages pass$(if $(RACE),, (without the race detector: no C compiler))"

demo: build      ## make data, run an analysis over real processes, print the answers; ROWS=10000000 for more
	bin/posta gen bikes --rows $(ROWS) --out demo/bikes
	bin/posta run bikes --data demo/bikes

chaos:           ## a cluster of its own, sessions all the time, faults for a minute; TIME=5m for more
	$(GO) test ./e2e/medics -run 'TestChaos' -count=1 -v -chaos $(TIME) -timeout 30m

bench:           ## log, CSV, links and every analysis end to end, each beside something plain; BENCH='-rounds 2 csv' for less
	$(GO) run ./bench/cmd/bench $(BENCH)

soak:            ## the simulator with one seed after the other, for SOAK or until one fails
	$(GO) test ./sim -run TestSoak -soak=$(SOAK) -timeout=0 -v

fuzz:            ## each fuzz test for FUZZTIME
	@for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$dir/*_test.go); do \
			echo "fuzz: $$dir $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$dir || exit 1; \
		done; \
	done

lint:            ## gofmt, go vet, staticcheck (which go fetches)
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.6.1 ./...

cover:           ## how much of the code the tests reach
	$(GO) test -coverprofile cover.prof ./...
	$(GO) tool cover -func cover.prof | tail -1

clean:           ## what make has made
	rm -rf bin demo bench-results cover.prof

package security

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const brokerAddress = "amqp://posta:hush-1@rabbit:5672/"

// TestS6_ABrokersPasswordIsCarried with the keys of a node: it is a file for its user alone, another password replaces it, and it goes when
// none is needed.
func TestS6_ABrokersPasswordIsCarried(t *testing.T) {
	_, from := bundle(t)
	to := filepath.Join(t.TempDir(), "keys")
	other := strings.Replace(brokerAddress, "hush-1", "hush-2", 1)
	var keys *Keys
	digests := map[string]string{}
	for _, address := range []string{brokerAddress, other, "", brokerAddress} {
		b := must[Bundle](t)(ReadBundle(from, "posta", joiner1, address))
		if d := b.Digest(); digests[d] != address && digests[d] != "" {
			t.Errorf("%q has the digest of %q", address, digests[d])
		} else {
			digests[d] = address
		}
		noError(t, Install(to, archived(t, b)))
		if keys == nil {
			keys = must[*Keys](t)(Load(to, "posta", nil))
		} else {
			noError(t, keys.Reload())
		}
		if got := keys.Broker(); got != address {
			t.Errorf("the node has %q, not %q", got, address)
		}
		info, err := os.Stat(filepath.Join(to, brokerFile))
		if address == "" && !errors.Is(err, os.ErrNotExist) || address != "" && (err != nil || info.Mode() != 0o600) {
			t.Errorf("%q: %v, %v", address, info, err)
		}
	}
	if len(digests) != 3 {
		t.Errorf("%d digests of three bundles", len(digests))
	}
	if got := (*Keys)(nil).Broker(); got != "" {
		t.Errorf("without keys the broker is at %s", got)
	}
}

// TestS6_ADigestIsNoWayToAPassword: two nodes with one password have digests that are made with their private keys, so nobody can try
// passwords against them. A bundle that is printed does not show it.
func TestS6_ADigestIsNoWayToAPassword(t *testing.T) {
	_, from := bundle(t)
	b := must[Bundle](t)(ReadBundle(from, "posta", joiner1, brokerAddress))
	public := sha256.New()
	for _, name := range []string{revokedFile, caFile, certificateFile} {
		text := must[[]byte](t)(os.ReadFile(filepath.Join(from, name)))
		fmt.Fprintf(public, "%s %d\n%s", name, len(text), text)
	}
	if got := must[Bundle](t)(ReadBundle(from, "posta", joiner1, "")).Digest(); got != fmt.Sprintf("%x", public.Sum(nil)) {
		t.Fatal("this test does not know how digests are made")
	}
	fmt.Fprintf(public, "%s %d\n%s", brokerFile, len(brokerAddress), brokerAddress)
	if b.Digest() == fmt.Sprintf("%x", public.Sum(nil)) {
		t.Error("the digest tells whether a password is the right one")
	}
	if all := fmt.Sprintf("%v %+v %#v %s", b, b, b, b); strings.Contains(all, "hush") {
		t.Errorf("the password is shown: %s", all)
	}
}

// TestS6_BadAddressesOfBrokers are refused without showing them, and what was there stays.
func TestS6_BadAddressesOfBrokers(t *testing.T) {
	_, from := bundle(t)
	to := filepath.Join(t.TempDir(), "keys")
	noError(t, Install(to, archived(t, must[Bundle](t)(ReadBundle(from, "posta", joiner1, brokerAddress)))))
	keys := must[*Keys](t)(Load(to, "posta", nil))
	for _, bad := range []string{"\n", "amqp://posta:hush-1@rabbit\nhush-2", "amqp://posta:hush-1%zz@rabbit", "amqp://posta:hush 1@rabbit",
		"a\x00b", strings.Repeat("h", maxBroker+1)} {
		err := Install(to, archived(t, must[Bundle](t)(ReadBundle(from, "posta", joiner1, bad))))
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("installed %.60q: %v", bad, err)
		}
		if got := must[*Keys](t)(Load(to, "posta", nil)).Broker(); got != brokerAddress {
			t.Errorf("after %.60q the address is %q", bad, got)
		}
	}
	noError(t, os.WriteFile(filepath.Join(to, brokerFile), []byte("amqp://a b"), 0o600))
	if err := keys.Reload(); err == nil || keys.Broker() != brokerAddress {
		t.Errorf("a damaged file: %v, and the address is %q", err, keys.Broker())
	}
	noError(t, os.WriteFile(filepath.Join(to, brokerFile), []byte(brokerAddress+"\n"), 0o600))
	noError(t, os.Chmod(filepath.Join(to, brokerFile), 0o640))
	if _, err := Load(to, "posta", nil); !errors.Is(err, ErrUnsafeFile) {
		t.Errorf("a password that others may read: %v", err)
	}
	noError(t, os.Chmod(filepath.Join(to, brokerFile), 0o600))
	if got := must[*Keys](t)(Load(to, "posta", nil)).Broker(); got != brokerAddress {
		t.Errorf("written with an editor, it is %q", got)
	}
}

package security

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"unicode"
)

// maxBroker bounds the address of a broker, in bytes.
const maxBroker = 4 << 10

// readBroker reads the address of the cluster's broker beside the keys of a process; "" if there is none.
func readBroker(dir string) (string, error) {
	text, err := readFile(dir, brokerFile, 0o077)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	address := strings.TrimRight(string(text), "\r\n")
	_, malformed := url.Parse(address) // the error is dropped, because its text may show the password
	if malformed != nil || address == "" || len(address) > maxBroker ||
		strings.ContainsFunc(address, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", fmt.Errorf("security: the file %s in %s is not one line with the address of a broker", brokerFile, dir)
	}
	return address, nil
}

// Broker returns the address of the cluster's broker, with its password, if it came with the keys. Otherwise, and on nil keys, it returns
// "". Each reload may change the address.
func (k *Keys) Broker() string {
	if k == nil {
		return ""
	}
	return k.loaded.Load().broker
}

package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
	"gopkg.in/ini.v1"

	"posta.dev/posta/client/source/web"
)

var (
	// ErrAddress is wrapped by errors for a text that is not an address of an object.
	ErrAddress = errors.New("no address of an object")

	// ErrSettings is wrapped by the errors of [Load] and [Store.Open] for missing credentials and for wrong settings.
	ErrSettings = errors.New("S3 cannot be asked")
)

const scheme = "s3://"

// Is reports whether a path is the address of an object, or of several.
func Is(path string) bool { return strings.HasPrefix(path, scheme) }

// Split takes an address apart.
func Split(address string) (bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(address, scheme), "/")
	if s3utils.CheckValidBucketName(bucket) != nil || key == "" {
		return "", "", fmt.Errorf("%w: give one like s3://bucket/path/trips.csv", ErrAddress)
	}
	return bucket, key, nil
}

// Store is a server of objects, with the credentials to ask it.
type Store struct {
	credentials *credentials.Credentials
	context     *credentials.CredContext
	region      string
	endpoint    *url.URL // nil for that of the region
	pages       int      // how many pages a list may have
	profile     string
}

// asking bounds the wait for a server that gives credentials.
const asking = 5 * time.Second

// Load reads the settings. It does not ask for credentials yet.
func Load() (*Store, error) {
	s := &Store{pages: maxPages, profile: first(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default"),
		context: &credentials.CredContext{Client: &http.Client{Timeout: asking, Transport: &http.Transport{DisableKeepAlives: true}}}}
	file := os.Getenv("AWS_CONFIG_FILE")
	if home, err := os.UserHomeDir(); file == "" && err == nil {
		file = filepath.Join(home, ".aws", "config")
	}
	section := s.profile
	if section != "default" {
		section = "profile " + section
	}
	config, err := ini.LooseLoad(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %s cannot be read as settings of AWS", ErrSettings, file) // the error may show a line of it
	}
	set := config.Section(section)
	s.region = first(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), set.Key("region").String(), "us-east-1")
	if at := first(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), set.Key("endpoint_url").String()); at != "" {
		s.endpoint, err = url.Parse(at)
		if err != nil || s.endpoint.Host == "" || !web.Is(at) {
			return nil, fmt.Errorf("%w: AWS_ENDPOINT_URL, or endpoint_url in %s, is not an address like http://127.0.0.1:9000", ErrSettings, file)
		}
		s.endpoint.User, s.endpoint.RawQuery, s.endpoint.Fragment = nil, "", ""
	}
	sources := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{Profile: s.profile},
		&credentials.FileAWSCredentials{Filename: file, Profile: section}}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		sources = append(sources, &credentials.IAM{Region: s.region})
	}
	s.credentials = credentials.NewChainCredentials(sources)
	return s, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// address returns the address of an object, or of a bucket if key is empty.
func (s *Store) address(bucket, key string) string {
	at := s3utils.EncodePath("/" + key)
	switch {
	case s.endpoint != nil:
		return strings.TrimSuffix(s.endpoint.String(), "/") + "/" + bucket + at
	case strings.Contains(bucket, "."): // no certificate covers such a host name
		return "https://s3." + s.region + ".amazonaws.com/" + bucket + at
	}
	return "https://" + bucket + ".s3." + s.region + ".amazonaws.com" + at
}

// sign signs a request.
func (s *Store) sign(r *http.Request) error {
	v, err := s.credentials.GetWithContext(s.context)
	if err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return fmt.Errorf("%w: there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into "+
			"~/.aws/credentials for profile %q", ErrSettings, s.profile)
	}
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD") // the request has no payload
	r.Header = signer.SignV4(*r, v.AccessKeyID, v.SecretAccessKey, v.SessionToken, s.region).Header
	return nil
}

// Open asks for an object. warn is told what cannot be known of it, see [web.As].
func (s *Store) Open(ctx context.Context, bucket, key string, warn func(text string)) (*web.File, error) {
	return s.get(ctx, s.address(bucket, key), scheme+bucket+"/"+key, warn)
}

func (s *Store) get(ctx context.Context, address, shown string, warn func(text string)) (*web.File, error) {
	return web.Open(ctx, address, web.As{Shown: shown, Sign: s.sign, Explain: s.explain, Warn: warn})
}

// explain returns the reason for a refusal, and what to do.
func (s *Store) explain(r *http.Response) string {
	if region := r.Header.Get("X-Amz-Bucket-Region"); region != "" && region != s.region {
		return fmt.Sprintf("its bucket is in region %.40q, and %q was asked: set AWS_REGION", region, s.region)
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 4<<10))
	switch code := inside(string(body), "<Code>", "</Code>"); code {
	case "":
		return ""
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AccessDenied":
		return fmt.Sprintf("%s; look at the credentials, which are those of AWS_ACCESS_KEY_ID or of profile %q", code, s.profile)
	case "RequestTimeTooSkewed":
		return code + "; the clock of this machine is wrong"
	default:
		return fmt.Sprintf("%.60q", code)
	}
}

// inside returns what is between two texts.
func inside(text, before, after string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, found := strings.Cut(text, after)
	if !found {
		return ""
	}
	return text
}

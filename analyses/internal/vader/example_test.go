package vader_test

import (
	"fmt"

	"posta.dev/posta/analyses/internal/vader"
)

func Example() {
	a, err := vader.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"The pasta was good!", "The pasta was not good, it was horrible", "A man walks his dog"} {
		fmt.Println(a.Compound([]byte(text)))
	}
	// Output:
	// 0.4926
	// -0.7101
	// 0
}

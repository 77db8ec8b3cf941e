package split

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestJoinsAreOrderedBySizes: small tables are joined with large ones before large ones with each other, whatever their order in
// FROM.
func TestJoinsAreOrderedBySizes(t *testing.T) {
	files := fstest.MapFS{
		"region.csv": {Data: []byte("rkey,rname\n1,ASIA\n")}, "nation.csv": {Data: []byte("nkey,nrkey,nname\n1,1,JAPAN\n")},
		"supplier.csv": {Data: []byte("skey,snkey\n1,1\n")}, "customer.csv": {Data: []byte("ckey,cnkey\n1,1\n")},
		"orders.csv": {Data: []byte("okey,ockey,odate\n1,1,1995-01-01\n")}, "lineitem.csv": {Data: []byte("lokey,lskey,price\n1,1,2.5\n")},
	}
	sizes := map[string]int64{"region": 1 << 10, "nation": 2 << 10, "supplier": 1 << 20, "customer": 20 << 20, "orders": 200 << 20,
		"lineitem": 1 << 30}
	plan := func(text string) *Plan {
		p := planOf(t, text, files)
		for i := range p.Tables {
			p.Tables[i].Bytes = sizes[p.Tables[i].Name]
		}
		return p
	}
	from := " FROM region, customer, orders, lineitem, supplier, nation WHERE ckey = ockey AND lokey = okey AND lskey = skey AND cnkey = " +
		"snkey AND snkey = nkey AND nrkey = rkey AND rname = 'ASIA'"
	for text, want := range map[string][]string{
		"SELECT nname, sum(price)" + from + " GROUP BY nname": {
			"of lineitem: join with supplier, nation, region, then send", "of orders: join with customer, then send"},
		"SELECT count(*) FROM supplier, lineitem WHERE lskey = skey": {
			"of lineitem: join with supplier, then fold"},
		"SELECT sum(price) FROM customer JOIN orders ON ckey = ockey JOIN lineitem ON lokey = okey": {
			"of lineitem: then send", "of orders: join with customer, then send"},
		"SELECT sum(price) FROM region, nation, supplier, lineitem WHERE rkey = nrkey AND nkey = snkey AND skey = lskey": {
			"of lineitem: join with supplier, nation, region, then fold"},
		// The first row of a group depends on the order in FROM.
		"SELECT first(price)" + from: {"of lineitem: send"},
	} {
		told, err := Explain(plan(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(told, strings.Replace(w, ": then send", ": send", 1)) {
				t.Errorf("%s\n   is explained by\n%s   without %q", text, told, w)
			}
		}
	}
}

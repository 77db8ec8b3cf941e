package gen

import (
	"math/rand/v2"
	"strings"
)

// Lists and grammar from section 4.2 of the specification.

var (
	tpchRegions      = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	tpchSegments     = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"}
	tpchPriorities   = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	tpchInstructions = []string{"DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"}
	tpchModes        = []string{"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"}
	tpchTypes        = [3][]string{{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"},
		{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"}, {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"}}
	tpchContainers = [2][]string{{"SM", "LG", "MED", "JUMBO", "WRAP"}, {"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"}}
	tpchColours    = strings.Fields("almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished " +
		"chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted " +
		"gainsboro ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium " +
		"metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose " +
		"rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow")
)

var tpchNations = []struct {
	name   string
	region int
}{
	{"ALGERIA", 0}, {"ARGENTINA", 1}, {"BRAZIL", 1}, {"CANADA", 1}, {"EGYPT", 4}, {"ETHIOPIA", 0}, {"FRANCE", 3}, {"GERMANY", 3},
	{"INDIA", 2}, {"INDONESIA", 2}, {"IRAN", 4}, {"IRAQ", 4}, {"JAPAN", 2},
	{"JORDAN", 4}, {"KENYA", 0}, {"MOROCCO", 0}, {"MOZAMBIQUE", 0}, {"PERU", 1}, {"CHINA", 2}, {"ROMANIA", 3}, {"SAUDI ARABIA", 4},
	{"VIETNAM", 2}, {"RUSSIA", 3}, {"UNITED KINGDOM", 3}, {"UNITED STATES", 1},
}

var (
	tpchNouns = strings.Fields("foxes ideas theodolites pinto_beans instructions dependencies excuses platelets asymptotes courts " +
		"dolphins multipliers sauternes warthogs frets dinos attainments somas Tiresias' patterns forges braids hockey_players frays " +
		"warhorses dugouts notornis epitaphs pearls tithes waters orbits gifts sheaves depths sentiments decoys realms pains grouches " +
		"escapades packages requests accounts deposits")
	tpchVerbs = strings.Fields("sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate " +
		"solve thrash promise engage hinder print x-ray breach eat grow impress mold poach serve run dazzle snooze doze unwind kindle play " +
		"hang believe doubt")
	tpchAdjectives = strings.Fields("furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy " +
		"permanent enticing idle busy regular final ironic even bold silent special pending unusual express")
	tpchAdverbs = strings.Fields("sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly " +
		"ruthlessly thinly closely doggedly daringly bravely stealthily permanently enticingly idly busily regularly finally ironically " +
		"evenly boldly silently")
	tpchPrepositions = strings.Fields("about above according_to across after against along alongside_of among around at atop before behind " +
		"beneath beside besides between beyond by despite during except for from in_place_of inside instead_of into near of on outside over " +
		"past since through throughout to toward under until up upon without with within")
	tpchAuxiliaries = strings.Fields("do may might shall will would can could should ought_to must will_have_to shall_have_to " +
		"could_have_to should_have_to must_have_to need_to try_to")
	tpchEnds = strings.Fields(". ; : ? ! --")
)

// tpchText makes n letters of sentences. A word with _ stands for two words.
func tpchText(r *rand.Rand, n int) string {
	var b strings.Builder
	word := func(list []string) string { return strings.ReplaceAll(list[r.IntN(len(list))], "_", " ") }
	noun := func() string {
		switch r.IntN(4) {
		case 0:
			return word(tpchNouns)
		case 1:
			return word(tpchAdjectives) + " " + word(tpchNouns)
		case 2:
			return word(tpchAdjectives) + ", " + word(tpchAdjectives) + " " + word(tpchNouns)
		}
		return word(tpchAdverbs) + " " + word(tpchAdjectives) + " " + word(tpchNouns)
	}
	verb := func() string {
		switch r.IntN(4) {
		case 0:
			return word(tpchVerbs)
		case 1:
			return word(tpchAuxiliaries) + " " + word(tpchVerbs)
		case 2:
			return word(tpchVerbs) + " " + word(tpchAdverbs)
		}
		return word(tpchAuxiliaries) + " " + word(tpchVerbs) + " " + word(tpchAdverbs)
	}
	prepositional := func() string { return word(tpchPrepositions) + " the " + noun() }
	for b.Len() < n {
		s := noun() + " "
		switch r.IntN(5) {
		case 0:
			s += verb()
		case 1:
			s += verb() + " " + prepositional()
		case 2:
			s += verb() + " " + noun()
		case 3:
			s += prepositional() + " " + verb() + " " + noun()
		default:
			s += prepositional() + " " + verb() + " " + prepositional()
		}
		b.WriteString(s + word(tpchEnds) + " ")
	}
	return b.String()[:n]
}

// tpchSchema has a line for each table: its name, and of each column name and type.
var tpchSchema = strings.Join([]string{
	"region r_regionkey BIGINT r_name TEXT r_comment TEXT",
	"nation n_nationkey BIGINT n_name TEXT n_regionkey BIGINT n_comment TEXT",
	"supplier s_suppkey BIGINT s_name TEXT s_address TEXT s_nationkey BIGINT s_phone TEXT s_acctbal DECIMAL(15,2) s_comment " +
		"TEXT",
	"part p_partkey BIGINT p_name TEXT p_mfgr TEXT p_brand TEXT p_type TEXT p_size BIGINT p_container TEXT p_retailprice " +
		"DECIMAL(15,2) p_comment TEXT",
	"partsupp ps_partkey BIGINT ps_suppkey BIGINT ps_availqty BIGINT ps_supplycost DECIMAL(15,2) ps_comment TEXT",
	"customer c_custkey BIGINT c_name TEXT c_address TEXT c_nationkey BIGINT c_phone TEXT c_acctbal DECIMAL(15,2) " +
		"c_mktsegment TEXT c_comment TEXT",
	"orders o_orderkey BIGINT o_custkey BIGINT o_orderstatus TEXT o_totalprice DECIMAL(15,2) o_orderdate DATE " +
		"o_orderpriority TEXT o_clerk TEXT o_shippriority BIGINT o_comment TEXT",
	"lineitem l_orderkey BIGINT l_partkey BIGINT l_suppkey BIGINT l_linenumber BIGINT l_quantity DECIMAL(15,2) " +
		"l_extendedprice DECIMAL(15,2) l_discount DECIMAL(15,2) l_tax DECIMAL(15,2) l_returnflag TEXT l_linestatus TEXT " +
		"l_shipdate DATE l_commitdate DATE l_receiptdate DATE l_shipinstruct TEXT l_shipmode TEXT l_comment TEXT",
}, "\n")

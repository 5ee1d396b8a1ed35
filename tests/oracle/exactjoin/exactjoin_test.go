/* exactjoin_test.go - the oracle itself held against worked examples and slower ways */
package main

import (
	"bufio"
	"compress/bzip2"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var tables = func() *ucd {
	u, err := loadUCD("/usr/share/unicode")
	if err != nil {
		panic(err)
	}
	return u
}()

// Every line of the consortium's own test: NFKC of each of the five columns is the fourth.
func TestNFKCAgreesWithTheUnicodeConsortium(t *testing.T) {
	f, err := os.Open("/usr/share/unicode/NormalizationTest.txt.bz2")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	lines, n := bufio.NewScanner(bzip2.NewReader(f)), 0
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		c := strings.Split(line, ";")
		if len(c) < 5 {
			continue
		}
		n++
		want, _ := parseRunes(c[3])
		for i := 0; i < 5; i++ {
			in, _ := parseRunes(c[i])
			if got := tables.nfkc(in); string(got) != string(want) {
				t.Fatalf("%s column %d: %U, not %U", line, i, got, want)
			}
		}
	}
	if n < 18000 {
		t.Fatalf("only %d lines", n)
	}
}

// Worked out by hand from docs/format/text.md and the Unicode charts.
func TestTokensOfManyLanguages(t *testing.T) {
	for _, c := range []struct{ text, tokens string }{
		{"", ""},
		{" \t\n.,;!_'", ""},
		{"Hello, World 42nd", "hello world 42nd"},
		{"don't snake_case e-mail", "don t snake case e mail"},
		{"Straße STRASSE ẞ", "strasse strasse ss"},
		{"ﬁne oﬃce", "fine office"},                                // compatibility ligatures
		{"cafe\u0301 café CAFÉ CAFE\u0301", "café café café café"}, // composed after folding
		{"\u212B \u00C5 A\u030A", "å å å"},                         // the Ångström sign
		{"ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ σίσυφοσ"},                     // final sigma folds
		{"İstanbul I ı", "i\u0307stanbul i ı"},                     // full folding, not Turkish
		{"ⅷ x² ½ ①", "viii x2 1 2 1"},                              // ½ is 1 U+2044 2, and U+2044 separates
		{"soft\u00ADhyphen zero\u200Bwidth a\u200Db", "softhyphen zerowidth ab"},
		{"\uFEFFbom variation\uFE0F", "bom variation"},
		{"नमस्ते दुनिया", "नमस्ते दुनिया"}, // marks belong to the word
		{"क्\u200Dष", "क्ष"},               // a joiner is ignored
		{"สวัสดี", "สว วั ัส สด ดี"},
		{"日本語を話す", "日本 本語 語を を話 話す"},
		{"ｶﾞ ガ カ\u3099", "ガ ガ ガ"}, // half width, composed, combining
		{"東", "東"},
		{"2023年のABC社", "2023 年の abc 社"},
		{"人々", "人 々"},        // U+3005 is not in the ranges
		{"한국어 문장", "한국어 문장"}, // Hangul has spaces
		{"\u1112\u1161\u11AB 한", "한 한"},
		{"العَرَبِيَّة ﻻ", "العَرَبِيَّة لا"}, // harakat are marks; presentation form
		{"中文，標點。", "中文 標點"},
		{"a\uFFFDb \uE000c", "a b c"}, // replaced bytes and private use separate
		{"𠀀𠀁x", "𠀀𠀁 x"},
		{"x\u0338= y=\u0338z", "x\u0338 y z"}, // U+2260 separates, though its parts include a mark
		{"ｆｕｌｌ　ｗｉｄｔｈ", "full width"},
		{"မြန်မာ", "မြ ြန န် ်မ မာ"},
	} {
		want := strings.Fields(c.tokens)
		if got := tables.textTokens(c.text); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, not %q", c.text, got, want)
		}
	}
}

// cutting at white space and caching words changes nothing.
func TestTokensByWordsAreTheTokensOfTheWhole(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	parts := []string{" ", "\n", "e", "\u0301", "\u0323", "A", "ß", "ｶ", "ﾞ", "\u00AD", "한", "\u1112", "\u1161",
		"漢", "字", "<", "\u0338", "=", "ﬁ", "ส", "9", "_", "\u0345", "\u03B1", "\u200D"}
	for n := 0; n < 20000; n++ {
		text := ""
		for i := random.Intn(12); i >= 0; i-- {
			text += parts[random.Intn(len(parts))]
		}
		c, whole := newCorpus(tables, 3), newCorpus(tables, 3)
		got := c.tokenise(text)
		for i, token := range tables.textTokens(text) {
			if i >= len(got) || whole.intern(token) != got[i] {
				t.Fatalf("%+q: token %d of %q", text, i, tables.textTokens(text))
			}
		}
	}
}

func corpusOf(t *testing.T, w int, texts ...string) *corpus {
	c := newCorpus(tables, w)
	for i, text := range texts {
		if err := c.add(document{id: fmt.Sprint(i), text: text}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestKnownResemblances(t *testing.T) {
	c := corpusOf(t, 3,
		"a b c d e f g", "A, b c d e f h", // 4 of 6 shingles
		"x y", "X Y!", "x y z", // shorter than a shingle: equal bytes or nothing
		"", "...", // no tokens: the same
		"k k k k k k", "k k k", // a set: one shingle each
		"x y", "")
	want := []pair{{0, 1, 4, 6}, {2, 9, 1, 1}, {5, 10, 0, 0}, {7, 8, 1, 1}}
	if got := c.join(ratio{1, 2}); !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, not %v", got, want)
	}
}

// "a rose is a rose is a rose" has three distinct 4-shingles, the other text six; only "a rose is a"
// stands in both.
func TestRoseIsARose(t *testing.T) {
	c := corpusOf(t, 4, "a rose is a rose is a rose", "a rose is a flower which is a rose")
	if p := c.compare(0, 1); p.shared != 1 || p.union != 8 {
		t.Fatalf("%d/%d", p.shared, p.union)
	}
}

func TestJoinFindsWhatAllPairsFind(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for n := 0; n < 300; n++ {
		var texts []string
		for i := 0; i < 40; i++ {
			var b []string
			if i > 0 && random.Intn(3) > 0 { // a variant of an earlier one
				b = strings.Fields(texts[random.Intn(i)])
				for e := random.Intn(4); e > 0 && len(b) > 0; e-- {
					b[random.Intn(len(b))] = fmt.Sprint(random.Intn(50))
				}
				b = b[:len(b)-random.Intn(len(b)/8+1)]
			} else {
				for l := random.Intn(60); l > 0; l-- {
					b = append(b, fmt.Sprint(random.Intn(50)))
				}
			}
			texts = append(texts, strings.Join(b, " "))
		}
		threshold := []ratio{{4, 5}, {1, 2}, {9, 10}, {1, 1}, {1, 3}}[n%5]
		c := corpusOf(t, 1+n%4, texts...)
		var want []pair
		for i := range texts {
			for j := i + 1; j < len(texts); j++ {
				p := c.compare(i, j)
				isPair := threshold.reached(p.shared, p.union)
				if c.isShort(i) || c.isShort(j) {
					isPair = texts[i] == texts[j]
				}
				if isPair {
					want = append(want, p)
				}
			}
		}
		if got := c.join(threshold); !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: %d pairs, not %d", n, len(got), len(want))
		}
	}
}

func TestThresholdsAreExact(t *testing.T) {
	if r, err := parseRatio("0.8"); err != nil || r != (ratio{4, 5}) {
		t.Fatal(r, err)
	}
	if !(ratio{4, 5}).reached(4, 5) || (ratio{4, 5}).reached(79999, 100000) {
		t.Fatal("80 % is reached by 4 of 5 and not by less")
	}
	for _, bad := range []string{"0", "-1", "1.01", "x", ""} {
		if _, err := parseRatio(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestRecordsAreReadAsTheyStand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.jsonl")
	lines := "\xEF\xBB\xBF" + `{"id":"a","text":"one","text":"two"}` + "\n" + // the first of equal keys
		`{"Text":"no","id":17,"text":"bad \xff \ud800 end"}` + "\n" +
		"\n" + `{"id":"c","text":null}` + "\nnonsense\n" + `{"text":"last"}`
	if err := os.WriteFile(path, []byte(strings.Replace(lines, `\xff`, "\xff", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	bad, err := readDocuments(path, func(d document, _ []byte) error {
		got = append(got, d.id, d.text)
		return nil
	})
	want := []string{"a", "one", "17", "bad \uFFFD \uFFFD end", path + ":6", "last"}
	if err != nil || bad != 2 || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q %d %v", got, bad, err)
	}
}

func writeFile(t *testing.T, dir, name, content string) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A check that lets everything pass is worth nothing: each lie in a manifest must be found.
func TestFalseManifestsAreFound(t *testing.T) {
	const input = `{"id":"a","text":"q w e r t y u i o p a s d f"}
{"id":"b","text":"q w e r t y u i o p a s d g"}
{"id":"c","text":"q w e r t y u i o p a s d f"}
{"id":"d","text":"something else"}
`
	const near = `{"removed":"b","kept":"a","removed_at":"in:2","kept_at":"in:1","identical":"no","verified":true,` +
		`"resemblance":0.846154,"shared":11,"shingles_removed":12,"shingles_kept":12,` +
		`"containment_of_removed":0.916667,"containment_of_kept":0.916667}` + "\n"
	const same = `{"removed":"c","kept":"a","removed_at":"in:3","kept_at":"in:1","identical":"bytes","verified":true}` + "\n"
	const clusters = "a\ta\nb\ta\nc\ta\nd\td\n"
	const truth = "a\tb\t0.846154\t11\t13\na\tc\t1.000000\t12\t12\nb\tc\t0.846154\t11\t13\n"
	const kept = `{"id":"a","text":"q w e r t y u i o p a s d f"}` + "\n" + `{"id":"d","text":"something else"}` + "\n"
	header := `{"neardup":"0.1.0"}` + "\n"
	for _, c := range []struct {
		name, manifest, clusters, survivors string
		good                                bool
	}{
		{"true", near + same, clusters, kept, true},
		{"resemblance", strings.Replace(near, "0.846154", "0.9", 1) + same, clusters, kept, false},
		{"shared", strings.Replace(near, ":11", ":12", 1) + same, clusters, kept, false},
		{"containment", strings.Replace(near, "0.916667", "1", 1) + same, clusters, kept, false},
		{"identity", strings.Replace(near, `"no"`, `"tokens"`, 1) + same, clusters, kept, false},
		{"denied", near + strings.Replace(same, `"bytes"`, `"tokens"`, 1), clusters, kept, false},
		{"verified", near + strings.Replace(same, "true", "false", 1), clusters, kept, false},
		{"place", near + strings.Replace(same, "in:3", "in:4", 1), clusters, kept, false},
		{"chain", near + strings.Replace(strings.Replace(same, `"kept":"a"`, `"kept":"b"`, 1), "in:1", "in:2", 1),
			clusters, kept, false},
		{"twice", near + near + same, clusters, kept, false},
		{"cluster", near + same, strings.Replace(clusters, "c\ta", "c\tc", 1), kept, false},
		{"survivor", near + same, clusters, kept[1:], false},
		{"extra survivor", near + same, clusters, kept + kept, false},
		{"unlike", near + same + strings.Replace(strings.Replace(near, `"b"`, `"d"`, 1), "in:2", "in:4", 1),
			strings.Replace(clusters, "d\td", "d\ta", 1), kept, false},
	} {
		dir := t.TempDir()
		files := manifestFiles{
			writeFile(t, dir, "in", input), writeFile(t, dir, "m", header+c.manifest),
			writeFile(t, dir, "c", c.clusters), writeFile(t, dir, "t", truth), writeFile(t, dir, "s", c.survivors)}
		good, err := checkManifest(tables, files, "0.8", "3")
		if err != nil || good != c.good {
			t.Errorf("%s: %v %v", c.name, good, err)
		}
	}
}

func TestMissedDocumentsAreCounted(t *testing.T) {
	dir := t.TempDir()
	input := writeFile(t, dir, "in", `{"id":"a","text":"1 2 3 4"}
{"id":"b","text":"1, 2, 3, 4"}
{"id":"c","text":"x"}
{"id":"d","text":"X"}
`)
	k := &checker{t: ratio{4, 5}, c: newCorpus(tables, 3)}
	k.c.wantDigests = true
	if err := k.readInput(input); err != nil {
		t.Fatal(err)
	}
	truth := writeFile(t, dir, "t", "a\tb\t1.000000\t2\t2\nc\td\t1.000000\t1\t1\n")
	if err := k.countMissed(truth); err != nil {
		t.Fatal(err)
	}
	if k.Missed != 1 || k.MissedShort != 1 || k.MissedShare != 1 {
		t.Fatalf("%+v", k.manifestResult)
	}
}

func TestFalsePairsAreFound(t *testing.T) {
	dir := t.TempDir()
	truth := writeFile(t, dir, "t", "a\tb\t0.800000\t4\t5\na\tc\t0.900000\t9\t10\n")
	for i, c := range []struct {
		pairs string
		good  bool
	}{
		{"b\ta\t0.8\t4\t5\nc\ta\t0.9\t9\t10\n", true},
		{"b\ta\t0.8\t4\t5\n", true}, // recall is judged by whoever asks
		{"b\ta\t0.8\t8\t10\n", false},
		{"b\ta\t0.81\t4\t5\n", false},
		{"b\ta\t0.8\t4\t5\na\tb\t0.8\t4\t5\n", false},
		{"b\tc\t0.8\t4\t5\n", false},
	} {
		good, err := checkPairs(truth, writeFile(t, dir, fmt.Sprint(i), c.pairs))
		if err != nil || good != c.good {
			t.Errorf("%q: %v %v", c.pairs, good, err)
		}
	}
}

/* check_manifest.go - every row of a manifest computed again from the texts */
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

type manifestFiles struct{ input, manifest, clusters, truth, survivors string }

type manifestRow struct {
	Removed       json.RawMessage `json:"removed"`
	Kept          json.RawMessage `json:"kept"`
	RemovedAt     string          `json:"removed_at"`
	KeptAt        string          `json:"kept_at"`
	Identical     string          `json:"identical"`
	Verified      bool            `json:"verified"`
	Resemblance   *float64        `json:"resemblance"`
	Shared        *int            `json:"shared"`
	SizeRemoved   *int            `json:"shingles_removed"`
	SizeKept      *int            `json:"shingles_kept"`
	ContRemoved   *float64        `json:"containment_of_removed"`
	ContKept      *float64        `json:"containment_of_kept"`
	Skipped       json.RawMessage `json:"skipped"`
	line          int
	removed, kept int
}

// All counts but the first group and those of (b) are of errors.
type manifestResult struct {
	Documents int `json:"documents"`
	Rows      int `json:"rows"`
	Bytes     int `json:"identical_bytes"`
	Tokens    int `json:"identical_tokens"`
	Skipped   int `json:"skipped_rows"`

	BelowThreshold int `json:"below_threshold"`
	WrongNumber    int `json:"wrong_numbers"`
	NoNumber       int `json:"missing_numbers"`
	FalseIdentity  int `json:"false_identity"`
	DeniedIdentity int `json:"denied_identity"`
	ShortRemoved   int `json:"short_removed_not_equal_bytes"`
	NotVerified    int `json:"not_verified"`
	KeptRemoved    int `json:"kept_is_removed"`
	KeptLater      int `json:"kept_is_later"`
	RemovedTwice   int `json:"removed_twice"`
	WrongPlace     int `json:"wrong_place"`
	WrongCluster   int `json:"wrong_clusters"`
	WrongSurvivor  int `json:"wrong_survivors"`

	Missed      int     `json:"missed"`
	MissedShort int     `json:"missed_short"`
	MissedShare float64 `json:"missed_share"`
	BetterKept  int     `json:"better_kept_existed"`
	Errors      int     `json:"errors"`
}

type checker struct {
	c     *corpus
	t     ratio
	lines []int // of each document in the input
	rows  []manifestRow
	of    []int // document -> row that removes it, or -1
	manifestResult
}

func checkManifest(u *ucd, files manifestFiles, threshold, width string) (good bool, err error) {
	k := &checker{}
	if k.t, err = parseRatio(threshold); err != nil {
		return false, err
	}
	w, err := parseWidth(width)
	if err != nil {
		return false, err
	}
	k.c = newCorpus(u, w)
	k.c.wantDigests = true
	if err := k.readInput(files.input); err != nil {
		return false, err
	}
	if err := k.readManifest(files.manifest); err != nil {
		return false, err
	}
	for i := range k.rows {
		k.checkRow(&k.rows[i])
	}
	if err := k.checkClusters(files.clusters); err != nil {
		return false, err
	}
	if err := k.countMissed(files.truth); err != nil {
		return false, err
	}
	if files.survivors != "" {
		if err := k.checkSurvivors(files.input, files.survivors); err != nil {
			return false, err
		}
	}
	return k.report()
}

func (k *checker) readInput(path string) error {
	_, err := readDocuments(path, func(d document, _ []byte) error {
		k.lines = append(k.lines, d.line)
		k.of = append(k.of, -1)
		return k.c.add(d)
	})
	k.Documents = len(k.lines)
	return err
}

func (k *checker) readManifest(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		row := manifestRow{line: n}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if row.Removed == nil {
			if n > 1 && row.Skipped == nil {
				return fmt.Errorf("%s:%d: neither removed nor skipped", path, n)
			}
			k.Skipped += count(n > 1)
			continue
		}
		var have [2]bool
		row.removed, have[0] = k.c.index[rawID(row.Removed)]
		row.kept, have[1] = k.c.index[rawID(row.Kept)]
		if !have[0] || !have[1] {
			return fmt.Errorf("%s:%d: no document has this id: %s", path, n, line)
		}
		if k.of[row.removed] >= 0 {
			k.fail(&k.RemovedTwice, &row, "removed before")
		}
		k.of[row.removed] = len(k.rows)
		k.rows = append(k.rows, row)
	}
}

func (k *checker) fail(counter *int, row *manifestRow, format string, args ...interface{}) {
	*counter++
	k.Errors++
	complain(*counter, "manifest line %d (%s, kept %s): %s", row.line, row.Removed, row.Kept,
		fmt.Sprintf(format, args...))
}

func (k *checker) checkRow(r *manifestRow) {
	k.Rows++
	if k.of[r.kept] >= 0 {
		k.fail(&k.KeptRemoved, r, "the kept one is removed in line %d", k.rows[k.of[r.kept]].line)
	}
	if r.kept >= r.removed {
		k.fail(&k.KeptLater, r, "the kept one comes later")
	}
	if !r.Verified {
		k.fail(&k.NotVerified, r, "not verified")
	}
	for _, at := range []struct {
		said string
		d    int
	}{{r.RemovedAt, r.removed}, {r.KeptAt, r.kept}} {
		if !strings.HasSuffix(at.said, fmt.Sprintf(":%d", k.lines[at.d])) {
			k.fail(&k.WrongPlace, r, "%q is in line %d", at.said, k.lines[at.d])
		}
	}
	sameText := k.c.textSum[r.removed] == k.c.textSum[r.kept]
	sameTokens := k.c.tokenSum[r.removed] == k.c.tokenSum[r.kept]
	k.checkIdentity(r, sameText, sameTokens)
	if p := k.c.compare(r.removed, r.kept); !sameText && !k.t.reached(p.shared, p.union) {
		k.fail(&k.BelowThreshold, r, "resemblance is %d/%d", p.shared, p.union)
	}
	if k.c.isShort(r.removed) && !sameText {
		k.fail(&k.ShortRemoved, r, "fewer tokens than a shingle, and the texts differ")
	}
	k.checkNumbers(r)
}

func (k *checker) checkIdentity(r *manifestRow, sameText, sameTokens bool) {
	switch r.Identical {
	case "bytes":
		k.Bytes++
		if !sameText {
			k.fail(&k.FalseIdentity, r, "the texts differ")
		}
	case "tokens":
		k.Tokens++
		if !sameTokens {
			k.fail(&k.FalseIdentity, r, "the tokens differ")
		} else if sameText {
			k.fail(&k.DeniedIdentity, r, "even the texts are equal")
		}
	case "no":
		if sameText || sameTokens {
			k.fail(&k.DeniedIdentity, r, "the texts or tokens are equal")
		}
	default:
		k.fail(&k.FalseIdentity, r, "identical is %q", r.Identical)
	}
}

// checkNumbers: of equal texts shingles need not be counted, so numbers may be absent there; what
// is stated must be true everywhere.
func (k *checker) checkNumbers(r *manifestRow) {
	p := k.c.compare(r.removed, r.kept)
	removed, kept := len(k.c.sets[r.removed]), len(k.c.sets[r.kept])
	ratioOf := func(a, b int) float64 {
		if b == 0 {
			return 1 // two texts without tokens that are equal
		}
		return float64(a) / float64(b)
	}
	absent, wrong := false, false
	for _, n := range []struct {
		said *int
		true int
	}{{r.Shared, p.shared}, {r.SizeRemoved, removed}, {r.SizeKept, kept}} {
		absent = absent || n.said == nil
		wrong = wrong || n.said != nil && *n.said != n.true
	}
	for _, n := range []struct {
		said *float64
		true float64
	}{{r.Resemblance, ratioOf(p.shared, p.union)}, {r.ContRemoved, ratioOf(p.shared, removed)},
		{r.ContKept, ratioOf(p.shared, kept)}} {
		absent = absent || n.said == nil
		wrong = wrong || n.said != nil && !sameNumber(*n.said, n.true)
	}
	if wrong {
		k.fail(&k.WrongNumber, r, "in truth %d shared, %d removed, %d kept, resemblance %.6f", p.shared,
			removed, kept, ratioOf(p.shared, p.union))
	}
	if absent && r.Identical != "bytes" {
		k.fail(&k.NoNumber, r, "a number is absent")
	}
}

// checkClusters: every document once, in input order, with the kept one that the manifest says.
func (k *checker) checkClusters(path string) error {
	i := 0
	err := readTSV(path, 2, func(c []string) error {
		if i >= k.Documents {
			i++
			return nil
		}
		kept := i
		if k.of[i] >= 0 {
			kept = k.rows[k.of[i]].kept
		}
		if c[0] != k.c.ids[i] || c[1] != k.c.ids[kept] {
			k.WrongCluster++
			complain(k.WrongCluster, "clusters line %d: %q instead of %q, %q", i+1, c, k.c.ids[i], k.c.ids[kept])
		}
		i++
		return nil
	})
	if i != k.Documents {
		k.WrongCluster++
		complain(1, "clusters: %d lines for %d documents", i, k.Documents)
	}
	k.Errors += k.WrongCluster
	return err
}

// checkSurvivors: the records of the kept documents, byte for byte, in input order.
func (k *checker) checkSurvivors(input, survivors string) error {
	file, err := os.Open(survivors)
	if err != nil {
		return err
	}
	defer file.Close()
	out, i := bufio.NewReaderSize(file, 1<<20), 0
	_, err = readDocuments(input, func(d document, line []byte) error {
		i++
		if k.of[i-1] >= 0 {
			return nil
		}
		got, err := out.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if !bytes.Equal(bytes.TrimSuffix(got, []byte("\n")), bytes.TrimSuffix(line, []byte("\n"))) {
			k.WrongSurvivor++
			complain(k.WrongSurvivor, "survivors: not the record of %q", d.id)
		}
		return nil
	})
	if _, more := out.ReadByte(); more != io.EOF {
		k.WrongSurvivor++
		complain(1, "survivors: more than the kept documents")
	}
	k.Errors += k.WrongSurvivor
	return err
}

// countMissed: kept documents with an earlier kept one at J >= t. Those of fewer tokens than a
// shingle are removed only where the texts are equal, so they are counted apart.
func (k *checker) countMissed(truthPath string) error {
	missed := make([]bool, k.Documents)
	better := make([]bool, k.Documents)
	err := readTSV(truthPath, 5, func(c []string) error {
		a, haveA := k.c.index[c[0]]
		b, haveB := k.c.index[c[1]]
		if !haveA || !haveB {
			return fmt.Errorf("no document has this id")
		}
		if a > b {
			a, b = b, a
		}
		if k.of[a] >= 0 {
			return nil
		}
		if k.of[b] < 0 {
			missed[b] = true
			return nil
		}
		mine, other := k.c.compare(k.rows[k.of[b]].kept, b), k.c.compare(a, b)
		better[b] = better[b] || other.shared*mine.union > mine.shared*other.union
		return nil
	})
	for i := range missed {
		k.MissedShort += count(missed[i] && k.c.isShort(i))
		k.Missed += count(missed[i] && !k.c.isShort(i))
		k.BetterKept += count(better[i])
	}
	k.MissedShare = 1 - share(k.Rows, k.Rows+k.Missed)
	return err
}

func (k *checker) report() (good bool, err error) {
	r := &k.manifestResult
	fmt.Fprintf(os.Stderr, `manifest: %d documents, %d removed (%d equal in bytes, %d in tokens), %d rows of skipped records
  below the threshold %d, wrong numbers %d, absent %d, false identity %d, denied %d, short %d, not verified %d
  kept one removed %d, later %d, removed twice %d, wrong places %d, clusters %d, survivors %d
  missed: %d kept have an earlier kept one (%.3f %% of these and the removed), %d more are short; %d might have joined a nearer one
`, r.Documents, r.Rows, r.Bytes, r.Tokens, r.Skipped, r.BelowThreshold, r.WrongNumber, r.NoNumber,
		r.FalseIdentity, r.DeniedIdentity, r.ShortRemoved, r.NotVerified, r.KeptRemoved, r.KeptLater,
		r.RemovedTwice, r.WrongPlace, r.WrongCluster, r.WrongSurvivor, r.Missed, 100*r.MissedShare,
		r.MissedShort, r.BetterKept)
	return r.Errors == 0, json.NewEncoder(os.Stdout).Encode(r)
}

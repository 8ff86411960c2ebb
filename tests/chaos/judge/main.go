// Judges the histories of a run by porcupine, a checker of linearizability that others wrote: is there, for each row of
// each mirror, one order of the writes in which every read makes sense?
//
//	judge DIR     prints a line for each row whose history makes no sense; exit status 1 when there is one
//
// The files of DIR are those of check.c; besides, times.* tell when a write began. A write of a row takes effect at a mirror
// once, at some time between its beginning and the end of the run, after the write before it. A read takes effect while it
// lasts, and says which write was the last one; the rows that a mirror has in the end are a read after all writes. So what
// is lost, reordered, stale, resurrected, or read before it was written has no such order.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

const patience = 20 * time.Second // for one row

// A row of a table, at the source or at a mirror.
type row struct{ table, key string }

// What a write left: the number of the row's version, 0: none.
type deed struct {
	n, mark int64
	call    int64
}

// What a read saw, and when.
type look struct {
	mark         int64
	call, answer int64
}

// Either the write-th write, counted from 1, or a read of version mark.
type operation struct {
	write int
	mark  int64
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, "judge: "+format+"\n", values...)
	os.Exit(2)
}

// Calls what with the words of each whole line.
func lines(path string, what func(words []string)) {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("%v", err)
	}
	whole := string(text)[:strings.LastIndex(string(text), "\n")+1]
	scanner := bufio.NewScanner(strings.NewReader(whole))
	scanner.Buffer(nil, 1<<26)
	for scanner.Scan() {
		what(strings.Fields(scanner.Text()))
	}
}

func number(word string) int64 {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		fail("%s is no number", word)
	}
	return n
}

func microseconds(word string) int64 {
	seconds, err := strconv.ParseFloat(word, 64)
	if err != nil {
		fail("%s is no time", word)
	}
	return int64(seconds * 1e6)
}

// What a trigger wrote has its statement's token, and more characters behind it.
var ofStatement = regexp.MustCompile(`^w[0-9]+\.[0-9]+`)

func readBeginnings(dir string) map[string]int64 {
	began := map[string]int64{}
	files, _ := filepath.Glob(filepath.Join(dir, "times.*"))
	for _, file := range files {
		lines(file, func(words []string) {
			for _, token := range words[2:] {
				began[ofStatement.FindString(token)] = microseconds(words[0])
			}
		})
	}
	return began
}

// The writes of each row in the order of their numbers.
func readDeeds(dir string) map[row][]deed {
	began := readBeginnings(dir)
	deeds := map[row][]deed{}
	lines(filepath.Join(dir, "truth"), func(words []string) {
		d := deed{n: number(words[2]), mark: number(words[4]), call: began[ofStatement.FindString(words[5])]}
		if words[3] == "d" || words[3] == "t" {
			d.mark = 0
		}
		of := row{words[0], words[1]}
		deeds[of] = append(deeds[of], d)
	})
	for _, all := range deeds {
		sort.Slice(all, func(i, j int) bool { return all[i].n < all[j].n })
	}
	return deeds
}

// What readers saw, and what was there in the end. Rows that somebody gave up are left out.
func readLooks(dir, target string, tables map[string]bool, deeds map[row][]deed) (map[row][]look, int64) {
	looks := map[row][]look{}
	var last int64
	if _, err := os.Stat(filepath.Join(dir, target+".watched")); err == nil {
		lines(filepath.Join(dir, target+".watched"), func(words []string) {
			l := look{mark: number(words[2]), call: microseconds(words[3]), answer: microseconds(words[4])}
			last = max(last, l.answer)
			of := row{words[0], words[1]}
			looks[of] = append(looks[of], l)
		})
	}
	for _, all := range deeds {
		for _, d := range all {
			last = max(last, d.call)
		}
	}
	for of := range deeds {
		if tables[of.table] {
			looks[of] = append(looks[of], look{call: last + 2, answer: last + 3})
		}
	}
	lines(filepath.Join(dir, target+".rows"), func(words []string) {
		of := row{words[0], words[1]}
		if !tables[of.table] { // nothing is promised of it
			return
		}
		if looks[of] == nil { // nobody wrote it
			looks[of] = append(looks[of], look{call: last + 2, answer: last + 3})
		}
		looks[of][len(looks[of])-1].mark = number(words[2])
	})
	lines(filepath.Join(dir, "given-up"), func(words []string) {
		for of := range looks {
			if words[0] == target && words[1] == of.table && (words[2] == of.key || words[2] == "-") {
				delete(looks, of)
			}
		}
	})
	return looks, last + 1
}

// The state is how many writes have taken effect.
func model(deeds []deed) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			done, op := state.(int), input.(operation)
			if op.write > 0 {
				return op.write == done+1, done + 1
			}
			visible := int64(0)
			if done > 0 {
				visible = deeds[done-1].mark
			}
			return visible == op.mark, done
		},
	}
}

func judge(deeds []deed, looks []look, end int64) porcupine.CheckResult {
	var history []porcupine.Operation
	for i, d := range deeds {
		history = append(history, porcupine.Operation{ClientId: i + 1, Input: operation{write: i + 1}, Call: d.call, Return: end})
	}
	for _, l := range looks {
		history = append(history, porcupine.Operation{Input: operation{mark: l.mark}, Call: l.call, Return: l.answer})
	}
	return porcupine.CheckOperationsTimeout(model(deeds), history, patience)
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: judge DIR")
	}
	dir := os.Args[1]
	deeds := readDeeds(dir)
	judged, wrong, unknown := 0, 0, 0
	lines(filepath.Join(dir, "targets"), func(words []string) {
		if words[1] != "rows" {
			return
		}
		tables := map[string]bool{}
		for _, table := range words[2:] {
			tables[table] = true
		}
		looks, end := readLooks(dir, words[0], tables, deeds)
		for of, seen := range looks {
			judged++
			switch judge(deeds[of], seen, end) {
			case porcupine.Illegal:
				wrong++
				fmt.Printf("makes no sense: %s: %s %s\n", words[0], of.table, of.key)
			case porcupine.Unknown:
				unknown++
			}
		}
	})
	if judged == 0 {
		fail("there is nothing to judge in %s", dir)
	}
	fmt.Printf("porcupine: %d histories of rows: %d make no sense, %d were too long to judge\n", judged, wrong, unknown)
	if wrong > 0 {
		os.Exit(1)
	}
}

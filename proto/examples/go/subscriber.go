// Prints one line for each GPU node: go run . BOOTSTRAP [PREFIX].
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type writer struct{ source, topic, key string }

type position struct{ incarnation, sequence int64 }

type partition struct {
	topic  string
	number int32
}

var (
	gpus    = map[string]int{}
	trusted = map[string]bool{}
	last    = map[writer]position{}
	boots   = map[writer]map[string]bool{}
)

// isNew is false for a duplicate; a lower incarnation of a boot never seen is another machine with the same name.
func isNew(w writer, id, boot string) bool {
	parts, at := strings.Split(id, "/"), position{}
	fmt.Sscan(parts[1], &at.incarnation)
	fmt.Sscan(parts[3], &at.sequence)
	before := last[w]
	if boots[w] == nil {
		boots[w] = map[string]bool{}
	}
	replaced := at.incarnation < before.incarnation && boot != "" && !boots[w][boot]
	boots[w][boot] = true
	later := at.incarnation > before.incarnation || at.incarnation == before.incarnation && at.sequence > before.sequence
	if later || replaced {
		last[w] = at
	}
	return later || replaced
}

func read(record *kgo.Record) {
	key, header := string(record.Key), map[string]string{}
	if strings.HasPrefix(key, "@") { // of the service that writes the topic
		return
	}
	if record.Value == nil { // tombstone
		delete(trusted, key)
		return
	}
	for _, h := range record.Headers {
		header[h.Key] = string(h.Value)
	}
	var event struct {
		BootID  string            `json:"bootId"`
		GPUs    []json.RawMessage `json:"gpus"`
		Trusted *bool             `json:"trusted"`
	}
	if err := json.Unmarshal(record.Value, &event); err != nil {
		log.Fatal(err)
	}
	if !isNew(writer{header["ce_source"], record.Topic, key}, header["ce_id"], event.BootID) {
		return
	}
	switch header["ce_type"] {
	case "io.gpufleet.node.announced.v1":
		gpus[key] = len(event.GPUs)
	case "io.gpufleet.verdict.reached.v1":
		trusted[key] = event.Trusted == nil || *event.Trusted
	}
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: go run . BOOTSTRAP [PREFIX]")
	}
	prefix := "gpu."
	if len(os.Args) > 2 {
		prefix = os.Args[2]
	}
	topics := []string{prefix + "inventory", prefix + "verdicts"}
	// Control records are kept: the last record of a partition often is a commit marker.
	client, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]), kgo.ConsumeTopics(topics...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	starts, err := kadm.NewClient(client).ListStartOffsets(ctx, topics...)
	if err != nil {
		log.Fatal(err)
	}
	ends, err := kadm.NewClient(client).ListCommittedOffsets(ctx, topics...)
	if err != nil {
		log.Fatal(err)
	}
	waiting := map[partition]int64{}
	ends.Each(func(end kadm.ListedOffset) {
		if start, _ := starts.Lookup(end.Topic, end.Partition); end.Offset > start.Offset {
			waiting[partition{end.Topic, end.Partition}] = end.Offset
		}
	})
	for len(waiting) > 0 { // then go on with the same PollFetches for what comes next: nothing is missed in between
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			log.Fatal(err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			if !record.Attrs.IsControl() {
				read(record)
			}
			at := partition{record.Topic, record.Partition}
			if end, known := waiting[at]; known && record.Offset+1 >= end {
				delete(waiting, at)
			}
		})
	}
	var nodes []string
	for node := range gpus {
		nodes = append(nodes, node)
	}
	sort.Strings(nodes)
	for _, node := range nodes {
		known, found := trusted[node]
		fmt.Printf("%s gpus=%d trusted=%t\n", node, gpus[node], known || !found)
	}
}
